// SPDX-License-Identifier: BSL-1.0
// expect: tenure: keep_top_k, keep_top_p: the logits have no axis: the classes lie along their last axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using classes = tn::shape<>;
#else
using classes = tn::shape<3>;
#endif

auto f(const tn::tensor<float, classes>& logits) { return tn::keep_top_p(logits, 0.9); }
