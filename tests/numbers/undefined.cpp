// SPDX-License-Identifier: BSL-1.0
// Loops, branches and derivatives compile with -fsanitize=undefined, with which g++ takes a comparison of a pointer with null for no constant (gcc bug
// 71962).
#include "../catch.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;

TEST_CASE("loops and branches with derivatives, under the sanitizer of undefined behaviour") {
  constexpr auto f = [](auto n, auto x) {
    const auto iteration = [=](auto i, auto c) {
      return tn::cond(tn::sum(c) > 0.5, [=] { return c * c * x + tn::gather<0>(x, tn::unsqueeze<0>(i * 0)); }, [=] { return c + x; });
    };
    const auto last = tn::fori_loop(n, iteration, x);
    return tn::sum(std::get<0>(tn::scan([=](auto c, auto e) { return std::tuple{tn::tanh(c * e), c}; }, last, x)));
  };
  constexpr auto gradient = tn::value_and_grad<1>(f);
  constexpr auto each = tn::vmap<tn::unmapped, 0>(f);
  const tn::tensor<double, tn::shape<2>> x{0.25, -0.5};
  const tn::tensor<double, tn::shape<2, 2>> xs{{0.25, -0.5}, {0.5, 1}};
  const auto value = [&](double at, double h) { return tn::compile(f)(std::int64_t{3}, tn::tensor<double, tn::shape<2>>{at + h, -0.5}).item(); };
  const auto [y, g] = gradient(std::int64_t{3}, x);
  CHECK(y.item() == value(0.25, 0));
  CHECK(g(0) == Approx((value(0.25, 1e-5) - value(0.25, -1e-5)) / 2e-5).epsilon(1e-7));
  CHECK(each(std::int64_t{3}, xs)(0) == Approx(y.item()));
  CHECK(std::get<1>(tn::jvp<1>(f)(std::int64_t{3}, x, x)).item() == Approx((g(0) * x(0) + g(1) * x(1))));
}
