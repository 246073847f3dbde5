// SPDX-License-Identifier: BSL-1.0
// Masks from arrays of bool in memory, and back: one byte for each lane.
// Cost: a few instructions for all lanes. Lane by lane, the load of a packet waits until the store buffer has written the lanes, which took four
// times as long in a kernel that reads a mask, a packet and divides.
#pragma once

#include <cstdint>
#include <cstring>

#include <tenure/math/packet/comparison.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

/// The bit i is byte i of the word, which is 0 or 1: the multiplication moves all of them to the highest byte.
TENURE_KERNEL_INLINE unsigned bits_of_bytes(std::uint64_t bytes) { return static_cast<unsigned>(bytes * 0x0102040810204080u >> 56); }
/// Byte i is bit i of the lowest byte, as 0 or 1.
TENURE_KERNEL_INLINE std::uint64_t bytes_of_bits(unsigned bits) {
  const std::uint64_t apart = ((bits & 0xffu) * 0x0101010101010101u) & 0x8040201008040201u;
  return (apart + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

#if TENURE_AVX2
template <class P>
inline constexpr bool widens_bytes = sizeof(P) == 32 && !is_one_lane<P>;
template <class P>
TENURE_INLINE P widened(std::uint64_t bytes) {
  const __m128i word = _mm_cvtsi64_si128(static_cast<long long>(bytes));
  const __m256i zero = _mm256_setzero_si256();
  if constexpr (sizeof(scalar_of<P>) == 4) return _mm256_castsi256_ps(_mm256_sub_epi32(zero, _mm256_cvtepu8_epi32(word)));
  else return _mm256_castsi256_pd(_mm256_sub_epi64(zero, _mm256_cvtepu8_epi64(word)));
}
#else
template <class P>
inline constexpr bool widens_bytes = false;
template <class P>
P widened(std::uint64_t) = delete;
#endif

}  // namespace detail

/// Whether load_bools takes the bools of all lanes at once.
template <class P>
inline constexpr bool loads_bools = is_512<P> || detail::widens_bytes<P>;

/// The mask whose lane i is from[i]. Requires loads_bools<P>.
template <class P>
TENURE_KERNEL_INLINE mask_of<P> load_bools(const bool* from) {
  constexpr int lanes = width<P>;
  if constexpr (is_512<P>) {
    unsigned bits = 0;
    for (int l = 0; l < lanes; l += 8) {
      std::uint64_t bytes;
      std::memcpy(&bytes, from + l, 8);
      bits |= detail::bits_of_bytes(bytes) << l;
    }
    return {static_cast<decltype(mask_of<P>::bits)>(bits)};
  } else {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, from, lanes);
    return detail::widened<P>(bytes);
  }
}

/// to[i] = lane i of the mask.
template <class P>
TENURE_KERNEL_INLINE void store_bools(bool* to, mask_of<P> mask) {
  if constexpr (is_one_lane<P>) {  // the condition of a loop waits for this
    *to = mask;
  } else {
    constexpr int lanes = width<P>, in_word = lanes < 8 ? lanes : 8;
    const unsigned bits = lane_bits<P>(mask);
    for (int l = 0; l < lanes; l += in_word) {
      const std::uint64_t bytes = detail::bytes_of_bits(bits >> l);
      std::memcpy(to + l, &bytes, in_word);
    }
  }
}

}  // namespace tenure::math
