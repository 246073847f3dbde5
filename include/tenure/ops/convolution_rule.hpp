// SPDX-License-Identifier: BSL-1.0
// The options of convolutions, and what they do to a graph: axes, padding, groups. The node convolution (opaque/convolution.hpp) has its channels last, so images
// with channels first are read through a permuted view, and the bias is added before the result is permuted back. A convolution of each channel by itself
// is another node (opaque/depthwise.hpp), which takes both layouts and the padding as they are.
#pragma once

#include <tenure/ops/attention.hpp>
#include <tenure/ops/contraction.hpp>
#include <tenure/ops/opaque/convolution.hpp>
#include <tenure/ops/opaque/convolution_of_planes.hpp>
#include <tenure/ops/opaque/depthwise.hpp>
#include <tenure/ops/structural/mark.hpp>
#include <tenure/tensor/layout.hpp>

namespace TENURE_NAMESPACE {

/// A number for each axis of an image: 2 for all of them, or {2, 1}.
struct per_axis {
  std::int64_t at[3] = {};
  int count = 0;

  constexpr per_axis(std::int64_t each) : at{each, each, each}, count(1) {}
  constexpr per_axis(std::int64_t a, std::int64_t b) : at{a, b, 0}, count(2) {}
  constexpr per_axis(std::int64_t a, std::int64_t b, std::int64_t c) : at{a, b, c}, count(3) {}
};

namespace detail {
/// Stands for options that a call forgets.
struct no_options {};
}  // namespace detail

/// .padding = tn::same: so many zeros that the result has the extent of x divided by the stride, rounded up; an odd one stands at the end.
struct same_t {};
inline constexpr same_t same{};

/// The zeros around an image: so many on both sides of each axis, `same`, or `causal`, which puts all of them before the axis.
struct conv_padding {
  enum class rule { given, as_same, as_causal };

  per_axis zeros = 0;
  rule by = rule::given;

  constexpr conv_padding(std::int64_t each) : zeros(each) {}
  constexpr conv_padding(std::int64_t a, std::int64_t b) : zeros(a, b) {}
  constexpr conv_padding(std::int64_t a, std::int64_t b, std::int64_t c) : zeros(a, b, c) {}
  constexpr conv_padding(same_t) : by(rule::as_same) {}
  constexpr conv_padding(causal_t) : by(rule::as_causal) {}
  template <std::size_t N>
  constexpr conv_padding(const char (&)[N]) {
    static_assert(N == 0, "tenure: conv: the padding is a number for all axes or one for each, tn::same or tn::causal; it is no string");
  }
};

/// The order of the axes of images and taps. nchw: [n, channels, rows, columns] and [results, channels, rows, columns], as PyTorch has them. nhwc: [n, rows,
/// columns, channels] and [rows, columns, channels, results], as JAX and TensorFlow have them.
enum class image_layout { nchw, nhwc };
inline constexpr image_layout nchw = image_layout::nchw;
inline constexpr image_layout nhwc = image_layout::nhwc;

/// The options of a convolution: conv2d<tn::conv{.stride = 2, .padding = {1, 1}}>(x, w).
struct conv {
  per_axis stride = 1;
  conv_padding padding = 0;
  per_axis dilation = 1;
  std::int64_t groups = 1;
  per_axis output_padding = 0;  // of a transposed convolution: so many elements more at the end
  image_layout layout = image_layout::nchw;
};

namespace ops {
namespace detail {

/// A convolution along Axes axes (1 or 2), which are made two.
template <int Axes, conv Options>
struct conv_rule {
  static constexpr bool channels_last = Options.layout == image_layout::nhwc;
  static constexpr bool counts_fit = (Options.stride.count == 1 || Options.stride.count == Axes) && (Options.dilation.count == 1 || Options.dilation.count == Axes) &&
                                     (Options.padding.zeros.count == 1 || Options.padding.zeros.count == Axes) &&
                                     (Options.output_padding.count == 1 || Options.output_padding.count == Axes);
  static constexpr convolution_options options = [] {
    convolution_options o;
    for (int a = 0; a < Axes; ++a) o.stride[2 - Axes + a] = Options.stride.at[a], o.dilation[2 - Axes + a] = Options.dilation.at[a];
    return o;
  }();
  static constexpr bool are_positive = [] {
    bool all = Options.groups > 0;
    for (int a = 0; a < Axes; ++a)
      all = all && Options.stride.at[a] > 0 && Options.dilation.at[a] > 0 && Options.padding.zeros.at[a] >= 0 && Options.stride.at[a] <= convolution_options::most &&
            Options.dilation.at[a] <= convolution_options::most && Options.output_padding.at[a] >= 0 && Options.output_padding.at[a] < Options.stride.at[a];
    return all;
  }();

