// SPDX-License-Identifier: BSL-1.0
// max_pool and avg_pool: the largest element, and the mean, of each window of an image, as a chain over slices of x, which becomes one loop.
// Source: torch.nn.functional.max_pool2d and avg_pool2d.
#pragma once

#include <limits>

#include <tenure/ops/comparison.hpp>
#include <tenure/ops/convolution_rule.hpp>
#include <tenure/ops/registry.hpp>
#include <tenure/ops/structure.hpp>

namespace TENURE_NAMESPACE {

/// The options of a pool: max_pool2d<tn::pool{.size = 3, .stride = 2, .padding = 1}>(x). A stride of 0 is the size.
struct pool {
  per_axis size = 2, stride = 0, padding = 0;
  image_layout layout = image_layout::nchw;
};

namespace ops {

enum class pooling { largest, mean };

/// The pool along Axes axes (1 or 2).
template <int Axes, pool Options, pooling Kind>
struct pool_along : rounds_once {
  static constexpr bool channels_last = Options.layout == image_layout::nhwc;
  static constexpr std::int64_t size(int a) { return Options.size.at[a]; }
  static constexpr std::int64_t stride(int a) { return Options.stride.at[a] == 0 ? size(a) : Options.stride.at[a]; }
  static constexpr std::int64_t zeros(int a) { return Options.padding.at[a]; }
  static constexpr bool has_counts(const per_axis& x) { return x.count == 1 || x.count == Axes; }
  static constexpr bool counts_fit = has_counts(Options.size) && has_counts(Options.stride) && has_counts(Options.padding);
  static constexpr bool are_possible = [] {
    bool all = counts_fit;
    for (int a = 0; a < Axes && counts_fit; ++a) all = all && size(a) > 0 && stride(a) > 0 && zeros(a) >= 0 && 2 * zeros(a) <= size(a);
    return all;
  }();
  static constexpr int axis(int rank, int a) { return channels_last ? rank - 1 - Axes + a : rank - Axes + a; }

  template <class S>
  struct of_shape {
    static constexpr int rank = S::rank;
    static constexpr bool has_axes = rank == Axes + 1 || rank == Axes + 2;
    static constexpr bool is_known = [] {
      bool all = has_axes;
      for (int a = 0; a < Axes && has_axes; ++a) all = all && is_static(S::value[axis(rank, a)]);
      return all;
    }();
    static constexpr extents value = [] {
      extents to = S::value;
      if (!is_known || !are_possible) return to;
      for (int a = 0; a < Axes; ++a) to[axis(rank, a)] = convolved_extent(to[axis(rank, a)] + 2 * zeros(a), size(a), stride(a), 1);
      return to;
    }();
    static constexpr bool has_positions = [] {
      bool all = true;
      for (int a = 0; a < Axes && is_known && are_possible; ++a) all = all && value[axis(rank, a)] > 0;
      return all;
    }();
  };

  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    using T = typename X::element_type;
    using shapes = of_shape<S>;
    static_assert(is_floating(dtype_v<T>), "tenure: pool: x holds integers or bool: convert first, by tn::cast<float>(x)");
    static_assert(counts_fit, "tenure: pool: an option has a number for another count of axes: write one number for all axes, or one for each");
    static_assert(!counts_fit || are_possible, "tenure: pool: a size or a stride is below 1, or the padding is below 0 or above half of the size");
    static_assert(shapes::has_axes, "tenure: pool: x is [n, channels, axes] or [channels, axes]; with .layout = tn::nhwc channels are last");
    static_assert(!shapes::has_axes || shapes::is_known, "tenure: pool: the axes that are pooled must be static");
    static_assert(shapes::has_positions, "tenure: pool: the window does not fit into x with its padding");
    if constexpr (!is_floating(dtype_v<T>) || !are_possible || !shapes::is_known || !shapes::has_positions) return x;
    else return traced<T, shape_from<shapes>>{x.graph, pooled(x, shapes::value, S::rank).id};
  }

