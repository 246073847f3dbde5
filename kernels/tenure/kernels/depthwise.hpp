// SPDX-License-Identifier: BSL-1.0
// The convolution of each channel by itself, and its derivatives: one thread for each element of the result. Threads beside each other have channels, or
// columns of one channel, beside each other.
#pragma once

#include <tenure/core/config.hpp>
#include <tenure/kernels/rearrange.hpp>

namespace TENURE_NAMESPACE::kernels {

/// Element `at` of the results of all batches: see ops/opaque/depthwise.hpp. Of the axes of rows and columns, image, taps and positions have the extents of
/// these names. Strides are those of the axes of a sample. Of: the array that is the result, 0 the image, 1 the taps, 2 the positions.
template <class T, int Of>
struct depthwise_element {
  walk<2> batches;
  std::int64_t image[2], taps[2], positions[2], channels;
  std::int64_t stride[2], dilation[2], zeros[2];
  std::int64_t of_first[3], of_second[3];  // the strides of the operands
  const T *first, *second;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t at) const {
    const std::int64_t* const extent = Of == 0 ? image : Of == 1 ? taps : positions;
    const std::int64_t c = at % channels, column = at / channels % extent[1], row = at / channels / extent[1] % extent[0];
    const auto offsets = batches.at(at / channels / extent[1] / extent[0]);
    const T* const a = first + offsets.of[0] + c * of_first[2];
    const T* const b = second + offsets.of[1] + c * of_second[2];
    // The loops go over taps, or for the taps over positions. The third index follows, if there is one.
    const std::int64_t* const over = Of == 1 ? positions : taps;
    T sum = 0;
    for (std::int64_t p = 0; p < over[0]; ++p) {
      std::int64_t i = 0;
      if (!third(0, row, p, i)) continue;
      for (std::int64_t q = 0; q < over[1]; ++q) {
        std::int64_t j = 0;
        if (!third(1, column, q, j)) continue;
        // The operands are: the result's cotangent and taps; the image and the cotangent; the image and taps.
        sum += a[i * of_first[0] + j * of_first[1]] * b[p * of_second[0] + q * of_second[1]];
      }
    }
    to[at] = sum;
  }

 private:
  /// The index of the first operand along an axis for index `of` of the result and `p` of the second operand. Returns whether there is one.
  TENURE_KERNEL_INLINE bool third(int axis, std::int64_t of, std::int64_t p, std::int64_t& found) const {
    if constexpr (Of == 0) {
      const std::int64_t steps = of + zeros[axis] - p * dilation[axis];
      found = steps / stride[axis];
      return steps >= 0 && steps % stride[axis] == 0 && found < positions[axis];
    } else {
      const std::int64_t position = Of == 1 ? p : of, tap = Of == 1 ? of : p;
      found = position * stride[axis] + tap * dilation[axis] - zeros[axis];
      return found >= 0 && found < image[axis];
    }
  }
};

}  // namespace tenure::kernels
