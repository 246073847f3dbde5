// SPDX-License-Identifier: BSL-1.0
// lu, an operation with three results: its equations, LAPACK's permutation, derivatives up to the second, batches in packets, and extreme matrices.
#include "matrices.hpp"

namespace {
constexpr auto factors = tn::compile([](auto a) { return tn::lu(a); });

/// p is a permutation, l has ones on its diagonal, zeros above it and nothing larger than 1 below, u is upper triangular, and p l u = a for sample s.
template <class T>
void check_factors(const batch<T>& a, const batch<T>& p, const batch<T>& l, const batch<T>& u, std::int64_t s, double tolerance) {
  const std::int64_t n = a.extent(1), m = a.extent(2), k = std::min(n, m);
  REQUIRE((p.extent(1) == n && p.extent(2) == n && l.extent(1) == n && l.extent(2) == k && u.extent(1) == k && u.extent(2) == m));
  const auto at = [s](const batch<T>& x, std::int64_t i, std::int64_t j) { return static_cast<long double>(x.data()[(s * x.extent(1) + i) * x.extent(2) + j]); };
  double error = 0, largest = 0;
  bool is_permutation = true, is_lower = true, is_upper = true;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t to = -1, ones_of_row = 0, ones_of_column = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      is_permutation = is_permutation && (at(p, i, j) == 0 || at(p, i, j) == 1);
      if (at(p, i, j) == 1) to = j, ++ones_of_row;
      ones_of_column += at(p, j, i) == 1;
    }
    is_permutation = is_permutation && ones_of_row == 1 && ones_of_column == 1;
    for (std::int64_t j = 0; j < k; ++j) is_lower = is_lower && (j < i ? std::abs(at(l, i, j)) <= 1 : at(l, i, j) == (i == j ? 1 : 0));
    for (std::int64_t j = 0; j < m && to >= 0; ++j) {
      is_upper = is_upper && (i >= k || j >= i || at(u, i, j) == 0);
      long double rest = -at(a, i, j);
      for (std::int64_t c = 0; c < k; ++c) rest += at(l, to, c) * at(u, c, j);
      error = std::max(error, static_cast<double>(std::abs(rest)));
      largest = std::max(largest, static_cast<double>(std::abs(at(a, i, j))));
    }
  }
  CHECK(is_permutation);
  CHECK(is_lower);
  CHECK(is_upper);
  CHECK(error <= tolerance * largest);
}

constexpr auto of_all = [](auto a) {
  const auto [p, l, u] = tn::lu(a);
  return tn::sum(tn::sin(l * 2.0)) + tn::sum(u * u * u) + tn::sum(tn::sin(tn::matmul(p, l)));
};
constexpr auto of_l = [](auto a) { return tn::sum(tn::sin(std::get<1>(tn::lu(a)) * 2.0)); };
constexpr auto of_u = [](auto a) { return tn::sum(tn::sin(std::get<2>(tn::lu(a)))); };
/// Tall and wide matrices, of which each has its own rule: both factors or one of them.
constexpr auto of_six = [](auto a) {
  return of_all(a[0]) + of_l(a[1]) + of_u(a[2]) + of_all(tn::transpose(a[3])) + of_l(tn::transpose(a[4])) + of_u(tn::transpose(a[5]));
};
}  // namespace

TEMPLATE_TEST_CASE("Law: p l u = a, p is a permutation, and a sample has the same bits in a batch and alone", "", TENURE_LAW_TYPES) {
  using T = TestType;
  for (const auto& [samples, n, m] : {std::array{1, 1, 1}, {1, 3, 3}, {4, 5, 3}, {17, 3, 5}, {33, 4, 4}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {2, 40, 7}, {2, 7, 40}, {16, 1, 6}, {16, 6, 1}}) {
    CAPTURE(samples, n, m, sizeof(T));
    const batch<T> a = random<T>(samples, n, m, static_cast<unsigned>(n + 10 * m));
    const auto [p, l, u] = factors(a);
    for (std::int64_t s = 0; s < samples; ++s) {
      check_factors<T>(a, p, l, u, s, sizeof(T) == 4 ? 2e-6 : 4e-15);
      const auto [p_alone, l_alone, u_alone] = factors(one_of(a, s));
      CHECK(same_bits(p_alone.data(), p.data() + s * p_alone.size(), p_alone.size()));
      CHECK(same_bits(l_alone.data(), l.data() + s * l_alone.size(), l_alone.size()));
      CHECK(same_bits(u_alone.data(), u.data() + s * u_alone.size(), u_alone.size()));
    }
    judged::agree(factors(a), judged::by_reference(factors.function, a), sizeof(T) == 4 ? 2e-5 : 1e-12);
  }
}

