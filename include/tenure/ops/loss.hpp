// SPDX-License-Identifier: BSL-1.0
// Losses, composed of other operations: squared and absolute error, huber, cross entropies. Each gives a mean, as a scalar.
// Rule: prediction and target have equal shapes, or one of them is a scalar. Broadcasting is refused: a column and a vector would give
// a matrix of all pairs, and its mean is another loss.
#pragma once

#include <tenure/ops/activation.hpp>
#include <tenure/ops/indexing.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {
template <class Prediction, class Target>
inline constexpr bool are_pairs = Prediction::rank == 0 || Target::rank == 0 || are_alike<Prediction, Target>;
}  // namespace detail

struct mse {
  template <class Prediction, class Target>
  static constexpr bool pair() {
    static_assert(detail::are_pairs<Prediction, Target>, "tenure: mse: prediction and target have different shapes");
    return detail::are_pairs<Prediction, Target>;
  }
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    if constexpr (!pair<typename X::shape_type, typename Y::shape_type>()) return mean<false>::trace(x);
    else return mean<false>::trace(square::trace(sub::trace(x, y)));
  }
};

/// The mean over rows of -log_probabilities[label].
struct nll {
  template <class X, class I>
  static constexpr bool fits = is_index_v<I> && pick::has_one_a_row<X, I>;
  template <class X, class I>
  static constexpr auto trace(const X& log_probabilities, const I& labels) {
    static_assert(is_index_v<I>, "tenure: nll: the labels must be class numbers of type int32 or int64");
    static_assert(!is_index_v<I> || fits<X, I>, "tenure: nll: needs one label for each row of log_probabilities, whose last axis is the classes");
    if constexpr (fits<X, I>) return mean<false>::trace(neg::trace(pick::trace(log_probabilities, labels)));
    else return mean<false>::trace(log_probabilities);
  }
};

/// The mean over rows of -log softmax(logits)[label].
struct cross_entropy {
  template <class X, class I>
  static constexpr auto trace(const X& logits, const I& labels) {
    static_assert(is_index_v<I>, "tenure: cross_entropy: the labels must be class numbers of type int32 or int64");
    static_assert(!is_index_v<I> || nll::fits<X, I>, "tenure: cross_entropy: needs one label for each row of logits, whose last axis is the classes");
    if constexpr (nll::fits<X, I>) return nll::trace(log_softmax<-1>::trace(logits), labels);
    else return mean<false>::trace(logits);
  }
};

/// Binary cross entropy of logits: the mean of log(1 + exp(x)) - x * target. For an infinite logit it is 0 where the target agrees (0 for
/// -inf, 1 for inf), else inf.
struct bce_with_logits {
  template <class Prediction, class Target>
  static constexpr bool pair() {
    static_assert(detail::are_pairs<Prediction, Target>, "tenure: bce_with_logits: prediction and target have different shapes");
    return detail::are_pairs<Prediction, Target>;
  }
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& target) {
    if constexpr (!pair<typename X::shape_type, typename Y::shape_type>()) {
      return mean<false>::trace(x);
    } else {
      // log(1 + exp(-|x|)) + x * (1 - target) where x > 0, so that large numbers do not cancel. At x = 0 the branch with x is chosen, so
      // -|x| has derivative 1.
      const auto zero = detail::number(x, 0), one = detail::number(x, 1), infinity = detail::number(x, __builtin_inf());
      const auto positive = greater::trace(x, zero);
      const auto weight = where::trace(positive, sub::trace(one, target), neg::trace(target));
      const auto agrees_at_infinity = logical_and::trace(equal::trace(abs::trace(x), infinity), equal::trace(weight, zero));
      const auto linear = mul::trace(where::trace(agrees_at_infinity, zero, x), weight);
      return mean<false>::trace(add::trace(softplus::trace(where::trace(positive, neg::trace(x), x)), linear));
    }
  }
};

/// Binary cross entropy of probabilities. Their logarithms are at least -100 (PyTorch's bound). At this bound the gradient is 0. PyTorch's
/// gradient is up to 1e12 there.
struct bce {
  template <class Prediction, class Target>
  static constexpr bool pair() {
    static_assert(detail::are_pairs<Prediction, Target>, "tenure: bce: prediction and target have different shapes");
    return detail::are_pairs<Prediction, Target>;
  }
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& target) {
    if constexpr (!pair<typename X::shape_type, typename Y::shape_type>()) {
      return mean<false>::trace(x);
    } else {
      const auto one = detail::number(x, 1), least = detail::number(x, 3.720075976020836e-44);  // exp(-100)
      const auto logarithm = [&](const auto& p) { return log::trace(where::trace(less::trace(p, least), least, p)); };  // NaN stays, with its gradient
      const auto likelihood = add::trace(mul::trace(target, logarithm(x)), mul::trace(sub::trace(one, target), logarithm(sub::trace(one, x))));
      return mean<false>::trace(neg::trace(likelihood));
    }
  }
};

