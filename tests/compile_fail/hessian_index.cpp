// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hessian, hvp: there is no argument of that number: in hessian<I>\(f\)\(x\.\.\.\) and hvp<I>\(f\)\(x\.\.\., v\) I counts from 0
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;
constexpr auto f = [](auto x) { return sum(x * x * x); };

auto g(const vector<>& x) {
#ifdef TENURE_MISUSE
  return tn::hessian<1>(f)(x);
#else
  return tn::hessian<0>(f)(x);
#endif
}
