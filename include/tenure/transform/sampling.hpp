// SPDX-License-Identifier: BSL-1.0
// keep_top_k and keep_top_p: the likely classes of logits. categorical(key, keep_top_p(logits, 0.9)) draws from them.
// Law: a class is kept if and only if its logit is at least a threshold of its row, so equal logits are kept or dropped together, and the order of the classes
// does not matter.
// Cost: no sort. The threshold is found by halving an interval between two logits, which takes some 20 passes over a row: 0.1 ms for 32,000 classes.
// Source: A. Holtzman et al., The curious case of neural text degeneration, 2020 (top-p).
#pragma once

#include <limits>

#include <tenure/ops/reduction.hpp>
#include <tenure/transform/dynamic_slice.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// The largest element t of each row of x such that the elements that are at least t have together at least `needed` of the weights. The smallest one, if all
/// have less. NaN and -inf are no candidates.
template <class X, class W, class N>
constexpr auto threshold_of(const X& x, const W& weights, const N& needed) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  // Both ends are elements: the smallest one has enough, and the largest one has or may have.
  const auto low = amin(where(x > -inf, x, inf), axis<-1>, keepdim), high = amax(where(x > -inf, x, -inf), axis<-1>, keepdim);
  const auto goes_on = [](const auto& ends) { return any(std::get<0>(ends) < std::get<1>(ends)); };
  const auto halve = [=](const auto& ends) {
    const auto [lo, hi] = ends;
    const auto between = 0.5 * lo + 0.5 * hi, middle = where(between > lo && between < hi, between, hi);
    const auto is_above = x >= middle;
    const auto is_enough = sum(where(is_above, weights, 0.0), axis<-1>, keepdim) >= needed;
    const auto next_above = amin(where(is_above, x, inf), axis<-1>, keepdim), next_below = amax(where(x < middle, x, -inf), axis<-1>, keepdim);
    const auto is_done = !(lo < hi);
    return std::tuple{where(is_enough && !is_done, next_above, lo), where(is_enough || is_done, hi, next_below)};
  };
  return std::get<0>(while_loop(goes_on, halve, std::tuple{low, high}));
}

template <class X>
constexpr auto in_lanes_of(const X& x) { return ops::cast<number::lane_t<typename X::element_type>>::trace(x); }
/// x where it is not below the threshold, else -inf. A NaN stays.
template <class X, class T>
constexpr auto kept_from(const X& x, const T& threshold) {
  return ops::cast<typename X::element_type>::trace(where(in_lanes_of(x) < stop_gradient(threshold), -std::numeric_limits<double>::infinity(), in_lanes_of(x)));
}

struct top_k_call {
  template <class X, class K>
  constexpr auto operator()(const X& logits, const K& k) const {
    const auto x = stop_gradient(in_lanes_of(logits));
    using lane = typename decltype(x)::element_type;
    return kept_from(logits, threshold_of(x, ones_like(x), ops::cast<lane>::trace(maximum(k, 1))));
  }
};
struct top_p_call {
  template <class X, class P>
  constexpr auto operator()(const X& logits, const P& p) const {
    const auto x = stop_gradient(in_lanes_of(logits));
    using lane = typename decltype(x)::element_type;
    const auto largest = amax(x, axis<-1>, keepdim);
    const auto weights = exp(where(x == largest, 0.0, x - largest));  // 1 also where the largest is infinite
    const auto part = ops::cast<lane>::trace(stop_gradient(p));
    const auto threshold = threshold_of(x, weights, part * sum(weights, axis<-1>, keepdim));
    // The sum of the likely ones may be the sum of all already, up to rounding.
    return kept_from(logits, where(part < 1.0, threshold, -std::numeric_limits<double>::infinity()));
  }
};

template <class N>
constexpr bool is_one_number() {
  constexpr bool is_one = [] {
    if constexpr (operand<N>) return shape_of_t<N>::rank == 0;
    else return true;
  }();
  static_assert(is_one, "tenure: keep_top_k, keep_top_p: k and p are one number for all rows: for one of each row write vmap of the function of a row");
  return is_one;
}
/// Whether the logits are floating, and k an integer. If not, a static_assert says so.
template <class Call, class X, class N>
constexpr bool are_logits_and_number() {
  constexpr bool are_floating = is_after_error<X> || number::is_floating<element_t<X>>;
  static_assert(are_floating, "tenure: keep_top_k, keep_top_p: the logits are integers or bool: convert them first, as by tn::cast<float>(logits)");
  constexpr bool is_count = [] {
    if constexpr (!std::is_same_v<Call, top_k_call>) return true;
    else if constexpr (operand<N>) return std::is_integral_v<element_t<N>> && !std::is_same_v<element_t<N>, bool>;
    else return std::is_integral_v<N> && !std::is_same_v<N, bool>;
  }();
  static_assert(is_count, "tenure: keep_top_k: k is no integer: keep_top_k(logits, 40) keeps 40 classes, and keep_top_p(logits, 0.9) those of 0.9 of the probability");
  return are_floating && !is_after_error<X> && is_count;
}
template <class Call, class X, class N>
constexpr auto kept_logits(const X& logits, const N& n) {
  constexpr bool has_classes = [] {
    if constexpr (operand<X>) return shape_of_t<X>::rank > 0;
    else return false;
  }();
  static_assert(has_classes, "tenure: keep_top_k, keep_top_p: the logits have no axis: the classes lie along their last axis");
  if constexpr (!has_classes) {
    return after_error();
  } else if constexpr (!are_logits_and_number<Call, X, N>() || !is_one_number<N>()) {
    return after_error();
  } else {
    return call_by_trace<Call>(logits, n);
  }
}

}  // namespace detail

/// The logits whose class is among the k of largest logits along the last axis; the others become -inf, so that categorical() never draws them. All that equal
/// the k-th largest are kept. k is one number, also of the run: below 1 it is 1, and above the number of classes all are kept. A NaN stays and is no candidate.
/// The gradient flows to what is kept.
template <class X, class K>
constexpr auto keep_top_k(const X& logits, const K& k) { return detail::kept_logits<detail::top_k_call>(logits, k); }
template <std::int64_t K, class X>
constexpr auto keep_top_k(const X& logits) { return keep_top_k(logits, K); }

/// The logits of the smallest set of likely classes whose probabilities, softmax(logits) along the last axis, add up to p or more; the others become -inf. Classes
/// as likely as the least of them are kept too. p is one number, also of the run: at 0 the likeliest class stays, from 1 on, and with a p of NaN, all do. A NaN
/// stays, so that categorical() finds it.
/// The gradient flows to what is kept.
template <class X, class P>
constexpr auto keep_top_p(const X& logits, const P& p) { return detail::kept_logits<detail::top_p_call>(logits, p); }

}  // namespace tenure
