// SPDX-License-Identifier: BSL-1.0
// Losses, composed of other operations: squared and absolute error, huber, cross entropies. Each gives the mean of the losses of its elements or
// rows. Options change that (loss_options.hpp).
// Rule: prediction and target have equal shapes, or one of them is a scalar. Broadcasting is refused: a column and a vector would give
// a matrix of all pairs, and its mean is another loss.
#pragma once

#include <utility>

#include <tenure/ops/activation.hpp>
#include <tenure/ops/indexing.hpp>
#include <tenure/ops/loss_options.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {
template <class Prediction, class Target>
inline constexpr bool are_pairs = Prediction::rank == 0 || Target::rank == 0 || are_alike<Prediction, Target>;

/// The losses of elements or rows, reduced.
template <class Reduction, class X>
constexpr auto reduced_losses(const X& x) {
  if constexpr (std::is_same_v<Reduction, reduction::none_t>) return x;
  else if constexpr (std::is_same_v<Reduction, reduction::sum_t>) return sum<false>::trace(x);
  else return mean<false>::trace(x);
}
}  // namespace detail

/// The base of a loss of pairs of elements. Loss::losses(x, y, options...) computes the losses, and Loss::has_pairs has the message for other shapes.
template <class Loss, class Reduction>
struct loss_of_pairs : rounds_once {
  template <class X, class Y, class... Option>
  static constexpr auto trace(const X& x, const Y& y, const Option&... option) {
    using prediction = typename X::shape_type;
    using target = typename Y::shape_type;
    Loss::template has_pairs<prediction, target>();
    if constexpr (!detail::are_pairs<prediction, target>) return mean<false>::trace(x);
    else return detail::reduced_losses<Reduction>(Loss::losses(x, y, option...));
  }
};

template <class Reduction>
struct mse : loss_of_pairs<mse<Reduction>, Reduction> {
  template <class Prediction, class Target>
  static constexpr void has_pairs() { static_assert(detail::are_pairs<Prediction, Target>, "tenure: mse: prediction and target have different shapes"); }
  static constexpr auto losses(const auto& x, const auto& y) { return square::trace(sub::trace(x, y)); }
};

namespace detail {
template <class X, class I>
inline constexpr bool has_label_a_row = is_index_v<I> && pick::has_one_a_row<X, I>;
template <class X, class W>
inline constexpr bool has_weight_a_class = W::shape_type::rank == 1 && is_floating(dtype_v<typename W::element_type>) &&
                                           extents_may_agree(W::shape_type::value[0], X::shape_type::value[X::shape_type::rank - 1]);

/// The losses of rows from log probabilities: h = -w[label] * log p[label]. With smoothing e and C classes: (1 - e) * h, plus e / C times the sum of
/// -w[c] * log p[c] over all classes c. A row whose label is Ignore has the loss 0, and its label is not an index. The mean divides by the sum of
/// w[label] over the other rows, or by their number. The pass over the row also reads weights and labels. Loss has the log probabilities and messages.
template <class Loss, class Options>
struct class_losses : rounds_once {
  template <class X, class I>
  static constexpr auto losses(const X& x, const I& labels, const auto&... option) {
    if constexpr (!has_label_a_row<X, I>) return mean<false>::trace(x);
    else if constexpr (Options::has_weights) return weighted(x, labels, option...);
    else return rows(Loss::log_probabilities(x, labels), labels, absent{}, option...);
  }

 private:
  struct absent {};  // in place of the weights or of the smoothing

