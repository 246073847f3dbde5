// SPDX-License-Identifier: BSL-1.0
// Systems whose matrix is a function, and derivatives through them: how well a rod conducts, from its temperatures. docs/4-loops-and-branches.md.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <tenure/tenure.hpp>

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

// One implicit step of u' = (k u')' between two ends that are held at 0: no matrix is formed.
constexpr auto heat_flow = [](auto u, auto k) {
  const auto flux = k * (tn::pad<0, 0, 1>(u, 0.0) - tn::pad<0, 1, 0>(u, 0.0));
  return tn::slice<0, 1, 6>(flux) - tn::slice<0, 0, 6>(flux);
};
constexpr auto implicit_step = [](auto u, auto k) {
  return tn::cg([=](auto next) { return next - 0.4 * heat_flow(next, k); }, u, {.tolerance = 1e-12});
};
constexpr auto heat_after = [](auto u, auto k) { return tn::fori_loop(20, [=](auto, auto state) { return implicit_step(state, k); }, u); };

// How far the temperatures are from those that were measured.
constexpr auto misfit = [](auto k, auto u, auto measured) { return sum(square(heat_after(u, k) - measured)); };

// The iterations of Richardson, which converge because the matrix is close to 3.
constexpr auto richardson = [](auto a, auto b) { return tn::fori_loop(60, [=](auto, auto x) { return x + (b - a(x)) / 3.0; }, b / 3.0); };
constexpr auto by_richardson = tn::linear_solve([](auto x, auto m) { return matmul(m, x); }, richardson);

int main() {
  const array<6> hot{0, 0, 1, 4, 1, 0};
  const array<7> real{0.5, 0.5, 0.5, 0.2, 0.5, 0.5, 0.5};
  array<7> k{0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4};
  const auto measured = tn::compile(heat_after)(hot, real);
  const auto slope = tn::value_and_grad(misfit);
  double before = 0, last = 0;
  for (int step = 0; step < 400; ++step) {
    const auto [error, by_k] = slope(k, hot, measured);
    if (step == 0) before = error.item();
    last = error.item();
    k -= 0.3 * by_k;
  }
  std::printf("misfit: %.5f at first, %.1e at last\n", before, last);
  std::printf("conductivity:");
  for (int i = 0; i < 7; ++i) std::printf(" %.3f", k(i));
  std::printf("\n");
  bool right = last < 1e-4 * before;

  const array<2, 2> m{{3, 0.5}, {-0.5, 2.5}};
  const array<2> b{1, 2};
  const auto x = by_richardson(b, m);
  const auto [by_b, by_m] = tn::grad<0, 1>([](auto rhs, auto matrix) { return sum(square(by_richardson(rhs, matrix))); })(b, m);
  const auto [exact_b, exact_m] = tn::grad<0, 1>([](auto rhs, auto matrix) { return sum(square(solve(matrix, rhs))); })(b, m);
  std::printf("x: (%.6f, %.6f), gradient by b: (%.6f, %.6f)\n", x(0), x(1), by_b(0), by_b(1));
  for (int i = 0; i < 2; ++i) right &= std::abs(by_b(i) - exact_b(i)) < 1e-12 && std::abs(by_m(i, 1) - exact_m(i, 1)) < 1e-12;
  return right ? 0 : 1;
}