  /// The axes of an image of `rank` axes, which has none for n if it is one image.
  static constexpr int channels(int rank) { return channels_last ? rank - 1 : rank - 1 - Axes; }
  static constexpr int axis(int rank, int a) { return channels_last ? rank - 1 - Axes + a : rank - Axes + a; }
  /// The axes of taps: their results and channels.
  static constexpr int results_of_taps = channels_last ? Axes + 1 : 0, channels_of_taps = channels_last ? Axes : 1;
  static constexpr int axis_of_taps(int a) { return channels_last ? a : 2 + a; }

  struct zeros {
    std::int64_t before[2] = {}, after[2] = {};
  };
  /// The zeros around axes of these extents, by their position among two axes.
  static constexpr zeros zeros_of(const std::int64_t* elements, const std::int64_t* taps) {
    zeros z;
    for (int a = 2 - Axes; a < 2; ++a) {
      const std::int64_t stride = options.stride[a], reach = reach_of_taps(taps[a], options.dilation[a]);
      std::int64_t all = reach - 1;
      if (Options.padding.by == conv_padding::rule::as_same) {
        all = (ceil_of(elements[a], stride) - 1) * stride + reach - elements[a];
        if (all < 0) all = 0;
      }
      switch (Options.padding.by) {
        case conv_padding::rule::given: z.before[a] = z.after[a] = Options.padding.zeros.at[a - (2 - Axes)]; break;
        case conv_padding::rule::as_same: z.before[a] = all / 2, z.after[a] = all - all / 2; break;
        case conv_padding::rule::as_causal: z.before[a] = all; break;
      }
    }
    return z;
  }
  static constexpr std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  // ---- the graph ----

  /// Where the axes of an image with four axes are.
  static constexpr int channels_at = channels_last ? 3 : 1, rows_at = channels_last ? 1 : 2;

  /// An image with four axes, in the order of the caller.
  static constexpr value image(value x) {
    extents to = x.shape();
    if (to.rank == Axes + 1) to = tenure::detail::with_axis(to, 0, 1);
    if (Axes == 1) to = tenure::detail::with_axis(to, rows_at, 1);
    return reshape_to(x, to);
  }
  /// [n, h, w, c], and back.
  static constexpr value with_channels_last(value x) { return channels_last ? x : with_sample_axes(x, 0, 2, 3, 1); }
  static constexpr value as_called(value y) { return channels_last ? y : with_sample_axes(y, 0, 3, 1, 2); }
  /// Taps [u, v, c, o].
  static constexpr value taps(value w) {
    if (Axes == 1) w = reshape_to(w, tenure::detail::with_axis(w.shape(), axis_of_taps(0), 1));
    return channels_last ? w : with_sample_axes(w, 2, 3, 1, 0);
  }
  /// The image as the caller has it.
  static constexpr value result(value y, int rank) {
    extents to;
    for (int i = rank == Axes + 1 ? 1 : 0; i < 4; ++i)
      if (Axes == 2 || i != rows_at) to.push_back(y.shape()[i]);
    return reshape_to(y, to);
  }
  /// The last axis as `groups` groups, and these as a batch before all axes.
  static constexpr value in_groups(value x) {
    extents to = x.shape();
    to[3] = Options.groups;
    to.push_back(x.shape()[3] / Options.groups);
    return moved_axis(reshape_to(x, to), 3, 0);
  }
  static constexpr value out_of_groups(value y) {
    y = moved_axis(y, 0, 3);
    extents to = y.shape();
    to[3] *= to[4];
    --to.rank;
    return reshape_to(y, to);
  }
  /// x, whose rows are axis `rows`, between zeros.
  static constexpr value with_zeros(value x, value w, int rows) {
    const zeros z = zeros_of(&x.shape().extent[rows], &w.shape().extent[0]);
    for (int a = 0; a < 2; ++a) {
      const std::int64_t elements = x.shape()[rows + a];
      if (z.before[a] + z.after[a] > 0) x = padded(x, rows + a, z.before[a], elements + z.before[a] + z.after[a], 1);
    }
    return x;
  }
  static constexpr value with_bias(value y, value bias, int channels) {
    return bias.id == ir::none ? y : y + broadcast_along(bias, y.node().shape, ir::pack_axis(0, 0, channels));
  }
  /// One channel in each group: channels are the last axis of a sample, or a batch, in the order of the caller. The axes of the result have these extents.
  template <class Node>
  static constexpr value by_channels(value x, value w, const std::int64_t* of_result, const padded_options& o) {
    const extents image = x.shape(), of_taps = w.shape();
    const std::int64_t multiple = of_taps[3] / Options.groups;
    extents with_results = image, merged = image, taps{3, {of_taps[0], of_taps[1], of_taps[3]}};
    w = reshape_to(w, taps);
    if (channels_last) {
      with_results.push_back(multiple);
      merged[3] = of_taps[3];
    } else {
      w = permuted(w, ir::pack_axis(ir::pack_axis(ir::pack_axis(0, 0, 2), 1, 0), 2, 1));
      taps = {4, {of_taps[3], of_taps[0], of_taps[1], 1}};
      w = reshape_to(w, taps);
      with_results = {5, {image[0], image[1], multiple, image[2], image[3]}};
      merged = {5, {image[0], of_taps[3], image[2], image[3], 1}};
    }
    if (multiple > 1) {  // each channel once for each of its results
      std::int64_t along = 0;
      for (int a = 0; a < 4; ++a) along = ir::pack_axis(along, a, a + (a > channels_at));
      x = broadcast_along(x, x.graph->intern(with_results), along);
    }
    x = reshape_to(x, merged);
    extents of_batch = taps;
    of_batch = tenure::detail::with_axis(of_batch, 0, image[0]);
    if (image[0] == 1) {
      w = reshape_to(w, of_batch);
    } else {
      std::int64_t along = 0;
      for (int a = 0; a < taps.rank; ++a) along = ir::pack_axis(along, a, a + 1);
      w = broadcast_along(w, w.graph->intern(of_batch), along);
    }
    for (int a = 0; a < 2; ++a) merged[rows_at + a] = of_result[a];
    const value y = Node::with_shape(o, &merged, x, w);
    extents to = merged;
    to.rank = 4;
    return reshape_to(y, to);
  }
  static constexpr padded_options options_with_zeros(const std::int64_t* zeros) {
    return {{options.stride[0], options.stride[1]}, {options.dilation[0], options.dilation[1]}, {zeros[0], zeros[1]}};
  }
  static constexpr bool goes_by_channels(const extents& taps, const std::int64_t* zeros) {
    return Options.groups > 1 && taps[2] == 1 && taps[0] * taps[1] > 0 && options_with_zeros(zeros).fit();
  }

