// SPDX-License-Identifier: BSL-1.0
// The sum of the squared distances of points to the closest centroid, and Newton's step for the centroids.
#include "tensors.hpp"

namespace {

/// With a row for each point, all that is done with a row happens while it is in a cache. With a row for each centroid, few centroids fill packets.
enum class rows { of_points, of_centroids };

template <rows Rows>
constexpr auto cost_of = [](auto points, auto centroids) {
  const auto squares = sum(square(centroids), tn::axis<1>, tn::keepdim);
  if constexpr (Rows == rows::of_points) return sum(square(points)) + sum(amin(transpose(squares) - 2.0 * matmul(points, transpose(centroids)), tn::axis<1>));
  else return sum(square(points)) + sum(amin(squares - 2.0 * matmul(centroids, transpose(points)), tn::axis<0>));
};
template <rows Rows>
constexpr auto value_of = tn::compile(cost_of<Rows>);

/// The gradient divided by the diagonal of the Hessian. There is nothing beside the diagonal, so the product with ones is its diagonal.
template <rows Rows>
constexpr auto newton_step = tn::compile([](auto points, auto centroids) {
  const auto gradient = [=](auto c) { return tn::grad<1>(cost_of<Rows>)(points, c); };
  const auto [slope, diagonal] = tn::jvp(gradient)(centroids, tn::ones_like(centroids));
  return slope / diagonal;
});

/// Calls f with the order that takes less time.
template <class F>
void with_rows(const gradbench::matrix& centroids, const F& f) {
  if (centroids.extent(0) < 32) f(std::integral_constant<rows, rows::of_centroids>{});
  else f(std::integral_constant<rows, rows::of_points>{});
}

void cost(const gradbench::input& in) {
  const auto points = gradbench::matrix_of(in.at("/points")), centroids = gradbench::matrix_of(in.at("/centroids"));
  gradbench::number y;
  with_rows(centroids, [&](auto order) {
    gradbench::measure(in, [&] { gradbench::into(value_of<order()>, y)(points, centroids); }, [&] { return gradbench::output_of(y); });
  });
}

void dir(const gradbench::input& in) {
  const auto points = gradbench::matrix_of(in.at("/points")), centroids = gradbench::matrix_of(in.at("/centroids"));
  gradbench::matrix step(centroids.extent(0), centroids.extent(1));
  with_rows(centroids, [&](auto order) {
    gradbench::measure(in, [&] { gradbench::into(newton_step<order()>, step)(points, centroids); }, [&] { return gradbench::output_of(step); });
  });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"cost", cost}, {"dir", dir}}); }