TEST_CASE("lu: the factors of SciPy") {  // scipy.linalg.lu of SciPy 1.17.1, double
  const tn::tensor<double, tn::shape<3, 3>> a{{2, -1, 3}, {4, 1, -2}, {1, 5, 2}};
  const auto [p, l, u] = factors(a);
  const double of_p[] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, of_l[] = {1, 0, 0, 0.25, 1, 0, 0.5, -0.3157894736842105, 1};
  const double of_u[] = {4, 1, -2, 0, 4.75, 2.5, 0, 0, 4.7894736842105265};
  for (int e = 0; e < 9; ++e) {
    CHECK(p.data()[e] == of_p[e]);
    CHECK(l.data()[e] == Approx(of_l[e]).epsilon(1e-15));
    CHECK(u.data()[e] == Approx(of_u[e]).epsilon(1e-15));
  }
  const tn::tensor<double, tn::shape<3, 2>> tall{{1, 2}, {3, 4}, {-5, 6}};
  const auto [of_rows, lower, upper] = factors(tall);
  const double tall_p[] = {0, 0, 1, 0, 1, 0, 1, 0, 0}, tall_l[] = {1, 0, -0.6, 1, -0.2, 0.42105263157894735}, tall_u[] = {-5, 6, 0, 7.6};
  for (int e = 0; e < 9; ++e) CHECK(of_rows.data()[e] == tall_p[e]);
  for (int e = 0; e < 6; ++e) CHECK(lower.data()[e] == Approx(tall_l[e]).epsilon(1e-15));
  for (int e = 0; e < 4; ++e) CHECK(upper.data()[e] == Approx(tall_u[e]).epsilon(1e-15));
  // Without a trace each factor is an expression.
  const tn::tensor<double, tn::shape<3, 3>> eager = std::get<2>(tn::lu(a));
  CHECK(same_bits(eager.data(), u.data(), 9));
}

TEST_CASE("lu: extreme matrices") {
  for (const double scale : {1e-300, 1e-150, 1e150, 1e300}) {
    CAPTURE(scale);
    batch<double> a = random<double>(9, 4, 3, 5);
    for (double& x : tn::as_span(a)) x *= scale;
    const auto [p, l, u] = factors(a);
    for (std::int64_t s = 0; s < 9; ++s) check_factors<double>(a, p, l, u, s, 4e-15);
  }
  // Singular and nearly singular matrices have factors: equal rows, a column of zeros, all zeros, 1e-14 beside equal rows.
  batch<double> a = random<double>(9, 4, 4, 6);
  const auto at = [](batch<double>& x, int s, int i, int j) -> double& { return tn::as_span(x)[static_cast<std::size_t>((s * 4 + i) * 4 + j)]; };
  for (int i = 0; i < 4; ++i) {
    at(a, 1, 2, i) = at(a, 1, 0, i);
    at(a, 2, i, 1) = 0;
    for (int j = 0; j < 4; ++j) at(a, 3, i, j) = 0;
    at(a, 4, 2, i) = at(a, 4, 0, i) + (i == 1 ? 1e-14 : 0);
  }
  const auto [p, l, u] = factors(a);
  for (std::int64_t s = 0; s < 9; ++s) check_factors<double>(a, p, l, u, s, 4e-15);
  // NaN in one sample stays there, wherever it stands.
  for (const int place : {0, 6, 15}) {
    CAPTURE(place);
    batch<double> bad = a.clone();
    at(bad, 5, place / 4, place % 4) = not_a_number;
    const auto [q, m, v] = factors(bad);
    for (std::int64_t s = 0; s < 9; ++s)
      if (s != 5) CHECK((same_bits(q.data() + s * 16, p.data() + s * 16, 16) && same_bits(m.data() + s * 16, l.data() + s * 16, 16) && same_bits(v.data() + s * 16, u.data() + s * 16, 16)));
    bool has_nan = false;
    for (int e = 0; e < 16; ++e) has_nan = has_nan || std::isnan(v.data()[5 * 16 + e]);
    CHECK(has_nan);
  }
}

