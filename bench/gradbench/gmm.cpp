// SPDX-License-Identifier: BSL-1.0
// The logarithm of the posterior density of a mixture of Gaussians.
#include "gmm.hpp"
#include "tensors.hpp"

namespace {

using namespace gradbench::gmm;

constexpr auto value_of = tn::compile(log_posterior);
constexpr auto gradients_of = tn::grad<0, 1, 2, 3>(log_posterior);

struct mixture {
  std::int64_t d, k, n;
  gradbench::numbers alpha;
  gradbench::matrix mu, q, l, x;
  double m, gamma;
  tn::tensor<std::int32_t, tn::shape<tn::dyn, tn::dyn>> places;

  explicit mixture(const gradbench::input& in)
      : d(in.integer("/d")), k(in.integer("/k")), n(in.integer("/n")), alpha(gradbench::numbers_of(in.at("/alpha"))),
        mu(gradbench::matrix_of(in.at("/mu"))), q(gradbench::matrix_of(in.at("/q"))), l(gradbench::matrix_of(in.at("/l"))),
        x(gradbench::matrix_of(in.at("/x"))), m(in.number("/m")), gamma(in.number("/gamma")), places(d, d) {
    std::int32_t next = 0;
    for (std::int64_t column = 0; column < d; ++column)
      for (std::int64_t row = column + 1; row < d; ++row) places.at(row, column) = next++;
  }
  /// The terms that depend on nothing that is fitted.
  double constant() const {
    const double pi = 3.14159265358979323846, degrees = static_cast<double>(d) + m + 1, dims = static_cast<double>(d);
    double log_gamma = 0.25 * dims * (dims - 1) * std::log(pi);
    for (std::int64_t j = 0; j < d; ++j) log_gamma += std::lgamma(0.5 * (degrees - static_cast<double>(j)));
    const double of_prior = degrees * dims * std::log(gamma / std::sqrt(2.0)) - log_gamma;
    return -0.5 * static_cast<double>(n) * dims * std::log(2 * pi) + static_cast<double>(k) * of_prior;
  }
};

void objective(const gradbench::input& in) {
  const mixture f(in);
  gradbench::number y;
  const auto compute = [&] {
    gradbench::into(value_of, y)(f.alpha, f.mu, f.q, f.l, f.x, f.places, static_cast<double>(f.n), f.m, f.gamma);
    y += f.constant();
  };
  gradbench::measure(in, compute, [&] { return gradbench::output_of(y); });
}

void jacobian(const gradbench::input& in) {
  const mixture f(in);
  gradbench::numbers alpha(f.k);
  gradbench::matrix mu(f.k, f.d), q(f.k, f.d), l(f.k, f.l.extent(1));
  const auto compute = [&] {
    gradbench::into(gradients_of, alpha, mu, q, l)(f.alpha, f.mu, f.q, f.l, f.x, f.places, static_cast<double>(f.n), f.m, f.gamma);
  };
  gradbench::measure(in, compute, [&] {
    using gradbench::lists_of;
    return gradbench::output{{"/alpha", lists_of(alpha)}, {"/mu", lists_of(mu)}, {"/q", lists_of(q)}, {"/l", lists_of(l)}};
  });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"objective", objective}, {"jacobian", jacobian}}); }