  /// Few channels before rows that are not short: positions fill the lanes better than channels do, and images stay in the order of the caller. LeNet's first layer
  /// takes a quarter of the time, ResNet's 0.7.
  static constexpr bool goes_by_planes(const extents& x, const std::int64_t* positions, const std::int64_t* zeros) {
    constexpr std::int64_t most_channels = 4, min_positions = 12;
    return !channels_last && Options.groups == 1 && x[1] > 0 && x[1] <= most_channels && positions[1] >= min_positions && options_with_zeros(zeros).fit();
  }

  static constexpr value convolve(value x, value w, value bias) {
    x = image(x), w = taps(w);
    const extents of_x = x.shape();
    const zeros z = zeros_of(&of_x.extent[rows_at], &w.shape().extent[0]);
    std::int64_t to[2] = {};
    for (int a = 0; a < 2; ++a) to[a] = convolved_extent(of_x[rows_at + a] + z.before[a] + z.after[a], w.shape()[a], options.stride[a], options.dilation[a]);
    if (goes_by_channels(w.shape(), z.before)) return with_bias(by_channels<nodes::depthwise>(x, w, to, options_with_zeros(z.before)), bias, channels_at);
    if (goes_by_planes(of_x, to, z.before)) {
      const extents of_y{4, {of_x[0], w.shape()[3], to[0], to[1]}};
      return with_bias(nodes::convolution_of_planes::with_shape(options_with_zeros(z.before), &of_y, x, with_sample_axes(w, 3, 2, 0, 1)), bias, 1);
    }
    x = with_zeros(with_channels_last(x), w, 1);
    const value y = Options.groups == 1 ? convolved(x, w, options) : out_of_groups(convolved(in_groups(x), in_groups(w), options));
    return as_called(with_bias(y, bias, 3));
  }
  static constexpr value convolve_transposed(value x, value w, value bias) {
    x = image(x), w = taps(w);
    std::int64_t all[2] = {1, 1}, before[2] = {}, kept[2] = {};
    for (int a = 0; a < 2; ++a) {
      all[a] = extent_of_transposed(x.shape()[rows_at + a], w.shape()[a], a);
      if (a >= 2 - Axes) before[a] = Options.padding.zeros.at[a - (2 - Axes)];
      kept[a] = all[a] - 2 * before[a];
    }
    if (goes_by_channels(w.shape(), before) && w.shape()[3] == Options.groups)
      return with_bias(by_channels<nodes::depthwise_of_image>(x, w, kept, options_with_zeros(before)), bias, channels_at);
    x = with_channels_last(x);
    value y = Options.groups == 1 ? convolution_transposed(x, w, options, all[0], all[1])
                                  : out_of_groups(convolution_transposed(in_groups(x), in_groups(w), options, all[0], all[1]));
    for (int a = 0; a < 2; ++a)
      if (before[a] > 0) y = sliced(y, 1 + a, before[a], kept[a], 1);
    return as_called(with_bias(y, bias, 3));
  }
  /// With the elements that the padding removes.
  static constexpr std::int64_t extent_of_transposed(std::int64_t elements, std::int64_t taps, int a) {
    return (elements - 1) * options.stride[a] + reach_of_taps(taps, options.dilation[a]) + (a < 2 - Axes ? 0 : Options.output_padding.at[a - (2 - Axes)]);
  }
};

}  // namespace detail
}  // namespace ops

}  // namespace tenure
