// SPDX-License-Identifier: BSL-1.0
// expect: tenure: block: an operand has less than two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using right = array<float, 2>;
#else
using right = array<float, 2, 1>;
#endif

auto f(const array<float, 2, 2>& a, const right& b) { return tn::eval(tn::block<1, 2>(a, b)); }
