// SPDX-License-Identifier: BSL-1.0
// conv1d, conv2d, conv3d and the transposed forms: which operands fit, and the calls. The graphs are in convolution_rule.hpp.
// Source: the definitions of PyTorch's torch.nn.functional.conv2d and conv_transpose2d.
#pragma once

#include <tenure/ops/convolution_rule.hpp>

namespace TENURE_NAMESPACE {
namespace ops {

/// The convolution along Axes axes, or its transpose.
template <int Axes, conv Options, bool Transposed>
struct convolution_along {
  static constexpr const char* name = "conv";
  using rule = detail::conv_rule<Axes, Options>;

  template <class X, class W>
  struct of_shapes {
    static constexpr int rank = X::rank;
    static constexpr bool have_axes = (rank == Axes + 1 || rank == Axes + 2) && W::rank == Axes + 2;
    static constexpr bool are_static = [] {
      if (!have_axes) return false;
      bool all = all_static(W::value) && is_static(X::value[rule::channels(rank)]);
      for (int a = 0; a < Axes; ++a) all = all && is_static(X::value[rule::axis(rank, a)]);
      return all;
    }();
    /// The channels of x, which a transposed convolution has as results of the taps.
    static constexpr std::int64_t channels = have_axes ? X::value[rule::channels(have_axes ? rank : Axes + 1)] : 0;
    static constexpr std::int64_t of_taps = !have_axes ? 0 : W::value[have_axes ? Transposed ? rule::results_of_taps : rule::channels_of_taps : 0] * (Transposed ? 1 : Options.groups);
    static constexpr std::int64_t results = !have_axes ? 0 : W::value[have_axes ? Transposed ? rule::channels_of_taps : rule::results_of_taps : 0] * (Transposed ? Options.groups : 1);
    static constexpr bool divides = rule::are_positive && channels % (rule::are_positive ? Options.groups : 1) == 0 && results % (rule::are_positive ? Options.groups : 1) == 0;
    static constexpr extents value = [] {
      extents to = X::value;
      if (!have_axes || !are_static || !rule::are_positive) return to;
      std::int64_t elements[2] = {1, 1}, taps[2] = {1, 1};
      for (int a = 0; a < Axes; ++a) elements[2 - Axes + a] = X::value[rule::axis(rank, a)], taps[2 - Axes + a] = W::value[rule::axis_of_taps(a)];
      const auto zeros = rule::zeros_of(elements, taps);
      for (int a = 0; a < Axes; ++a) {
        const int at = 2 - Axes + a;
        to[rule::axis(rank, a)] = Transposed ? rule::extent_of_transposed(elements[at], taps[at], at) - zeros.before[at] - zeros.after[at]
                                             : convolved_extent(elements[at] + zeros.before[at] + zeros.after[at], taps[at], rule::options.stride[at], rule::options.dilation[at]);
      }
      to[rule::channels(rank)] = results;
      return to;
    }();
    static constexpr bool has_positions = [] {
      bool all = true;
      for (int a = 0; a < Axes && have_axes; ++a) all = all && value[rule::axis(rank, a)] > 0;
      return all;
    }();
  };

  template <class X, class W>
  static constexpr auto trace(const X& x, const W& w) { return with_bias(x, w, nullptr); }
  template <class X, class W, class B>
  static constexpr auto trace(const X& x, const W& w, const B& bias) { return with_bias(x, w, &bias); }

