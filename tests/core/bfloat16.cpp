// SPDX-License-Identifier: BSL-1.0
// bfloat16 against Eigen's type of this name, which shares no code with it, and against the definition of rounding.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

#include <tenure/core/dtype.hpp>

#include "catch.hpp"

using tenure::bfloat16;

namespace {
using limits = std::numeric_limits<bfloat16>;
static_assert(sizeof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16> && std::is_trivially_default_constructible_v<bfloat16>);
static_assert(std::is_convertible_v<bfloat16, float> && !std::is_convertible_v<float, bfloat16>);
static_assert(tenure::element<bfloat16> && tenure::dtype_v<bfloat16> == tenure::dtype::bfloat16);
static_assert(tenure::lane_of(tenure::dtype::bfloat16) == tenure::dtype::float32 && tenure::is_floating(tenure::dtype::bfloat16));
static_assert(tenure::promote(tenure::dtype::bfloat16, tenure::dtype::float32) == tenure::dtype::float32);
static_assert(tenure::promote(tenure::dtype::bfloat16, tenure::dtype::int64) == tenure::dtype::bfloat16);
static_assert(tenure::promote(tenure::dtype::bfloat16, tenure::dtype::float16) == tenure::dtype::float32);
static_assert(float(bfloat16(1.00390625f)) == 1.0f && float(bfloat16(1.01171875f)) == 1.015625f, "halfway: to even");
static_assert(std::is_same_v<decltype(bfloat16(1) + bfloat16(1)), bfloat16> && std::is_same_v<decltype(bfloat16(1) + 1.0f), float>);
static_assert(bfloat16(2) < bfloat16(3) && -bfloat16(2) == bfloat16(-2) && bfloat16(256) + bfloat16(1) == bfloat16(256));

std::uint16_t by_eigen(float x) { return Eigen::bfloat16(x).value; }

/// The nearest by arithmetic in double, which represents every float and the middle between two bfloat16.
double by_definition(float x) {
  const double size = std::fabs(static_cast<double>(x));
  const int exponent = size < 0x1p-126 ? -126 : std::ilogb(size);
  const double unit = std::ldexp(1.0, exponent - 7), down = std::floor(size / unit), rest = size / unit - down;
  const double rounded = (rest > 0.5 || (rest == 0.5 && std::fmod(down, 2) == 1) ? down + 1 : down) * unit;
  return std::copysign(rounded < 0x1p128 ? rounded : std::numeric_limits<double>::infinity(), static_cast<double>(x));
}
}  // namespace

// Law: a number of two bytes is a float.
TEST_CASE("all 65536 bfloat16 become the float of the same value, and back") {
  int wrong = 0;
  for (std::uint32_t b = 0; b < 65536; ++b) {
    const bfloat16 x = bfloat16::from_bits(static_cast<std::uint16_t>(b));
    const float f = x;
    wrong += x.bits() != b || std::bit_cast<std::uint32_t>(f) != b << 16;
    const bfloat16 back(f);
    wrong += std::isnan(f) ? !std::isnan(float(back)) || (back.bits() | 0x40) != (b | 0x40) : back.bits() != b;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a float becomes the nearest bfloat16, of two the even one") {
  int wrong = 0;
  for (std::uint32_t high = 0; high < 65536; ++high)
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x4000u, 0x7fffu, 0x8000u, 0x8001u, 0xc000u, 0xffffu}) {
      const auto x = std::bit_cast<float>(high << 16 | low);
      const bfloat16 y(x);
      if (std::isnan(x)) wrong += !std::isnan(float(y)) || (y.bits() & 0x40) == 0 || std::signbit(float(y)) != std::signbit(x);
      else wrong += y.bits() != by_eigen(x) || (std::isfinite(x) && (static_cast<double>(float(y)) != by_definition(x) || std::signbit(float(y)) != std::signbit(x)));
    }
  CHECK(wrong == 0);
}

TEST_CASE("the limits of bfloat16 are those of its numbers") {
  CHECK(float(limits::max()) == 0x1.fep127f);
  CHECK(float(limits::lowest()) == -0x1.fep127f);
  CHECK(float(limits::min()) == 0x1p-126f);
  CHECK(float(limits::denorm_min()) == 0x1p-133f);
  CHECK(float(limits::epsilon()) == 0x1p-7f);
  CHECK(bfloat16(1) + limits::epsilon() != bfloat16(1));
  CHECK(std::isinf(float(limits::infinity())));
  CHECK(std::isnan(float(limits::quiet_NaN())));
  CHECK(bfloat16(std::numeric_limits<float>::max()) == limits::infinity());
}

TEST_CASE("other numbers become bfloat16 through float") {
  // 1 + 2^-8 + 2^-40 is above the middle, but as a float it is the middle.
  CHECK(float(bfloat16(1 + 0x1p-8 + 0x1p-40)) == 1.0f);
  CHECK(float(tenure::number::convert<bfloat16>(std::int64_t{1} << 40)) == 0x1p40f);
  CHECK(tenure::number::convert<std::int32_t>(limits::max()) == std::numeric_limits<std::int32_t>::max());
  CHECK(tenure::number::convert<std::int64_t>(limits::quiet_NaN()) == 0);
  CHECK(tenure::number::convert<double>(bfloat16(-1.5)) == -1.5);
  CHECK(tenure::number::convert<bool>(bfloat16(-1.5)));
}