  template <class X, class W>
  static constexpr auto weighted(const X& x, const auto& labels, const W& weights, const auto&... smoothing) {
    Loss::template has_weights<X, W>();
    if constexpr (has_weight_a_class<X, W>) return rows(Loss::log_probabilities(x, labels), labels, weights, smoothing...);
    else return mean<false>::trace(x);
  }
  static constexpr auto rows(const auto& x, const auto& labels, const auto& weights) { return rows(x, labels, weights, absent{}); }
  template <class X, class I, class W, class E>
  static constexpr auto rows(const X& x, const I& labels, [[maybe_unused]] const W& weights, [[maybe_unused]] const E& smoothing) {
    using reduction_type = typename Options::reduction_type;
    constexpr bool ignores = Options::ignores, weighs = Options::has_weights;
    ir::builder& g = *x.graph;
    const auto label = [&](std::int64_t i) { return traced<typename I::element_type, shape<>>{&g, g.constant_bits(dtype_v<typename I::element_type>, g.intern({}), i)}; };
    const auto zero = [&] { return number(x, 0); };
    if constexpr (ignores) {
      constexpr bool holds = std::in_range<typename I::element_type>(Options::ignored);
      static_assert(holds, "tenure: cross_entropy, nll: ignore_index is no number that the type of the labels can hold");
    }
    const auto counts = [&] {
      if constexpr (ignores) return not_equal::trace(labels, label(Options::ignored));
      else return labels;
    }();
    const auto of_others = [&](const auto& y) {
      if constexpr (ignores) return where::trace(counts, y, zero());
      else return y;
    };
    const auto index = [&] {
      if constexpr (ignores) return where::trace(counts, labels, label(0));
      else return labels;
    }();
    [[maybe_unused]] const auto weight_of_all = [&] {
      if constexpr (weighs) {
        g.unify(value(x).shape()[x.shape().rank - 1], value(weights).shape()[0], Loss::weights_name, g.intern(extents(x.shape())), g.intern(extents(weights.shape())));
        return X{&g, broadcast_to(cast_to(weights, dtype_v<typename X::element_type>), value(x).node().shape).id};
      } else {
        return absent{};
      }
    }();
    [[maybe_unused]] const auto weight = [&] {
      if constexpr (weighs) return of_others(pick::trace(weight_of_all, index, Loss::name));
      else if constexpr (ignores) return of_others(number(x, 1));
      else return absent{};
    }();
    const auto likelihood = pick::trace(x, index, Loss::name);
    const auto hard = [&] {
      if constexpr (weighs) return neg::trace(mul::trace(of_others(likelihood), weight));
      else return of_others(neg::trace(likelihood));
    }();
    const auto losses = [&] {
      if constexpr (Options::smooths) {
        const value classes = number_of_extent(g, dtype_v<typename X::element_type>, value(x).shape()[x.shape().rank - 1]);
        const auto share = div::trace(smoothing, traced<typename X::element_type, shape<>>{&g, classes.id});
        // With smoothing 0 a class of probability 0 must not count: 0 times its infinite logarithm would be NaN. A constant smoothing is tested here,
        // in the trace, because the select costs a step.
        const ir::node& given = value(smoothing).node();
        const bool is_known = given.op == ir::opcode::constant;
        constexpr dtype type = dtype_v<typename X::element_type>;
        if (is_known && ir::is_zero({.type = type, .attr = ir::bits_of(type, ir::value_of(given))})) return hard;
        const auto smoothed = is_known ? x : where::trace(greater::trace(share, zero()), x, zero());
        const auto weighted = [&] {
          if constexpr (weighs) return mul::trace(smoothed, weight_of_all);
          else return smoothed;
        }();
        const auto all = of_others(neg::trace(sum<false, -1>::trace(weighted)));
        return add::trace(mul::trace(sub::trace(number(x, 1), smoothing), hard), mul::trace(share, all));
      } else {
        return hard;
      }
    }();
    if constexpr ((ignores || weighs) && std::is_same_v<reduction_type, reduction::mean_t>)
      return div::trace(sum<false>::trace(losses), sum<false>::trace(weight));
    else return reduced_losses<reduction_type>(losses);
  }
};
}  // namespace detail

