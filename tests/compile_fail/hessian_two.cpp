// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hessian: one argument is chosen, hessian<I>\(f\)\(x...\): derivatives by two arguments are jacobian<0, 1>\(grad<0>\(f\)\)\(x...\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto f = [](auto x, auto y) { return sum(x * x * y); };

auto g(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<double, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  return tn::hessian<0, 1>(f)(x, y);
#else
  return tn::jacobian<0, 1>(tn::grad<0>(f))(x, y);
#endif
}
