// SPDX-License-Identifier: BSL-1.0
// expect: tenure: solve: with a triangular matrix it is solve_triangular.a, b, tn::lower., and with a Cholesky factor of a cholesky_solve.b, l.
#include <tenure/tenure.hpp>
namespace tn = tenure;

using matrix = tn::tensor<double, tn::shape<3, 3>>;
using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
auto f(const matrix& l, const vector& b) { return tn::eval(tn::solve(l, b, tn::lower)); }
#else
auto f(const matrix& l, const vector& b) { return tn::eval(tn::solve_triangular(l, b, tn::lower)); }
#endif