/// -log_probabilities[label] for each row.
template <class Options>
struct nll : detail::class_losses<nll<Options>, Options> {
  static constexpr const char *name = "nll", *weights_name = "nll: class_weights";
  template <class X, class I>
  static constexpr auto trace(const X& x, const I& labels, const auto&... option) {
    static_assert(is_index_v<I>, "tenure: nll: the labels must be class numbers of type int32 or int64");
    static_assert(!is_index_v<I> || detail::has_label_a_row<X, I>, "tenure: nll: needs one label for each row of log_probabilities, whose last axis is the classes");
    return nll::losses(x, labels, option...);
  }
  template <class X, class W>
  static constexpr void has_weights() {
    static_assert(detail::has_weight_a_class<X, W>, "tenure: nll: class_weights is not a vector with one floating number for each class");
  }
  static constexpr auto log_probabilities(const auto& x, const auto&) { return x; }
};

/// -log softmax(logits)[label] for each row.
template <class Options>
struct cross_entropy : detail::class_losses<cross_entropy<Options>, Options> {
  static constexpr const char *name = "cross_entropy", *weights_name = "cross_entropy: class_weights";
  template <class X, class I>
  static constexpr auto trace(const X& x, const I& labels, const auto&... option) {
    static_assert(is_index_v<I>, "tenure: cross_entropy: the labels must be class numbers of type int32 or int64");
    static_assert(!is_index_v<I> || detail::has_label_a_row<X, I>, "tenure: cross_entropy: needs one label for each row of logits, whose last axis is the classes");
    return cross_entropy::losses(x, labels, option...);
  }
  template <class X, class W>
  static constexpr void has_weights() {
    static_assert(detail::has_weight_a_class<X, W>, "tenure: cross_entropy: class_weights is not a vector with one floating number for each class");
  }
  static constexpr auto log_probabilities(const auto& logits, const auto& labels) { return log_softmax<-1>::trace(of_rows_that_count(logits, labels)); }

 private:
  /// The logits, with 0 in ignored rows: where ignored logits are NaN, the derivative of log_softmax is NaN, and 0 times NaN is NaN.
  template <class X, class I>
  static constexpr X of_rows_that_count(const X& logits, const I& labels) {
    if constexpr (Options::ignores) {
      const value all = logits, label = labels;
      extents column = label.shape();
      column.push_back(1);
      const value ignored{*logits.graph, logits.graph->constant_bits(label.type(), label.node().shape, Options::ignored)};
      const value counts = pointwise_value<not_equal>(label, ignored);
      return X{logits.graph, pointwise_value<where>(broadcast_to(reshape_to(counts, column), all.node().shape), all, all.like(0)).id};
    } else {
      return logits;
    }
  }
};

/// Binary cross entropy of logits: log(1 + exp(x)) - x * target. For an infinite logit it is 0 where the target agrees (0 for
/// -inf, 1 for inf), else inf.
template <class Reduction>
struct bce_with_logits : loss_of_pairs<bce_with_logits<Reduction>, Reduction> {
  template <class Prediction, class Target>
  static constexpr void has_pairs() { static_assert(detail::are_pairs<Prediction, Target>, "tenure: bce_with_logits: prediction and target have different shapes"); }
  static constexpr auto losses(const auto& x, const auto& target) {
    // log(1 + exp(-|x|)) + x * (1 - target) where x > 0, so that large numbers do not cancel. At x = 0 the branch for negative x is chosen, so the
    // derivative of -|x| is 1 there.
    const auto zero = detail::number(x, 0), one = detail::number(x, 1), infinity = detail::number(x, __builtin_inf());
    const auto positive = greater::trace(x, zero);
    const auto weight = where::trace(positive, sub::trace(one, target), neg::trace(target));
    const auto agrees_at_infinity = logical_and::trace(equal::trace(abs::trace(x), infinity), equal::trace(weight, zero));
    const auto linear = mul::trace(where::trace(agrees_at_infinity, zero, x), weight);
    return add::trace(softplus::trace(where::trace(positive, neg::trace(x), x)), linear);
  }
};

