// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hessian, hvp: the function must return a single number: the second derivatives of several are jacobian\(jacobian\(f\)\)\(x\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;
constexpr auto f = [](auto x) { return x * x; };

auto g(const vector<>& x, const vector<>& v) {
#ifdef TENURE_MISUSE
  return tn::hvp(f)(x, v);
#else
  return tn::hvp([](auto y) { return sum(f(y)); })(x, v);
#endif
}
