// SPDX-License-Identifier: BSL-1.0
// tn::log_density: values by SciPy, derivatives of first and second order by differences, the ends of supports.
#include "../control_flow/reference.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace tn = tenure;
namespace density = tn::log_density;

namespace {
using three = tn::tensor<double, tn::shape<3>>;
using number = tn::tensor<double, tn::shape<>>;
using counts = tn::tensor<std::int64_t, tn::shape<3>>;
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class F, class... X>
void check_values(const char* name, F, const double (&wanted)[3], const X&... x) {
  INFO(name);
  const auto f = tn::compile(F{});
  const three found = f(x...);
  for (int i = 0; i < 3; ++i) CHECK(found(i) == Approx(wanted[i]).epsilon(1e-13).margin(1e-13));
  judged::agree(found, judged::by_reference(F{}, x...), 1e-12);
}
/// d f / d x_i of three numbers by differences, forward and reverse.
template <class F>
void check_slopes_of(const char* name, F, three at) {
  INFO(name);
  constexpr auto gradient = tn::grad<0>(F{});
  constexpr auto value_of = tn::compile(F{});
  const three g = gradient(at);
  const double h = 1e-6;
  for (int i = 0; i < 3; ++i) {
    INFO("parameter " << i);
    three up = at.clone(), down = at.clone(), unit{0, 0, 0};
    up.at(i) += h, down.at(i) -= h, unit.at(i) = 1;
    CHECK(g(i) == Approx((value_of(up).item() - value_of(down).item()) / (2 * h)).epsilon(2e-7).margin(1e-7));
    CHECK(judged::results(tn::jvp(F{}), at, unit)[1][0] == Approx(g(i)).epsilon(1e-11).margin(1e-13));
    const three above = gradient(up), below = gradient(down);
    const auto second = judged::results(tn::jvp(gradient), at, unit)[1];
    for (int j = 0; j < 3; ++j) CHECK(second[j] == Approx((above(j) - below(j)) / (2 * h)).epsilon(1e-6).margin(1e-6));
  }
}
}  // namespace

TEST_CASE("log densities have the values of SciPy") {
  const three x{0.3, 0.9, 2.7}, part{0.1, 0.5, 0.9};
  const counts k{0, 3, 10};
  const number four(0.4), scale(1.7), freedom(3.5), shape(2.5), p(0.3), trials(10.0);
  check_values("normal", [](auto x, auto m, auto s) { return density::normal(x, m, s); }, {-1.4512968880730714, -1.4928193794225524, -2.3647916977616532}, x, four, scale);
  check_values("log_normal", [](auto x, auto m, auto s) { return density::log_normal(x, m, s); }, {-0.69070276143177323, -1.3883912600944743, -2.5037091569622203}, x, four, scale);
  check_values("cauchy", [](auto x, auto m, auto s) { return density::cauchy(x, m, s); }, {-1.6788123717796579, -1.7583244347073919, -2.7157937854018854}, x, four, scale);
  check_values("laplace", [](auto x, auto m, auto s) { return density::laplace(x, m, s); }, {-1.2825989610338806, -1.5178930786809393, -2.576716608092704}, x, four, scale);
  check_values("student_t", [](auto x, auto n, auto m, auto s) { return density::student_t(x, n, m, s); }, {-1.522325162660684, -1.5750362116747492, -2.4666153305367482}, x, freedom, four, scale);
  check_values("exponential", [](auto x, auto r) { return density::exponential(x, r); }, {0.020628251062170366, -0.99937174893782965, -4.0593717489378296}, x, scale);
  check_values("gamma", [](auto x, auto a, auto r) { return density::gamma(x, a, r); }, {-1.2740714493063972, -0.64615301630423272, -2.0582345833020681}, x, shape, scale);
  check_values("inverse_gamma", [](auto x, auto a, auto s) { return density::inverse_gamma(x, a, s); }, {-0.41087409434338273, -0.47823932690399007, -3.0641230779831146}, x, shape, scale);
  check_values("beta", [](auto x, auto a, auto b) { return density::beta(x, a, b); }, {-1.66794953655681, 0.33475666666285719, 0.089830125312165165}, part, shape, scale);
  check_values("poisson", [](auto k, auto r) { return density::poisson(k, r); }, {-1.7, -1.8998747160415437, -11.498130062453811}, k, scale);
  check_values("binomial", [](auto k, auto n, auto p) { return density::binomial(k, n, p); }, {-3.5667494393873245, -1.321151277766889, -12.039728043259361}, k, trials, p);
  check_values("bernoulli_logit", [](auto y, auto l) { return density::bernoulli_logit(y, l); }, {-1.867786029386266, -0.16778602938626597, -40}, counts{0, 1, 0}, three{1.7, 1.7, 40});
  check_values("categorical_logit", [](auto k, auto l) { return density::categorical_logit(k, l); }, {-1.9016712449527906, -3.4016712449527908, -0.20167124495279065}, counts{0, 1, 2},
               tn::tensor<double, tn::shape<3, 3>>{{0.3, -1.2, 2}, {0.3, -1.2, 2}, {0.3, -1.2, 2}});
  CHECK_THROWS_WITH(three(density::categorical_logit(counts{0, 1, 3}, tn::tensor<double, tn::shape<3, 3>>{{0.3, -1.2, 2}, {0.3, -1.2, 2}, {0.3, -1.2, 2}})), "tenure: log_density::categorical_logit: index 3 is outside an axis of 3");
  const three of_rows = tn::log_density::dirichlet(tn::tensor<double, tn::shape<3, 3>>{{0.2, 0.3, 0.5}, {0.2, 0.3, 0.5}, {0.2, 0.3, 0.5}}, three{1.5, 2.5, 0.7});
  for (int i = 0; i < 3; ++i) CHECK(of_rows(i) == Approx(-0.091096741591744301).epsilon(1e-13));
}

