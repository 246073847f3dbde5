// SPDX-License-Identifier: BSL-1.0
// A Gaussian process: what gaussian_process.cpp says, for both settings of TENURE_EIGEN_DECOMPOSITIONS.
#pragma once

#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Dense>

#include <cmath>

namespace {

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<tn::dyn>>;
using three = tn::tensor<double, tn::shape<3>>;

/// x: the places, y: what was observed there, p: the logarithms of amplitude, length and noise.
constexpr auto log_likelihood = [](auto p, auto x, auto y) {
  const auto n = tn::extent<0>(x);
  const auto distance = (tn::unsqueeze<1>(x) - tn::unsqueeze<0>(x)) * exp(-p[1]);
  const auto k = exp(2.0 * p[0] - 0.5 * square(distance)) + exp(2.0 * p[2]) * tn::eye<double>(tn::shape<tn::dyn, tn::dyn>{}, n, n);
  return tn::log_density::multivariate_normal(y, 0.0, k, tn::covariance);
};
constexpr auto value_and_slopes = tn::value_and_grad<0>(log_likelihood);
constexpr auto curvature = tn::compile([](auto p, auto x, auto y) { return tn::hessian<0>(log_likelihood)(p, x, y); });

struct gaussian_process {
  using matrix = Eigen::MatrixXd;

  std::int64_t n;
  vector x, y;
  three p{0.1, -0.4, -1.2}, slopes;
  tn::tensor<double, tn::shape<>> value;
  // By hand.
  matrix kernel, weighted, factored, whitened, inverse;
  Eigen::VectorXd weights;
  double its_value = 0, its_slopes[3] = {};

  explicit gaussian_process(std::int64_t size) : n(size), x(size), y(size), kernel(size, size), weighted(kernel), factored(kernel), whitened(kernel), inverse(kernel), weights(size) {
    bench::fill_uniform(bench::data_of(x), n, 0.0, 8.0, 1);
    bench::fill_uniform(bench::data_of(y), n, -0.2, 0.2, 2);
    for (std::int64_t i = 0; i < n; ++i) bench::data_of(y)[i] += std::sin(1.3 * x.data()[i]);
    tenure(), by_hand();
    bench::require_agreement("gaussian process", value.data(), &its_value, 1, 1e-10);
    bench::require_agreement("gaussian process, slopes", slopes.data(), its_slopes, 3, 1e-9);
    require_hessian();
  }
  std::int64_t items() const { return 1; }

  /// The Hessian against differences of the gradient by hand.
  void require_hessian() {
    const auto found = curvature(p, x, y);
    double wanted[9];
    for (int j = 0; j < 3; ++j) {
      constexpr double step = 1e-5;
      double* const at = bench::data_of(p) + j;
      const double middle = *at;
      *at = middle + step, by_hand();
      for (int i = 0; i < 3; ++i) wanted[3 * i + j] = its_slopes[i] / (2 * step);
      *at = middle - step, by_hand();
      for (int i = 0; i < 3; ++i) wanted[3 * i + j] -= its_slopes[i] / (2 * step);
      *at = middle;
    }
    bench::require_agreement("gaussian process, hessian", found.data(), wanted, 9, 1e-5);
  }

  [[gnu::noinline]] void tenure() { value_and_slopes.into(value, slopes)(p, x, y); }
  [[gnu::noinline]] void hessian() { benchmark::DoNotOptimize(curvature(p, x, y)); }
  [[gnu::noinline]] void by_hand() {
    const double of_length = std::exp(-p.data()[1]), of_amplitude = 2 * p.data()[0], noise = std::exp(2 * p.data()[2]);
    const Eigen::Map<const Eigen::ArrayXd> at(x.data(), n);
    const Eigen::Map<const Eigen::VectorXd> seen(y.data(), n);
    // The kernel, and the kernel times the squares of the distances: column after column below the diagonal.
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t rest = n - j;
      auto k = kernel.col(j).tail(rest).array(), w = weighted.col(j).tail(rest).array();
      w = ((at.tail(rest) - at[j]) * of_length).square();
      k = (of_amplitude - 0.5 * w).exp();
      w *= k;
    }
    matrix& k = factored;
    k.triangularView<Eigen::Lower>() = kernel;
    k.diagonal().array() += noise;
    Eigen::LLT<Eigen::Ref<matrix>> factor(k);
    weights = factor.solve(seen);
    its_value = -0.5 * seen.dot(weights) - k.diagonal().array().log().sum() - 0.5 * 1.8378770664093453 * static_cast<double>(n);
    if (n < 400) {  // K^-1 = w^T w for the inverse w of the factor, of which one triangle is computed: faster up to 400
      whitened.setIdentity();
      factor.matrixL().solveInPlace(whitened);
      inverse.setZero();
      inverse.selfadjointView<Eigen::Lower>().rankUpdate(whitened.transpose());
    } else {
      inverse.setIdentity();
      factor.solveInPlace(inverse);
    }
    double of_kernel = 0, of_weighted = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t rest = n - j - 1;
      const auto by_k = (weights[j] * weights.tail(rest) - inverse.col(j).tail(rest)).eval();
      of_kernel += by_k.dot(kernel.col(j).tail(rest));
      of_weighted += by_k.dot(weighted.col(j).tail(rest));
    }
    const double on_diagonal = weights.squaredNorm() - inverse.trace();
    its_slopes[0] = 2 * of_kernel + on_diagonal * kernel(0, 0);  // half of each off the diagonal stands on either side, and d K / d p_0 = 2 K
    its_slopes[1] = of_weighted;
    its_slopes[2] = noise * on_diagonal;
  }
};

const bool registered = [] {
  for (const std::int64_t n : {50, 200, 500}) {
    bench::row<gaussian_process>("gaussian_process", TENURE_EIGEN_DECOMPOSITIONS ? "tenure_eigen" : "tenure", n, [](gaussian_process& p) { p.tenure(); });
    bench::row<gaussian_process>("gaussian_process_hessian", TENURE_EIGEN_DECOMPOSITIONS ? "tenure_eigen" : "tenure", n, [](gaussian_process& p) { p.hessian(); });
    if (TENURE_EIGEN_DECOMPOSITIONS) bench::row<gaussian_process>("gaussian_process", "eigen", n, [](gaussian_process& p) { p.by_hand(); });
  }
  return true;
}();

}  // namespace
