// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"

#include <cstdint>

#include <tenure/tenure.hpp>

namespace tn = tenure;

TEST_CASE("zeros_like, ones_like and full_like in a trace have the shape of their argument, and the element type of it or another") {
  tn::tensor<float, tn::shape<tn::dyn, 3>> x = tn::ones(tn::shape<tn::dyn, 3>{}, 2);
  constexpr auto f = tn::compile([](auto x) {
    return std::tuple{tn::zeros_like(x), tn::ones_like<std::int64_t>(x), tn::full_like(x, 2.5), tn::full_like<std::int64_t>(x, (std::int64_t{1} << 53) + 1),
                      tn::full_like<bool>(x, 2), tn::full_like<std::int32_t>(x, -1.5)};
  });
  const auto [zeros, ones, halves, large, bits, down] = f(x);
  static_assert(std::is_same_v<tn::element_t<decltype(zeros)>, float> && std::is_same_v<tn::element_t<decltype(bits)>, bool>);
  static_assert(std::is_same_v<tn::shape_of_t<decltype(zeros)>, tn::shape<tn::dyn, 3>>);
  REQUIRE(zeros.extent(0) == 2);
  CHECK(zeros(1, 2) == 0);
  CHECK(ones(1, 2) == 1);
  CHECK(halves(1, 2) == 2.5f);
  CHECK(large(1, 2) == (std::int64_t{1} << 53) + 1);
  CHECK(bits(1, 2));
  CHECK(down(1, 2) == -1);
}

TEST_CASE("eye_like in a trace are identity matrices along the last two axes, also of run-time extents and not square") {
  const tn::tensor<double, tn::shape<2, tn::dyn, 3>> x = tn::ones<double>(tn::shape<2, tn::dyn, 3>{}, 4);
  constexpr auto f = tn::compile([](auto x) { return std::tuple{tn::eye_like(x), tn::eye_like<bool>(x)}; });
  const auto [numbers, bits] = f(x);
  const auto outside = tn::eye_like(x);
  REQUIRE(outside.extents() == x.extents());
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 3; ++j) {
        CHECK(numbers(b, i, j) == (i == j ? 1 : 0));
        CHECK(bits(b, i, j) == (i == j));
        CHECK(outside(b, i, j) == (i == j ? 1 : 0));
      }
  CHECK(tn::grad([](auto x) { return sum(x * tn::eye_like(x)); })(x)(1, 2, 2) == 1);
  CHECK(tn::grad([](auto x) { return sum(tn::eye_like(x)); })(x)(1, 2, 2) == 0);
}

TEST_CASE("a slice that does not fit on a run-time axis throws, also where only its gradient is used: that writes where the slice would read") {
  const tn::tensor<double, tn::shape<tn::dyn>> x = tn::ones<double>(tn::shape<tn::dyn>{}, 3);
  CHECK_THROWS_AS(tn::grad([](auto v) { return v.at(1000); })(x), tn::shape_error);
  CHECK_THROWS_AS(tn::grad([](auto v) { return sum(tn::slice<0, 0, 300>(v)); })(x), tn::shape_error);
  CHECK_THROWS_AS(tn::grad([](auto v) { return sum(v[tn::range<0, 300>()]); })(x), tn::shape_error);
  CHECK_THROWS_AS(tn::compile([](auto v) { return std::get<1>(tn::jvp([](auto w) { return w.at(1000); })(v, v)); })(x), tn::shape_error);
  constexpr auto in_a_loop = tn::compile([](auto v) { return tn::fori_loop(2, [=](auto, auto s) { return s + tn::grad([](auto w) { return w.at(1000); })(v); }, v); });
  CHECK_THROWS_AS(in_a_loop(x), tn::shape_error);
}

TEST_CASE("a scan over no rows begins with a constant") {
  constexpr auto f = tn::compile([](auto xs) {
    return tn::scan([](auto state, auto x) { return std::tuple{state + x, state}; }, tn::zeros(tn::shape<2>{}), xs);
  });
  const tn::tensor<float, tn::shape<tn::dyn, 2>> none(0), two = tn::ones(tn::shape<tn::dyn, 2>{}, 2);
  const auto [state, states] = f(none);
  CHECK(state(1) == 0);
  CHECK(states.extent(0) == 0);
  CHECK(std::get<0>(f(two))(1) == 2);
}

TEST_CASE("no gradient flows through zeros_like and the like") {
  const tn::tensor<double, tn::shape<2>> x{3, 4};
  const auto g = tn::grad([](auto x) { return sum(x * tn::full_like(x, 5)); })(x);
  CHECK(g(0) == 5);
  CHECK(tn::grad([](auto x) { return sum(tn::ones_like(x)); })(x)(1) == 0);
}