TEST_CASE("lbeta has the values of mpmath, and its derivatives are differences of digamma") {
  constexpr double wanted[][3] = {{0.5, 0.5, 1.1447298858494001741}, {1, 1, 0}, {2.5, 1.7, -1.8596804638947364649}, {1e-10, 3, 23.025850929790456804}, {1e-300, 1, 690.77552789821370518},
                                  {20, 30, -33.968820791977382963}, {1e6, 1e6, -1386300.0033629211163}, {1, 1e15, -34.53877639491068526}, {1e15, 2.5, -86.062258116803795866},
                                  {1e8, 1e-3, 6.8887582046448962958}};
  constexpr auto of = tn::compile([](auto a, auto b) { return tn::lbeta(a, b); });
  for (const auto& [a, b, y] : wanted) {
    CAPTURE(a, b);
    CHECK(of(a, b).item() == Approx(y).epsilon(1e-14).margin(2e-15));
    CHECK(of(b, a).item() == Approx(y).epsilon(1e-14).margin(2e-15));
    if (a > 1e-30) CHECK(static_cast<double>(of(static_cast<float>(a), static_cast<float>(b)).item()) == Approx(y).epsilon(2e-6).margin(1e-6));
    if (a > 1e7 || b > 1e7 || a < 1e-20) continue;
    const auto [by_a, by_b] = tn::grad<0, 1>([](auto a, auto b) { return tn::lbeta(a, b); })(a, b);
    const number both(a + b), only_a(a), only_b(b);
    CHECK(by_a.item() == Approx(tn::eval(digamma(only_a) - digamma(both)).item()).epsilon(1e-9).margin(1e-14));
    CHECK(by_b.item() == Approx(tn::eval(digamma(only_b) - digamma(both)).item()).epsilon(1e-9).margin(1e-14));
  }
  CHECK(number(density::binomial(number(5e5), 1e6, 0.5)).item() == Approx(-7.1335468816268644844).epsilon(1e-9));
  CHECK(tn::tensor<float, tn::shape<>>(density::beta(tn::tensor<float, tn::shape<>>(0.5f), 1e6f, 1e6f)).item() == Approx(7.03).margin(0.3));
}

