// SPDX-License-Identifier: BSL-1.0
// Convolution of images with few channels, which are planes [n, c, h, w], as PyTorch has them, with zeros around them that are never in memory: y[n,o,i,j] is the sum
// over c, u, v of x[n, c, s i + d u - z, s j + d v - z] w[o,c,u,v]. The result has its channels first too. A backend computes many positions of a row at a time.
// The derivative by the taps is another record, whose sums run over positions: these are the lanes again. The derivative by the image is one of planes too if
// there are no strides, and otherwise a convolution of opaque/convolution.hpp, whose channels are last.
#pragma once

#include <tenure/ops/opaque/convolution.hpp>
#include <tenure/ops/opaque/depthwise.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr value image_of_planes(value g, value w, const extents& image, const padded_options& p);
constexpr value taps_of_planes(value x, value g, const extents& taps, const padded_options& p);

namespace nodes {
struct convolution_of_planes : sample_operation<convolution_of_planes, 2, 1, padded_options> {
  static constexpr const char* name = "convolution_of_planes";
  static constexpr signature takes = "(n,c,h,w),(o,c,u,v)->(n,o,i,j)";
  static constexpr int axes_of_piece = 3;
  static constexpr bool takes_neighbours(const ir::graph_view&, ir::node_id, int operand, int axis) { return operand != 0 || axis == 0; }

  template <class V>
  static constexpr V pull(V y, int i, V g) {
    const V other = operand_of(y, 1 - i);
    const extents to = operand_of(y, i).shape();
    return i == 0 ? image_of_planes(g, other, to, options_of(y)) : taps_of_planes(other, g, to, options_of(y));
  }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return push_of_product(y, tangents); }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& s) { return 2 * s[0] * s[1] * s[4] * s[5] * s[6] * s[7] * s[8]; }
  template <class T>
  static void reference(const sample_sizes& s, const T* const* operand, T* to, const padded_options& o) {
    for (std::int64_t n = 0; n < s[0]; ++n)
      for (std::int64_t r = 0; r < s[4]; ++r)
        for (std::int64_t i = 0; i < s[7]; ++i)
          for (std::int64_t j = 0; j < s[8]; ++j) {
            long double sum = 0;
            for (std::int64_t c = 0; c < s[1]; ++c)
              for (std::int64_t u = 0; u < s[5]; ++u)
                for (std::int64_t v = 0; v < s[6]; ++v) {
                  const std::int64_t h = i * o.stride[0] + u * o.dilation[0] - o.zeros[0], w = j * o.stride[1] + v * o.dilation[1] - o.zeros[1];
                  if (h < 0 || h >= s[2] || w < 0 || w >= s[3]) continue;
                  sum += static_cast<long double>(operand[0][((n * s[1] + c) * s[2] + h) * s[3] + w]) * static_cast<long double>(operand[1][((r * s[1] + c) * s[5] + u) * s[6] + v]);
                }
            *to++ = static_cast<T>(sum);
          }
  }
};

/// The derivative by the taps, for images and the cotangent of a result.
struct planes_of_taps : sample_operation<planes_of_taps, 2, 1, padded_options> {
  static constexpr const char* name = "planes_of_taps";
  static constexpr signature takes = "(n,c,h,w),(n,o,i,j)->(o,c,u,v)";
  static constexpr bool takes_neighbours(const ir::graph_view&, ir::node_id, int, int axis) { return axis == 0; }