/// Binary cross entropy of probabilities. Their logarithms are at least -100 (PyTorch's bound). At this bound the gradient is 0. PyTorch's
/// gradient is up to 1e12 there.
template <class Reduction>
struct bce : loss_of_pairs<bce<Reduction>, Reduction> {
  template <class Prediction, class Target>
  static constexpr void has_pairs() { static_assert(detail::are_pairs<Prediction, Target>, "tenure: bce: prediction and target have different shapes"); }
  static constexpr auto losses(const auto& x, const auto& target) {
    const auto zero = detail::number(x, 0), one = detail::number(x, 1), least = detail::number(x, 3.720075976020836e-44);  // exp(-100)
    // The value at the bound is -100 and not log(least): in float32 `least` is denormal, and in a flush_denormals scope it is 0. NaN stays NaN.
    const auto logarithm = [&]<class Log>(Log, const auto& at_bound, const auto& p, const auto& inside) {
      return where::trace(at_bound, detail::number(x, -100), Log::trace(where::trace(at_bound, inside, p)));
    };
    const auto of_x = logarithm(log{}, less_equal::trace(x, least), x, one);
    // log1p(-x) and not log(1 - x), because 1 - x is 1 for a small x.
    const auto of_rest = logarithm(log1p{}, greater_equal::trace(x, one), neg::trace(x), zero);
    const auto likelihood = add::trace(mul::trace(target, of_x), mul::trace(sub::trace(one, target), of_rest));
    return neg::trace(likelihood);
  }
};

/// |x - y|. The gradient is 0 where x and y are equal, and NaN where their difference is NaN (PyTorch: 0).
template <class Reduction>
struct l1 : loss_of_pairs<l1<Reduction>, Reduction> {
  template <class Prediction, class Target>
  static constexpr void has_pairs() { static_assert(detail::are_pairs<Prediction, Target>, "tenure: l1: prediction and target have different shapes"); }
  static constexpr auto losses(const auto& x, const auto& y) { return abs::trace(sub::trace(x, y)); }
};

/// With d = |x - y|: d^2 / 2 up to delta, then delta * (d - delta / 2). The derivative of the second part is delta, also where d is
/// infinite.
template <class Reduction>
struct huber : loss_of_pairs<huber<Reduction>, Reduction> {
  template <class Prediction, class Target>
  static constexpr void has_pairs() { static_assert(detail::are_pairs<Prediction, Target>, "tenure: huber: prediction and target have different shapes"); }
  static constexpr auto losses(const auto& x, const auto& y, const auto& delta) {
    const auto difference = sub::trace(x, y), distance = abs::trace(difference);
    const auto half = detail::number(difference, 0.5);
    const auto is_near = less_equal::trace(distance, delta);
    const auto small = where::trace(is_near, difference, detail::number(difference, 0));  // else the gradient of a square could be 0 times infinity
    const auto near = mul::trace(half, mul::trace(small, small));
    const auto far = mul::trace(delta, sub::trace(distance, mul::trace(half, delta)));
    return where::trace(is_near, near, far);
  }
};

