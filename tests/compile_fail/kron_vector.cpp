// SPDX-License-Identifier: BSL-1.0
// expect: tenure: kron: an operand has less than two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using right = array<float, 3>;
#else
using right = array<float, 1, 3>;
#endif

auto f(const array<float, 2, 2>& x, const right& y) { return tn::eval(kron(x, y)); }
