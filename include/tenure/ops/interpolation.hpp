// SPDX-License-Identifier: BSL-1.0
// interpolate: an image of another size, along one axis after the other. A whole factor of the nearest element is a repetition. Otherwise elements are gathered,
// one or two for each element of the result, at positions that follow from the sizes.
// Source: torch.nn.functional.interpolate.
#pragma once

#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/convolution_rule.hpp>
#include <tenure/ops/registry.hpp>
#include <tenure/ops/structure.hpp>

namespace TENURE_NAMESPACE {

/// How interpolate finds an element: it takes the nearest one, or the mean of the four around a position, weighted by their distance.
enum class resize_mode { nearest, bilinear };
inline constexpr resize_mode nearest = resize_mode::nearest;
inline constexpr resize_mode bilinear = resize_mode::bilinear;

/// The options of interpolate: either the extents of the result or a factor. With align_corners the corners of both images lie upon each other (bilinear only).
struct resize {
  per_axis size = 0, factor = 0;
  resize_mode mode = resize_mode::nearest;
  bool align_corners = false;
  image_layout layout = image_layout::nchw;
};

namespace ops {

template <resize Options>
struct interpolate : rounds_once {
  static constexpr bool channels_last = Options.layout == image_layout::nhwc;
  static constexpr bool has_counts(const per_axis& x) { return x.count == 1 || x.count == 2; }
  static constexpr bool counts_fit = has_counts(Options.size) && has_counts(Options.factor);
  static constexpr bool has_size = Options.size.at[0] > 0 && Options.size.at[1] > 0, has_factor = Options.factor.at[0] > 0 && Options.factor.at[1] > 0;
  static constexpr bool are_clear = counts_fit && has_size != has_factor && (has_size || Options.size.at[0] == 0) && (has_factor || Options.factor.at[0] == 0);
  static constexpr bool corners_fit = !Options.align_corners || Options.mode == resize_mode::bilinear;
  static constexpr int axis(int rank, int a) { return channels_last ? rank - 3 + a : rank - 2 + a; }

  template <class S>
  struct of_shape {
    static constexpr bool has_axes = S::rank == 3 || S::rank == 4;
    static constexpr bool is_known = has_axes && is_static(S::value[has_axes ? axis(S::rank, 0) : 0]) && is_static(S::value[has_axes ? axis(S::rank, 1) : 0]);
    static constexpr extents value = [] {
      extents to = S::value;
      for (int a = 0; a < 2 && is_known && are_clear; ++a) to[axis(S::rank, a)] = has_size ? Options.size.at[a] : to[axis(S::rank, a)] * Options.factor.at[a];
      return to;
    }();
    static constexpr bool has_elements = !is_known || (S::value[axis(S::rank, 0)] > 0 && S::value[axis(S::rank, 1)] > 0);
  };

  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    using T = typename X::element_type;
    using shapes = of_shape<S>;
    static_assert(is_floating(dtype_v<T>), "tenure: interpolate: x holds integers or bool: convert first, by tn::cast<float>(x)");
    static_assert(are_clear, "tenure: interpolate: give either .size or .factor, one number above 0 for both axes or one for each");
    static_assert(corners_fit, "tenure: interpolate: align_corners is for .mode = tn::bilinear");
    static_assert(shapes::has_axes, "tenure: interpolate: x is [n, channels, rows, columns] or [channels, rows, columns]; with .layout = tn::nhwc channels are last");
    static_assert(!shapes::has_axes || shapes::is_known, "tenure: interpolate: rows and columns must be static");
    static_assert(shapes::has_elements, "tenure: interpolate: x has no rows or no columns");
    if constexpr (!is_floating(dtype_v<T>) || !are_clear || !corners_fit || !shapes::is_known || !shapes::has_elements) {
      return x;
    } else {
      value y = x;
      for (int a = 0; a < 2; ++a) y = along(y, axis(S::rank, a), shapes::value[axis(S::rank, a)]);
      return traced<T, shape_from<shapes>>{x.graph, y.id};
    }
  }

 private:
  static constexpr value along(value x, int axis, std::int64_t to) {
    const std::int64_t from = x.shape()[axis];
    if (from == to) return x;
    if (Options.mode == resize_mode::bilinear) return linear(x, axis, from, to);
    if (to % from == 0) return repeated(x, axis, to / from);
    return gathered(x, pointwise_value<floor_divide>(counting_to(*x.graph, to) * static_cast<double>(from), counting_to(*x.graph, to).like(static_cast<double>(to))), axis);
  }
  static constexpr value counting_to(ir::builder& g, std::int64_t n) { return counting(g, dtype::int64, g.intern({1, {n}}), 0); }

  /// Each element `times` times.
  static constexpr value repeated(value x, int axis, std::int64_t times) {
    const extents s = x.shape();
    extents to, wide;
    std::int64_t axes = 0;
    for (int a = 0; a < s.rank; ++a) {
      axes |= static_cast<std::int64_t>(wide.rank) << (4 * a);
      to.push_back(a == axis ? s[a] * times : s[a]);
      wide.push_back(s[a]);
      if (a == axis) wide.push_back(times);
    }
    return reshape_to(broadcast_along(x, x.graph->intern(wide), axes), to);
  }

  static constexpr value linear(value x, int axis, std::int64_t from, std::int64_t to) {
    const double step = Options.align_corners ? (to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0.0) : static_cast<double>(from) / static_cast<double>(to);
    value at = cast_to(counting_to(*x.graph, to), dtype::float64);
    if (Options.align_corners) at = at * step;
    else at = pointwise_value<maximum>((at + 0.5) * step + -0.5, at.like(0));
    const value first = pointwise_value<minimum>(pointwise_value<floor>(at), at.like(static_cast<double>(from - 1)));
    const value second = pointwise_value<minimum>(first + 1.0, at.like(static_cast<double>(from - 1)));
    const value left = element(x, first, axis), right = element(x, second, axis);
    const value weight = broadcast_along(cast_to(at - first, x.type()), left.node().shape, axis);
    return left * (weight.like(1) - weight) + right * weight;
  }
  /// The elements of x at positions that lie inside.
  static constexpr value element(value x, value position, int axis) { return gathered(x, cast_to(position, dtype::int64), axis); }
};

}  // namespace ops

namespace detail {
/// interpolate<2>: a number in the place of the options is the factor.
template <class Given>
constexpr resize resize_of(Given given) {
  if constexpr (std::is_same_v<Given, resize>) return given;
  else return {.factor = static_cast<std::int64_t>(given)};
}
}  // namespace detail

/// An image of another size. x is [n, channels, rows, columns] or [channels, rows, columns]; with .layout = tn::nhwc channels are last. Options are a whole factor,
/// interpolate<2>(x), which repeats elements, or interpolate<tn::resize{.size = {48, 64}, .mode = tn::bilinear}>(x). A position of the result lies in x where the centers
/// of elements are a half, as PyTorch's without align_corners. Rows and columns are static.
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto interpolate(const X& x, const Others&...) {
  constexpr bool is_given = sizeof...(More) + sizeof...(Others) == 0 && !std::is_same_v<std::remove_cvref_t<decltype(Options)>, detail::no_options>;
  static_assert(is_given, "tenure: interpolate: a factor, or all options, are one template argument: interpolate<2>(x), interpolate<tn::resize{.size = {48, 64}, .mode = tn::bilinear}>(x)");
  if constexpr (is_given) return apply<ops::interpolate<detail::resize_of(Options)>>(x);
  else return detail::stand_in(x);
}

}  // namespace tenure
