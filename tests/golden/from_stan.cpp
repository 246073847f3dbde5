// SPDX-License-Identifier: BSL-1.0
// The rows of docs/stan.md and of docs/12-linear-algebra-and-statistics.md that are formulas, with the numbers of SciPy.
#include <tenure/tenure.hpp>

#include "../catch.hpp"

#include <cmath>

namespace tn = tenure;
namespace density = tn::log_density;

namespace {
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

void check(const real<>& x, double wanted) { CHECK(x.item() == Approx(wanted).epsilon(1e-12)); }
}  // namespace

TEST_CASE("distribution functions are one call") {
  constexpr auto all = tn::compile([](auto x, auto n) {
    const auto normal = log_normal_cdf((0.4 - x[0]) / 1.5);
    return std::tuple{gammainc(2.5, 0.7 * x[1]), gammainc(1.5, 0.5 * x[2]), betainc(2.0, 3.5, x[3]), 0.5 * betainc(0.5 * n, 0.5, n / (n + x[4] * x[4])),
                      gammaincc(4.0 + 1.0, x[5]), betainc(10.0 - 3.0, 3.0 + 1.0, 1.0 - x[3]), normal};
  });
  const auto [gamma, chi_squared, beta, student, poisson, binomial, normal] = all(real<6>{1.7, 3.1, 4.2, 0.3, 2.3, 2.5}, 5.0);
  check(gamma, 0.4984281490456743);
  check(chi_squared, 0.7593381147903854);
  check(beta, 0.4117025023425647);
  check(student, 0.03488623466601866);
  check(poisson, 0.8911780189141513);
  check(binomial, 0.6496107184000002);
  check(normal, -1.6447421518548382);
}

TEST_CASE("Stan: densities of other parameters, a mixture, and matrices") {
  constexpr auto all = tn::compile([](auto eta, auto p, auto a, auto b, auto k) {
    return std::tuple{density::poisson(k, exp(2.0 * eta)), density::binomial(k, 10, sigmoid(eta)), density::binomial(1, 1, p), logaddexp(log(p) + a, log1p(-p) + b)};
  });
  const auto [poisson_log, binomial_logit, bernoulli, mixture] = all(0.4, 0.3, -1.2, 0.4, 3);
  check(poisson_log, -1.6173003977205225);
  check(binomial_logit, -3.142660781217479);
  check(bernoulli, -1.2039728043259361);
  check(mixture, 0.12631149974213274);

  const real<2, 2> a{{1, 2}, {3, 4}};
  const real<2> v{10, 100};
  const tn::tensor scaled = tn::unsqueeze<1>(v) * a, added = a + diag(v);
  CHECK((scaled(0, 1) == 20 && scaled(1, 0) == 300 && added(0, 0) == 11 && added(0, 1) == 2 && added(1, 1) == 104));
}

TEST_CASE("Stan: the terms of bounded parameters are the logarithms of the slopes") {
  constexpr auto positive = [](auto s) { return exp(s); };
  constexpr auto part = [](auto s) { return sigmoid(s); };
  CHECK(tn::log(tn::grad(positive)(0.7).item()) == Approx(0.7));
  const double wanted = tn::eval(tn::log_sigmoid(real<>(0.7)) + tn::log_sigmoid(-real<>(0.7))).item();
  CHECK(std::log(tn::grad(part)(0.7).item()) == Approx(wanted));
}
