// SPDX-License-Identifier: BSL-1.0
// Loops that run at once with variables. Law: value and gradient are those of the loop of C++ over expressions.
#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace tn = tenure;

TEST_CASE("a loop that runs at once with variables joins the eager history") {
  auto w = tn::variable<double, tn::shape<>>(0.7);
  const tn::tensor<double, tn::shape<4>> xs{0.5, -0.2, 0.9, 0.1};
  constexpr auto iteration = [](auto c, auto x) { return std::tuple{std::tuple{tn::sin(std::get<0>(c) * std::get<1>(c) + x), std::get<1>(c)}, x * std::get<1>(c)}; };
  const auto [state, ys] = tn::scan(iteration, std::tuple{tn::eval(w * w), w.view()}, xs);
  const tn::tensor seen = std::get<0>(state) + sum(ys);
  seen.backward();
  const double found = w.grad().item();
  w.zero_grad();
  tn::tensor c = w * w;
  for (int i = 0; i < 4; ++i) c = sin(c * w + xs(i));
  (c + sum(xs * w)).backward();
  REQUIRE(std::abs(found - w.grad().item()) < 1e-14);
}
