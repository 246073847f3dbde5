// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cross_entropy: an option is tn::reduction::sum or none, tn::class_weights.w., tn::ignore_index<I> or tn::label_smoothing.e., each once
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8, 10>>& x, const tn::tensor<std::int64_t, tn::shape<8>>& labels) {
#ifdef TENURE_MISUSE
  return cross_entropy(x, labels, 0.1);
#else
  return cross_entropy(x, labels, tn::label_smoothing(0.1));
#endif
}