TEST_CASE("the multivariate normal density: by the factor and by the covariance, one for all rows, one for each, and a vector") {
  const tn::tensor<double, tn::shape<3, 3>> rows{{0.3, 0.9, 2.7}, {0, 0, 0}, {-1, 2, -3}}, l{{1.2, 7, 7}, {0.3, 0.8, 7}, {-0.4, 0.5, 1.5}};
  const three mean{0.1, -0.2, 0.3};
  constexpr double wanted[] = {-4.7250331730784696, -3.2144009392821742, -14.367468068911815};
  constexpr auto of = [](auto x, auto m, auto l) { return density::multivariate_normal(x, m, l, tn::cholesky_factor); };
  constexpr auto of_covariance = [](auto x, auto m, auto a) { return density::multivariate_normal(x, m, a, tn::covariance); };
  check_values("one factor", of, wanted, rows, mean, l);
  tn::tensor<double, tn::shape<3, 3, 3>> each;
  for (int i = 0; i < 3; ++i) each[i] = l;
  check_values("one for each", of, wanted, rows, mean, each);
  for (int i = 0; i < 3; ++i) CHECK(number(density::multivariate_normal(rows[i], mean, l, tn::cholesky_factor)).item() == Approx(wanted[i]).epsilon(1e-13));
  // l l^T, whose upper triangle is not read.
  const tn::tensor<double, tn::shape<3, 3>> a{{1.44, 7, 7}, {0.36, 0.73, 7}, {-0.48, 0.28, 2.66}};
  check_values("one covariance", of_covariance, wanted, rows, mean, a);
  for (int i = 0; i < 3; ++i) each[i] = a;
  each[1] *= -1.0;
  const three of_each = tn::compile(of_covariance)(rows, mean, each);
  CHECK((of_each(0) == Approx(wanted[0]).epsilon(1e-13) && std::isnan(of_each(1)) && of_each(2) == Approx(wanted[2]).epsilon(1e-13)));
  // The derivative by a is (y y^T - a^-1) / 2 with y = a^-1 (x - mean).
  const auto g = tn::grad<2>([](auto x, auto m, auto a) { return density::multivariate_normal(x, m, a, tn::covariance); })(tn::tensor<double, tn::shape<2>>{1, 2}, 0.0, tn::tensor<double, tn::shape<2, 2>>{{2, 7}, {1, 3}});
  CHECK((g(0, 0) == Approx((0.04 - 0.6) / 2) && g(0, 1) == Approx((0.12 + 0.2) / 2) && g(1, 0) == Approx((0.12 + 0.2) / 2) && g(1, 1) == Approx((0.36 - 0.4) / 2)));
  check_slopes_of("by the mean", [](auto m) {
    const auto l = tn::stack<0>(tn::stack<0>(m(0) * 0.0 + 1.2, m(0) * 0.0), tn::stack<0>(m(1), 0.0 * m(0) + 0.8));
    return density::multivariate_normal(tn::stack<0>(m(0), m(2)), m.at(tn::range<0, 2>()), l, tn::cholesky_factor);
  }, three{0.4, -0.3, 0.8});
}

TEST_CASE("log densities: derivatives of first and second order by all operands") {
  check_slopes_of("normal", [](auto p) { return density::normal(p(0), p(1), p(2)); }, three{0.3, -0.8, 1.7});
  check_slopes_of("student_t", [](auto p) { return density::student_t(p(0), p(1), 0.1, p(2)); }, three{0.3, 2.8, 1.7});
  check_slopes_of("gamma", [](auto p) { return density::gamma(p(0), p(1), p(2)); }, three{0.3, 1.0, 1.7});
  check_slopes_of("beta", [](auto p) { return density::beta(p(0), p(1), p(2)); }, three{0.3, 1.0, 1.7});
  check_slopes_of("dirichlet", [](auto p) { return density::dirichlet(tn::stack<0>(0.0 * p(0) + 0.2, 0.0 * p(0) + 0.3, 0.0 * p(0) + 0.5), p); }, three{1.5, 1.0, 0.7});
#ifndef TENURE_QUICK_TESTS  // 8 s of compilation each
  check_slopes_of("log_normal", [](auto p) { return density::log_normal(p(0), p(1), p(2)); }, three{0.3, -0.8, 1.7});
  check_slopes_of("cauchy", [](auto p) { return density::cauchy(p(0), p(1), p(2)); }, three{0.3, -0.8, 1.7});
  check_slopes_of("laplace", [](auto p) { return density::laplace(p(0), p(1), p(2)); }, three{0.3, -0.8, 1.7});
  check_slopes_of("exponential", [](auto p) { return density::exponential(p(0), p(1) * p(2)); }, three{0.3, 0.8, 1.7});
  check_slopes_of("inverse_gamma", [](auto p) { return density::inverse_gamma(p(0), p(1), p(2)); }, three{0.3, 0.8, 1.7});
  check_slopes_of("poisson", [](auto p) { return density::poisson(3.0, p(0) * p(1) + p(2)); }, three{0.3, 0.8, 1.7});
  check_slopes_of("binomial", [](auto p) { return density::binomial(3.0, 7.0, p(0) * p(1) + p(2)); }, three{0.3, 0.8, 0.2});
  check_slopes_of("bernoulli_logit", [](auto p) { return density::bernoulli_logit(1.0, p(0) * p(1) + p(2)); }, three{0.3, 0.8, 1.7});
#endif
}

