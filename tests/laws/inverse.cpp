// SPDX-License-Identifier: BSL-1.0
// inverse, det and slogdet: their laws, their derivatives up to the second, batches in packets, extreme matrices.
#include "matrices.hpp"

namespace {
constexpr auto inverted = tn::compile([](auto a) { return tn::inverse(a); });
constexpr auto all_of = tn::compile([](auto a) {
  const auto [sign, size] = tn::slogdet(a);
  return std::tuple{tn::inverse(a), tn::det(a), sign, size};
});
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The largest element of x y - 1.
template <class T>
double distance_from_identity(const batch<T>& x, const batch<T>& y) {
  const std::int64_t n = x.extent(1);
  double worst = 0;
  for (std::int64_t s = 0; s < x.extent(0); ++s)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        long double sum = i == j ? -1 : 0;
        for (std::int64_t k = 0; k < n; ++k) sum += static_cast<long double>(x.data()[(s * n + i) * n + k]) * static_cast<long double>(y.data()[(s * n + k) * n + j]);
        worst = std::max(worst, static_cast<double>(std::abs(sum)));
      }
  return worst;
}
/// Random matrices with a larger diagonal, so that they are far from singular.
template <class T>
batch<T> regular(std::int64_t samples, std::int64_t n, unsigned seed) {
  batch<T> a = random<T>(samples, n, n, seed);
  for (std::int64_t e = 0; e < a.size(); ++e)
    if (e / n % n == e % n) tn::as_span(a)[static_cast<std::size_t>(e)] += static_cast<T>(a.data()[e] < 0 ? -n : n);
  return a;
}
template <std::int64_t N>
real<N, N> one(const batch<double>& all, std::int64_t s = 0) {
  real<N, N> x = tn::zeros<double>(tn::shape<N, N>{});
  std::copy_n(all.data() + s * N * N, N * N, tn::as_span(x).begin());
  return x;
}
/// First and second derivatives of a function of a matrix along a direction, by differences.
template <std::int64_t N, class F>
void check_derivatives(F f, unsigned seed) {
  constexpr auto gradient = tn::grad<0>(F{});
  constexpr auto value_of = tn::compile(F{});
  const real<N, N> a = one<N>(regular<double>(1, N, seed)), v = one<N>(random<double>(1, N, N, seed + 1));
  const double h = 1e-5;
  const real<N, N> up = a + h * v, down = a - h * v, g = gradient(a), above = gradient(up), below = gradient(down);
  double along = 0;
  for (int i = 0; i < N * N; ++i) along += g.data()[i] * v.data()[i];
  CHECK(along == Approx((value_of(up).item() - value_of(down).item()) / (2 * h)).epsilon(1e-7).margin(1e-8));
  CHECK(judged::results(tn::jvp(f), a, v)[1][0] == Approx(along).epsilon(1e-12));
  const auto second = judged::results(tn::jvp(gradient), a, v)[1];
  for (int i = 0; i < N * N; ++i) CHECK(second[i] == Approx((above.data()[i] - below.data()[i]) / (2 * h)).epsilon(1e-5).margin(1e-7));
  judged::agree(g, judged::by_reference(gradient, a), 1e-11);
}
struct of_inverse {
  constexpr auto operator()(auto a) const { return tn::sum(tn::sin(tn::inverse(a) * 2.0)); }
};
struct of_det {
  constexpr auto operator()(auto a) const { return tn::sum(tn::sin(tn::det(a * 0.4))); }
};
struct of_slogdet {
  constexpr auto operator()(auto a) const {
    const auto [sign, size] = tn::slogdet(a);
    return sign * tn::sin(size);
  }
};
}  // namespace

