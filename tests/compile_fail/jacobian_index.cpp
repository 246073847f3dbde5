// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jacobian, jacfwd, jacrev: there is no argument of that number: in jacobian<I>\(f\)\(x\.\.\.\) I counts from 0
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;
constexpr auto f = [](auto x) { return x * x; };

auto g(const vector<>& x) {
#ifdef TENURE_MISUSE
  return tn::jacobian<1>(f)(x);
#else
  return tn::jacobian<0>(f)(x);
#endif
}
