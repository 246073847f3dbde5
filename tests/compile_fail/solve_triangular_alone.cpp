// SPDX-License-Identifier: BSL-1.0
// expect: tenure: solve_triangular: the third argument names the triangle: solve_triangular.a, b, tn::lower., or tn::upper
#include <tenure/tenure.hpp>
namespace tn = tenure;

using matrix = tn::tensor<double, tn::shape<3, 3>>;
using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
auto f(const matrix& l, const vector& b) { return tn::eval(tn::solve_triangular(l, b)); }
#else
auto f(const matrix& l, const vector& b) { return tn::eval(tn::solve_triangular(l, b, tn::lower)); }
#endif
