// SPDX-License-Identifier: BSL-1.0
// expect: tenure: keep_top_k, keep_top_p: the logits are integers or bool: convert them first, as by tn::cast<float>\(logits\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<int, tn::shape<8>>& logits) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::keep_top_p(logits, 0.9));
#else
  return tn::eval(tn::keep_top_p(tn::cast<float>(logits), 0.9));
#endif
}
