// SPDX-License-Identifier: BSL-1.0
// Convolution of images with few channels, which are planes [n, c, h, w], as PyTorch has them, with zeros around them that are never in memory: y[n,o,i,j] is the sum
// over c, u, v of x[n, c, s i + d u - z, s j + d v - z] w[o,c,u,v]. The result has its channels first too. A backend computes many positions of a row at a time.
// The derivatives are convolutions of opaque/convolution.hpp, whose channels are last, or for few pairs of a channel and a result depthwise_of_taps.
#pragma once

#include <tenure/ops/opaque/convolution.hpp>
#include <tenure/ops/opaque/depthwise.hpp>
#include <tenure/ops/structural/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr value planes_pulled(value y, int operand, value g);

namespace nodes {
struct convolution_of_planes : sample_operation<convolution_of_planes, 2, 1, padded_options> {
  static constexpr const char* name = "convolution_of_planes";
  static constexpr signature takes = "(n,c,h,w),(o,c,u,v)->(n,o,i,j)";
  static constexpr int axes_of_piece = 3;

  template <class V>
  static constexpr V pull(V y, int i, V g) { return planes_pulled(y, i, g); }
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
}  // namespace nodes

/// The cotangent of taps as that of the taps of each pair of a channel and a result. Each channel is read once for each result.
constexpr value taps_by_pairs(value x, value w, value g, const padded_options& p) {
  const extents image = x.shape(), of_g = g.shape(), taps = w.shape();
  const int first = image.rank - 4;
  // [..., n, o, c, h, w, 1]: x has no o, and g no c.
  const auto in_pairs = [&](value v, int missing) {
    const extents from = v.shape();
    extents to;
    std::int64_t along = 0;
    for (int a = 0; a < from.rank; ++a) {
      if (a == first + missing) to.push_back(missing == 1 ? of_g[first + 1] : image[first + 1]);
      along = ir::pack_axis(along, a, to.rank);
      to.push_back(from[a]);
    }
    v = broadcast_along(v, v.graph->intern(to), along);
    return reshape_to(v, tenure::detail::with_axis(to, to.rank, 1));
  };
  const value each_x = in_pairs(x, 1), each_g = in_pairs(g, 2);
  extents to = each_x.shape();
  for (int a = 0; a < 2; ++a) to[first + 3 + a] = taps[first + 2 + a];
  const value each = nodes::depthwise_of_taps::with_shape(p, &to, each_x, each_g);
  return reshape_to(reduced(each, std::int64_t{1} << first, ir::reduction::sum), taps);
}

constexpr value planes_pulled(value y, int operand, value g) {
  const padded_options p = nodes::convolution_of_planes::options_of(y);
  const convolution_options o{{p.stride[0], p.stride[1]}, {p.dilation[0], p.dilation[1]}};
  // With so few results a product has few rows and few columns. 6 results of 5 x 5 take a fifth of the time, 16 of 3 channels would take as long.
  constexpr std::int64_t most_pairs = 12;
  const extents of_x = operand_of(y, 0).shape(), of_y = g.shape();
  const std::int64_t channels = of_x[of_x.rank - 3], results = of_y[of_y.rank - 3];
  if (operand == 1 && of_x.rank + 2 <= max_rank && channels > 0 && channels * results <= most_pairs) return taps_by_pairs(operand_of(y, 0), operand_of(y, 1), g, p);
  value x = with_sample_axes(operand_of(y, 0), 0, 2, 3, 1);
  const value w = with_sample_axes(operand_of(y, 1), 2, 3, 1, 0);
  g = with_sample_axes(g, 0, 2, 3, 1);
  const int first = g.shape().rank - 4;
  std::int64_t elements[2] = {}, all[2] = {};  // of an axis, and with the zeros that positions read
  for (int a = 0; a < 2; ++a) {
    const std::int64_t count = g.shape()[first + 1 + a], reach = (count - 1) * o.stride[a] + reach_of_taps(w.shape()[first + a], o.dilation[a]);
    elements[a] = x.shape()[first + 1 + a];
    all[a] = elements[a] + p.zeros[a] > reach ? elements[a] + p.zeros[a] : reach;
    all[a] = (all[a] + o.stride[a] - 1) / o.stride[a] * o.stride[a];  // so that no remainder of positions by the stride is cut
  }
  if (operand == 0) {
    value image = convolution_transposed(g, w, o, all[0], all[1]);
    for (int a = 0; a < 2; ++a)
      if (all[a] != elements[a]) image = sliced(image, first + 1 + a, p.zeros[a], elements[a], 1);
    return with_sample_axes(image, 0, 3, 1, 2);
  }
  for (int a = 0; a < 2; ++a)
    if (all[a] != elements[a]) x = padded(x, first + 1 + a, p.zeros[a], all[a], 1);
  return with_sample_axes(cotangent_of_taps(x, w, g, o), 3, 2, 0, 1);
}

}  // namespace tenure::ops
