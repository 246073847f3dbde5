// SPDX-License-Identifier: BSL-1.0
// Warnings that g++ gives only where it optimizes. They depend on what it inlines, and so on how often and how a function is called.
#include <tenure/print.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

// The closest centroids with their sums over the points, which are products over rows.
constexpr auto closest = [](auto points, auto centroids) {
  const auto products = matmul(centroids, transpose(points));
  return sum(square(points)) + sum(amin(sum(square(centroids), tn::axis<1>, tn::keepdim) - 2.0 * products, tn::axis<0>));
};
constexpr auto cost = tn::compile(closest);
constexpr auto centroids_step = tn::compile([](auto points, auto centroids) {
  const auto [slope, curvature] = tn::jvp([=](auto c) { return tn::grad<1>(closest)(points, c); })(centroids, tn::ones_like(centroids));
  return slope / curvature;
});

template <class F>
void repeat(F f, int times) {
  for (int i = 0; i < times; ++i) f();
}

int main() {
  tn::engine random(1);
  const auto points = tn::normal<double>(tn::shape<tn::dyn, tn::dyn>{}, random, 9, 3);
  tn::tensor<double, tn::shape<tn::dyn, tn::dyn>> step(9, 3);
  tn::tensor<double, tn::shape<>> distance;
  repeat([&] { cost.into(distance)(points, points); }, 3);
  repeat([&] { centroids_step.into(step)(points, points); }, 3);
  tn::print(cost.plan(points, points));
  tn::print(centroids_step.plan(points, points));
  return step(0, 0) < 1 && distance.item() > 0;
}