TEST_CASE("log densities: outside of the support -inf with the gradient 0, at its ends the limit, far in the tails finite") {
  const three x{-1, 0, 1e300};
  const three of_exponential = density::exponential(x, 2.0), of_gamma = density::gamma(x, 1.0, 2.0), of_log_normal = density::log_normal(x, 0.0, 1.0), of_normal = density::normal(x, 0.0, 1e150);
  CHECK((of_exponential(0) == -infinity && of_exponential(1) == Approx(std::log(2.0)) && of_exponential(2) == Approx(-2e300)));
  CHECK((of_gamma(0) == -infinity && of_gamma(1) == Approx(std::log(2.0)) && of_gamma(2) == Approx(-2e300)));
  CHECK((of_log_normal(0) == -infinity && of_log_normal(1) == -infinity && std::isfinite(of_log_normal(2))));
  CHECK(of_normal(2) == Approx(-0.5e300));
  const three of_beta = density::beta(three{-0.1, 0, 1.1}, 1.0, 3.0), at_ends = density::beta(three{0, 1, 0.5}, 2.0, 2.0);
  CHECK((of_beta(0) == -infinity && of_beta(1) == Approx(std::log(3.0)) && of_beta(2) == -infinity));
  CHECK((at_ends(0) == -infinity && at_ends(1) == -infinity && at_ends(2) == Approx(std::log(1.5))));
  const three of_poisson = density::poisson(three{-1, 0, 5}, 0.0);
  CHECK((of_poisson(0) == -infinity && of_poisson(1) == 0 && of_poisson(2) == -infinity));
  const three of_binomial = density::binomial(three{0, 5, 6}, 5.0, 1.0);
  CHECK((of_binomial(0) == -infinity && of_binomial(1) == Approx(0).margin(1e-14) && of_binomial(2) == -infinity));
  const three g = tn::grad<0>([](auto x) { return tn::sum(tn::where(x > -2.0, density::gamma(x, 2.5, 2.0), 0.0)); })(three{-1, 1, 2});
  CHECK((g(0) == 0 && g(1) == Approx(1.5 - 2.0) && g(2) == Approx(0.75 - 2)));
  CHECK(std::isnan(number(density::normal(number(1.0), 0.0, -1.0)).item()));
  // Far out, and where differences of large numbers would lose the digits.
  const three far{1e160, -1e200, 1}, of_cauchy = density::cauchy(far, 0.0, 1.0), slopes = tn::grad<0>([](auto x) { return tn::sum(density::cauchy(x, 0.0, 1.0)); })(far);
  CHECK((of_cauchy(0) == Approx(-2 * std::log(1e160) - std::log(3.14159265358979323846)) && of_cauchy(1) == Approx(-2 * std::log(1e200) - std::log(3.14159265358979323846))));
  CHECK((slopes(0) == Approx(-2e-160) && slopes(1) == Approx(2e-200) && slopes(2) == Approx(-1)));
  for (const double freedom : {1e4, 1e8, 1e12, 1e15}) {
    const double normal = number(density::normal(number(0.7), 0.0, 1.0)).item();
    CHECK(number(density::student_t(number(0.7), freedom, 0.0, 1.0)).item() == Approx(normal).margin(1.0 / freedom));
    CHECK(tn::tensor<float, tn::shape<>>(density::student_t(tn::tensor<float, tn::shape<>>(0.7f), freedom, 0.0, 1.0)).item() == Approx(normal).margin(1.0 / freedom + 1e-6));
  }
  const three of_logits = density::bernoulli_logit(counts{1, 1, 0}, three{20, 40, -40});
  CHECK((of_logits(0) == Approx(-2.061153618190206e-9) && of_logits(1) == Approx(-4.248354255291589e-18) && of_logits(2) == Approx(-4.248354255291589e-18)));
  CHECK(number(density::binomial(number(0.0), 1e7, 1e-20)).item() == Approx(-1e-13));
  CHECK(number(density::dirichlet(three{-0.1, 0.6, 0.5}, three{1, 2, 3})).item() == -infinity);
}

