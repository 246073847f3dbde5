// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hessian, hvp: the function must return a single number: the second derivatives of several are jacobian\(jacobian\(f\)\)\(x\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;
constexpr auto f = [](auto x) { return x * x; };

auto g(const vector<>& x) {
#ifdef TENURE_MISUSE
  return tn::hessian(f)(x);
#else
  return tn::jacobian(tn::jacobian(f))(x);
#endif
}
