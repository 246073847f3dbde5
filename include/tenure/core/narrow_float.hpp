// SPDX-License-Identifier: BSL-1.0
// What the floating element types of two bytes share. Memory holds them. Arithmetic is done in float.
// Law: a number of two bytes is a float. A float becomes the nearest number of two bytes, of two the even one; NaN stays a quiet NaN. Every other number is
// converted to float first, as in PyTorch.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tenure/core/number.hpp>

namespace TENURE_NAMESPACE::detail {

/// The base of Number, which states two conversions: widened(bits) to float, and nearest(x) from float to bits.
template <class Number>
class narrow_float {
 public:
  narrow_float() = default;
  template <class From>
    requires std::is_arithmetic_v<From>
  TENURE_KERNEL_INLINE constexpr explicit narrow_float(From x) : bits_(Number::nearest(static_cast<float>(x))) {}

  TENURE_KERNEL_INLINE constexpr operator float() const { return Number::widened(bits_); }

  /// The number with these bits.
  TENURE_KERNEL_INLINE static constexpr Number from_bits(std::uint16_t bits) {
    Number x(0);
    x.bits_ = bits;
    return x;
  }
  TENURE_KERNEL_INLINE constexpr std::uint16_t bits() const { return bits_; }

  TENURE_KERNEL_INLINE constexpr Number operator-() const { return from_bits(static_cast<std::uint16_t>(bits_ ^ 0x8000)); }
  TENURE_KERNEL_INLINE friend constexpr Number operator+(Number a, Number b) { return Number(float(a) + float(b)); }
  TENURE_KERNEL_INLINE friend constexpr Number operator-(Number a, Number b) { return Number(float(a) - float(b)); }
  TENURE_KERNEL_INLINE friend constexpr Number operator*(Number a, Number b) { return Number(float(a) * float(b)); }
  TENURE_KERNEL_INLINE friend constexpr Number operator/(Number a, Number b) { return Number(float(a) / float(b)); }
  TENURE_KERNEL_INLINE constexpr Number& operator+=(Number b) { return assign(self() + b); }
  TENURE_KERNEL_INLINE constexpr Number& operator-=(Number b) { return assign(self() - b); }
  TENURE_KERNEL_INLINE constexpr Number& operator*=(Number b) { return assign(self() * b); }
  TENURE_KERNEL_INLINE constexpr Number& operator/=(Number b) { return assign(self() / b); }

 private:
  TENURE_KERNEL_INLINE constexpr Number& self() { return static_cast<Number&>(*this); }
  TENURE_KERNEL_INLINE constexpr Number& assign(Number x) { return self() = x; }

  std::uint16_t bits_;
};

}  // namespace tenure::detail
