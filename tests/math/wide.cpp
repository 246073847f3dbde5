// SPDX-License-Identifier: BSL-1.0
// The pair of words that stands for an integer of 128 bits where the compiler has none, beside the compiler's.
#include <cstdint>

#include <tenure/math/wide.hpp>

#include "catch.hpp"

#if defined(__SIZEOF_INT128__)
namespace {

namespace math = tenure::math::detail;
__extension__ using word128 = unsigned __int128;

constexpr math::wide_in_words words(word128 x) { return {static_cast<std::uint64_t>(x >> 64), static_cast<std::uint64_t>(x)}; }
constexpr word128 number(math::wide_in_words x) { return static_cast<word128>(x.high) << 64 | x.low; }

TEST_CASE("A pair of words computes as an integer of 128 bits") {
  std::uint64_t state = 1;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  const auto sample = [&](int i) {
    const word128 all = static_cast<word128>(next()) << 64 | next();
    return i % 5 == 0 ? ~word128(0) : i % 5 == 1 ? all >> 70 : i % 5 == 2 ? all >> 64 << 64 : all;
  };
  int wrong = 0;
  const auto expect = [&](bool holds) { wrong += !holds; };
  for (int i = 0; i < 2000; ++i) {
    const word128 a = sample(i), b = sample(i / 5);
    const auto x = words(a), y = words(b);
    expect(number(x + y) == a + b);
    expect(number(x - y) == static_cast<word128>(a - b));
    expect(number(x | y) == (a | b));
    expect((x < y) == (a < b));
    expect((x >= y) == (a >= b));
    expect((x == y) == (a == b));
    expect(static_cast<std::uint64_t>(x) == static_cast<std::uint64_t>(a));
    for (int n = 0; n < 128; ++n) {
      expect(number(x << n) == a << n);
      expect(number(x >> n) == a >> n);
    }
    const auto p = static_cast<std::uint64_t>(a), q = static_cast<std::uint64_t>(b);
    expect(number(math::product_of_words<math::wide_in_words>(p, q)) == static_cast<word128>(p) * q);
  }
  CHECK(wrong == 0);
}

}  // namespace
#endif