TEST_CASE("log densities: NaN of data stays NaN, a parameter outside of its domain gives NaN, and a bernoulli number beyond 0 and 1 has no density") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const three data{nan, -1, 0.5};
  const auto only_the_first = [](const char* name, const three& l) {
    INFO(name);
    CHECK(std::isnan(l(0)));
    CHECK(l(1) == -infinity);
    CHECK(std::isfinite(l(2)));
  };
  only_the_first("log_normal", density::log_normal(data, 0.0, 1.0));
  only_the_first("exponential", density::exponential(data, 2.0));
  only_the_first("gamma", density::gamma(data, 2.5, 2.0));
  only_the_first("inverse_gamma", density::inverse_gamma(data, 2.5, 2.0));
  only_the_first("beta", density::beta(data, 2.5, 2.0));
  only_the_first("poisson", density::poisson(data, 2.0));
  only_the_first("binomial", density::binomial(data, 2.0, 0.5));
  only_the_first("bernoulli_logit", density::bernoulli_logit(data, 2.0));
  CHECK(number(density::bernoulli_logit(number(2.0), 0.5)).item() == -infinity);
  CHECK(std::isnan(number(density::dirichlet(three{nan, 0.6, 0.4}, three{1, 2, 3})).item()));
  tn::tensor<double, tn::shape<2, 2>> factor{{1, 0}, {0.6, nan}};
  CHECK(std::isnan(number(density::lkj_cholesky(factor, 2.0)).item()));

  // lgamma(-1.5) is a number, and lgamma(0) is inf.
  for (const double wrong : {-1.5, 0.0}) {
    INFO(wrong);
    CHECK(std::isnan(number(density::gamma(number(1.0), wrong, 2.0)).item()));
    CHECK(std::isnan(number(density::inverse_gamma(number(1.0), wrong, 2.0)).item()));
    CHECK(std::isnan(number(density::dirichlet(three{0.3, 0.3, 0.4}, three{1, wrong, 3})).item()));
    CHECK(std::isnan(number(density::beta(number(0.5), wrong, 2.0)).item()));
    CHECK(std::isnan(number(density::student_t(number(0.5), wrong, 0.0, 2.0)).item()));
  }
}

TEST_CASE("lkj_cholesky has the values of theorem 5 of its authors, by mpmath") {
  constexpr double diagonal[] = {1, 0.9, 0.8, 0.35, 0.6, 0.7, 0.95, 0.2}, etas[] = {0.3, 1, 2.5, 1e6};
  constexpr struct {
    int rows;
    double wanted[4];
  } cases[] = {{1, {0, 0, 0, 0}},
               {2, {-1.3685985374219811983, -0.69314718055994530942, -0.47998217981115284097, -210714.48520441022937}},
               {3, {-2.826756942904710135, -1.7016731067966813401, -1.3838503916867507528, -656988.57612532065543}},
               {5, {-5.3428688329733489225, -4.9271521139454696739, -7.3589124882959150725, -3778238.3104534419117}},
               {8, {-10.703661003026841232, -10.944132693042960047, -16.037906993901346134, -7812938.9722137359305}}};
  constexpr auto of = tn::compile([](auto l, auto eta) { return density::lkj_cholesky(l, eta); });
  for (const auto& [rows, wanted] : cases) {
    tn::tensor<double, tn::shape<tn::dyn, tn::dyn>> l = tn::ones<double>(tn::shape<tn::dyn, tn::dyn>{}, rows, rows) * 0.1;
    for (int i = 0; i < rows; ++i) l.at(i, i) = diagonal[i];
    for (int k = 0; k < 4; ++k) {
      CAPTURE(rows, etas[k]);
      CHECK(of(l, etas[k]).item() == Approx(wanted[k]).epsilon(1e-13).margin(1e-13));
    }
    if (rows > 1) {
      l.at(rows - 1, rows - 1) = 0;  // at the end of the support
      CHECK((of(l, 2.5).item() == -infinity && std::isfinite(of(l, 1.0).item())));
      l.at(rows - 1, rows - 1) = -0.1;
      CHECK(of(l, 1.0).item() == -infinity);
    }
  }
}

