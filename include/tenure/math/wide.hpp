// SPDX-License-Identifier: BSL-1.0
// wide_number: an unsigned integer of 128 bits. Compilers for 32-bit processors have none, so there it is a pair of words, with the operations that angles need.
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::math::detail {

/// A pair of words as one number modulo 2^128. The distance of a shift is in [0, 128).
struct wide_in_words {
  std::uint64_t high = 0, low = 0;

  constexpr wide_in_words() = default;
  TENURE_KERNEL constexpr wide_in_words(std::uint64_t x) : low(x) {}
  TENURE_KERNEL constexpr wide_in_words(std::uint64_t h, std::uint64_t l) : high(h), low(l) {}
  TENURE_KERNEL constexpr explicit operator std::uint64_t() const { return low; }

  TENURE_KERNEL friend constexpr wide_in_words operator+(wide_in_words a, wide_in_words b) { return {a.high + b.high + (a.low + b.low < a.low), a.low + b.low}; }
  TENURE_KERNEL friend constexpr wide_in_words operator-(wide_in_words a, wide_in_words b) { return {a.high - b.high - (a.low < b.low), a.low - b.low}; }
  TENURE_KERNEL friend constexpr wide_in_words operator|(wide_in_words a, wide_in_words b) { return {a.high | b.high, a.low | b.low}; }
  TENURE_KERNEL friend constexpr wide_in_words operator<<(wide_in_words a, int n) {
    if (n == 0) return a;
    return n < 64 ? wide_in_words(a.high << n | a.low >> (64 - n), a.low << n) : wide_in_words(a.low << (n - 64), 0);
  }
  TENURE_KERNEL friend constexpr wide_in_words operator>>(wide_in_words a, int n) {
    if (n == 0) return a;
    return n < 64 ? wide_in_words(a.high >> n, a.low >> n | a.high << (64 - n)) : wide_in_words(0, a.high >> (n - 64));
  }
  TENURE_KERNEL constexpr wide_in_words& operator<<=(int n) { return *this = *this << n; }
  TENURE_KERNEL friend constexpr bool operator==(wide_in_words a, wide_in_words b) { return a.high == b.high && a.low == b.low; }
  TENURE_KERNEL friend constexpr bool operator<(wide_in_words a, wide_in_words b) { return a.high < b.high || (a.high == b.high && a.low < b.low); }
  TENURE_KERNEL friend constexpr bool operator>=(wide_in_words a, wide_in_words b) { return !(a < b); }
};

/// The exact product of two words.
template <class Wide>
TENURE_KERNEL constexpr Wide product_of_words(std::uint64_t a, std::uint64_t b) {
  return static_cast<Wide>(a) * b;
}
template <>
TENURE_KERNEL constexpr wide_in_words product_of_words<wide_in_words>(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t half = 0xffffffffu;
  const std::uint64_t low = (a & half) * (b & half), one = (a >> 32) * (b & half), other = (a & half) * (b >> 32), high = (a >> 32) * (b >> 32);
  const std::uint64_t middle = (low >> 32) + (one & half) + (other & half);
  return {high + (one >> 32) + (other >> 32) + (middle >> 32), middle << 32 | (low & half)};
}

#if defined(__SIZEOF_INT128__)
__extension__ using wide_number = unsigned __int128;
#else
using wide_number = wide_in_words;
#endif

}  // namespace tenure::math::detail
