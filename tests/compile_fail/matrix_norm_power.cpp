// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matrix_norm: it is matrix_norm.x., the root of the sum of squares, or matrix_norm<P>.x., with 1, 2, tn::inf or tn::nuclear for P
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int power = 3;
#else
constexpr int power = 1;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::matrix_norm<power>(x)); }