 private:
  template <class X, class W, class B>
  static constexpr auto with_bias(const X& x, const W& w, [[maybe_unused]] const B* bias) {
    using S = typename X::shape_type;
    using T = typename X::element_type;
    using shapes = of_shapes<S, typename W::shape_type>;
    constexpr bool has_bias = !std::is_same_v<B, void>;
    constexpr bool same_types = std::is_same_v<T, typename W::element_type>;
    static_assert(same_types, "tenure: conv: x and w have different element types");
    static_assert(is_floating(dtype_v<T>), "tenure: conv: integers and bool have no convolution: convert first, by tn::cast<float>(x)");
    static_assert(rule::counts_fit, "tenure: conv: an option has a number for another count of axes: write one number for all axes, or one for each");
    static_assert(rule::are_positive, "tenure: conv: a stride, a dilation or the number of groups is below 1, the padding is below 0, or output_padding is not below the stride");
    static_assert(!Transposed || Options.padding.by == conv_padding::rule::given, "tenure: conv: the padding of a transposed convolution is given by numbers");
    static_assert(shapes::have_axes, "tenure: conv: x is [n, channels, axes] or [channels, axes], and w is [results, channels / groups, axes]; with .layout = tn::nhwc channels are last, and w is [axes, channels / groups, results]");
    static_assert(!shapes::have_axes || shapes::are_static, "tenure: conv: only the number of images may be known at run time: channels, the axes of x and all of w must be static");
    constexpr bool are_known = same_types && is_floating(dtype_v<T>) && rule::counts_fit && rule::are_positive && shapes::have_axes && shapes::are_static;
    constexpr bool channels_fit = channels_agree<are_known ? shapes::channels : 0, are_known ? shapes::of_taps : 0>::value;
    if constexpr (are_known) {
      static_assert(rule::channels_last || channels_agree<shapes::channels, shapes::of_taps>::value, "tenure: conv: the channels of x are not those of w: w is [results, channels / groups, axes], of a transposed convolution [channels, results / groups, axes]");
      static_assert(!rule::channels_last || channels_agree<shapes::channels, shapes::of_taps>::value, "tenure: conv: the channels of x are not those of w: with .layout = tn::nhwc they are the last axis of x, and w is [axes, channels / groups, results], of a transposed convolution [axes, results / groups, channels]");
      static_assert(shapes::divides, "tenure: conv: the number of groups does not divide the channels of x and the results");
      static_assert(shapes::has_positions, "tenure: conv: the taps do not fit into x with its padding");
    }
    if constexpr (!are_known || !channels_fit || !shapes::divides || !shapes::has_positions) {
      return x;
    } else {
      constexpr bool is_narrow = number::is_narrow<T>;  // stored narrow, computed in lanes
      const auto operand = [](const auto& v) { return is_narrow ? cast_to(v, lane_of(dtype_v<T>)) : value(v); };
      value added;
      if constexpr (has_bias) {
        constexpr bool same_type = std::is_same_v<T, typename B::element_type>;
        constexpr bool fits = B::shape_type::rank == 1 && channels_agree<B::shape_type::rank == 1 ? B::shape_type::value[0] : 0, shapes::results>::value;
        static_assert(fits, "tenure: conv: the bias is one number for each channel of the result");
        static_assert(same_type, "tenure: conv: x and the bias have different element types");
        if constexpr (fits && same_type) added = operand(*bias);
      }
      value y = Transposed ? rule::convolve_transposed(operand(x), operand(w), added) : rule::convolve(operand(x), operand(w), added);
      y = rule::result(y, S::rank);
      return traced<T, shape_from<shapes>>{x.graph, is_narrow ? cast_to(y, dtype_v<T>).id : y.id};
    }
  }
  template <class X, class W>
  static constexpr auto with_bias(const X& x, const W& w, std::nullptr_t) { return with_bias<X, W, void>(x, w, static_cast<const void*>(nullptr)); }
  template <std::int64_t OfImage, std::int64_t OfTaps>
  struct channels_agree {
    static constexpr bool value = OfImage == OfTaps;
  };
};

namespace detail {
/// The options of the rows and columns of a volume.
template <conv Options>
constexpr conv options_of_images() {
  conv o;
  o.stride = {Options.stride.at[1], Options.stride.at[2]}, o.padding.zeros = {Options.padding.zeros.at[1], Options.padding.zeros.at[2]};
  o.dilation = {Options.dilation.at[1], Options.dilation.at[2]}, o.groups = Options.groups;
  return o;
}
}  // namespace detail

/// The convolution along three axes: the sum over the taps of the first one of convolutions of images, whose number is n times its positions.
template <conv Options>
struct convolution_of_volumes {
  using rule = detail::conv_rule<3, Options>;
  using of_images = detail::conv_rule<2, detail::options_of_images<Options>()>;
  static constexpr bool options_fit = rule::counts_fit && rule::are_positive && Options.padding.by == conv_padding::rule::given && !rule::channels_last;

