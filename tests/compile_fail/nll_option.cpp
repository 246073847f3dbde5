// SPDX-License-Identifier: BSL-1.0
// expect: tenure: nll: an option is tn::reduction::sum or none, tn::class_weights.w. or tn::ignore_index<I>, each once
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8, 10>>& x, const tn::tensor<std::int64_t, tn::shape<8>>& labels) {
#ifdef TENURE_MISUSE
  return nll(x, labels, tn::label_smoothing(0.1));
#else
  return nll(x, labels, tn::ignore_index<0>);
#endif
}