TEMPLATE_TEST_CASE("Law: the inverse of the inverse is a, a a^-1 = 1, and a sample has the same bits in a batch and alone", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 2e-14;
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 6, 12})
    for (const std::int64_t samples : {0, 1, 3, 8, 17, 33}) {
      CAPTURE(n, samples, sizeof(T));
      const batch<T> a = regular<T>(samples, n, static_cast<unsigned>(n + 20 * samples));
      const auto [y, det, sign, size] = all_of(a);
      CHECK(distance_from_identity(a, y) < tolerance);
      CHECK(distance_from_identity(y, a) < tolerance);
      const batch<T> again = inverted(y);
      for (std::int64_t e = 0; e < a.size(); ++e) REQUIRE(static_cast<double>(again.data()[e]) == Approx(static_cast<double>(a.data()[e])).margin(20 * tolerance));
      for (std::int64_t s = 0; s < samples; ++s) {
        CHECK(static_cast<double>(sign.data()[s]) * std::exp(static_cast<double>(size.data()[s])) == Approx(static_cast<double>(det.data()[s])).epsilon(10 * tolerance));
        const auto [y_alone, det_alone, sign_alone, size_alone] = all_of(one_of(a, s));
        CHECK(same_bits(y_alone.data(), y.data() + s * n * n, n * n));
        CHECK((same_bits(det_alone.data(), det.data() + s, 1) && same_bits(sign_alone.data(), sign.data() + s, 1) && same_bits(size_alone.data(), size.data() + s, 1)));
      }
      if (samples == 1 || samples == 17) judged::agree(all_of(a), judged::by_reference(all_of.function, a), sizeof(T) == 4 ? 2e-5 : 1e-12);
    }
  constexpr auto of_transposed = [](auto a) { return std::tuple{tn::inverse(tn::transpose<1, 2>(a)), tn::det(tn::transpose<1, 2>(a))}; };
  const batch<T> a = regular<T>(19, 4, 1);
  judged::agree(tn::compile(of_transposed)(a), judged::by_reference(of_transposed, a), sizeof(T) == 4 ? 2e-5 : 1e-12);
}

TEST_CASE("Law: det(a b) = det(a) det(b), and d log det = tr(a^-1 da)") {
  constexpr auto of_products = tn::compile([](auto a, auto b) { return std::tuple{tn::det(tn::matmul(a, b)), tn::det(a) * tn::det(b)}; });
  constexpr auto by_rule = tn::compile([](auto a, auto da) { return tn::sum(tn::inverse(a) * tn::transpose<-2, -1>(da), tn::axes<-2, -1>); });
  for (const std::int64_t n : {1, 2, 3, 4, 6, 9}) {
    CAPTURE(n);
    const batch<double> a = regular<double>(5, n, 3), b = regular<double>(5, n, 4);
    const auto [of_product, product] = of_products(a, b);
    const auto [size, moved] = tn::jvp([](auto a) { return std::get<1>(tn::slogdet(a)); })(a, b);
    const auto wanted = by_rule(a, b);
    for (int s = 0; s < 5; ++s) {
      CHECK(of_product.data()[s] == Approx(product.data()[s]).epsilon(1e-12));
      CHECK(moved.data()[s] == Approx(wanted.data()[s]).epsilon(1e-12));
    }
  }
}

TEST_CASE("inverse, det, slogdet: derivatives of first and second order by differences") {
  check_derivatives<1>(of_inverse{}, 1);
  check_derivatives<3>(of_inverse{}, 2);
  check_derivatives<5>(of_inverse{}, 3);
  check_derivatives<1>(of_det{}, 4);
  check_derivatives<3>(of_det{}, 5);
  check_derivatives<5>(of_det{}, 6);
  check_derivatives<2>(of_slogdet{}, 7);
  check_derivatives<6>(of_slogdet{}, 8);
}

TEST_CASE("det: where it is 0 the gradient is the adjugate, transposed") {
  constexpr auto gradient = tn::grad<0>([](auto a) { return tn::det(a); });
  // The numbers are those of jax.grad(jnp.linalg.det).
  const real<3, 3> a = gradient(real<3, 3>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), wanted = {{-3, 6, -3}, {6, -12, 6}, {-3, 6, -3}};
  for (int e = 0; e < 9; ++e) CHECK(a.data()[e] == Approx(wanted.data()[e]).epsilon(1e-14));
  CHECK(gradient(real<1, 1>{{0}})(0, 0) == 1);
  const real<2, 2> two = gradient(real<2, 2>{{0, 0}, {0, 0}});
  for (int e = 0; e < 4; ++e) CHECK(two.data()[e] == 0);
  // 5 x 5 of rank 4: a diagonal with one 0.
  real<5, 5> five = tn::zeros<double>(tn::shape<5, 5>{});
  for (std::size_t i = 0; i < 4; ++i) tn::as_span(five)[6 * i] = static_cast<double>(i + 2);
  const real<5, 5> of_five = gradient(five);
  for (int e = 0; e < 25; ++e) CHECK(of_five.data()[e] == Approx(e == 24 ? 120 : 0).margin(1e-13));
  constexpr auto of_empty = tn::compile([](auto a) { return std::tuple{tn::det(a), std::get<0>(tn::slogdet(a)), std::get<1>(tn::slogdet(a))}; });
  const auto [det, sign, size] = of_empty(real<0, 0>());
  CHECK((det.item() == 1 && sign.item() == 1 && size.item() == 0));
}

