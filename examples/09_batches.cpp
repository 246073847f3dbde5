// SPDX-License-Identifier: BSL-1.0
// A function of one sample over a batch, and derivatives in all directions: docs/4-loops-and-branches.md.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <tuple>

#include <tenure/tenure.hpp>

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;
using any_number = array<tn::dyn>;

// ---- one sample, written without a batch --------------------------------------------------------------------------------

// The error of a line through one point.
constexpr auto loss = [](auto w, auto x, auto y) { return square(sum(w * x) - y); };

// The gradient for each point. All points share w.
constexpr auto gradients = tn::vmap<tn::unmapped, 0, 0>(tn::grad(loss));

// The cube root of one number by Newton's iteration. Each number ends after iterations of its own.
constexpr auto cube_root = [](auto a) {
  const auto goes_on = [=](auto x) { return abs(x * x * x - a) > 1e-12 * abs(a); };
  const auto iteration = [=](auto x) { return x - (x * x * x - a) / (3.0 * x * x); };
  return tn::while_loop(goes_on, iteration, a);
};

// The same as the root of an equation: grad goes through the equation, not through the iterations.
constexpr auto exact_root = tn::root([](auto x, auto a) { return x * x * x - a; }, cube_root);

// The slope of the square root by Heron's method.
constexpr auto heron = tn::grad([](auto a) {
  const auto goes_on = [=](auto x) { return abs(x * x - a) > 1e-12 * a; };
  const auto iteration = [=](auto x) { return (x + a / x) / 2.0; };
  return tn::while_loop(goes_on, iteration, a);
});
// The memory is a constant of the program, whatever the number of iterations.
static_assert(decltype(heron.plan(array<>()))::workspace_bytes() < 40'000);

// ---- derivatives in all directions --------------------------------------------------------------------------------------

// Angle and distance of a point, and their Jacobian.
constexpr auto polar = [](auto p) { return concat<0>(reshape<1>(atan2(p.at(1), p.at(0))), reshape<1>(norm(p))); };

// A step of Newton for a minimum.
constexpr auto valley = [](auto p) { return square(1.0 - p.at(0)) + 100.0 * square(p.at(1) - square(p.at(0))); };
constexpr auto newton = [](auto p) { return p - solve(tn::hessian(valley)(p), tn::grad(valley)(p)); };

// The error of each observation depends on one camera, one point and its own weight. Its Jacobian has few elements in each row.
constexpr auto error_of = [](auto camera, auto point, auto weight) { return weight * (camera.at(0) * point + camera.at(1)); };
constexpr auto sparse_jacobian = [](auto cameras, auto points, auto weights, auto camera, auto point) {
  const auto rows_of = tn::vmap([](auto c, auto p, auto w) { return tn::grad<0, 1, 2>(error_of)(c, p, w); });
  const auto [by_camera, by_point, by_weight] = rows_of(gather<0>(cameras, camera), gather<0>(points, point), weights);
  return tn::csr(std::tie(cameras, points, weights), tn::csr_block<0>(by_camera, camera), tn::csr_block<1>(by_point, point),
                 tn::csr_block<2>(by_weight));
};

int main() {
  const array<2> w{1, -1};
  const array<3, 2> x{{1, 2}, {3, 1}, {0, 2}};
  const array<3> y{0, 2, 1};
  const auto each = gradients(w, x, y);
  std::printf("gradients: (%g, %g) (%g, %g) (%g, %g)\n", each(0, 0), each(0, 1), each(1, 0), each(1, 1), each(2, 0), each(2, 1));
  bool right = each(0, 0) == -2 && each(1, 0) == 0 && each(2, 1) == -12;

  any_number a = tn::zeros<double>(tn::shape<tn::dyn>{}, 1000);
  for (std::int64_t i = 0; i < 1000; ++i) tn::as_span(a)[static_cast<std::size_t>(i)] = std::pow(1.02, static_cast<double>(i)) - 500.5;
  const auto roots = tn::vmap(cube_root)(a);
  double worst = 0;
  for (std::int64_t i = 0; i < 1000; ++i) worst = std::fmax(worst, std::abs(roots(i) / std::cbrt(a(i)) - 1));
  std::printf("cube roots: %s\n", worst < 1e-12 ? "those of std::cbrt" : "wrong");
  right &= worst < 1e-12;

  const auto slopes = tn::vmap(tn::grad(exact_root))(a);
  right &= std::abs(slopes(0) * 3 * roots(0) * roots(0) - 1) < 1e-9;

  right &= std::abs(heron(2.0).item() - 0.5 / std::sqrt(2.0)) < 1e-12;

  const array<2> p{3, 4};
  const auto j = tn::jacobian(polar)(p);
  std::printf("jacobian: (%.2f, %.2f) (%.2f, %.2f)\n", j(0, 0), j(0, 1), j(1, 0), j(1, 1));
  right &= std::abs(j(0, 0) + 0.16) < 1e-12 && std::abs(j(1, 1) - 0.8) < 1e-12;

  array<2> lowest{-1.2, 1};
  for (int i = 0; i < 6; ++i) lowest = tn::compile(newton)(lowest);
  std::printf("newton: (%.6f, %.6f)\n", lowest(0), lowest(1));
  right &= std::abs(lowest(0) - 1) < 1e-9 && std::abs(lowest(1) - 1) < 1e-9;

  const auto product = tn::hvp(valley)(lowest, array<2>{1, 0});
  right &= std::abs(product(0) - 802) < 1e-3 && std::abs(product(1) + 400) < 1e-3;

  using indices = tn::tensor<std::int32_t, tn::shape<3>>;
  const auto [rows, columns, values] =
      tn::compile(sparse_jacobian)(array<2, 2>{{1, 2}, {3, 4}}, array<3>{5, 6, 7}, array<3>{1, 1, 2}, indices{0, 1, 1}, indices{2, 0, 1});
  for (int r = 0; r < 3; ++r) {
    std::printf("row %d:", r);
    for (int e = rows(r); e < rows(r + 1); ++e) std::printf("  %g in column %d", values(e), columns(e));
    std::printf("\n");
  }
  right &= values(0) == 7 && columns(4) == 2 && values(8) == 12;
  return right ? 0 : 1;
}