TEST_CASE("lkj_cholesky: the integral over the factors of two and three rows is 1") {
  // Row 1 is (sin t, cos t), and row 2 is (sin s cos a, sin s sin a, cos s) for every a. So the integrand is smooth.
  constexpr int points = 64;
  constexpr double pi = 3.14159265358979323846;
  tn::tensor<double, tn::shape<tn::dyn, 2, 2>> two = tn::zeros<double>(tn::shape<tn::dyn, 2, 2>{}, points);
  tn::tensor<double, tn::shape<tn::dyn, 3, 3>> three_rows = tn::zeros<double>(tn::shape<tn::dyn, 3, 3>{}, points * points);
  const auto angle = [](int i, double from, double to) { return from + (to - from) * (i + 0.5) / points; };
  for (int i = 0; i < points; ++i) {
    const double t = angle(i, -pi / 2, pi / 2);
    two.at(i, 0, 0) = 1, two.at(i, 1, 0) = std::sin(t), two.at(i, 1, 1) = std::cos(t);
    for (int j = 0; j < points; ++j) {
      const int at = i * points + j;
      const double s = angle(j, 0, pi / 2);
      three_rows.at(at, 0, 0) = 1, three_rows.at(at, 1, 0) = std::sin(t), three_rows.at(at, 1, 1) = std::cos(t), three_rows.at(at, 2, 0) = std::sin(s), three_rows.at(at, 2, 2) = std::cos(s);
    }
  }
  constexpr auto of = tn::compile([](auto l, auto eta) { return exp(density::lkj_cholesky(l, eta)); });
  for (const double eta : {1.0, 1.5, 2.5, 4.0}) {
    CAPTURE(eta);
    const auto of_two = of(two, eta), of_three = of(three_rows, eta);
    double first = 0, second = 0;
    for (int i = 0; i < points; ++i) {
      const double width = pi / points, t = angle(i, -pi / 2, pi / 2);
      first += of_two(i) * std::cos(t) * width;
      for (int j = 0; j < points; ++j) {
        const double s = angle(j, 0, pi / 2);
        second += of_three(i * points + j) * std::cos(t) * width * 2 * pi * std::sin(s) * std::cos(s) * width / 2;
      }
    }
    CHECK(first == Approx(1).epsilon(1e-3));
    CHECK(second == Approx(1).epsilon(1e-3));
  }
}

TEST_CASE("lkj_cholesky: a batch with an eta for each, and derivatives of first and second order") {
  const tn::tensor<double, tn::shape<2, 3, 3>> l{{{1, 7, 7}, {0.6, 0.8, 7}, {0, 0.8, 0.6}}, {{1, 7, 7}, {0.8, 0.6, 7}, {0.6, 0, 0.8}}};
  const tn::tensor<double, tn::shape<2>> eta{1.5, 0.7};
  constexpr auto of = [](auto l, auto eta) { return density::lkj_cholesky(l, eta); };
  const tn::tensor<double, tn::shape<2>> both = tn::compile(of)(l, eta);
  judged::agree(both, judged::by_reference(of, l, eta), 1e-12);
  for (int i = 0; i < 2; ++i) CHECK(number(density::lkj_cholesky(l[i], eta(i))).item() == Approx(both(i)).epsilon(1e-13));
  CHECK(tn::tensor<float, tn::shape<>>(density::lkj_cholesky(tn::tensor<float, tn::shape<2, 2>>{{1, 0}, {0.6f, 0.8f}}, 2.0f)).item() == Approx(std::log(0.75 * 0.64)).epsilon(1e-6));
  check_slopes_of("by the diagonal and eta", [](auto p) {
    const auto zero = 0.0 * p(0);
    const auto l = tn::stack<0>(tn::stack<0>(zero + 1.0, zero, zero), tn::stack<0>(zero, p(0), zero), tn::stack<0>(zero, zero, p(1)));
    return density::lkj_cholesky(l, p(2));
  }, three{0.8, 0.6, 1.3});
}
