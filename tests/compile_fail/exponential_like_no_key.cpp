// SPDX-License-Identifier: BSL-1.0
// expect: tenure: normal_like, uniform_like, exponential_like, laplace_like, cauchy_like: no key; write normal_like\(x, tn::random_key\(42\)\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::exponential_like(x));
#else
  return tn::eval(tn::exponential_like(x, tn::random_key(42)));
#endif
}
