// SPDX-License-Identifier: BSL-1.0
// Convolution as networks have it, which is a correlation: y[n,i,j,o] is the sum over u, v, c of x[n, s i + d u, s j + d v, c] w[u,v,c,o], with the
// strides s and the dilations d of the two axes. No position lies outside x: padding is a node before it. Both derivatives are convolutions too:
//   of x: the cotangent, spread by the strides and padded, with the reversed taps: the sum over o of the taps that read an element of x;
//   of w: x with the cotangent as its taps. Batch and channels of x change places, and so do strides and dilations.
// So this one node has derivatives of every order, and a transposed convolution is the first of the two. Groups are batches before the axes of a sample.
#pragma once

#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/structural/assembly.hpp>
#include <tenure/ops/structural/view.hpp>
#include <tenure/tensor/layout.hpp>

namespace TENURE_NAMESPACE::ops {

struct convolution_options {
  std::int64_t stride[2] = {1, 1}, dilation[2] = {1, 1};

  static constexpr std::int64_t most = 0xffff;  // each number has 16 bits of the attr

  constexpr std::int64_t packed() const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride[0]) | static_cast<std::uint64_t>(stride[1]) << 16 |
                                     static_cast<std::uint64_t>(dilation[0]) << 32 | static_cast<std::uint64_t>(dilation[1]) << 48);
  }
  static constexpr TENURE_KERNEL convolution_options unpacked(std::int64_t attr) {
    return {{attr & most, attr >> 16 & most}, {attr >> 32 & most, attr >> 48 & most}};
  }
};

/// The elements between the first and the last that the taps read, both included.
constexpr std::int64_t reach_of_taps(std::int64_t taps, std::int64_t dilation) { return (taps - 1) * dilation + 1; }
/// The positions of `taps` in an axis of so many elements.
constexpr std::int64_t convolved_extent(std::int64_t elements, std::int64_t taps, std::int64_t stride, std::int64_t dilation) {
  const std::int64_t reach = reach_of_taps(taps, dilation);
  return taps < 1 || elements < reach ? 0 : (elements - reach) / stride + 1;
}

namespace nodes {
struct convolution : sample_operation<convolution, 2, 1, convolution_options> {
  static constexpr const char* name = "convolution";
  static constexpr signature takes = "(n,h,w,c),(u,v,c,o)->(n,i,j,o)";
  static constexpr int axes_of_piece = 2;
  /// Channels; of a cotangent of taps, whose rows are longer than those of the result, also images, because these are the channels of the value.
  static constexpr bool takes_neighbours(const ir::graph_view& g, ir::node_id id, int operand, int axis) {
    const extents &taps = g.shape_of(g[id].in[1]), &to = g.shape_of(id);
    return operand != 0 || axis == 0 || (axis == 3 && taps[taps.rank - 3] > to[to.rank - 2]);
  }

  template <class V>
  static constexpr V pull(V y, int i, V g) { return i == 0 ? pulled_image(y, g) : pulled_taps(y, g); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return push_of_product(y, tangents); }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& s) { return 2 * s[0] * s[7] * s[8] * s[3] * s[4] * s[5] * s[6]; }
  static constexpr void verify(rule_check& c) {
    sample_operation::verify(c);
    if (!c.found.ok()) return;
    const convolution_options o = options_of(c.self().attr);
    for (int a = 0; a < 2; ++a) {
      const int last = c.shape().rank - 1, axis = last - 2 + a;
      const std::int64_t elements = c.shape_of(0)[axis], taps = c.shape_of(1)[last - 3 + a], positions = c.shape()[axis];
      c.expect(is_static(elements) && is_static(taps) && is_static(positions), "a convolution along an axis whose extent is not static");
      c.expect(o.stride[a] > 0 && o.dilation[a] > 0, "a stride or a dilation below 1");
      if (c.found.ok()) c.extent_is(positions, convolved_extent(elements, taps, o.stride[a], o.dilation[a]));
    }
  }

  template <class T>
  static void reference(const sample_sizes& s, const T* const* operand, T* to, const convolution_options& o) {
    const std::int64_t h = s[1], w = s[2], channels = s[3], results = s[6];
    for (std::int64_t n = 0; n < s[0]; ++n)
      for (std::int64_t i = 0; i < s[7]; ++i)
        for (std::int64_t j = 0; j < s[8]; ++j)
          for (std::int64_t r = 0; r < results; ++r) {
            long double sum = 0;
            for (std::int64_t u = 0; u < s[4]; ++u)
              for (std::int64_t v = 0; v < s[5]; ++v)
                for (std::int64_t c = 0; c < channels; ++c)
                  sum += static_cast<long double>(operand[0][((n * h + i * o.stride[0] + u * o.dilation[0]) * w + j * o.stride[1] + v * o.dilation[1]) * channels + c]) *
                         static_cast<long double>(operand[1][((u * s[5] + v) * channels + c) * results + r]);
            *to++ = static_cast<T>(sum);
          }
  }
};
}  // namespace nodes

/// The convolution of images [..., n, h, w, c] with taps [..., u, v, c, o].
constexpr value convolved(value x, value w, const convolution_options& o) {
  extents to = x.shape();
  const int first = to.rank - 4;
  for (int a = 0; a < 2; ++a) to[first + 1 + a] = convolved_extent(x.shape()[first + 1 + a], w.shape()[first + a], o.stride[a], o.dilation[a]);
  to[first + 3] = w.shape()[first + 3];
  return nodes::convolution::with_shape(o, &to, x, w);
}

