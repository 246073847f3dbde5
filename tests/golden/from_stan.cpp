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

TEST_CASE("Stan: the factor of a correlation matrix from free numbers") {
  static constexpr auto of_two = [](auto u) {
    const auto r = tanh(u);
    return std::tuple{tn::stack(tn::stack(1.0, 0.0), tn::stack(r, sqrt(1.0 - r * r))), log1p(-r * r)};
  };
  static constexpr auto of_three = [](auto u) {
    const auto z = tanh(u);
    const auto s = sqrt(1.0 - z(1) * z(1));
    const auto l = tn::stack(tn::stack(1.0, 0.0, 0.0), tn::stack(z(0), sqrt(1.0 - z(0) * z(0)), 0.0), tn::stack(z(1), z(2) * s, s * sqrt(1.0 - z(2) * z(2))));
    return std::tuple{l, sum(log1p(-z * z)) + log(s)};
  };
  const auto [l2, term2] = tn::compile(of_two)(real<>(0.4));
  const auto [l3, term3] = tn::compile(of_three)(real<3>{0.4, -0.8, 1.1});
  // A correlation matrix has ones on its diagonal, and the term is the logarithm of the change of volume below the diagonal.
  const real<2, 2> c2 = matmul(l2, transpose(l2));
  const real<3, 3> c3 = matmul(l3, transpose(l3));
  for (int i = 0; i < 2; ++i) CHECK(c2(i, i) == Approx(1));
  for (int i = 0; i < 3; ++i) CHECK(c3(i, i) == Approx(1));
  constexpr auto below2 = [](auto u) { return std::get<0>(of_two(u))(1, 0); };
  constexpr auto below3 = [](auto u) {
    const auto l = std::get<0>(of_three(u));
    return tn::stack(l(1, 0), l(2, 0), l(2, 1));
  };
  CHECK(term2.item() == Approx(std::log(tn::grad(below2)(0.4).item())));
  CHECK(term3.item() == Approx(std::log(tn::eval(tn::det(tn::jacobian(below3)(real<3>{0.4, -0.8, 1.1}))).item())));
}