  template <class X, class W>
  struct of_shapes {
    static constexpr bool fit = X::rank == 5 && W::rank == 5 && all_static(X::value) && all_static(W::value);
    static constexpr bool channels_agree = fit && options_fit && X::value[1] == W::value[1] * Options.groups && W::value[0] % (options_fit ? Options.groups : 1) == 0;
    static constexpr extents value = [] {
      extents to = X::value;
      if (!channels_agree) return to;
      to[1] = W::value[0];
      for (int a = 0; a < 3; ++a)
        to[2 + a] = convolved_extent(to[2 + a] + 2 * Options.padding.zeros.at[a], W::value[2 + a], Options.stride.at[a], Options.dilation.at[a]);
      return to;
    }();
    static constexpr bool has_positions = !channels_agree || (value[2] > 0 && value[3] > 0 && value[4] > 0);
  };

  template <class X, class W, class... B>
  static constexpr auto trace(const X& x, const W& w, const B&... bias) {
    using T = typename X::element_type;
    using shapes = of_shapes<typename X::shape_type, typename W::shape_type>;
    constexpr bool same_types = std::is_same_v<T, typename W::element_type> && (std::is_same_v<T, typename B::element_type> && ...) && (std::is_same_v<T, float> || std::is_same_v<T, double>);
    static_assert(same_types, "tenure: conv3d: x, w and the bias are all float or all double");
    static_assert(options_fit, "tenure: conv3d: an option is one number or three, in its range, and the layout is tn::nchw");
    static_assert(shapes::fit, "tenure: conv3d: x is [n, channels, depth, rows, columns], w is [results, channels / groups, depth, rows, columns], and all are static");
    if constexpr (!same_types || !options_fit || !shapes::fit) {
      return x;
    } else {
      constexpr bool bias_fits = ((B::shape_type::rank == 1 && B::shape_type::value[0] == shapes::value[1]) && ...);
      static_assert(shapes::channels_agree, "tenure: conv3d: the channels of x are not those of w times the groups, or the groups do not divide the results");
      static_assert(shapes::has_positions, "tenure: conv: the taps do not fit into x with its padding");
      static_assert(!shapes::channels_agree || bias_fits, "tenure: conv: the bias is one number for each channel of the result");
      if constexpr (!shapes::channels_agree || !shapes::has_positions || !bias_fits) return x;
      else return traced<T, shape_from<shapes>>{x.graph, convolved_volume(x, w, shapes::value, value(bias)...).id};
    }
  }

