// SPDX-License-Identifier: BSL-1.0
// bfloat16: the upper half of a float, with 8 bits of exponent and 8 of precision. Memory holds it. Arithmetic is done in float.
// Law: every bfloat16 is a float. A float becomes the nearest bfloat16, of two the even one; NaN stays a quiet NaN. Every other number is
// converted to float first, as in PyTorch.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tenure/core/number.hpp>

namespace TENURE_NAMESPACE {

/// An element type of two bytes: a float without its lower 16 bits. It converts to float by itself and from a number only explicitly:
/// bfloat16(1.5f). The result of an operator is rounded to bfloat16.
class bfloat16 {
 public:
  bfloat16() = default;
  template <class Number>
    requires std::is_arithmetic_v<Number>
  TENURE_KERNEL_INLINE constexpr explicit bfloat16(Number x) : bits_(nearest(static_cast<float>(x))) {}

  TENURE_KERNEL_INLINE constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits_} << 16); }

  /// The number with these bits.
  TENURE_KERNEL_INLINE static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 x(0);
    x.bits_ = bits;
    return x;
  }
  TENURE_KERNEL_INLINE constexpr std::uint16_t bits() const { return bits_; }

  TENURE_KERNEL_INLINE constexpr bfloat16 operator-() const { return from_bits(static_cast<std::uint16_t>(bits_ ^ 0x8000)); }
  TENURE_KERNEL_INLINE friend constexpr bfloat16 operator+(bfloat16 a, bfloat16 b) { return bfloat16(float(a) + float(b)); }
  TENURE_KERNEL_INLINE friend constexpr bfloat16 operator-(bfloat16 a, bfloat16 b) { return bfloat16(float(a) - float(b)); }
  TENURE_KERNEL_INLINE friend constexpr bfloat16 operator*(bfloat16 a, bfloat16 b) { return bfloat16(float(a) * float(b)); }
  TENURE_KERNEL_INLINE friend constexpr bfloat16 operator/(bfloat16 a, bfloat16 b) { return bfloat16(float(a) / float(b)); }
  TENURE_KERNEL_INLINE constexpr bfloat16& operator+=(bfloat16 b) { return *this = *this + b; }
  TENURE_KERNEL_INLINE constexpr bfloat16& operator-=(bfloat16 b) { return *this = *this - b; }
  TENURE_KERNEL_INLINE constexpr bfloat16& operator*=(bfloat16 b) { return *this = *this * b; }
  TENURE_KERNEL_INLINE constexpr bfloat16& operator/=(bfloat16 b) { return *this = *this / b; }

 private:
  TENURE_KERNEL_INLINE static constexpr std::uint16_t nearest(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }

  std::uint16_t bits_;
};

template <>
struct number::computed_as<bfloat16> { using type = float; };

}  // namespace tenure

/// The limits, as those of float with fewer digits.
template <>
struct std::numeric_limits<tenure::bfloat16> : std::numeric_limits<float> {
  using bfloat16 = tenure::bfloat16;
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr bfloat16 min() noexcept { return bfloat16::from_bits(0x0080); }
  static constexpr bfloat16 max() noexcept { return bfloat16::from_bits(0x7f7f); }
  static constexpr bfloat16 lowest() noexcept { return bfloat16::from_bits(0xff7f); }
  static constexpr bfloat16 epsilon() noexcept { return bfloat16::from_bits(0x3c00); }
  static constexpr bfloat16 round_error() noexcept { return bfloat16::from_bits(0x3f00); }
  static constexpr bfloat16 infinity() noexcept { return bfloat16::from_bits(0x7f80); }
  static constexpr bfloat16 quiet_NaN() noexcept { return bfloat16::from_bits(0x7fc0); }
  static constexpr bfloat16 signaling_NaN() noexcept { return bfloat16::from_bits(0x7fa0); }
  static constexpr bfloat16 denorm_min() noexcept { return bfloat16::from_bits(0x0001); }
};
