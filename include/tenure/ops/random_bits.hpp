// SPDX-License-Identifier: BSL-1.0
// The pointwise part of random numbers: bits from a key and a position, and numbers from bits. A kernel has lanes of one type, so the words
// of the key and the random bits are held in the bits of its lanes: a node of float32 then holds bits and not a number. Law: no gradient
// flows. Each function has the same bits in every lane, in each backend; random_normal is exact to a few ulp.
#pragma once

#include <bit>
#include <cstdint>

#include <tenure/math/random.hpp>
#include <tenure/ops/arithmetic.hpp>
#include <tenure/tensor/random.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {

/// Threefry-2x32 as it is defined, for the reference: (key, counter) -> the first word in the upper half, and the second one.
constexpr std::uint64_t threefry(std::uint32_t k0, std::uint32_t k1, std::uint32_t x0, std::uint32_t x1) {
  constexpr int rotation[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::uint32_t key[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bdau};
  x0 += k0;
  x1 += k1;
  for (std::uint32_t i = 0; i < 5; ++i) {
    for (const int r : rotation[i % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += key[(i + 1) % 3];
    x1 += key[(i + 2) % 3] + i + 1;
  }
  return static_cast<std::uint64_t>(x0) << 32 | x1;
}

template <class T>
using lane_bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

}  // namespace detail

/// The word of 32 bits with the halves high and low, in the bits of an element.
struct random_word : piecewise_constant<random_word, 2, typing::arithmetic> {
  static constexpr const char* name = "random_word";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P high, P low) { return math::random_word(high, low); }
  template <class T>
  static T reference(T high, T low) {
    const auto word = static_cast<std::uint32_t>(static_cast<std::int64_t>(high)) << 16 |
                      (static_cast<std::uint32_t>(static_cast<std::int64_t>(low)) & 0xffffu);
    return std::bit_cast<T>(detail::lane_bits<T>{word});
  }
};

/// As many random bits as an element has, from a position (a number) and the two words of a key (bits).
struct random_bits : piecewise_constant<random_bits, 3, typing::arithmetic> {
  static constexpr const char* name = "random_bits";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P position, P first, P second) { return math::random_bits(position, first, second); }
  template <class T>
  static T reference(T position, T first, T second) {
    const auto at = static_cast<std::uint64_t>(static_cast<std::int64_t>(position));
    const auto word = [](T x) { return static_cast<std::uint32_t>(std::bit_cast<detail::lane_bits<T>>(x)); };
    const std::uint64_t both = detail::threefry(word(first), word(second), sizeof(T) == 8 ? static_cast<std::uint32_t>(at >> 32) : 0,
                                                static_cast<std::uint32_t>(at));
    return std::bit_cast<T>(static_cast<detail::lane_bits<T>>(sizeof(T) == 8 ? both : both ^ both >> 32));
  }
};

/// A number in [0, 1) from bits: a multiple of 2^-23 (float64: 2^-52).
struct random_unit : piecewise_constant<random_unit, 1, typing::floating> {
  static constexpr const char* name = "random_unit";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P bits) { return math::random_unit(bits); }
  template <class T>
  static T reference(T bits) {
    constexpr int digits = std::numeric_limits<T>::digits - 1, unused = static_cast<int>(8 * sizeof(T)) - digits;
    return static_cast<T>(std::bit_cast<detail::lane_bits<T>>(bits) >> unused) / static_cast<T>(std::uint64_t{1} << digits);
  }
};

/// A number with the standard normal distribution from bits.
struct random_normal : piecewise_constant<random_normal, 1, typing::floating> {
  static constexpr const char* name = "random_normal";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P bits) { return math::random_normal(bits); }
  template <class T>
  static T reference(T bits) {
    const T x = 2 * random_unit::reference(bits) - 1 + std::numeric_limits<T>::epsilon() / 2;
    const double tail = tenure::detail::normal_quantile((1 - std::fabs(static_cast<double>(x))) / 2);
    return static_cast<T>(x < 0 ? tail : -tail);
  }
};

using random_operations = operation_list<random_word, random_bits, random_unit, random_normal>;

}  // namespace TENURE_NAMESPACE::ops
