// SPDX-License-Identifier: BSL-1.0
// quantize, dequantize and quantized_linear.
#include "../catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <vector>

#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::dyn;
using tn::shape;

namespace {

template <class T, class S, class... N>
tn::tensor<T, S> gaussian(S s, std::uint64_t seed, N... n) {
  tn::engine random(seed);
  return tn::normal<T>(s, random, 0.0, 1.0, n...);
}
constexpr auto apart = tn::compile([](auto x, auto y) { return amax(abs(tn::cast<double>(x) - tn::cast<double>(y))); });
constexpr auto by_bytes = [](auto x, auto w, auto s) { return tn::quantized_linear(x, w, s); };
constexpr auto exact = [](auto x, auto w, auto s) { return tn::linear(x, tn::dequantize(w, s)); };

}  // namespace

// Law: dequantize(quantize(x)) differs from x by at most half a step, which is the largest magnitude of a row, or of a group, divided by 127.
TEMPLATE_TEST_CASE("the numbers of rows and of groups are the nearest ones", "", float, double) {
  using T = TestType;
  const auto x = gaussian<T>(shape<2, 5, 64>{}, 1);
  const auto check = [&](const auto& numbers, const auto& scale, std::int64_t group) {
    for (std::int64_t g = 0; g < x.size() / group; ++g) {
      T largest = 0;
      int largest_number = 0;
      for (std::int64_t i = g * group; i < (g + 1) * group; ++i) largest = std::max(largest, std::abs(x.data()[i]));
      CHECK(std::abs(scale.data()[g] * 127 - largest) <= 1e-6 * largest);
      for (std::int64_t i = g * group; i < (g + 1) * group; ++i) {
        const int n = numbers.data()[i];
        largest_number = std::max(largest_number, std::abs(n));
        CHECK(std::abs(x.data()[i] - static_cast<T>(n) * scale.data()[g]) <= scale.data()[g] * static_cast<T>(0.500001));
      }
      CHECK(largest_number == 127);
    }
  };
  const auto [rows, of_rows] = tn::quantize(x);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(of_rows)>, shape<2, 5>>);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(of_rows)>, T>);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(rows)>, std::int8_t>);
  check(rows, of_rows, 64);
  const auto [groups, of_groups] = tn::quantize<16>(x);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(of_groups)>, shape<2, 5, 4>>);
  check(groups, of_groups, 16);
  CHECK(apart(tn::dequantize(rows, of_rows), x).item() <= amax(of_rows).item() * 0.500001);
  CHECK(apart(tn::dequantize(groups, of_groups), x).item() <= amax(of_groups).item() * 0.500001);
  // Run-time extents of the batch, a trace and an expression give the same numbers.
  const auto open = gaussian<T>(shape<dyn, dyn, 64>{}, 1, 2, 5);
  CHECK(tn::all(open == x).item());
  const auto [of_open, scale_of_open] = tn::quantize<16>(open);
  CHECK(tn::all(of_open == groups).item());
  CHECK(tn::all(scale_of_open == of_groups).item());
  const auto [of_trace, scale_of_trace] = tn::compile([](auto y) { return tn::quantize<16>(y * T(0.5)); })(x);
  CHECK(tn::all(of_trace == groups).item());
  CHECK(apart(tn::eval(tn::dequantize(of_trace, scale_of_trace) * T(2)), tn::dequantize(groups, of_groups)).item() == 0);
  CHECK(tn::all(std::get<0>(tn::quantize(x * T(0.5))) == rows).item());
}

TEST_CASE("rows of zeros, of tiny and of large numbers, with NaN and with an infinity") {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN(), tiny = std::numeric_limits<float>::denorm_min(),
                  large = 0x1p127f;
  const tn::tensor<float, shape<6, 3>> x{{0, 0, -0.0f}, {tiny, -tiny, 0}, {large, -large, 1}, {nan, 1, 2}, {inf, 1, 2}, {127, -126.5f, 0.5f}};
  const auto [numbers, scale] = tn::quantize(x);
  const auto y = tn::eval(tn::dequantize(numbers, scale));
  for (int j = 0; j < 3; ++j) {
    CHECK(y(0, j) == 0);
    CHECK(std::isfinite(y(1, j)));
    CHECK(std::abs(y(2, j) - x(2, j)) <= large / 254 * 1.00001f);
    CHECK(std::isnan(y(3, j)));
  }
  CHECK_FALSE(std::isfinite(y(4, 1)));
  CHECK(numbers(5, 0) == 127);
  CHECK(std::abs(numbers(5, 1)) == 126);  // halves go to the even number
  CHECK(numbers(5, 2) == 0);
}

