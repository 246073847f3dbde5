// SPDX-License-Identifier: BSL-1.0
// Losses, composed of other operations: mean squared error, cross entropy of logits and class labels.
#pragma once

#include <tenure/ops/indexing.hpp>
#include <tenure/ops/reduction.hpp>

namespace tenure::ops {

struct mse {
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    return mean<false>::trace(square::trace(sub::trace(x, y)));
  }
};

/// The mean over rows of -log softmax(logits)[label].
struct cross_entropy {
  template <class X, class I>
  static constexpr auto trace(const X& logits, const I& labels) {
    static_assert(X::shape_type::rank >= 1, "tenure: cross_entropy: logits need a class axis, the last");
    return mean<false>::trace(neg::trace(pick::trace(log_softmax<-1>::trace(logits), labels)));
  }
};

}  // namespace tenure::ops

namespace tenure {

template <operand X, operand Y> constexpr auto mse(const X& x, const Y& y) { return apply<ops::mse>(x, y); }
template <operand X, operand I> constexpr auto cross_entropy(const X& logits, const I& labels) { return apply<ops::cross_entropy>(logits, labels); }

}  // namespace tenure