TEST_CASE("inverse, det, slogdet: extreme matrices") {
  for (const std::int64_t n : {1, 2, 3, 4, 5}) {
    CAPTURE(n);
    const batch<double> a = regular<double>(9, n, 5);
    const auto [y, det, sign, size] = all_of(a);
    for (const double scale : {1e-150, 1e150, 1e300}) {  // Law: the inverse of c a is the inverse of a, divided by c
      CAPTURE(scale);
      batch<double> b = a.clone();
      for (double& x : tn::as_span(b)) x *= scale;
      const auto [z, det_of_scaled, sign_of_scaled, size_of_scaled] = all_of(b);
      for (std::int64_t e = 0; e < y.size(); ++e) REQUIRE(z.data()[e] * scale == Approx(y.data()[e]).epsilon(1e-12).margin(1e-13));
      for (int s = 0; s < 9; ++s) {
        CHECK(size_of_scaled.data()[s] == Approx(size.data()[s] + static_cast<double>(n) * std::log(scale)).epsilon(1e-14));
        CHECK(sign_of_scaled.data()[s] == sign.data()[s]);
        if (n > 2) CHECK(std::abs(det_of_scaled.data()[s]) == (scale < 1 ? 0 : infinity));
      }
    }
    // Singular, and NaN in one sample of the batch: the others keep their bits.
    batch<double> bad = a.clone();
    for (std::int64_t e = 0; e < n * n; ++e) tn::as_span(bad)[static_cast<std::size_t>(3 * n * n + e)] = 0;
    tn::as_span(bad)[static_cast<std::size_t>(6 * n * n - 1)] = not_a_number;  // sample 5
    const auto [z, det_of_bad, sign_of_bad, size_of_bad] = all_of(bad);
    for (std::int64_t s = 0; s < 9; ++s) {
      CAPTURE(s);
      if (s == 3) {
        CHECK((det_of_bad.data()[s] == 0 && sign_of_bad.data()[s] == 0 && size_of_bad.data()[s] == -infinity));
        for (std::int64_t e = 0; e < n * n; ++e) CHECK(!std::isfinite(z.data()[s * n * n + e]));
      } else if (s == 5) {
        CHECK((std::isnan(det_of_bad.data()[s]) && std::isnan(sign_of_bad.data()[s]) && std::isnan(size_of_bad.data()[s])));
        CHECK(std::isnan(z.data()[(s + 1) * n * n - 1]));
      } else {
        CHECK((same_bits(z.data() + s * n * n, y.data() + s * n * n, n * n) && same_bits(det_of_bad.data() + s, det.data() + s, 1) && same_bits(size_of_bad.data() + s, size.data() + s, 1)));
      }
    }
  }
  // Rows of different sizes leave the range of products, and not that of the inverse.
  const real<4, 4> graded = inverted(real<4, 4>{{1e-200, 0, 0, 0}, {0, 1e-200, 0, 0}, {0, 0, 1e200, 0}, {0, 0, 0, 2e200}});
  for (int e = 0; e < 16; ++e) CHECK(graded.data()[e] == Approx(e % 5 != 0 ? 0 : e < 10 ? 1e200 : e == 10 ? 1e-200 : 0.5e-200).epsilon(1e-14));
}

