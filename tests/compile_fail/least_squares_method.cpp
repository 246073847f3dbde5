// SPDX-License-Identifier: BSL-1.0
// expect: tenure: least_squares: the method is tn::levenberg_marquardt, a robust loss comes behind it, and the model after both: least_squares.f, levenberg_marquardt.., loss..model, x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto p) { return p * p - 2.0; };
#ifdef TENURE_MISUSE
auto g(tn::tensor<double, tn::shape<3>>& p) { return tn::least_squares(f, p); }
#else
auto g(tn::tensor<double, tn::shape<3>>& p) { return tn::least_squares(f)(p); }
#endif
