// SPDX-License-Identifier: BSL-1.0
// root: the derivative of a value that an equation defines, against closed forms and differences.
#include "law.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<2>>;

namespace {

// Kepler's equation for one number.
constexpr auto error = [](auto anomaly, auto e, auto m) { return anomaly - e * tn::sin(anomaly) - m; };
constexpr auto iterate = [](auto e, auto m) {
  return tn::while_loop([=](auto x) { return tn::abs(error(x, e, m)) > 1e-14; }, [=](auto x) { return x - error(x, e, m) / (1.0 - e * tn::cos(x)); }, m);
};
constexpr auto kepler = tn::root(error, iterate);

// Two equations of two unknowns, by a fixed number of steps of Newton.
constexpr auto equations = [](auto z, auto p) {
  auto first = z.at(0) * z.at(0) + p.at(0) * z.at(1) - 3.0;
  auto second = tn::sin(z.at(0)) + z.at(1) * p.at(1) - 1.0;
  return tn::concat<0>(tn::reshape<1>(first), tn::reshape<1>(second));
};
constexpr auto newton = [](auto p) {
  return tn::fori_loop(30, [=](auto, auto z) { return z - tn::solve(tn::jacobian(equations)(z, p), equations(z, p)); }, p * 0.0 + 1.0);
};
constexpr auto solution = tn::root(equations, newton);

}  // namespace

TEST_CASE("root: the derivative of Kepler's equation in both modes, its second derivative, and over a batch") {
  const double e = 0.7, m = 1.5;
  const auto [x, de, dm] = tn::value_and_grad<0, 1>(kepler)(e, m);
  const double slope = 1 / (1 - e * std::cos(x.item()));
  CHECK(x.item() - e * std::sin(x.item()) == Approx(m).epsilon(1e-14));
  CHECK(dm.item() == Approx(slope).epsilon(1e-13));
  CHECK(de.item() == Approx(std::sin(x.item()) * slope).epsilon(1e-13));
  CHECK(std::get<1>(tn::jvp<1>(kepler)(e, m, 1.0)).item() == Approx(slope).epsilon(1e-13));
  // x'' = -e sin(x) x'^3
  CHECK(tn::grad<1>(tn::grad<1>(kepler))(e, m).item() == Approx(-e * std::sin(x.item()) * slope * slope * slope).epsilon(1e-12));
  const tn::tensor<double, tn::shape<3>> all = {0.1, 1.5, 3.0};
  const tn::tensor<double, tn::shape<3>> ones = {1, 1, 1};
  const auto each = tn::vmap<tn::unmapped, 0>(tn::grad<1>(kepler))(e, all);
  CHECK(each(1) == Approx(slope).epsilon(1e-13));
  // The value of the solver does not depend on the sample, the equation does: z a^2 = 2 where a is near 1.
  const auto shared = tn::vmap<0, tn::unmapped>(tn::grad(tn::grad(tn::root([](auto z, auto a, auto) { return z * a * a - 2.0; }, [](auto, auto start) { return start * 2.0; }))))(ones, 1.0);
  CHECK(shared(2) == Approx(12));
}

TEST_CASE("root: a system of equations, by differences") {
  vector p = {0.8, 1.3};
  const auto j = judged::interpreted(tn::jacrev(solution).function, p)[0], forward = judged::interpreted(tn::jacfwd(solution).function, p)[0];
  const auto at = [&](double& e, double h) {
    const double was = e;
    e = was + h;
    const auto z = judged::interpreted(newton, p)[0];
    e = was;
    return std::array{z[0], z[1]};
  };
  for (std::size_t k = 0; k < 2; ++k) {
    const auto above = at(tn::as_span(p)[k], 1e-5), below = at(tn::as_span(p)[k], -1e-5);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(j[static_cast<std::int64_t>(2 * i + k)] == Approx((above[i] - below[i]) / 2e-5).epsilon(1e-7));
      CHECK(forward[static_cast<std::int64_t>(2 * i + k)] == Approx((above[i] - below[i]) / 2e-5).epsilon(1e-7));
    }
  }
}