/// huber divided by beta, which must not be 0.
template <class Reduction>
struct smooth_l1 : rounds_once {
  static constexpr auto trace(const auto& x, const auto& y, const auto& beta) { return div::trace(huber<Reduction>::trace(x, y, beta), beta); }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// mse is the mean of (x - y)^2. Each loss is a scalar, the mean over all elements or rows. The last argument may be reduction::sum, or
/// reduction::none, which gives the loss of each element or row. Predictions are floating. Prediction and target have equal shapes, or one of them is
/// a scalar: they do not broadcast.
template <operand_or_scalar X, class Y, class R = reduction::mean_t> constexpr auto mse(const X& x, const Y& y, const R& = {}) { return apply<ops::mse<detail::reduction_of<R>>>(x, y); }
/// cross_entropy takes logits, nll takes log probabilities. The last axis of both is the classes. The labels are class numbers, int32 or int64, one
/// for each row. Options, in any order: a reduction; class_weights(w), a vector with a weight for each class (the mean then divides by the sum of the
/// weights of the labels); ignore_index<I>, a label whose rows have the loss 0 and do not count in the mean; for cross_entropy label_smoothing(e),
/// with 0 <= e <= 1. If no row counts, the mean is NaN, as in PyTorch. Errors: index_error for a label outside 0 .. classes - 1 that is not ignored.
template <operand_or_scalar X, class I, class... Option>
constexpr auto cross_entropy(const X& logits, const I& labels, const Option&... option) {
  using options = detail::loss_options<Option...>;
  static_assert(options::are_known, "tenure: cross_entropy: an option is tn::reduction::sum or none, tn::class_weights(w), tn::ignore_index<I> or tn::label_smoothing(e), each once");
  if constexpr (!options::are_known) return apply<ops::cross_entropy<detail::loss_options<>>>(logits, labels);
  else if constexpr (!options::has_operands) return apply<ops::cross_entropy<options>>(logits, labels);
  else return options::template apply_to<ops::cross_entropy<options>>(logits, labels, option...);
}
template <operand_or_scalar X, class I, class... Option>
constexpr auto nll(const X& log_probabilities, const I& labels, const Option&... option) {
  using options = detail::loss_options<Option...>;
  constexpr bool are_known = options::are_known && !options::smooths;
  static_assert(are_known, "tenure: nll: an option is tn::reduction::sum or none, tn::class_weights(w) or tn::ignore_index<I>, each once");
  if constexpr (!are_known) return apply<ops::nll<detail::loss_options<>>>(log_probabilities, labels);
  else if constexpr (!options::has_operands) return apply<ops::nll<options>>(log_probabilities, labels);
  else return options::template apply_to<ops::nll<options>>(log_probabilities, labels, option...);
}
/// Binary cross entropy of logits x: the mean of -target * log(sigmoid(x)) - (1 - target) * log(1 - sigmoid(x)), computed without overflow.
/// Infinite logits have a loss of 0 where the target agrees, else inf.
template <operand_or_scalar X, class Y, class R = reduction::mean_t> constexpr auto bce_with_logits(const X& x, const Y& target, const R& = {}) { return apply<ops::bce_with_logits<detail::reduction_of<R>>>(x, target); }
/// Binary cross entropy of probabilities x: the mean of -target * log(x) - (1 - target) * log(1 - x). Logarithms are at least -100. At this
/// bound the gradient is 0.
template <operand_or_scalar X, class Y, class R = reduction::mean_t> constexpr auto bce(const X& x, const Y& target, const R& = {}) { return apply<ops::bce<detail::reduction_of<R>>>(x, target); }
/// The mean of |x - y|. The gradient is 0 where x and y are equal, and NaN where their difference is NaN.
template <operand_or_scalar X, class Y, class R = reduction::mean_t> constexpr auto l1(const X& x, const Y& y, const R& = {}) { return apply<ops::l1<detail::reduction_of<R>>>(x, y); }
/// The mean of d^2 / 2 where d = |x - y| <= delta, else of delta * (d - delta / 2). smooth_l1 is huber with delta = beta, divided by beta. An
/// infinite difference has the same gradient as any difference above delta.
template <operand_or_scalar X, class Y, class R = reduction::mean_t> constexpr auto huber(const X& x, const Y& y, double delta = 1, const R& = {}) { return apply<ops::huber<detail::reduction_of<R>>>(x, y, delta); }
template <operand_or_scalar X, class Y, detail::a_reduction R> constexpr auto huber(const X& x, const Y& y, const R& r) { return huber(x, y, 1.0, r); }
template <operand_or_scalar X, class Y, class R = reduction::mean_t> constexpr auto smooth_l1(const X& x, const Y& y, double beta = 1, const R& = {}) { return apply<ops::smooth_l1<detail::reduction_of<R>>>(x, y, beta); }
template <operand_or_scalar X, class Y, detail::a_reduction R> constexpr auto smooth_l1(const X& x, const Y& y, const R& r) { return smooth_l1(x, y, 1.0, r); }

}  // namespace tenure
