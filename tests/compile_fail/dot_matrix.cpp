// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dot: an operand is not a vector: matmul.x, y. is the product of matrices, and vdot.x, y. the sum of all x . y
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using right = array<float, 3, 3>;
#else
using right = array<float, 3>;
#endif

auto f(const array<float, 3>& x, const right& y) { return tn::eval(dot(x, y)); }