 private:
  static constexpr value convolved_volume(value x, value w, const extents& to, value bias = {}) {
    const std::int64_t zeros = Options.padding.zeros.at[0];
    const extents taps = w.shape();
    if (zeros > 0) x = padded(x, 2, zeros, x.shape()[2] + 2 * zeros, 1);
    value sum;
    for (std::int64_t u = 0; u < taps[2]; ++u) {
      const value lines = moved_axis(sliced(x, 2, u * Options.dilation.at[0], to[2], Options.stride.at[0]), 2, 1);  // [n, depth, channels, rows, columns]
      const extents s = lines.shape();
      const value tap = reshape_to(sliced(w, 2, u, 1, 1), {4, {taps[0], taps[1], taps[3], taps[4]}});
      const value part = of_images::convolve(reshape_to(lines, {4, {s[0] * s[1], s[2], s[3], s[4]}}), tap, u == 0 ? bias : value());
      sum = sum.id == ir::none ? part : sum + part;
    }
    return moved_axis(reshape_to(sum, {5, {to[0], to[2], to[1], to[3], to[4]}}), 1, 2);
  }
};

}  // namespace ops

namespace detail {
/// The call of a convolution. Numbers after w, as PyTorch's functions take them, are refused, and so are options that are an argument.
template <int Axes, auto Options, bool Transposed, bool IsOne, class X, class W, class... B>
constexpr auto convolution_call(const X& x, const W& w, const B&... b) {
  constexpr bool has_options = IsOne && std::is_same_v<std::remove_cvref_t<decltype(Options)>, conv>;
  constexpr bool has_operands = sizeof...(B) < 2 && !((std::is_arithmetic_v<B> || std::is_same_v<B, conv>) || ...);
  static_assert(has_options && has_operands, "tenure: conv: the options are one template argument: conv2d<tn::conv{.stride = 2, .padding = 1}>(x, w, b)");
  if constexpr (!has_options || !has_operands) return stand_in(x);
  else if constexpr (Axes == 3) return apply<ops::convolution_of_volumes<Options>>(x, w, b...);
  else return apply<ops::convolution_along<Axes, Options, Transposed>>(x, w, b...);
}
}  // namespace detail

/// y[n, o, i, j] = b[o] + the sum over c, u, v of x[n, c, s i + d u - p, s j + d v - p] w[o, c, u, v]: torch.nn.functional.conv2d. x is [n, channels, rows, columns],
/// or [channels, rows, columns] for one image; w is [results, channels / groups, rows, columns]; b, if it is given, is [results]. The number of images may be
/// known at run time only. Element types are equal and floating; bfloat16 is computed in float32. Options: stride, padding (numbers, tn::same or tn::causal),
/// dilation, groups, layout (tn::nchw or tn::nhwc).
/// Cost: 2 operations for each element of the result, tap and channel of a group. There is no matrix of windows in memory. Padding, and without it images
/// whose channels are not last, cost a copy of x. The gradient of x with a stride multiplies no zeros, but with a stride and a dilation it does.
template <auto Options = conv(), auto... More, operand_or_scalar X, class W, class... B>
constexpr auto conv2d(const X& x, const W& w, const B&... b) { return detail::convolution_call<2, Options, false, sizeof...(More) == 0>(x, w, b...); }
/// conv2d with one axis: x is [n, channels, elements] or [channels, elements], w is [results, channels / groups, elements]. With .padding = tn::causal element i of
/// the result reads the elements up to i.
template <auto Options = conv(), auto... More, operand_or_scalar X, class W, class... B>
constexpr auto conv1d(const X& x, const W& w, const B&... b) { return detail::convolution_call<1, Options, false, sizeof...(More) == 0>(x, w, b...); }
/// The transposed convolution, torch.nn.functional.conv_transpose2d: the derivative of conv2d by its image, with the cotangent x. w is [channels, results / groups,
/// rows, columns]; with tn::nhwc [rows, columns, results / groups, channels], the taps of that conv2d. The extents are (e - 1) s - 2 p + d (k - 1) +
/// output_padding + 1.
template <auto Options = conv(), auto... More, operand_or_scalar X, class W, class... B>
constexpr auto conv_transpose2d(const X& x, const W& w, const B&... b) { return detail::convolution_call<2, Options, true, sizeof...(More) == 0>(x, w, b...); }
/// conv_transpose2d with one axis.
template <auto Options = conv(), auto... More, operand_or_scalar X, class W, class... B>
constexpr auto conv_transpose1d(const X& x, const W& w, const B&... b) { return detail::convolution_call<1, Options, true, sizeof...(More) == 0>(x, w, b...); }

/// conv2d with three axes: torch.nn.functional.conv3d. x is [n, channels, depth, rows, columns], w is [results, channels / groups, depth, rows, columns], b, if it is given,
/// is [results]. All extents are static, and elements are float or double. Cost: that of conv2d of n times depth images for each tap of the depth, and their sum.
template <auto Options = conv(), auto... More, operand_or_scalar X, class W, class... B>
constexpr auto conv3d(const X& x, const W& w, const B&... b) { return detail::convolution_call<3, Options, false, sizeof...(More) == 0>(x, w, b...); }

}  // namespace tenure
