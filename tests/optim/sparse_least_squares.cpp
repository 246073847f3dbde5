// SPDX-License-Identifier: BSL-1.0
// least_squares over rows of tables: the steps are those of the dense least_squares, but for rounding; with and without elimination, with one table in two places, with three tables, and with
// factors that are sparse.
#include "../catch.hpp"

#include <cmath>
#include <vector>

#include <tenure/sparse.hpp>

namespace tn = tenure;

namespace {

template <std::int64_t... E>
using table = tn::tensor<double, tn::shape<tn::dyn, E...>>;
using row_index = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;

double noise(std::size_t i) { return std::sin(1.7 * static_cast<double>(i * i % 1009)); }
table<2> start(std::int64_t rows) { return tn::full<double>(tn::shape<tn::dyn, 2>{}, 1, rows); }
template <class F>
row_index indices(std::int64_t n, F f) {
  row_index made = tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) tn::as_span(made)[i] = static_cast<std::int32_t>(f(static_cast<int>(i)));
  return made;
}
template <class A, class B>
void same(const A& a, const B& b) {
  REQUIRE(tn::as_span(a).size() == tn::as_span(b).size());
  for (std::size_t i = 0; i < tn::as_span(a).size(); ++i) CHECK(tn::as_span(a)[i] == Approx(tn::as_span(b)[i]).epsilon(1e-7).margin(1e-9));
}

constexpr tn::levenberg_marquardt tight{.most_iterations = 100, .value_tolerance = 1e-13};
constexpr auto seen_from = [](auto camera, auto point, auto seen) {
  return tn::stack<0>(camera[0] * point[0] + camera[1] - seen[0], camera[0] * point[1] * point[1] - seen[1]);
};
constexpr std::int64_t cameras = 5, points = 40, observations = 120;
const row_index camera_of = indices(observations, [](int i) { return i * 7 % 5; }), point_of = indices(observations, [](int i) { return i % 40; });
table<2> observed() {
  table<2> seen = tn::zeros<double>(tn::shape<tn::dyn, 2>{}, observations);
  for (std::size_t i = 0; i < static_cast<std::size_t>(observations); ++i) {
    const double a = 1 + 0.1 * camera_of(static_cast<std::int64_t>(i)), x = 0.5 * point_of(static_cast<std::int64_t>(i)) - 3, y = 1 + 0.1 * point_of(static_cast<std::int64_t>(i));
    tn::as_span(seen)[2 * i] = a * x + 0.2 * a + 0.01 * noise(i);
    tn::as_span(seen)[2 * i + 1] = a * y * y + 0.01 * noise(i + 500) + (i == 17 ? 3 : 0);
  }
  return seen;
}

}  // namespace

TEST_CASE("least_squares of rows: the steps of the dense one, also with a robust loss") {
  const table<2> seen = observed();
  const auto check = [&](auto loss) {
    table<2> c = start(cameras), p = start(points);
    const auto reached = tn::least_squares(seen_from, tight, loss)(tn::rows(c, camera_of), tn::rows(p, point_of), seen);
    std::tuple<tn::tensor<double, tn::shape<cameras, 2>>, tn::tensor<double, tn::shape<points, 2>>> both;
    for (double& x : tn::as_span(std::get<0>(both))) x = 1;
    for (double& x : tn::as_span(std::get<1>(both))) x = 1;
    constexpr auto all = [](auto m, auto i, auto j, auto s) { return tn::vmap(seen_from)(tn::gather<0>(std::get<0>(m), i), tn::gather<0>(std::get<1>(m), j), s); };
    const auto dense = tn::least_squares(all, tight, loss)(both, camera_of, point_of, seen);
    CHECK(reached.converged());
    CHECK(reached.iterations == dense.iterations);
    CHECK(reached.value == Approx(dense.value).epsilon(1e-10));
    same(c, std::get<0>(both));
    same(p, std::get<1>(both));
  };
  check(tn::robust::none{});
  check(tn::robust::huber{.scale = 0.1});
}

