// SPDX-License-Identifier: BSL-1.0
// Rows of a table that the lanes of a packet choose.
#pragma once

#include <bit>
#include <cstddef>

#include <tenure/math/packet/memory.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

/// Lane l of packet k is number k of a row of the table: of the row whose number is the bits of lane l of `index`. It is less than Rows. A row has as many
/// numbers as some packets. Cost: two shuffles for each number of a row, or one and half of a load.
template <class P, class T, std::size_t Rows, std::size_t Numbers>
TENURE_KERNEL_INLINE void load_rows(const T (&table)[Rows][Numbers], P index, P (&to)[Numbers]) {
  static_assert(Numbers % static_cast<std::size_t>(width<P>) == 0);
  if constexpr (is_one_lane<P>) {
    const T* const row = table[std::bit_cast<bits_of<P>>(index)];
    for (std::size_t k = 0; k < Numbers; ++k) to[k] = row[k];
  } else {
    constexpr int lanes = width<P>;
    T stored[lanes];
    store<P>(stored, index);
    const T* row[lanes];
    for (int l = 0; l < lanes; ++l) row[l] = table[std::bit_cast<bits_of<P>>(stored[l])];
#if TENURE_AVX
    if constexpr (std::is_same_v<P, __m256d>) {
      for (std::size_t k = 0; k < Numbers; k += 2) {
        const __m256d even = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row[0] + k)), _mm_loadu_pd(row[2] + k), 1);
        const __m256d odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row[1] + k)), _mm_loadu_pd(row[3] + k), 1);
        to[k] = _mm256_unpacklo_pd(even, odd), to[k + 1] = _mm256_unpackhi_pd(even, odd);
      }
      return;
    }
#endif
    for (std::size_t k = 0; k < Numbers; k += lanes) {
      P block[lanes];
      for (int l = 0; l < lanes; ++l) block[l] = load<P>(row[l] + k);
      transpose<P>(block);
      for (int l = 0; l < lanes; ++l) to[k + static_cast<std::size_t>(l)] = block[l];
    }
  }
}

}  // namespace tenure::math
