// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cross_entropy, nll: ignore_index is no number that the type of the labels can hold
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8, 10>>& x, const tn::tensor<int, tn::shape<8>>& labels) {
#ifdef TENURE_MISUSE
  return cross_entropy(x, labels, tn::ignore_index<0xffffffff>);
#else
  return cross_entropy(x, labels, tn::ignore_index<-1>);
#endif
}