 private:
  static constexpr value pooled(value x, const extents& to, int rank) {
    for (int a = 0; a < Axes; ++a)
      if (zeros(a) > 0) x = surrounded(x, axis(rank, a), zeros(a));
    value all;
    for (std::int64_t u = 0; u < (Axes == 2 ? size(0) : 1); ++u)
      for (std::int64_t v = 0; v < size(Axes - 1); ++v) {
        value part = x;
        if constexpr (Axes == 2) part = sliced(part, axis(rank, 0), u, to[axis(rank, 0)], stride(0));
        part = sliced(part, axis(rank, Axes - 1), v, to[axis(rank, Axes - 1)], stride(Axes - 1));
        all = all.id == ir::none ? part : joined(all, part);
      }
    return Kind == pooling::mean ? all * (1.0 / static_cast<double>(size(0) * (Axes == 2 ? size(1) : 1))) : all;
  }
  /// The first of the largest elements gets the whole gradient, as in PyTorch. A NaN stays.
  static constexpr value joined(value a, value b) {
    if (Kind == pooling::mean) return a + b;
    const value is_larger = pointwise_value<logical_or>(pointwise_value<less>(a, b), pointwise_value<not_equal>(b, b));
    return pointwise_value<where>(is_larger, b, a);
  }
  /// x between zeros, or between -inf for the largest element.
  static constexpr value surrounded(value x, int axis, std::int64_t zeros) {
    const std::int64_t elements = x.shape()[axis];
    if (Kind == pooling::mean) return padded(x, axis, zeros, elements + 2 * zeros, 1);
    extents s = x.shape();
    s[axis] = zeros;
    const value lowest{*x.graph, x.graph->constant(x.type(), x.graph->intern(s), -std::numeric_limits<double>::infinity())};
    return concatenated(concatenated(lowest, x, axis), lowest, axis);
  }
};

}  // namespace ops

namespace detail {
/// max_pool2d<2>: a number in the place of the options is the size.
template <class Given>
constexpr pool pool_of(Given given) {
  if constexpr (std::is_same_v<Given, pool>) return given;
  else return {.size = static_cast<std::int64_t>(given)};
}
/// The call of a pool. Numbers after x, as PyTorch's functions take them, are refused.
template <int Axes, auto Options, ops::pooling Kind, bool IsOne, class X>
constexpr auto pool_call(const X& x) {
  constexpr bool is_given = IsOne && !std::is_same_v<std::remove_cvref_t<decltype(Options)>, no_options>;
  static_assert(is_given, "tenure: pool: the size, or all options, are one template argument: max_pool2d<2>(x), max_pool2d<tn::pool{.size = 3, .stride = 2, .padding = 1}>(x)");
  if constexpr (is_given) return apply<ops::pool_along<Axes, pool_of(Options), Kind>>(x);
  else return stand_in(x);
}
}  // namespace detail

/// The largest element of each window: torch.nn.functional.max_pool2d. x is [n, channels, rows, columns] or [channels, rows, columns]; with .layout = tn::nhwc channels are
/// last. Options are a size, max_pool2d<2>(x), or max_pool2d<tn::pool{.size = 3, .stride = 2, .padding = 1}>(x). Padding is -inf. Of equal elements the first gets the
/// gradient. A NaN is larger than every number.
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto max_pool2d(const X& x, const Others&...) { return detail::pool_call<2, Options, ops::pooling::largest, sizeof...(More) + sizeof...(Others) == 0>(x); }
/// The mean of each window: torch.nn.functional.avg_pool2d. The zeros of the padding count, as there.
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto avg_pool2d(const X& x, const Others&...) { return detail::pool_call<2, Options, ops::pooling::mean, sizeof...(More) + sizeof...(Others) == 0>(x); }
/// The same along one axis: x is [n, channels, elements] or [channels, elements].
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto max_pool1d(const X& x, const Others&...) { return detail::pool_call<1, Options, ops::pooling::largest, sizeof...(More) + sizeof...(Others) == 0>(x); }
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto avg_pool1d(const X& x, const Others&...) { return detail::pool_call<1, Options, ops::pooling::mean, sizeof...(More) + sizeof...(Others) == 0>(x); }

}  // namespace tenure
