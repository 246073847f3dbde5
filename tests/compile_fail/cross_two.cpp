// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cross: the last axis of an operand does not have the static extent 3
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using right = array<float, 4, 2>;
#else
using right = array<float, 4, 3>;
#endif

auto f(const array<float, 3>& x, const right& y) { return tn::eval(cross(x, y)); }
