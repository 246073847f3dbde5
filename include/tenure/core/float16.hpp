// SPDX-License-Identifier: BSL-1.0
// float16: IEEE 754 binary16, with 5 bits of exponent and 11 of precision. Its largest number is 65504, its least normal one 6.1e-5.
#pragma once

#include <tenure/core/narrow_float.hpp>

namespace TENURE_NAMESPACE {

/// An element type of two bytes, PyTorch's half. It converts to float by itself and from a number only explicitly: float16(1.5f). The result of an operator
/// is rounded to float16. Numbers from 65520 on become infinite.
class float16 : public detail::narrow_float<float16> {
 public:
  using narrow_float::narrow_float;

  TENURE_KERNEL_INLINE static constexpr float widened(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16, size = (bits & 0x7fffu) << 13;
    if (size < 0x0f800000u) return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) * 0x1p112f));  // exact, also for subnormal numbers
    return std::bit_cast<float>(sign | 0x7f800000u | size | (size > 0x0f800000u ? 0x400000u : 0u));
  }
  TENURE_KERNEL_INLINE static constexpr std::uint16_t nearest(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    std::uint32_t half = 0x7c00u;
    if (size > 0x7f800000u) half = 0x7e00u | (size >> 13 & 0x3ffu);                                                           // NaN
    else if (size < 0x38800000u) half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u;       // a step of 0.5 is that of subnormal numbers
    else if (size < 0x477ff000u) half = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;                               // below 65520
    return static_cast<std::uint16_t>(sign | half);
  }
};

template <>
struct number::computed_as<float16> { using type = float; };

}  // namespace tenure

template <>
struct std::numeric_limits<tenure::float16> : std::numeric_limits<float> {
  using float16 = tenure::float16;
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5, min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
  static constexpr float16 min() noexcept { return float16::from_bits(0x0400); }
  static constexpr float16 max() noexcept { return float16::from_bits(0x7bff); }
  static constexpr float16 lowest() noexcept { return float16::from_bits(0xfbff); }
  static constexpr float16 epsilon() noexcept { return float16::from_bits(0x1400); }
  static constexpr float16 round_error() noexcept { return float16::from_bits(0x3800); }
  static constexpr float16 infinity() noexcept { return float16::from_bits(0x7c00); }
  static constexpr float16 quiet_NaN() noexcept { return float16::from_bits(0x7e00); }
  static constexpr float16 signaling_NaN() noexcept { return float16::from_bits(0x7d00); }
  static constexpr float16 denorm_min() noexcept { return float16::from_bits(0x0001); }
};