/// The axes of a sample in another order, behind the axes of the batch.
constexpr value with_sample_axes(value x, int a, int b, int c, int d) {
  const int of_batch = x.shape().rank - 4, order[] = {a, b, c, d};
  std::int64_t axes = 0;
  for (int i = 0; i < of_batch + 4; ++i) axes = ir::pack_axis(axes, i, i < of_batch ? i : of_batch + order[i - of_batch]);
  return permuted(x, axes);
}

constexpr value convolution_transposed(value g, value w, const convolution_options& o, std::int64_t h, std::int64_t width);

/// With strides and without dilation the elements s q + r of an axis come from the taps r, r + s, ... alone. So each pair of remainders is a transposed
/// convolution without strides, and no cotangent is multiplied by a zero. For a pair of remainders that has taps, part(r, t) is this convolution. For a pair without
/// taps it is zeros of the shape `empty`. The rows lie along axis `row` of the part and of `empty`. The result has `extent` rows and columns.
template <class Part>
constexpr value image_by_remainders(const convolution_options& o, const value& w, int row_of_taps, int row, const std::int64_t* extent, const extents& empty, const Part& part) {
  const auto with_axis = [](value x, int axis) { return reshape_to(x, tenure::detail::with_axis(x.shape(), axis, 1)); };
  value all;
  for (std::int64_t r = 0; r < o.stride[0]; ++r) {
    value beside;
    for (std::int64_t t = 0; t < o.stride[1]; ++t) {
      const bool has_taps = r < w.shape()[row_of_taps] && t < w.shape()[row_of_taps + 1];
      const value one = with_axis(has_taps ? part(r, t) : value{*w.graph, w.graph->constant(w.type(), w.graph->intern(empty), 0)}, row + 2);
      beside = beside.id == ir::none ? one : concatenated(beside, one, row + 2);
    }
    beside = with_axis(beside, row + 1);
    all = all.id == ir::none ? beside : concatenated(all, beside, row + 1);
  }
  extents to = empty;
  for (int a = 0; a < 2; ++a) to[row + a] *= o.stride[a];
  value y = reshape_to(all, to);
  for (int a = 0; a < 2; ++a)
    if (y.shape()[row + a] != extent[a]) y = sliced(y, row + a, 0, extent[a], 1);
  return y;
}
/// Taps r, r + s, ... of an axis.
constexpr value taps_of_remainder(const value& w, int axis, std::int64_t r, std::int64_t stride) {
  return stride == 1 ? w : sliced(w, axis, r, (w.shape()[axis] - r + stride - 1) / stride, stride);
}
constexpr bool goes_by_remainders(const convolution_options& o) {
  constexpr std::int64_t most_remainders = 16;  // of strides of 4 and 4; with more the graph would grow
  const std::int64_t remainders = o.stride[0] * o.stride[1];
  return remainders > 1 && remainders <= most_remainders && o.dilation[0] == 1 && o.dilation[1] == 1;
}

/// The sum of g w over all taps, at the element of the image that the tap reads: the transposed convolution, to images with the extents h and w.
constexpr value convolution_transposed(value g, value w, const convolution_options& o, std::int64_t h, std::int64_t width) {
  const int first = g.shape().rank - 4;
  const std::int64_t extent[] = {h, width};
  if (goes_by_remainders(o)) {
    extents part = g.shape();
    for (int a = 0; a < 2; ++a) part[first + 1 + a] = (extent[a] + o.stride[a] - 1) / o.stride[a];
    part[first + 3] = w.shape()[first + 2];
    return image_by_remainders(o, w, first, first + 1, extent, part, [&](std::int64_t r, std::int64_t t) {
      return convolution_transposed(g, taps_of_remainder(taps_of_remainder(w, first, r, o.stride[0]), first + 1, t, o.stride[1]), {}, part[first + 1], part[first + 2]);
    });
  }
  for (int a = 0; a < 2; ++a) {
    const std::int64_t taps = w.shape()[first + a], more = (taps - 1) * o.dilation[a];
    if (extent[a] + more != g.shape()[first + 1 + a]) g = padded(g, first + 1 + a, more, extent[a] + more, o.stride[a]);
    if (taps > 1) w = sliced(w, first + a, taps - 1, taps, -1);
  }
  return convolved(g, with_sample_axes(w, 0, 1, 3, 2), {{1, 1}, {o.dilation[0], o.dilation[1]}});
}
constexpr value pulled_image(value y, value g) {
  const value x = operand_of(y, 0);
  const extents s = x.shape();
  return convolution_transposed(g, operand_of(y, 1), nodes::convolution::options_of(y), s[s.rank - 3], s[s.rank - 2]);
}
/// The cotangent of taps `w`, for images x and the cotangent g of the result.
constexpr value cotangent_of_taps(value x, value w, value g, const convolution_options& o) {
  const extents taps = w.shape();
  const int first = taps.rank - 4;
  for (int a = 0; a < 2; ++a) {
    const std::int64_t count = g.shape()[first + 1 + a];
    if (count == 0) return w.like(0);  // no position reads a tap
    const std::int64_t reach = (count - 1) * o.stride[a] + reach_of_taps(taps[first + a], o.dilation[a]);
    if (reach < x.shape()[first + 1 + a]) x = sliced(x, first + 1 + a, 0, reach, 1);
  }
  const value of_taps = convolved(with_sample_axes(x, 3, 1, 2, 0), with_sample_axes(g, 1, 2, 0, 3), {{o.dilation[0], o.dilation[1]}, {o.stride[0], o.stride[1]}});
  return with_sample_axes(of_taps, 1, 2, 0, 3);
}
constexpr value pulled_taps(value y, value g) { return cotangent_of_taps(operand_of(y, 0), operand_of(y, 1), g, nodes::convolution::options_of(y)); }

}  // namespace tenure::ops
