// SPDX-License-Identifier: BSL-1.0
// solve: its equations, its derivatives by differences, batches, extreme matrices.
#include "../catch.hpp"

#include <cmath>
#include <random>

#include "../control_flow/reference.hpp"

namespace tn = tenure;
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

namespace {
template <std::int64_t... E>
real<E...> random(unsigned seed) {
  std::mt19937 next(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  real<E...> x = tn::zeros<double>(tn::shape<E...>{});
  for (double& e : tn::as_span(x)) e = any(next);
  return x;
}
constexpr auto solved = [](auto a, auto b) { return tn::solve(a, b); };
}  // namespace

TEST_CASE("Law: a solve(a, b) = b, for vectors, matrices and batches") {
  const auto a = random<5, 5>(1);
  const auto b = random<5>(2);
  const real<5> back = tn::matmul(a, tn::solve(a, b));
  for (int i = 0; i < 5; ++i) CHECK(back(i) == Approx(b(i)).epsilon(1e-12));
  const auto many = random<3, 4, 4>(3);
  const auto sides = random<3, 4, 2>(4);
  const real<3, 4, 2> products = tn::matmul(many, tn::solve(many, sides));
  for (int i = 0; i < 24; ++i) CHECK(products.data()[i] == Approx(sides.data()[i]).epsilon(1e-11));
  judged::agrees_with_reference("a matrix and its transpose", [](auto a, auto b) { return std::tuple{tn::solve(a, b), tn::solve(tn::transpose<1, 2>(a), b)}; }, many, sides);
  judged::agrees_with_reference("one system a batch", solved, many, random<3, 4>(6));
  judged::agrees_with_reference("a zero on the diagonal", solved, real<2, 2>{{0, 2}, {3, 1}}, real<2>{4, 5});
  judged::agrees_with_reference("no rows", solved, real<2, 0, 0>{}, real<2, 0>{});
  const tn::tensor<float, tn::shape<2, 2>> small = {{4, 1}, {1, 3}};
  const tn::tensor<float, tn::shape<2>> right = {1, 2};
  const tn::tensor<float, tn::shape<2>> x = tn::solve(small, right);
  CHECK(x(0) == Approx(1.0f / 11));
  const real<2, 2> singular = {{1, 2}, {2, 4}};
  const real<2> none = tn::solve(singular, real<2>{1, 1});
  CHECK_FALSE(std::isfinite(none(0)));
}

TEST_CASE("solve: run-time extents that do not agree throw") {
  using matrices = tn::tensor<double, tn::shape<tn::dyn, tn::dyn, tn::dyn>>;
  using rows = tn::tensor<double, tn::shape<tn::dyn, tn::dyn>>;
  const matrices a = random<3, 4, 4>(3);
  CHECK(tn::compile(solved)(a, rows(random<3, 4>(5))).size() == 12);
  CHECK_THROWS_AS(tn::compile(solved)(a, rows(random<2, 4>(5))), tn::shape_error);
  CHECK_THROWS_AS(tn::compile(solved)(a, rows(random<3, 5>(5))), tn::shape_error);
  CHECK_THROWS_AS(tn::compile(solved)(matrices(random<3, 4, 5>(3)), rows(random<3, 4>(5))), tn::shape_error);
}

TEST_CASE("solve: derivatives by differences, and vmap with a shared matrix") {
  constexpr auto loss = [](auto a, auto b) { return tn::sum(tn::sin(tn::solve(a, b))); };
  auto a = random<2, 3, 3>(7);
  auto b = random<2, 3>(8);
  const auto [da, db] = tn::grad<0, 1>(loss)(a, b);
  const auto [y, dy] = tn::jvp(loss)(a, b, da, db);
  double along = 0;
  for (int i = 0; i < 18; ++i) along += da.data()[i] * da.data()[i];
  for (int i = 0; i < 6; ++i) along += db.data()[i] * db.data()[i];
  CHECK(dy.item() == Approx(along).epsilon(1e-12));
  const auto by_difference = [&](double& e) {
    const double was = e, h = 1e-6;
    e = was + h;
    const double above = tn::compile(loss)(a, b).item();
    e = was - h;
    const double below = tn::compile(loss)(a, b).item();
    e = was;
    return (above - below) / (2 * h);
  };
  for (std::size_t i = 0; i < 18; ++i) CHECK(da.data()[i] == Approx(by_difference(tn::as_span(a)[i])).epsilon(1e-6).margin(1e-8));
  for (std::size_t i = 0; i < 6; ++i) CHECK(db.data()[i] == Approx(by_difference(tn::as_span(b)[i])).epsilon(1e-6).margin(1e-8));

  const auto m = random<3, 3>(9);
  const auto rows = random<4, 3>(10);
  const auto shared = tn::vmap<tn::unmapped, 0>(solved)(m, rows);
  for (int s = 0; s < 4; ++s) {
    const real<3> one = tn::solve(m, rows.at(s));
    for (int i = 0; i < 3; ++i) CHECK(shared(s, i) == Approx(one(i)).epsilon(1e-12));
  }
}