TEST_CASE("lu: derivatives of first and second order by differences, of one factor and of both, tall and wide") {
  constexpr auto gradient = tn::grad<0>(of_six);
  constexpr auto loss = tn::compile(of_six);
  using six = real<6, 4, 3>;
  const auto some_of = [](unsigned seed, int matrix) {  // zeros but for one matrix, or all six
    six x = tn::zeros<double>(tn::shape<6, 4, 3>{});
    const batch<double> from = random<double>(6, 4, 3, seed);
    for (int i = 0; i < x.size(); ++i) tn::as_span(x)[static_cast<std::size_t>(i)] = matrix < 0 || i / 12 == matrix ? from.data()[i] : 0;
    return x;
  };
  const six a = some_of(3, -1), da = gradient(a);
  constexpr double h = 1e-6;
  for (int matrix = 0; matrix < 6; ++matrix) {
    CAPTURE(matrix);
    const six v = some_of(4, matrix), up = a + h * v, down = a - h * v;
    double along = 0;
    for (int i = 0; i < a.size(); ++i) along += da.data()[i] * v.data()[i];
    CHECK(along == Approx((loss(up).item() - loss(down).item()) / (2 * h)).epsilon(1e-6));
    CHECK(judged::results(tn::jvp(of_six), a, v)[1][0] == Approx(along).epsilon(1e-11));
    const auto second = judged::results(tn::jvp(gradient), a, v)[1];
    const six above = gradient(up), below = gradient(down);
    double error = 0, largest = 0;
    for (int i = 0; i < a.size(); ++i) {
      error = std::max(error, std::abs(second[i] - (above.data()[i] - below.data()[i]) / (2 * h)));
      largest = std::max(largest, std::abs(second[i]));
    }
    CHECK(error <= 1e-5 * largest);
  }
  judged::agree(da, judged::by_reference(gradient, a), 1e-9);
  // The permutation is constant.
  constexpr auto of_p = tn::grad<0>([](auto x) { return tn::sum(tn::sin(std::get<0>(tn::lu(x)))); });
  const real<3, 3> none = of_p(real<3, 3>{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}});
  for (int e = 0; e < 9; ++e) CHECK(none.data()[e] == 0);
}

TEST_CASE("lu: derivatives with run-time extents are those with static ones, and vmap gives the same bits") {
  constexpr auto gradient = tn::grad<0>(of_all);
  constexpr auto loss = tn::compile(of_all);
  for (const auto& [n, m] : {std::array{4, 3}, {3, 3}, {3, 5}, {1, 1}}) {
    CAPTURE(n, m);
    const batch<double> all = random<double>(11, n, m, 3), found = gradient(all);
    judged::agree(found, judged::by_reference(gradient, all), 1e-9);
    const batch<double> a = one_of(all, 7), alone = gradient(a);
    double error = 0, largest = 1;
    for (std::int64_t e = 0; e < alone.size(); ++e) {
      CHECK(alone.data()[e] == Approx(found.data()[7 * alone.size() + e]).epsilon(1e-13).margin(1e-14));
      constexpr double h = 1e-6;
      batch<double> up = a.clone(), down = a.clone();
      tn::as_span(up)[static_cast<std::size_t>(e)] += h, tn::as_span(down)[static_cast<std::size_t>(e)] -= h;
      error = std::max(error, std::abs(alone.data()[e] - (loss(up).item() - loss(down).item()) / (2 * h)));
      largest = std::max(largest, std::abs(alone.data()[e]));
    }
    CHECK(error <= 1e-6 * largest);
  }
  using matrices = tn::tensor<double, tn::shape<tn::dyn, 4, 3>>;
  const batch<double> all = random<double>(37, 4, 3, 11);
  matrices xs(37);
  std::copy_n(all.data(), all.size(), tn::as_span(xs).begin());
  const auto [p, l, u] = tn::vmap([](auto a) { return tn::lu(a); })(xs);
  const auto [p_called, l_called, u_called] = factors(all);
  CHECK((same_bits(p.data(), p_called.data(), p.size()) && same_bits(l.data(), l_called.data(), l.size()) && same_bits(u.data(), u_called.data(), u.size())));
}
