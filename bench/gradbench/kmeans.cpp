// SPDX-License-Identifier: BSL-1.0
// The sum of the squared distances of points to the closest centroid, and Newton's step for the centroids.
#include "tensors.hpp"

namespace {

constexpr auto cost_of = [](auto points, auto centroids) {
  const auto products = matmul(centroids, transpose(points));
  const auto closest = amin(sum(square(centroids), tn::axis<1>, tn::keepdim) - 2.0 * products, tn::axis<0>);
  return sum(square(points)) + sum(closest);
};
constexpr auto value_of = tn::compile(cost_of);

/// The gradient divided by the diagonal of the Hessian. There is nothing beside the diagonal, so the product with ones is its diagonal.
constexpr auto newton_step = tn::compile([](auto points, auto centroids) {
  const auto gradient = [=](auto c) { return tn::grad<1>(cost_of)(points, c); };
  const auto [slope, diagonal] = tn::jvp(gradient)(centroids, tn::ones_like(centroids));
  return slope / diagonal;
});

void cost(const gradbench::input& in) {
  const auto points = gradbench::matrix_of(in.at("/points")), centroids = gradbench::matrix_of(in.at("/centroids"));
  gradbench::number y;
  gradbench::measure(in, [&] { gradbench::into(value_of, y)(points, centroids); }, [&] { return gradbench::output_of(y); });
}

void dir(const gradbench::input& in) {
  const auto points = gradbench::matrix_of(in.at("/points")), centroids = gradbench::matrix_of(in.at("/centroids"));
  gradbench::matrix step(centroids.extent(0), centroids.extent(1));
  gradbench::measure(in, [&] { gradbench::into(newton_step, step)(points, centroids); }, [&] { return gradbench::output_of(step); });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"cost", cost}, {"dir", dir}}); }
