// SPDX-License-Identifier: BSL-1.0
// solve, inverse and slogdet with tn::positive_definite, and cholesky_solve: their equations, derivatives up to the second, batches, extremes.
#include "matrices.hpp"

namespace {
constexpr auto solved = tn::compile([](auto a, auto b) { return tn::solve(a, b, tn::positive_definite); });
constexpr auto inverted = tn::compile([](auto a) { return std::tuple_cat(std::tuple{tn::inverse(a, tn::positive_definite)}, tn::slogdet(a, tn::positive_definite)); });
constexpr auto by_factor = tn::compile([](auto a, auto b) { return tn::cholesky_solve(b, tn::cholesky(a)); });

batch<double> definite(std::int64_t samples, std::int64_t n, unsigned seed) {
  const batch<double> half = random<double>(samples, n, n, seed);
  batch<double> a = tn::matmul(half, tn::transpose<1, 2>(half));
  for (std::int64_t e = 0; e < a.size(); ++e)
    if (e / n % n == e % n) tn::as_span(a)[static_cast<std::size_t>(e)] += 1;
  return a;
}

/// The derivatives of loss(a, b) along a symmetric direction v of a and a direction w of b, of first and second order, by differences.
template <class F>
void check_derivatives(F loss, const real<4, 4>& a, const real<4, 4>& v, const real<4>& b, const real<4>& w) {
  constexpr auto gradient = tn::grad<0, 1>(F{});
  constexpr auto value_of = tn::compile(F{});
  const auto [da, db] = gradient(a, b);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) CHECK(da(i, j) == Approx(da(j, i)).epsilon(1e-12).margin(1e-13));  // Law: the cotangent of a symmetric matrix is symmetric
  constexpr double h = 1e-5;
  const real<4, 4> a_up = a + h * v, a_down = a - h * v;
  const real<4> b_up = b + h * w, b_down = b - h * w;
  double along = 0;
  for (int i = 0; i < 16; ++i) along += da.data()[i] * v.data()[i];
  for (int i = 0; i < 4; ++i) along += db.data()[i] * w.data()[i];
  CHECK(std::abs(along) > 0.01);
  CHECK(along == Approx((value_of(a_up, b_up).item() - value_of(a_down, b_down).item()) / (2 * h)).epsilon(1e-7));
  CHECK(along == Approx(judged::results(tn::jvp(loss), a, b, v, w)[1][0]).epsilon(1e-12));
  const auto both = judged::results(tn::jvp(gradient), a, b, v, w);  // the gradient, its tangent
  const auto [pa, pb] = gradient(a_up, b_up);
  const auto [qa, qb] = gradient(a_down, b_down);
  for (int i = 0; i < 16; ++i) CHECK(both[2][i] == Approx((pa.data()[i] - qa.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
  for (int i = 0; i < 4; ++i) CHECK(both[3][i] == Approx((pb.data()[i] - qb.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
}
}  // namespace

TEST_CASE("Law: a solve(a, b, positive_definite) = b, and cholesky_solve has the same bits, in a batch and alone") {
  for (const auto& [samples, n, m] : {std::array{1, 1, 1}, {1, 4, 2}, {19, 3, 1}, {0, 3, 1}, {3, 0, 2}, {2, 20, 3}}) {
    CAPTURE(samples, n, m);
    batch<double> a = definite(samples, n, 3);
    const batch<double> whole = a.clone(), b = random<double>(samples, n, m, 4);
    for (std::int64_t e = 0; e < a.size(); ++e)
      if (e % n > e / n % n) tn::as_span(a)[static_cast<std::size_t>(e)] = not_a_number;  // the upper half is not read
    const batch<double> x = solved(a, b), y = by_factor(a, b), back = tn::matmul(whole, x), wanted = tn::solve(whole, b);
    for (std::int64_t e = 0; e < x.size(); ++e) {
      CHECK(back.data()[e] == Approx(b.data()[e]).epsilon(1e-12).margin(1e-13));
      CHECK(x.data()[e] == Approx(wanted.data()[e]).epsilon(1e-11).margin(1e-12));
    }
    CHECK(same_bits(x.data(), y.data(), x.size()));
    for (std::int64_t s = 0; s < samples; ++s) {
      const batch<double> alone = solved(one_of(a, s), one_of(b, s));
      CHECK(same_bits(alone.data(), x.data() + s * alone.size(), alone.size()));
    }
    judged::agree(x, judged::by_reference(solved.function, a, b), 1e-12);
  }
  CHECK_THROWS_AS(solved(random<double>(2, 3, 4, 1), random<double>(2, 3, 1, 1)), tn::shape_error);
  CHECK_THROWS_AS(solved(random<double>(2, 3, 3, 1), random<double>(2, 4, 1, 1)), tn::shape_error);
  // One sample that is not positive definite: NaN, and its neighbours are right. A vector for each matrix. Large and small numbers.
  batch<double> a = definite(9, 3, 5);
  const batch<double> b = random<double>(9, 3, 1, 6), right = solved(a, b);
  tn::as_span(a)[4 * 9 + 4] = -1;
  const batch<double> x = solved(a, b);
  for (std::int64_t s = 0; s < 9; ++s) CHECK((s == 4 ? std::isnan(x.data()[s * 3]) : same_bits(x.data() + 3 * s, right.data() + 3 * s, 3)));
  for (const double scale : {1e-150, 1e150}) {
    const real<2> y = tn::solve(real<2, 2>{{4 * scale, 2 * scale}, {2 * scale, 5 * scale}}, real<2>{8 * scale, 12 * scale}, tn::positive_definite);
    CHECK((y(0) == Approx(1).epsilon(1e-14) && y(1) == Approx(2).epsilon(1e-14)));
  }
}

TEST_CASE("solve with positive_definite: derivatives of first and second order by differences, a symmetric cotangent, a right-hand side of 0") {
  constexpr auto loss = [](auto a, auto b) { return tn::sum(tn::sin(tn::solve(a, b, tn::positive_definite))); };
  const batch<double> some = definite(1, 4, 8), turned = definite(1, 4, 9);
  real<4, 4> a = tn::zeros<double>(tn::shape<4, 4>{}), v = tn::zeros<double>(tn::shape<4, 4>{});
  std::copy_n(some.data(), 16, tn::as_span(a).begin());
  std::copy_n(turned.data(), 16, tn::as_span(v).begin());  // a symmetric direction
  const real<4> w = {1, 0.5, -2, 0.25};
  for (const double size : {0.0, 1.0}) {
    CAPTURE(size);
    const real<4> b = {0.3 * size, -1.2 * size, 0.7 * size, 2 * size};
    check_derivatives(loss, a, v, b, w);
  }
}

TEST_CASE("Law: inverse(a, positive_definite) a = 1, and slogdet(a, positive_definite) = slogdet(a), in a batch and alone") {
  for (const auto& [samples, n] : {std::array{1, 1}, {1, 4}, {19, 3}, {0, 3}, {3, 0}, {19, 20}, {2, 33}, {1, 50}, {1, 71}}) {
    CAPTURE(samples, n);
    batch<double> a = definite(samples, n, 3);
    const batch<double> whole = a.clone();
    for (std::int64_t e = 0; e < a.size(); ++e)
      if (e % n > e / n % n) tn::as_span(a)[static_cast<std::size_t>(e)] = not_a_number;  // the upper half is not read
    const auto [x, sign, size] = inverted(a);
    const batch<double> product = tn::matmul(x, whole);
    const auto [wanted_sign, wanted] = tn::compile([](auto m) { return tn::slogdet(m); })(whole);
    for (std::int64_t e = 0; e < x.size(); ++e) {
      CHECK(product.data()[e] == Approx(e / n % n == e % n ? 1 : 0).epsilon(1e-11).margin(1e-12));
      CHECK(x.data()[e] == x.data()[e / (n * n) * n * n + e % n * n + e / n % n]);
    }
    for (std::int64_t s = 0; s < samples; ++s) {
      CHECK((sign.data()[s] == 1 && wanted_sign.data()[s] == 1));
      CHECK(size.data()[s] == Approx(wanted.data()[s]).epsilon(1e-13).margin(1e-14));
      const auto [alone, its_sign, its_size] = inverted(one_of(a, s));
      CHECK(same_bits(alone.data(), x.data() + s * n * n, n * n));
      CHECK(same_bits(its_size.data(), size.data() + s, 1));
    }
    judged::agree(inverted(a), judged::by_reference(inverted.function, a), 1e-12);
  }
}

TEST_CASE("inverse and slogdet of a matrix that is not positive definite are NaN, and its neighbours are right") {
  batch<double> a = definite(9, 3, 5);
  const auto [right, right_sign, right_size] = inverted(a);
  tn::as_span(a)[4 * 9 + 4] = -1;
  const auto [x, sign, size] = inverted(a);
  for (std::int64_t s = 0; s < 9; ++s) {
    CHECK((s == 4 ? std::isnan(x.data()[s * 9]) : same_bits(x.data() + 9 * s, right.data() + 9 * s, 9)));
    CHECK((s == 4 ? std::isnan(size.data()[s]) && std::isnan(sign.data()[s]) : sign.data()[s] == 1 && size.data()[s] == right_size.data()[s]));
  }
  const auto [of_zero, sign_of_zero, size_of_zero] = inverted(tn::zeros<double>(tn::shape<1, 1, 1>{}));
  CHECK((sign_of_zero(0) == 0 && size_of_zero(0) == -std::numeric_limits<double>::infinity() && of_zero(0, 0, 0) == std::numeric_limits<double>::infinity()));
}

TEST_CASE("inverse, slogdet and multivariate_normal of definite matrices: derivatives of first and second order by differences, symmetric cotangents") {
  constexpr auto loss = [](auto a, auto b) {
    const auto [sign, size] = tn::slogdet(a, tn::positive_definite);
    return tn::sum(tn::sin(tn::inverse(a, tn::positive_definite))) + sign * tn::sin(size) + tn::exp(0.1 * tn::log_density::multivariate_normal(b, 0.0, a, tn::covariance))
           + tn::sum(tn::sin(tn::log_density::multivariate_normal(tn::stack<0>(b, 0.5 * b, b * b), b, a, tn::covariance)));
  };
  constexpr auto value_of = tn::compile(loss);
  const batch<double> some = definite(1, 4, 8), turned = definite(1, 4, 9);
  real<4, 4> a = tn::zeros<double>(tn::shape<4, 4>{}), v = tn::zeros<double>(tn::shape<4, 4>{});
  std::copy_n(some.data(), 16, tn::as_span(a).begin());
  std::copy_n(turned.data(), 16, tn::as_span(v).begin());  // a symmetric direction
  const real<4> b = {0.3, -1.2, 0.7, 2}, w = {1, 0.5, -2, 0.25};
  check_derivatives(loss, a, v, b, w);
  // Only the lower triangle is read.
  real<4, 4> half = a.clone();
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) half.at(i, j) = not_a_number;
  CHECK(value_of(half, b).item() == value_of(a, b).item());
}
