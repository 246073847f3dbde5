// SPDX-License-Identifier: BSL-1.0
// bfloat16: the upper half of a float, with 8 bits of exponent and 8 of precision.
#pragma once

#include <tenure/core/narrow_float.hpp>

namespace TENURE_NAMESPACE {

/// An element type of two bytes: a float without its lower 16 bits. It converts to float by itself and from a number only explicitly:
/// bfloat16(1.5f). The result of an operator is rounded to bfloat16.
class bfloat16 : public detail::narrow_float<bfloat16> {
 public:
  using narrow_float::narrow_float;

  TENURE_KERNEL_INLINE static constexpr float widened(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  TENURE_KERNEL_INLINE static constexpr std::uint16_t nearest(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
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
