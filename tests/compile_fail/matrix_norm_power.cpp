// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matrix_norm: it is matrix_norm.x., the root of the sum of squares, matrix_norm<1>.x. or matrix_norm<tn::inf>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int power = 2;
#else
constexpr int power = 1;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::matrix_norm<power>(x)); }
