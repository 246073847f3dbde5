// SPDX-License-Identifier: BSL-1.0
// Convolution: one thread for each element of the result. Threads beside each other have results beside each other, so they read the same elements of the
// image, and taps that lie beside each other where the results are the last axis of the taps.
#pragma once

#include <tenure/core/config.hpp>
#include <tenure/kernels/rearrange.hpp>

namespace TENURE_NAMESPACE::kernels {

/// Element `at` of the results [n, i, j, o] of all batches: see ops/opaque/convolution.hpp. The strides are those of the axes of a sample.
template <class T>
struct convolve_element {
  walk<2> batches;
  std::int64_t rows, columns, results, channels, taps[2];
  std::int64_t of_image[4], of_taps[4], stride[2], dilation[2];
  std::int64_t elements;  // of one batch
  const T *x, *w;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t at) const {
    const auto offsets = batches.at(at / elements);
    std::int64_t rest = at % elements;
    const std::int64_t o = rest % results;
    rest /= results;
    const std::int64_t j = rest % columns;
    rest /= columns;
    const std::int64_t i = rest % rows, n = rest / rows;
    const T* const image = x + offsets.of[0] + n * of_image[0] + i * stride[0] * of_image[1] + j * stride[1] * of_image[2];
    const T* const tap = w + offsets.of[1] + o * of_taps[3];
    T sum = 0;
    for (std::int64_t u = 0; u < taps[0]; ++u)
      for (std::int64_t v = 0; v < taps[1]; ++v)
        for (std::int64_t c = 0; c < channels; ++c)
          sum += image[u * dilation[0] * of_image[1] + v * dilation[1] * of_image[2] + c * of_image[3]] * tap[u * of_taps[0] + v * of_taps[1] + c * of_taps[2]];
    to[at] = sum;
  }
};

}  // namespace tenure::kernels
