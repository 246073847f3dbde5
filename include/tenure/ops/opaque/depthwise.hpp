// SPDX-License-Identifier: BSL-1.0
// The convolution of each channel by itself: y[i,j,c] is the sum over u, v of x[h,w,c] taps[u,v,c], where h = s i + d u - z and w likewise, with the strides s, the
// dilations d and the zeros z before an axis. What lies outside x is no term, so padding costs no copy. Image, taps and result meet in one sum of
// products, and its derivative by each of the three is a sum over the other two: the three records of this header. So each derivative of one is another.
// Images are batches. Where the channels are an axis before rows and columns, they are batches too, and c is 1.
#pragma once

#include <vector>

#include <tenure/ops/opaque/operation.hpp>

namespace TENURE_NAMESPACE::ops {

struct padded_options {
  std::int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, zeros[2] = {};

  static constexpr std::int64_t most_stride = (1 << 10) - 1, most = (1 << 11) - 1;  // the numbers share the 64 bits of the attr

  constexpr bool fit() const {
    bool all = true;
    for (int a = 0; a < 2; ++a) all = all && stride[a] <= most_stride && dilation[a] <= most && zeros[a] >= 0 && zeros[a] <= most;
    return all;
  }
  constexpr std::int64_t packed() const {
    std::uint64_t bits = 0;
    for (int a = 0; a < 2; ++a)
      bits = ((bits << 10 | static_cast<std::uint64_t>(stride[a])) << 11 | static_cast<std::uint64_t>(dilation[a])) << 11 | static_cast<std::uint64_t>(zeros[a]);
    return static_cast<std::int64_t>(bits);
  }
  static constexpr TENURE_KERNEL padded_options unpacked(std::int64_t attr) {
    padded_options o;
    for (int a = 0; a < 2; ++a) {
      const std::int64_t bits = attr >> (a == 0 ? 32 : 0);
      o.stride[a] = bits >> 22 & most_stride, o.dilation[a] = bits >> 11 & most, o.zeros[a] = bits & most;
    }
    return o;
  }
};

namespace nodes {
struct depthwise_of_image;
struct depthwise_of_taps;

/// The base of the three records. Each record gives the letters of its signature: `image`, `taps` and `result` are the letters of the rows of each, and `channels` is the
/// letter of the channels.
template <class Record>
struct depthwise_sum : sample_operation<Record, 2, 1, padded_options> {
  using sample_operation<Record, 2, 1, padded_options>::push_of_product;
  template <class V>
  static constexpr V push(V y, const V* tangents) { return push_of_product(y, tangents); }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& s) {
    return 2 * s[Record::result] * s[Record::result + 1] * s[Record::taps] * s[Record::taps + 1] * s[Record::channels];
  }
  /// Every term of the sum, in the order of the definition, added to the element of the result that it belongs to.
  template <class T>
  static void reference(const sample_sizes& s, const T* const* operand, T* to, const padded_options& o) {
    constexpr int first = Record::of == 0 ? 2 : 0, second = Record::of == 1 ? 2 : 1;  // the factors, among image, taps and result
    const std::int64_t channels = s[Record::channels];
    std::vector<long double> sums(static_cast<std::size_t>(Record::elements_of_result(s)));
    for (std::int64_t i = 0; i < s[Record::result]; ++i)
      for (std::int64_t j = 0; j < s[Record::result + 1]; ++j)
        for (std::int64_t u = 0; u < s[Record::taps]; ++u)
          for (std::int64_t v = 0; v < s[Record::taps + 1]; ++v) {
            const std::int64_t h = i * o.stride[0] + u * o.dilation[0] - o.zeros[0], w = j * o.stride[1] + v * o.dilation[1] - o.zeros[1];
            if (h < 0 || h >= s[Record::image] || w < 0 || w >= s[Record::image + 1]) continue;
            const std::int64_t at[] = {h * s[Record::image + 1] + w, u * s[Record::taps + 1] + v, i * s[Record::result + 1] + j};
            for (std::int64_t c = 0; c < channels; ++c)
              sums[static_cast<std::size_t>(at[Record::of] * channels + c)] +=
                  static_cast<long double>(operand[0][at[first] * channels + c]) * static_cast<long double>(operand[1][at[second] * channels + c]);
          }
    for (const long double sum : sums) *to++ = static_cast<T>(sum);
  }

 protected:
  template <class Other>
  static constexpr value sum_of(value y, int operand, value a, value b) {
    return Other::with_shape(Record::options_of(y), &operand_of(y, operand).shape(), a, b);
  }
};

/// The value. In the records below G and W are an image and taps, and g is a result.
struct depthwise : depthwise_sum<depthwise> {
  static constexpr const char* name = "depthwise";
  static constexpr signature takes = "(h,w,c),(u,v,c)->(i,j,c)";
  static constexpr int axes_of_piece = 2;
  static constexpr int of = 2, image = 0, channels = 2, taps = 3, result = 5;
  template <class V>
  static constexpr V pull(V y, int i, V g) { return i == 0 ? sum_of<depthwise_of_image>(y, 0, g, operand_of(y, 1)) : sum_of<depthwise_of_taps>(y, 1, operand_of(y, 0), g); }
};
/// The derivative by the image, for the cotangent g of a result: the transposed convolution.
struct depthwise_of_image : depthwise_sum<depthwise_of_image> {
  static constexpr const char* name = "depthwise_of_image";
  static constexpr signature takes = "(i,j,c),(u,v,c)->(h,w,c)";
  static constexpr int axes_of_piece = 2;
  static constexpr int of = 0, result = 0, channels = 2, taps = 3, image = 5;
  template <class V>
  static constexpr V pull(V y, int i, V g) { return i == 0 ? sum_of<depthwise>(y, 0, g, operand_of(y, 1)) : sum_of<depthwise_of_taps>(y, 1, g, operand_of(y, 0)); }
};
/// The derivative by the taps, for an image and the cotangent of a result.
struct depthwise_of_taps : depthwise_sum<depthwise_of_taps> {
  static constexpr const char* name = "depthwise_of_taps";
  static constexpr signature takes = "(h,w,c),(i,j,c)->(u,v,c)";
  static constexpr int of = 1, image = 0, channels = 2, result = 3, taps = 5;
  template <class V>
  static constexpr V pull(V y, int i, V g) { return i == 0 ? sum_of<depthwise_of_image>(y, 0, operand_of(y, 1), g) : sum_of<depthwise>(y, 1, operand_of(y, 0), g); }
};
}  // namespace nodes

}  // namespace tenure::ops
