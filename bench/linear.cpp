// SPDX-License-Identifier: BSL-1.0
// The value and the gradient of a linear model, L = sum((X w - y)^2), X of 64 MB with so many columns: linear is float64, linear_f32 float32. By hand
// it is Eigen's products, in blocks of rows that stay in the first cache, so that X is read from memory once.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Core>

namespace {

namespace tn = tenure;

constexpr auto loss = [](auto x, auto y, auto w) { return sum(square(matmul(x, w) - y)); };
constexpr auto slope = tn::value_and_grad<2>(loss);

template <class T>
struct model {
  tn::tensor<T, tn::shape<tn::dyn, tn::dyn>> x;
  tn::tensor<T, tn::shape<tn::dyn>> y, w, gradient;
  tn::tensor<T, tn::shape<>> value;
  Eigen::Matrix<T, Eigen::Dynamic, 1> by_hand;

  explicit model(std::int64_t columns)
      : x(tn::uninitialized, (std::int64_t{64} << 20) / (columns * static_cast<std::int64_t>(sizeof(T))), columns), y(tn::uninitialized, x.extent(0)),
        w(tn::uninitialized, columns), gradient(tn::uninitialized, columns), by_hand(columns) {
    bench::fill_uniform(bench::data_of(x), x.size(), -1, 1, 1);
    bench::fill_uniform(bench::data_of(y), y.size(), -1, 1, 2);
    bench::fill_uniform(bench::data_of(w), w.size(), -1, 1, 3);
    tenure();
    const T total = hand();
    const double tolerance = sizeof(T) == 8 ? 1e-10 : 2e-4;
    bench::require_agreement("the value of linear", value.data(), &total, 1, tolerance);
    // A gradient near 0 is a difference of large sums.
    for (std::int64_t j = 0; j < columns; ++j) gradient.at(j) /= static_cast<T>(x.extent(0)), by_hand[j] /= static_cast<T>(x.extent(0));
    bench::require_agreement("the gradient of linear", gradient.data(), by_hand.data(), columns, tolerance);
  }
  std::int64_t items() const { return x.extent(0); }
  void tenure() { slope.into(value, gradient)(x, y, w); }
  T hand() {
    using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    const std::int64_t n = x.extent(0), columns = x.extent(1), fitting = 16384 / (columns * static_cast<std::int64_t>(sizeof(T))), step = fitting < 16 ? 16 : fitting;
    const Eigen::Map<const column> weights(w.data(), columns);
    column missed(step);
    T total = 0;
    by_hand.setZero();
    for (std::int64_t i = 0; i < n; i += step) {
      const std::int64_t m = n - i < step ? n - i : step;
      const Eigen::Map<const rows> block(x.data() + i * columns, m, columns);
      auto part = missed.head(m);
      part.noalias() = block * weights;
      part -= Eigen::Map<const column>(y.data() + i, m);
      total += part.squaredNorm();
      part *= T(2);
      by_hand.noalias() += block.transpose() * part;
    }
    return total;
  }
};

const bool registered = [] {
  const auto rows = []<class T>(const char* name, std::int64_t columns, std::type_identity<T>) {
    bench::row<model<T>>(name, "tenure", columns, [](model<T>& m) { m.tenure(); });
    bench::row<model<T>>(name, "hand", columns, [](model<T>& m) { benchmark::DoNotOptimize(m.hand()); });
  };
  for (const std::int64_t columns : {16, 64, 256}) rows("linear_f32", columns, std::type_identity<float>{});
  for (const std::int64_t columns : {8, 30, 200}) rows("linear", columns, std::type_identity<double>{});
  return true;
}();

}  // namespace
