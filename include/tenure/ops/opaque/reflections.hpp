// SPDX-License-Identifier: BSL-1.0
// Householder's reflections 1 - factor v v^T of matrices with a sample in each lane: columns go four at a time through a panel, which stays in the cache of level 1 while
// all reflections before it are applied. With columns in their places 1,000 `qr` of 32 x 32 took four times as long, and up to 8 rows they are faster: rows of samples lie a power of two apart.
#pragma once

#include <cstdint>

#include <tenure/math/lanes.hpp>

namespace TENURE_NAMESPACE::ops {

/// Four columns of a matrix, side by side.
template <class V>
struct panel {
  static constexpr std::int64_t width = 4;
  V* at;
  std::int64_t rows;

  static constexpr std::int64_t numbers(std::int64_t rows) { return width * rows; }

  TENURE_KERNEL_INLINE V& operator()(std::int64_t i, std::int64_t k) const { return at[i * width + k]; }
  /// Columns j to j + used - 1 of a matrix. The other columns of the panel are 0.
  TENURE_KERNEL_INLINE void load(const V* from, std::int64_t step, std::int64_t j, std::int64_t used) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < width; ++k) (*this)(i, k) = k < used ? from[i * step + j + k] : V(typename V::number(0));
  }
  /// Applies reflections first, first + step ... before `end`, where step is 1 or -1. Number c has its vector, from element c on, in row c of `vectors`. A pass over
  /// the panel applies one reflection and finds the products with the next vector, so each number is loaded and stored once a reflection.
  TENURE_KERNEL_INLINE void reflect(const V* vectors, const V* factors, std::int64_t first, std::int64_t end, std::int64_t step) const {
    const V zero = V(typename V::number(0));
    if (first == end) return;
    V products[width] = {zero, zero, zero, zero};
    for (std::int64_t i = first; i < rows; ++i) subtract(products, vectors[first * rows + i], i);
    for (std::int64_t c = first; c != end; c += step) {
      const std::int64_t next = c + step;
      const V *const v = vectors + c * rows, *const w = vectors + next * rows, factor = zero - factors[c];
      V sums[width];
      for (std::int64_t k = 0; k < width; ++k) sums[k] = products[k] * factor, products[k] = zero;
      if (next == end) {
        for (std::int64_t i = c; i < rows; ++i) turn(sums, v[i], i);
        return;
      }
      if (step > 0) turn(sums, v[c], c);
      else subtract(products, w[next], next);
      for (std::int64_t i = step > 0 ? next : c; i < rows; ++i) {
        turn(sums, v[i], i);
        subtract(products, w[i], i);
      }
    }
  }
  /// Applies one reflection to columns k and behind it.
  TENURE_KERNEL_INLINE void reflect_from(std::int64_t k, const V* vector, V factor, std::int64_t c) const {
    const V zero = V(typename V::number(0));
    for (; k < width; ++k) {
      V sum = zero;
      for (std::int64_t i = c; i < rows; ++i) sum = math::minus_product(sum, vector[i], (*this)(i, k));
      sum = sum * (zero - factor);
      for (std::int64_t i = c; i < rows; ++i) (*this)(i, k) = math::minus_product((*this)(i, k), vector[i], sum);
    }
  }

 private:
  TENURE_KERNEL_INLINE void subtract(V (&products)[width], V v, std::int64_t i) const {
    for (std::int64_t k = 0; k < width; ++k) products[k] = math::minus_product(products[k], v, (*this)(i, k));
  }
  TENURE_KERNEL_INLINE void turn(const V (&sums)[width], V v, std::int64_t i) const {
    for (std::int64_t k = 0; k < width; ++k) (*this)(i, k) = math::minus_product((*this)(i, k), v, sums[k]);
  }
};

}  // namespace tenure::ops
