// SPDX-License-Identifier: BSL-1.0
// Packets from and to memory of a narrow type do in each lane what the conversions of one number do, in packets of every width.
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tenure/math/packet.hpp>

#include "catch.hpp"

namespace math = tenure::math;
using tenure::bfloat16;
using tenure::float16;

namespace {
/// P, and the narrower packets below it.
template <class P, class F>
void each_width(F f) {
  f(P{});
  if constexpr (!math::is_one_lane<P>) {
    using half = tenure::math::half_of<P>;
    if constexpr (!std::is_same_v<half, P>) each_width<half>(f);
    else f(math::scalar_of<P>{});
  }
}
template <class F>
void each_width(F f) { each_width<math::packet_of<float>>(f); }

bool same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }
}  // namespace

TEMPLATE_TEST_CASE("loads of a narrow type give all its numbers", "", bfloat16, float16) {
  using narrow = TestType;
  std::vector<narrow> all;
  for (int b = 0; b < 65536; ++b) all.push_back(narrow::from_bits(static_cast<std::uint16_t>(b)));
  each_width([&]<class P>(P) {
    constexpr int lanes = math::width<P>;
    int wrong = 0;
    for (int i = 0; i + 3 * lanes <= 65536; ++i) {
      float got[lanes];
      math::store<P>(got, math::load_narrow<P>(all.data() + i));
      for (int l = 0; l < lanes; ++l) wrong += !same(got[l], all[static_cast<std::size_t>(i + l)]);
      if (i % 64 != 0) continue;
      math::store<P>(got, math::load_narrow<P>(all.data() + i, 3));
      for (int l = 0; l < lanes; ++l) wrong += !same(got[l], all[static_cast<std::size_t>(i + 3 * l)]);
      for (int n = 1; n <= lanes; ++n) {
        math::store<P>(got, math::load_narrow<P>(all.data() + i, 1, n));
        for (int l = 0; l < lanes; ++l) wrong += !same(got[l], all[static_cast<std::size_t>(l < n ? i + l : i)]);
      }
    }
    INFO(lanes << " lanes");
    CHECK(wrong == 0);
  });
}

TEMPLATE_TEST_CASE("stores of a narrow type round each lane, and write nothing else", "", bfloat16, float16) {
  using narrow = TestType;
  each_width([&]<class P>(P) {
    constexpr int lanes = math::width<P>;
    int wrong = 0, written = 0;
    for (std::uint32_t high = 0; high < 65536; ++high) {
      float from[lanes], rounded[lanes];
      const std::uint32_t low[] = {0, 1, 0x4000, 0x7fff, 0x8000, 0x8001, 0xc000, 0xffff};
      for (int l = 0; l < lanes; ++l) from[l] = std::bit_cast<float>(high << 16 | low[(l + high) % 8]);
      const P x = math::load<P>(from);
      math::store<P>(rounded, math::rounded_to<narrow>(x));
      for (const int n : {0, 1, lanes - 1, lanes})
        for (const int stride : {1, 2}) {
          if (n != lanes && high % 64 != 0) continue;
          std::uint16_t to[2 * lanes + 2];
          std::memset(to, 0xa5, sizeof to);
          math::store_narrow<P>(reinterpret_cast<narrow*>(to + 1), x, stride, n);
          for (int i = 0; i < 2 * lanes + 2; ++i) {
            const bool is_lane = i > 0 && (i - 1) % stride == 0 && (i - 1) / stride < n;
            if (!is_lane) written += to[i] != 0xa5a5;
            else wrong += to[i] != narrow(from[(i - 1) / stride]).bits();
          }
        }
      for (int l = 0; l < lanes; ++l) wrong += !same(rounded[l], narrow(from[l]));
    }
    INFO(lanes << " lanes");
    CHECK(wrong == 0);
    CHECK(written == 0);
  });
}

TEMPLATE_TEST_CASE("loads of integers of a byte give all their numbers", "", std::int8_t, std::uint8_t) {
  std::vector<TestType> all;
  for (int b = 0; b < 256 + 64; ++b) all.push_back(static_cast<TestType>(b));
  each_width([&]<class P>(P) {
    constexpr int lanes = math::width<P>;
    int wrong = 0;
    for (int i = 0; i < 256; ++i)
      for (int n = 1; n <= lanes; ++n) {
        float got[lanes];
        math::store<P>(got, math::load_narrow<P>(all.data() + i, 1, n));
        for (int l = 0; l < lanes; ++l) wrong += got[l] != static_cast<float>(all[static_cast<std::size_t>(l < n ? i + l : i)]);
      }
    INFO(lanes << " lanes");
    CHECK(wrong == 0);
  });
}