TEST_CASE("least_squares of rows: one table in two places, whose factors are sparse, and a third table") {
  // Positions on a circle from differences between neighbours and across, and a scale of each of three instruments.
  constexpr std::int64_t n = 300;
  static constexpr auto between = [](auto from, auto to, auto scale, auto seen) { return scale * (to - from) - seen; };
  static constexpr auto at_origin = [](auto from, auto to, auto scale, auto seen) {
    const auto r = between(from, to, scale, seen);
    return tn::concat<0>(r, 1e-2 * from, 10.0 * (scale - 1.0));
  };
  const row_index from = indices(2 * n, [](int i) { return i % 300; }), to = indices(2 * n, [](int i) { return (i + (i < 300 ? 1 : 17)) % 300; });
  const row_index instrument = indices(2 * n, [](int i) { return i % 3; });
  table<2> seen = tn::zeros<double>(tn::shape<tn::dyn, 2>{}, 2 * n);
  const auto place = [](std::int32_t i, std::size_t k) { return k == 0 ? std::cos(0.0209 * i) : std::sin(0.0209 * i); };
  for (std::size_t i = 0; i < 600; ++i)
    for (std::size_t k = 0; k < 2; ++k) {
      const auto at = static_cast<std::int64_t>(i);
      tn::as_span(seen)[2 * i + k] = (1 + 0.01 * instrument(at)) * (place(to(at), k) - place(from(at), k)) + 1e-3 * noise(2 * i + k);
    }
  table<2> poses = tn::zeros<double>(tn::shape<tn::dyn, 2>{}, n);
  table<1> scales = tn::ones<double>(tn::shape<tn::dyn, 1>{}, 3);
  const auto reached = tn::least_squares(at_origin, tight)(tn::rows(poses, from), tn::rows(poses, to), tn::rows(scales, instrument), seen);
  CHECK(reached.converged());
  // The gradient of the cost that is written is 0 at the point that was found.
  const auto cost = [](auto p, auto s, auto i, auto j, auto which, auto z) { return 0.5 * tn::sum(tn::square(tn::vmap(at_origin)(tn::gather<0>(p, i), tn::gather<0>(p, j), tn::gather<0>(s, which), z))); };
  const auto [value, by_pose, by_scale] = tn::value_and_grad<0, 1>(cost)(poses, scales, from, to, instrument, seen);
  CHECK(value.item() == Approx(reached.value).epsilon(1e-10));
  for (const double g : tn::as_span(by_pose)) CHECK(std::fabs(g) < 1e-7);
  for (const double g : tn::as_span(by_scale)) CHECK(std::fabs(g) < 1e-6);
  // One table alone: nothing is eliminated.
  table<2> alone = tn::zeros<double>(tn::shape<tn::dyn, 2>{}, n);
  static constexpr auto differences = [](auto p, auto q, auto s) { return tn::concat<0>(q - p - s, 1e-2 * p); };
  const auto of_one = tn::least_squares(differences, tight)(tn::rows(alone, from), tn::rows(alone, to), seen);
  CHECK(of_one.converged());
  CHECK(of_one.iterations < 20);
  const auto slope = tn::grad([](auto p, auto i, auto j, auto s) { return tn::sum(tn::square(tn::vmap(differences)(tn::gather<0>(p, i), tn::gather<0>(p, j), s))); })(alone, from, to, seen);
  for (const double g : tn::as_span(slope)) CHECK(std::fabs(g) < 1e-7);
}

TEST_CASE("least_squares of rows: an index outside its table is an error, and the tables stay as they were") {
  const table<2> seen = observed();
  table<2> c = start(4), p = start(points);
  CHECK_THROWS_AS(tn::least_squares(seen_from)(tn::rows(c, camera_of), tn::rows(p, point_of), seen), tn::index_error);
  CHECK(c(0, 0) == 1);
  table<2> infinite = start(cameras);
  tn::as_span(infinite)[3] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(tn::least_squares(seen_from)(tn::rows(infinite, camera_of), tn::rows(p, point_of), seen), "tenure: least_squares: the cost at the start is infinite");
  CHECK(p(0, 0) == 1);
}
