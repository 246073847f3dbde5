// SPDX-License-Identifier: BSL-1.0
// float16 against Eigen's half, which shares no code with it, and against the definition of rounding.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

#include <tenure/core/dtype.hpp>

#include "catch.hpp"

using tenure::float16;

namespace {
using limits = std::numeric_limits<float16>;
static_assert(sizeof(float16) == 2 && std::is_trivially_copyable_v<float16> && std::is_trivially_default_constructible_v<float16>);
static_assert(std::is_convertible_v<float16, float> && !std::is_convertible_v<float, float16>);
static_assert(tenure::element<float16> && tenure::dtype_v<float16> == tenure::dtype::float16);
static_assert(tenure::lane_of(tenure::dtype::float16) == tenure::dtype::float32 && tenure::is_floating(tenure::dtype::float16));
static_assert(tenure::promote(tenure::dtype::float16, tenure::dtype::float32) == tenure::dtype::float32);
static_assert(tenure::promote(tenure::dtype::float16, tenure::dtype::bfloat16) == tenure::dtype::float32);
static_assert(tenure::promote(tenure::dtype::float16, tenure::dtype::int64) == tenure::dtype::float16);
static_assert(float(float16(2049.0f)) == 2048.0f && float(float16(2051.0f)) == 2052.0f, "halfway: to even");
static_assert(std::is_same_v<decltype(float16(1) + float16(1)), float16> && std::is_same_v<decltype(float16(1) + 1.0f), float>);
static_assert(float16(2) < float16(3) && -float16(2) == float16(-2) && float16(2048) + float16(1) == float16(2048));

/// The nearest by arithmetic in double, which represents every float and the middle between two float16.
double by_definition(float x) {
  const double size = std::fabs(static_cast<double>(x));
  const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  const double unit = std::ldexp(1.0, exponent - 10), down = std::floor(size / unit), rest = size / unit - down;
  const double rounded = (rest > 0.5 || (rest == 0.5 && std::fmod(down, 2) == 1) ? down + 1 : down) * unit;
  return std::copysign(rounded < 0x1p16 ? rounded : std::numeric_limits<double>::infinity(), static_cast<double>(x));
}
}  // namespace

TEST_CASE("all 65536 float16 become the float of the same value, and back") {
  int wrong = 0;
  for (std::uint32_t b = 0; b < 65536; ++b) {
    const float16 x = float16::from_bits(static_cast<std::uint16_t>(b));
    const float f = x, by_eigen = Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(static_cast<std::uint16_t>(b)));
    wrong += x.bits() != b || (std::isnan(f) ? !std::isnan(by_eigen) : f != by_eigen) || std::signbit(f) != ((b >> 15) != 0);
    const float16 back(f);
    wrong += std::isnan(f) ? !std::isnan(float(back)) || (back.bits() | 0x200) != (b | 0x200) : back.bits() != b;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a float becomes the nearest float16, of two the even one") {
  int wrong = 0;
  for (std::uint32_t high = 0; high < 65536; ++high)
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x4000u, 0x7fffu, 0x8000u, 0x8001u, 0xd000u, 0xffffu}) {
      const auto x = std::bit_cast<float>(high << 16 | low);
      const float16 y(x);
      if (std::isnan(x)) wrong += !std::isnan(float(y)) || (y.bits() & 0x200) == 0 || std::signbit(float(y)) != std::signbit(x);
      else wrong += y.bits() != Eigen::half(x).x || (std::isfinite(x) && (static_cast<double>(float(y)) != by_definition(x) || std::signbit(float(y)) != std::signbit(x)));
    }
  CHECK(wrong == 0);
}

TEST_CASE("the limits of float16 are those of its numbers") {
  CHECK(float(limits::max()) == 65504.0f);
  CHECK(float(limits::lowest()) == -65504.0f);
  CHECK(float(limits::min()) == 0x1p-14f);
  CHECK(float(limits::denorm_min()) == 0x1p-24f);
  CHECK(float(limits::epsilon()) == 0x1p-10f);
  CHECK(float16(1) + limits::epsilon() != float16(1));
  CHECK(std::isinf(float(limits::infinity())));
  CHECK(std::isnan(float(limits::quiet_NaN())));
  CHECK(float16(65519.0f) == limits::max());
  CHECK(float16(65520.0f) == limits::infinity());
  CHECK(tenure::number::convert<std::int32_t>(float16(-7.9)) == -7);
}
