// SPDX-License-Identifier: BSL-1.0
// expect: tenure: keep_top_k: k is no integer: keep_top_k\(logits, 40\) keeps 40 classes, and keep_top_p\(logits, 0\.9\) those of 0\.9 of the probability
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<8>>& logits) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::keep_top_k(logits, true));
#else
  return tn::eval(tn::keep_top_k(logits, 1));
#endif
}