  template <class V>
  static constexpr V pull(V y, int i, V g) {
    const V other = operand_of(y, 1 - i);
    const extents to = operand_of(y, i).shape();
    return i == 0 ? image_of_planes(other, g, to, options_of(y)) : convolution_of_planes::with_shape(options_of(y), &to, other, g);
  }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return push_of_product(y, tangents); }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& s) { return 2 * s[0] * s[1] * s[4] * s[5] * s[6] * s[7] * s[8]; }
  template <class T>
  static void reference(const sample_sizes& s, const T* const* operand, T* to, const padded_options& o) {
    for (std::int64_t r = 0; r < s[4]; ++r)
      for (std::int64_t c = 0; c < s[1]; ++c)
        for (std::int64_t u = 0; u < s[7]; ++u)
          for (std::int64_t v = 0; v < s[8]; ++v) {
            long double sum = 0;
            for (std::int64_t n = 0; n < s[0]; ++n)
              for (std::int64_t i = 0; i < s[5]; ++i)
                for (std::int64_t j = 0; j < s[6]; ++j) {
                  const std::int64_t h = i * o.stride[0] + u * o.dilation[0] - o.zeros[0], w = j * o.stride[1] + v * o.dilation[1] - o.zeros[1];
                  if (h < 0 || h >= s[2] || w < 0 || w >= s[3]) continue;
                  sum += static_cast<long double>(operand[0][((n * s[1] + c) * s[2] + h) * s[3] + w]) * static_cast<long double>(operand[1][((n * s[4] + r) * s[5] + i) * s[6] + j]);
                }
            *to++ = static_cast<T>(sum);
          }
  }
};
}  // namespace nodes

constexpr value taps_of_planes(value x, value g, const extents& taps, const padded_options& p) { return nodes::planes_of_taps::with_shape(p, &taps, x, g); }
/// The convolution of g with the reversed taps, whose results are the channels of the taps. Its first element reads element -zeros of g.
constexpr value with_reversed_taps(value g, value w, const extents& to, const padded_options& p) {
  for (int axis = w.shape().rank - 2; axis < w.shape().rank; ++axis)
    if (const std::int64_t taps = w.shape()[axis]; taps > 1) w = sliced(w, axis, taps - 1, taps, -1);
  return nodes::convolution_of_planes::with_shape(p, &to, g, with_sample_axes(w, 1, 0, 2, 3));
}
/// The cotangent of images of this shape, whose convolution with taps w has the cotangent g. It has few channels, as the images have: with positions in the
/// lanes 8 x 16 x 32 x 32 takes a quarter of the time.
constexpr value image_of_planes(value g, value w, const extents& image, const padded_options& p) {
  const int first = image.rank - 4;
  const convolution_options o{{p.stride[0], p.stride[1]}, {p.dilation[0], p.dilation[1]}};
  padded_options reversed{{1, 1}, {p.dilation[0], p.dilation[1]}, {}};
  for (int a = 0; a < 2; ++a) reversed.zeros[a] = (w.shape()[first + 2 + a] - 1) * p.dilation[a] - p.zeros[a];
  if (p.stride[0] * p.stride[1] == 1 && reversed.fit()) return with_reversed_taps(g, w, image, reversed);

  std::int64_t elements[2] = {}, all[2] = {};  // of an axis, and with the zeros that positions read
  for (int a = 0; a < 2; ++a) {
    const std::int64_t count = g.shape()[first + 2 + a], reach = (count - 1) * p.stride[a] + reach_of_taps(w.shape()[first + 2 + a], p.dilation[a]);
    elements[a] = image[first + 2 + a];
    all[a] = elements[a] + p.zeros[a] > reach ? elements[a] + p.zeros[a] : reach;
    all[a] = (all[a] + p.stride[a] - 1) / p.stride[a] * p.stride[a];  // so that no remainder of positions by the stride is cut
  }
  value x;
  if (goes_by_remainders(o)) {
    extents part = image;
    for (int a = 0; a < 2; ++a) part[first + 2 + a] = all[a] / p.stride[a];
    x = image_by_remainders(o, w, first + 2, first + 2, all, part, [&](std::int64_t r, std::int64_t t) {
      const value taps = taps_of_remainder(taps_of_remainder(w, first + 2, r, p.stride[0]), first + 3, t, p.stride[1]);
      return with_reversed_taps(g, taps, part, {{1, 1}, {1, 1}, {taps.shape()[first + 2] - 1, taps.shape()[first + 3] - 1}});
    });
  } else {
    x = with_sample_axes(convolution_transposed(with_sample_axes(g, 0, 2, 3, 1), with_sample_axes(w, 2, 3, 1, 0), o, all[0], all[1]), 0, 3, 1, 2);
  }
  for (int a = 0; a < 2; ++a)
    if (all[a] != elements[a]) x = sliced(x, first + 2 + a, p.zeros[a], elements[a], 1);
  return x;
}

}  // namespace tenure::ops