/// The mean of |x - y|. The gradient is 0 where x and y are equal, and NaN where their difference is NaN (PyTorch: 0).
struct l1 {
  template <class Prediction, class Target>
  static constexpr bool pair() {
    static_assert(detail::are_pairs<Prediction, Target>, "tenure: l1: prediction and target have different shapes");
    return detail::are_pairs<Prediction, Target>;
  }
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    if constexpr (!pair<typename X::shape_type, typename Y::shape_type>()) return mean<false>::trace(x);
    else return mean<false>::trace(abs::trace(sub::trace(x, y)));
  }
};

/// With d = |x - y|: d^2 / 2 up to delta, then delta * (d - delta / 2). The derivative of the second part is delta, also where d is
/// infinite.
struct huber {
  template <class Prediction, class Target>
  static constexpr bool pair() {
    static_assert(detail::are_pairs<Prediction, Target>, "tenure: huber: prediction and target have different shapes");
    return detail::are_pairs<Prediction, Target>;
  }
  template <class X, class Y, class D>
  static constexpr auto trace(const X& x, const Y& y, const D& delta) {
    if constexpr (!pair<typename X::shape_type, typename Y::shape_type>()) {
      return mean<false>::trace(x);
    } else {
      const auto difference = sub::trace(x, y), distance = abs::trace(difference);
      const auto half = detail::number(difference, 0.5);
      const auto is_near = less_equal::trace(distance, delta);
      const auto small = where::trace(is_near, difference, detail::number(difference, 0));  // 0 times infinity would be the gradient of a square
      const auto near = mul::trace(half, mul::trace(small, small));
      const auto far = mul::trace(delta, sub::trace(distance, mul::trace(half, delta)));
      return mean<false>::trace(where::trace(is_near, near, far));
    }
  }
};

/// huber divided by beta, which must not be 0.
struct smooth_l1 {
  template <class X, class Y, class B>
  static constexpr auto trace(const X& x, const Y& y, const B& beta) { return div::trace(huber::trace(x, y, beta), beta); }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Each loss is a scalar, the mean over all elements or rows. Predictions are floating. Prediction and target
/// have equal shapes, or one of them is a scalar: they do not broadcast.
template <operand_or_scalar X, class Y> constexpr auto mse(const X& x, const Y& y) { return apply<ops::mse>(x, y); }
/// cross_entropy takes logits, nll takes log probabilities. The last axis of both is the classes. The labels are class numbers, int32 or
/// int64, one for each row. Errors: index_error for a label outside 0 .. classes - 1.
template <operand_or_scalar X, class I> constexpr auto cross_entropy(const X& logits, const I& labels) { return apply<ops::cross_entropy>(logits, labels); }
template <operand_or_scalar X, class I> constexpr auto nll(const X& log_probabilities, const I& labels) { return apply<ops::nll>(log_probabilities, labels); }
/// Infinite logits have a loss of 0 where the target agrees, else inf.
template <operand_or_scalar X, class Y> constexpr auto bce_with_logits(const X& x, const Y& target) { return apply<ops::bce_with_logits>(x, target); }
/// Logarithms are at least -100. At this bound the gradient is 0.
template <operand_or_scalar X, class Y> constexpr auto bce(const X& x, const Y& target) { return apply<ops::bce>(x, target); }
/// The gradient is 0 where x and y are equal, and NaN where their difference is NaN.
template <operand_or_scalar X, class Y> constexpr auto l1(const X& x, const Y& y) { return apply<ops::l1>(x, y); }
/// An infinite difference has the same gradient as any difference above delta.
template <operand_or_scalar X, class Y> constexpr auto huber(const X& x, const Y& y, double delta = 1) { return apply<ops::huber>(x, y, delta); }
template <operand_or_scalar X, class Y> constexpr auto smooth_l1(const X& x, const Y& y, double beta = 1) { return apply<ops::smooth_l1>(x, y, beta); }

}  // namespace tenure
