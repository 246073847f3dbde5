// SPDX-License-Identifier: BSL-1.0
// The reference's own conversion of bfloat16, against its definition: the upper half of a float.
#include "../catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include <tenure/backend/reference/narrow.hpp>

using tenure::bfloat16;
using format = tenure::reference::narrow_format<bfloat16>;

namespace {
std::uint32_t bits_of(bfloat16 x) { return std::bit_cast<std::uint16_t>(x); }
}  // namespace

TEST_CASE("each bfloat16 has the value of the float that begins with its bits, and is the nearest to this value") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double wanted = static_cast<double>(std::bit_cast<float>(bits << 16)), found = format::value(bfloat16::from_bits(static_cast<std::uint16_t>(bits)));
    if (std::isnan(wanted)) wrong += !std::isnan(found) || !std::isnan(format::value(format::nearest(found)));
    else wrong += found != wanted || std::signbit(found) != std::signbit(wanted) || bits_of(format::nearest(found)) != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a number between two of bfloat16 becomes the nearest, and of two equally near ones the even one") {
  CHECK(bits_of(format::nearest(1 + 0x1p-8)) == 0x3f80);
  CHECK(bits_of(format::nearest(1 + 0x1.001p-8)) == 0x3f81);
  CHECK(bits_of(format::nearest(-1 - 0x3p-8)) == 0xbf82);
  CHECK(bits_of(format::nearest(0x1.ffp127)) == 0x7f80);   // past the largest: infinite
  CHECK(bits_of(format::nearest(0x1.fep127)) == 0x7f7f);
  CHECK(bits_of(format::nearest(0x1p-134)) == 0);          // half of the smallest
  CHECK(bits_of(format::nearest(0x1.8p-134)) == 1);
  CHECK(bits_of(format::nearest(1e300)) == 0x7f80);
}
