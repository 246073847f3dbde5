// SPDX-License-Identifier: BSL-1.0
// 86,268 systems of 3 x 3 in float32, and the gradient of the sum of their solutions by matrices and right-hand sides: the program of jax-ml/jax#36927, with a
// loop of Eigen's beside it. bench/peers/python_rows.py has it in JAX.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Dense>

#include <random>

namespace {

namespace tn = tenure;
constexpr std::int64_t count = 182 * 474;
using matrices = tn::tensor<float, tn::shape<count, 3, 3>>;
using columns = tn::tensor<float, tn::shape<count, 3, 1>>;

constexpr auto solved = tn::compile([](auto a, auto b) { return tn::solve(a, b); });
constexpr auto slopes_of_sum = tn::grad<0, 1>([](auto a, auto b) { return sum(tn::solve(a, b)); });

struct systems {
  using matrix = Eigen::Matrix<float, 3, 3, Eigen::RowMajor>;
  using column = Eigen::Vector3f;

  matrices a = tn::zeros<float>(tn::shape<count, 3, 3>{}), by_a = a.clone(), eigen_by_a = a.clone();
  columns b = tn::zeros<float>(tn::shape<count, 3, 1>{}), x = b.clone(), by_b = b.clone(), eigen_x = b.clone(), eigen_by_b = b.clone();

  /// Products r r^T of normal numbers, and a hundredth on the diagonal.
  explicit systems(std::int64_t) {
    std::mt19937_64 engine(1);
    std::normal_distribution<float> normal;
    for (std::int64_t k = 0; k < count; ++k) {
      matrix r;
      for (int e = 0; e < 9; ++e) r.data()[e] = normal(engine);
      Eigen::Map<matrix>(bench::data_of(a) + 9 * k) = r * r.transpose() + 0.01f * matrix::Identity();
      for (int e = 0; e < 3; ++e) bench::data_of(b)[3 * k + e] = normal(engine);
    }
    solve(), solve_by_eigen(), gradient(), gradient_by_eigen();
    // Solutions of nearly singular systems differ from the fifth digit on: in residuals they agree.
    for (std::int64_t k = 0; k < count; ++k) {
      const Eigen::Map<const matrix> m(a.data() + 9 * k);
      require("solve", m, Eigen::Map<const column>(x.data() + 3 * k), Eigen::Map<const column>(b.data() + 3 * k));
      require("gradient", m.transpose(), Eigen::Map<const column>(by_b.data() + 3 * k), column::Ones());
      const matrix product = -Eigen::Map<const column>(by_b.data() + 3 * k) * Eigen::Map<const column>(x.data() + 3 * k).transpose();
      bench::require_agreement("gradient by a", by_a.data() + 9 * k, product.data(), 9, 1e-3);
      require("solve by Eigen", m, Eigen::Map<const column>(eigen_x.data() + 3 * k), Eigen::Map<const column>(b.data() + 3 * k));
      require("gradient by Eigen", m.transpose(), Eigen::Map<const column>(eigen_by_b.data() + 3 * k), column::Ones());
    }
  }
  std::int64_t items() const { return count; }
  static void require(const char* who, const matrix& m, const column& found, const column& right) {
    const column wanted = right.cwiseAbs() + m.cwiseAbs() * found.cwiseAbs(), residual = wanted + m * found - right;
    bench::require_agreement(who, residual.data(), wanted.data(), 3, 1e-5);
  }

  [[gnu::noinline]] void solve() { solved.into(x)(a, b); }
  [[gnu::noinline]] void gradient() { slopes_of_sum.into(by_a, by_b)(a, b); }
  [[gnu::noinline]] void solve_by_eigen() {
    for (std::int64_t k = 0; k < count; ++k)
      Eigen::Map<column>(bench::data_of(eigen_x) + 3 * k) = Eigen::Map<const matrix>(a.data() + 9 * k).partialPivLu().solve(Eigen::Map<const column>(b.data() + 3 * k));
  }
  [[gnu::noinline]] void gradient_by_eigen() {
    for (std::int64_t k = 0; k < count; ++k) {
      const Eigen::PartialPivLU<matrix> factors(Eigen::Map<const matrix>(a.data() + 9 * k));
      const column found = factors.solve(Eigen::Map<const column>(b.data() + 3 * k)), slope = factors.transpose().solve(column::Ones());
      Eigen::Map<column>(bench::data_of(eigen_by_b) + 3 * k) = slope;
      Eigen::Map<matrix>(bench::data_of(eigen_by_a) + 9 * k) = -slope * found.transpose();
    }
  }
};

const bool registered = [] {
  bench::row<systems>("solves_3x3_f32", "tenure", count, [](systems& p) { p.solve(); });
  bench::row<systems>("solves_3x3_f32", "eigen", count, [](systems& p) { p.solve_by_eigen(); });
  bench::row<systems>("solves_3x3_gradient_f32", "tenure", count, [](systems& p) { p.gradient(); });
  bench::row<systems>("solves_3x3_gradient_f32", "eigen", count, [](systems& p) { p.gradient_by_eigen(); });
  return true;
}();

}  // namespace
