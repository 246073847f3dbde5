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

TEST_CASE("a slice of which only the shape is used is not checked: a scan over no rows, whose state is like a row") {
  constexpr auto f = tn::compile([](auto xs) {
    const auto turn = [](auto state, auto x) { return std::tuple{state + x + 0 * tn::zeros_like(x[0]), state}; };
    return tn::scan(turn, tn::zeros_like(xs[0]), xs);
  });
  const tn::tensor<float, tn::shape<tn::dyn, 2>> none(0), two = tn::ones(tn::shape<tn::dyn, 2>{}, 2);
  const auto [state, states] = f(none);
  CHECK(state(1) == 0);
  CHECK(states.extent(0) == 0);
  CHECK(std::get<0>(f(two))(1) == 2);
  CHECK_THROWS_AS(tn::compile([](auto xs) { return tn::zeros_like(xs[0]) + xs[0]; })(none), tn::shape_error);
  const tn::tensor<float, tn::shape<3, tn::dyn>> empty_rows(0);
  constexpr auto firsts = tn::compile([](auto xs) { return tn::scan([](auto s, auto x) { return std::tuple{s + x[0], tn::nothing}; }, 0.0f, xs); });
  CHECK_THROWS_AS(firsts(empty_rows), tn::shape_error);
}

TEST_CASE("no gradient flows through zeros_like and the like") {
  const tn::tensor<double, tn::shape<2>> x{3, 4};
  const auto g = tn::grad([](auto x) { return sum(x * tn::full_like(x, 5)); })(x);
  CHECK(g(0) == 5);
  CHECK(tn::grad([](auto x) { return sum(tn::ones_like(x)); })(x)(1) == 0);
}