TEST_CASE("quantized_linear is close to the exact product, for one row, for many, in a batch and for narrow rows") {
  const auto w = gaussian<float>(shape<70, 300>{}, 2);
  const auto quantized = tn::quantize(w);  // names of a structured binding are not captured by clang 14
  const auto& numbers = std::get<0>(quantized);
  const auto& scale = std::get<1>(quantized);
  const auto check = [&](const auto& x, double tolerance) {
    const auto y = tn::quantized_linear(x, numbers, scale);
    STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(y)>, tn::element_t<decltype(x)>>);
    const auto rounded = tn::eval(tn::linear(tn::cast<double>(x), tn::cast<double>(tn::dequantize(numbers, scale))));
    // Each of 300 terms is wrong by at most half a step of x times a weight: sqrt(300) such errors, with some room.
    const double step = amax(abs(tn::cast<double>(x))).item() / 254;
    CHECK(apart(y, rounded).item() <= step * 4 * std::sqrt(300.0) * 1.5 + tolerance);
    CHECK(apart(y, rounded).item() > 0);
  };
  check(gaussian<float>(shape<300>{}, 3), 0);
  check(gaussian<float>(shape<1, 300>{}, 3), 0);
  check(gaussian<float>(shape<40, 300>{}, 4), 0);
  check(gaussian<float>(shape<2, 3, 300>{}, 5), 0);
  check(gaussian<double>(shape<5, 300>{}, 6), 0);
  check(tn::eval(tn::cast<tn::bfloat16>(gaussian<float>(shape<5, 300>{}, 6))), 0.5);
  check(gaussian<float>(shape<dyn, 300>{}, 7, 4), 0);
  // Numbers that are their own rounding are exact.
  const tn::tensor<float, shape<2, 3>> whole{{127, -64, 3}, {-127, 1, 0}};
  const tn::tensor<std::int8_t, shape<2, 3>> bytes{{-128, 127, 1}, {5, -6, 7}};
  const tn::tensor<float, shape<2>> one{1, 0.5f};
  const auto y = tn::eval(tn::quantized_linear(whole, bytes, one));
  CHECK(y(0, 0) == 127 * -128 + -64 * 127 + 3);
  CHECK(y(0, 1) == 0.5f * (127 * 5 + 64 * 6 + 3 * 7));
  CHECK(y(1, 0) == 127 * 128 + 127);
  // A sample of vmap and a row of a batch have the same bits.
  const auto rows = gaussian<float>(shape<6, 300>{}, 8);
  const auto of_samples = tn::vmap<0, tn::unmapped, tn::unmapped>(by_bytes)(rows, numbers, scale);
  const auto of_batch = tn::quantized_linear(rows, numbers, scale);
  CHECK(tn::all(of_samples == of_batch).item());
}

TEST_CASE("the derivatives of quantized_linear are those of the product that it rounds") {
  const auto x = gaussian<float>(shape<5, 40>{}, 9);
  const auto [w, scale] = tn::quantize(gaussian<float>(shape<7, 40>{}, 10));
  const auto along = gaussian<float>(shape<5, 7>{}, 11);
  const auto of = []<class F>(F) {
    return tn::grad<0, 2>([](auto a, auto b, auto s, auto v) { return sum(F{}(a, b, s) * v); });
  };
  const auto [dx, ds] = of(by_bytes)(x, w, scale, along);
  const auto [ex, es] = of(exact)(x, w, scale, along);
  CHECK(apart(dx, ex).item() <= 1e-5 * amax(abs(ex)).item());
  CHECK(apart(ds, es).item() <= 1e-5 * amax(abs(es)).item());
  CHECK(amax(abs(ex)).item() > 0);
}

TEST_CASE("a compiled layer writes no matrix of floats") {
  const auto x = gaussian<float>(shape<1, 512>{}, 12);
  const auto [w, scale] = tn::quantize(gaussian<float>(shape<256, 512>{}, 13));
  using plan = decltype(tn::compile(by_bytes).plan(x, w, scale));
  CHECK(plan::workspace_bytes() < 8192);
}