TEST_CASE("Law: det of a with rows times powers of two is det(a) times their product, also where a minor or a square leaves the range of the type") {
  const auto of_static = [](auto rows, const batch<double>& a, std::int64_t s) {
    constexpr std::int64_t n = decltype(rows)::value;
    const auto [sign, size] = tn::compile([](auto a) { return tn::slogdet(a); })(one<n>(a, s));
    return std::tuple{tn::compile([](auto a) { return tn::det(a); })(one<n>(a, s)).item(), sign.item(), size.item()};
  };
  constexpr int powers[][4] = {{0, 0, 0, 0}, {400, -400, 0, 0}, {-400, 400, 0, 7}, {450, 450, -450, 0}, {-450, -450, 450, 450}, {0, -450, 0, 450}, {-300, -300, -300, 0}, {300, 300, 300, -300}, {500, 500, -10, 0}, {-490, -490, 0, 0}, {450, -530, -530, 0}, {-530, -530, 450, 450}};
  for (const std::int64_t n : {1, 2, 3, 4, 5})
    for (const auto& power : powers) {
      batch<double> a = regular<double>(9, n, 13), b = a.clone();
      int all = 0;
      for (std::int64_t i = 0; i < n; ++i) all += i < 4 ? power[i] : 0;
      if (std::abs(all) > 980) continue;
      for (std::int64_t e = 0; e < b.size(); ++e) {
        const std::int64_t row = e / n % n;
        if (row < 4) tn::as_span(b)[static_cast<std::size_t>(e)] = std::ldexp(b.data()[e], power[row]);
      }
      CAPTURE(n, power[0], power[1], power[2], power[3]);
      const auto [y, det, sign, size] = all_of(a);
      const auto scaled = all_of(b);
      const auto &det_of_scaled = std::get<1>(scaled), &sign_of_scaled = std::get<2>(scaled), &size_of_scaled = std::get<3>(scaled);
      for (std::int64_t s = 0; s < 9; ++s) {
        CHECK(std::ldexp(det_of_scaled.data()[s], -all) == Approx(det.data()[s]).epsilon(1e-13));
        CHECK((sign_of_scaled.data()[s] == sign.data()[s] && size_of_scaled.data()[s] == Approx(size.data()[s] + all * std::log(2.0)).epsilon(1e-13).margin(1e-12)));
        const auto check = [&](auto rows) {
          const auto [det_alone, sign_alone, size_alone] = of_static(rows, b, s);
          CHECK((same_bits(&det_alone, det_of_scaled.data() + s, 1) && same_bits(&sign_alone, sign_of_scaled.data() + s, 1) && same_bits(&size_alone, size_of_scaled.data() + s, 1)));
        };
        if (n == 2) check(std::integral_constant<std::int64_t, 2>{});
        if (n == 3) check(std::integral_constant<std::int64_t, 3>{});
        if (n == 4) check(std::integral_constant<std::int64_t, 4>{});
      }
    }
}

TEST_CASE("inverse and det: nearly singular matrices are as exact as by elimination") {
  // 1 + 1e-k times small matrices: two singular values are near 0, so cofactors whose minors are not exact would lose twice the digits.
  for (const std::int64_t n : {2, 3, 4})
    for (const double small : {1e-4, 1e-7}) {
      CAPTURE(n, small);
      batch<double> a = random<double>(20, n, n, 7);
      for (double& x : tn::as_span(a)) x = 1 + small * x;
      const auto found = all_of(a);
      const auto wanted = judged::by_reference(all_of.function, a);
      double largest = 0, error = 0;
      for (std::int64_t s = 0; s < 20; ++s) {
        CHECK(std::get<1>(found).data()[s] == Approx(wanted[1][s]).epsilon(1e-12 / small));
        for (std::int64_t e = s * n * n; e < (s + 1) * n * n; ++e) {
          largest = std::max(largest, std::abs(wanted[0][e]));
          error = std::max(error, std::abs(std::get<0>(found).data()[e] - wanted[0][e]));
        }
      }
      CHECK(error < 1e-12 / small * largest);
    }
}

TEST_CASE("inverse and slogdet: vmap, loops and run-time extents give the bits of a call for one sample") {
  const batch<double> all = regular<double>(37, 3, 11);
  using matrices = tn::tensor<double, tn::shape<tn::dyn, 3, 3>>;
  matrices xs(37);
  std::copy_n(all.data(), all.size(), tn::as_span(xs).begin());
  const auto [y, det, sign, size] = tn::vmap(all_of.function)(xs);
  const auto [y_called, det_called, sign_called, size_called] = all_of(all);
  CHECK((same_bits(y.data(), y_called.data(), all.size()) && same_bits(det.data(), det_called.data(), 37) && same_bits(size.data(), size_called.data(), 37)));
  const auto scanned = tn::compile([](auto xs) { return std::get<1>(tn::scan([](auto c, auto x) { return std::tuple{c + 1.0, tn::inverse(x)}; }, 0.0, xs)); })(xs);
  CHECK(same_bits(scanned.data(), y.data(), all.size()));
  CHECK_THROWS_AS(inverted(random<double>(2, 3, 4, 1)), tn::shape_error);
  CHECK_THROWS_AS(tn::compile([](auto a) { return tn::det(a); })(random<double>(2, 3, 4, 1)), tn::shape_error);
  CHECK_THROWS_AS(tn::compile([](auto a) { return std::get<1>(tn::slogdet(a)); })(random<double>(2, 3, 4, 1)), tn::shape_error);
  // Outside of a trace, with a history.
  auto leaf = one<3>(all).requires_grad_();
  tn::det(leaf).backward();
  const real<3, 3> wanted = tn::grad<0>([](auto a) { return tn::det(a); })(one<3>(all));
  const auto found = leaf.grad();
  for (int e = 0; e < 9; ++e) CHECK(found.data()[e] == Approx(wanted.data()[e]).epsilon(1e-14));
}
