// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dropout: a key decides which elements become zero: dropout\(x, p, tn::random_key\(42\)\), with another key in each step, fold_in\(key, step\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::dropout(x, 0.5));
#else
  return tn::eval(tn::dropout(x, 0.5, tn::random_key(42)));
#endif
}
