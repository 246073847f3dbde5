// SPDX-License-Identifier: BSL-1.0
// Convolution of images with few channels: one thread for each element of the result. Threads beside each other have columns beside each other.
#pragma once

#include <tenure/core/config.hpp>
#include <tenure/kernels/rearrange.hpp>

namespace TENURE_NAMESPACE::kernels {

/// Element `at` of the results [n, o, i, j] of all batches: see ops/opaque/convolution_of_planes.hpp. The strides are those of the axes of a sample.
template <class T>
struct convolve_planes {
  walk<2> batches;
  std::int64_t results, rows, columns, channels, image[2], taps[2];
  std::int64_t of_image[4], of_taps[4], stride[2], dilation[2], zeros[2];
  std::int64_t elements;  // of one batch
  const T *x, *w;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t at) const {
    const auto offsets = batches.at(at / elements);
    std::int64_t rest = at % elements;
    const std::int64_t j = rest % columns;
    rest /= columns;
    const std::int64_t i = rest % rows;
    rest /= rows;
    const std::int64_t o = rest % results, n = rest / results;
    const T* const plane = x + offsets.of[0] + n * of_image[0];
    const T* const tap = w + offsets.of[1] + o * of_taps[0];
    T sum = 0;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t u = 0; u < taps[0]; ++u) {
        const std::int64_t h = i * stride[0] + u * dilation[0] - zeros[0];
        if (h < 0 || h >= image[0]) continue;
        for (std::int64_t v = 0; v < taps[1]; ++v) {
          const std::int64_t k = j * stride[1] + v * dilation[1] - zeros[1];
          if (k >= 0 && k < image[1]) sum += plane[c * of_image[1] + h * of_image[2] + k * of_image[3]] * tap[c * of_taps[1] + u * of_taps[2] + v * of_taps[3]];
        }
      }
    to[at] = sum;
  }
};

/// Element `at` of the taps [o, c, u, v] of all batches, for images and results.
template <class T>
struct taps_of_planes {
  walk<2> batches;
  std::int64_t images, channels, taps[2], image[2], positions[2];
  std::int64_t of_image[4], of_result[4], stride[2], dilation[2], zeros[2];
  std::int64_t elements;  // of one batch
  const T *x, *g;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t at) const {
    const auto offsets = batches.at(at / elements);
    std::int64_t rest = at % elements;
    const std::int64_t v = rest % taps[1];
    rest /= taps[1];
    const std::int64_t u = rest % taps[0];
    rest /= taps[0];
    const std::int64_t c = rest % channels, o = rest / channels;
    const T* const plane = x + offsets.of[0] + c * of_image[1];
    const T* const result = g + offsets.of[1] + o * of_result[1];
    T sum = 0;
    for (std::int64_t n = 0; n < images; ++n)
      for (std::int64_t i = 0; i < positions[0]; ++i) {
        const std::int64_t h = i * stride[0] + u * dilation[0] - zeros[0];
        if (h < 0 || h >= image[0]) continue;
        for (std::int64_t j = 0; j < positions[1]; ++j) {
          const std::int64_t k = j * stride[1] + v * dilation[1] - zeros[1];
          if (k >= 0 && k < image[1]) sum += plane[n * of_image[0] + h * of_image[2] + k * of_image[3]] * result[n * of_result[0] + i * of_result[2] + j * of_result[3]];
        }
      }
    to[at] = sum;
  }
};

}  // namespace tenure::kernels
