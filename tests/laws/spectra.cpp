// SPDX-License-Identifier: BSL-1.0
// eigh, eigvalsh, svd, svdvals and pinv: their laws, their derivatives up to the second, batches in packets, extreme matrices.
#include "matrices.hpp"

namespace {
constexpr auto of_symmetric = tn::compile([](auto a) {
  const auto [w, v] = tn::eigh(a);
  return std::tuple{w, v, tn::eigvalsh(a)};
});
constexpr auto of_any = tn::compile([](auto a) {
  const auto [u, s, vt] = tn::svd(a);
  return std::tuple{u, s, vt, tn::pinv(a)};
});

/// The largest element of x diag(d) y - z, of the first sample. Null d: ones. Null z: the identity.
struct view_of {
  const double* data;
  std::int64_t rows, columns;
  bool turned = false;
  double operator()(std::int64_t i, std::int64_t j) const { return turned ? data[j * rows + i] : data[i * columns + j]; }
};
double distance(view_of x, const double* d, view_of y, const double* z) {
  double worst = 0;
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < y.columns; ++j) {
      long double sum = z == nullptr ? (i == j ? -1 : 0) : -static_cast<long double>(z[i * y.columns + j]);
      for (std::int64_t k = 0; k < x.columns; ++k) sum += static_cast<long double>(x(i, k)) * (d == nullptr ? 1 : d[k]) * y(k, j);
      worst = std::max(worst, static_cast<double>(std::abs(sum)));
    }
  return worst;
}
template <class T>
std::vector<double> numbers(const batch<T>& x) { return {x.data(), x.data() + x.size()}; }
template <class X>
std::vector<double> numbers(const X& x) { return {x.data(), x.data() + x.size()}; }

template <class T>
batch<T> symmetric(std::int64_t samples, std::int64_t n, unsigned seed) {
  batch<T> a = random<T>(samples, n, n, seed);
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) tn::as_span(a)[static_cast<std::size_t>((s * n + j) * n + i)] = a.data()[(s * n + i) * n + j];
  return a;
}
template <std::int64_t N, std::int64_t M>
real<N, M> one(const batch<double>& all) {
  real<N, M> x = tn::zeros<double>(tn::shape<N, M>{});
  std::copy_n(all.data(), N * M, tn::as_span(x).begin());
  return x;
}
/// First and second derivatives along a direction, forward and reverse, by differences. The direction of a symmetric matrix is symmetric.
template <bool IsSymmetric = false, std::int64_t N, std::int64_t M, class F>
void check_derivatives(F f, const real<N, M>& a, unsigned seed) {
  constexpr auto gradient = tn::grad<0>(F{});
  constexpr auto value_of = tn::compile(F{});
  const real<N, M> v = one<N, M>(IsSymmetric ? symmetric<double>(1, N, seed) : random<double>(1, N, M, seed));
  const double h = 1e-5;
  const real<N, M> up = a + h * v, down = a - h * v, g = gradient(a), above = gradient(up), below = gradient(down);
  double along = 0;
  for (int i = 0; i < N * M; ++i) along += g.data()[i] * v.data()[i];
  CHECK(along == Approx((value_of(up).item() - value_of(down).item()) / (2 * h)).epsilon(1e-7).margin(1e-8));
  CHECK(judged::results(tn::jvp(f), a, v)[1][0] == Approx(along).epsilon(1e-10).margin(1e-12));
  const auto second = judged::results(tn::jvp(gradient), a, v)[1];
  for (int i = 0; i < N * M; ++i) CHECK(second[i] == Approx((above.data()[i] - below.data()[i]) / (2 * h)).epsilon(2e-5).margin(1e-6));
  judged::agree(g, judged::by_reference(gradient, a), 1e-9);
}
struct of_eigh {
  constexpr auto operator()(auto a) const {
    const auto [w, v] = tn::eigh(a);
    return tn::sum(tn::sin(w)) + tn::sum(tn::sin(v * 2.0)) + tn::sum(tn::cos(tn::eigvalsh(a)) * 0.5);
  }
};
struct of_svd {
  constexpr auto operator()(auto a) const {
    const auto [u, s, vt] = tn::svd(a);
    return tn::sum(tn::sin(u * 2.0)) + tn::sum(tn::sin(s)) + tn::sum(tn::cos(vt * 3.0));
  }
};
struct of_svdvals {
  constexpr auto operator()(auto a) const { return tn::sum(tn::sin(tn::svdvals(a))); }
};
struct of_pinv {
  constexpr auto operator()(auto a) const { return tn::sum(tn::sin(tn::pinv(a) * 2.0)); }
};
struct of_lstsq {
  constexpr auto operator()(auto a) const { return tn::sum(tn::sin(tn::lstsq(a, tn::sin(a)) * 2.0)); }
};
struct of_exp {
  constexpr auto operator()(auto a) const { return tn::sum(tn::sin(tn::matrix_exp(a) * 0.7)); }
};
}  // namespace

TEMPLATE_TEST_CASE("Law: a v = v diag(w) and v^T v = 1, and a sample has the same bits in a batch and alone", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const double tolerance = sizeof(T) == 4 ? 4e-6 : 1e-14;
  for (const std::int64_t n : {0, 1, 2, 3, 4, 6, 12})
    for (const std::int64_t samples : {0, 1, 3, 17, 33}) {
      CAPTURE(n, samples, sizeof(T));
      const batch<T> a = symmetric<T>(samples, n, static_cast<unsigned>(n + 20 * samples));
      const auto [w, v, alone] = of_symmetric(a);
      const auto as = numbers(a), ws = numbers(w), vs = numbers(v);
      for (std::int64_t s = 0; s < samples; ++s) {
        const view_of vectors{vs.data() + s * n * n, n, n}, turned{vs.data() + s * n * n, n, n, true};
        CHECK(distance(vectors, ws.data() + s * n, turned, as.data() + s * n * n) < tolerance * static_cast<double>(n + 1));
        CHECK(distance(turned, nullptr, vectors, nullptr) < tolerance * static_cast<double>(n + 1));
        CHECK(std::is_sorted(ws.begin() + s * n, ws.begin() + (s + 1) * n));
        const auto [w_alone, v_alone, values_alone] = of_symmetric(one_of(a, s));
        CHECK((same_bits(w_alone.data(), w.data() + s * n, n) && same_bits(v_alone.data(), v.data() + s * n * n, n * n) && same_bits(values_alone.data(), alone.data() + s * n, n)));
      }
      if (samples == 1 || samples == 17) judged::agree(of_symmetric(a), judged::by_reference(of_symmetric.function, a), sizeof(T) == 4 ? 2e-3 : 1e-10);
    }
}

TEMPLATE_TEST_CASE("Law: u diag(s) vt = a, u^T u = 1, vt vt^T = 1, a a^+ a = a, and a sample has the same bits in a batch and alone", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const double tolerance = sizeof(T) == 4 ? 4e-6 : 1e-14;
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {3, 0}, {0, 2}, {1, 1}, {3, 3}, {5, 2}, {2, 5}, {6, 6}, {9, 4}, {4, 9}, {1, 4}, {15, 12}, {12, 15}, {32, 32}})
    for (const std::int64_t samples : {0, 1, 3, 17}) {
      CAPTURE(n, m, samples, sizeof(T));
      const std::int64_t k = std::min(n, m);
      const batch<T> a = random<T>(samples, n, m, static_cast<unsigned>(n + 20 * m + 90 * samples));
      const auto [u, s, vt, p] = of_any(a);
      const auto as = numbers(a), us = numbers(u), ss = numbers(s), vs = numbers(vt), ps = numbers(p);
      for (std::int64_t i = 0; i < samples; ++i) {
        const double *const at = as.data() + i * n * m, *const of_s = ss.data() + i * k;
        const view_of left{us.data() + i * n * k, n, k}, left_turned{us.data() + i * n * k, k, n, true}, right{vs.data() + i * k * m, k, m}, right_turned{vs.data() + i * k * m, m, k, true};
        CHECK(distance(left, of_s, right, at) < 3 * tolerance);
        CHECK(distance(left_turned, nullptr, left, nullptr) < 3 * tolerance);
        CHECK(distance(right, nullptr, right_turned, nullptr) < 3 * tolerance);
        CHECK(std::is_sorted(of_s, of_s + k, std::greater<>()));
        CHECK((k == 0 || of_s[k - 1] >= 0));
        std::vector<double> product(static_cast<std::size_t>(n * n));
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t c = 0; c < n; ++c)
            for (std::int64_t j = 0; j < m; ++j) product[static_cast<std::size_t>(r * n + c)] += at[r * m + j] * ps[static_cast<std::size_t>((i * m + j) * n + c)];
        CHECK(distance({product.data(), n, n}, nullptr, {at, n, m}, at) < 200 * tolerance);
        const auto [u_alone, s_alone, vt_alone, p_alone] = of_any(one_of(a, i));
        CHECK((same_bits(u_alone.data(), u.data() + i * n * k, n * k) && same_bits(s_alone.data(), s.data() + i * k, k) && same_bits(vt_alone.data(), vt.data() + i * k * m, k * m)));
        CHECK(same_bits(p_alone.data(), p.data() + i * n * m, n * m));
      }
      if (samples == 3) judged::agree(of_any(a), judged::by_reference(of_any.function, a), sizeof(T) == 4 ? 4e-3 : 1e-9);
    }
}

TEST_CASE("eigh, svd, pinv: derivatives of first and second order by differences") {
  check_derivatives<true>(of_eigh{}, one<1, 1>(symmetric<double>(1, 1, 1)), 11);
  check_derivatives<true>(of_eigh{}, real<3, 3>{{2, 0.3, -0.2}, {0.3, -1, 0.4}, {-0.2, 0.4, 0.5}}, 12);
  check_derivatives<true>(of_eigh{}, one<5, 5>(symmetric<double>(1, 5, 3)), 13);
  check_derivatives(of_svd{}, one<3, 3>(random<double>(1, 3, 3, 4)), 14);
  check_derivatives(of_svd{}, one<4, 2>(random<double>(1, 4, 2, 5)), 15);
  check_derivatives(of_svd{}, one<2, 4>(random<double>(1, 2, 4, 6)), 16);
  check_derivatives(of_svdvals{}, one<5, 3>(random<double>(1, 5, 3, 7)), 17);
  check_derivatives(of_pinv{}, one<3, 3>(random<double>(1, 3, 3, 8)), 18);
  check_derivatives(of_pinv{}, one<4, 2>(random<double>(1, 4, 2, 9)), 19);
  check_derivatives(of_pinv{}, one<2, 4>(random<double>(1, 2, 4, 10)), 20);
}

TEST_CASE("eigh, svd: equal values have the right derivatives of what does not depend on the choice of vectors") {
  // The sum of the squares of the eigenvalues is the sum of the squares of the elements; the projection onto both first vectors is fixed.
  const real<3, 3> a{{1, 0, 0}, {0, 1, 0}, {0, 0, 4}};
  const real<3, 3> of_squares = tn::grad<0>([](auto x) { return tn::sum(tn::square(tn::eigvalsh(x))); })(a);
  for (int e = 0; e < 9; ++e) CHECK(of_squares.data()[e] == Approx(2 * a.data()[e]).margin(1e-14));
  constexpr auto projection = [](auto x) {
    const auto [w, v] = tn::eigh(x);
    const auto both = v.at(tn::all, tn::range<0, 2>());
    return tn::sum(tn::square(tn::matmul(both, tn::transpose<0, 1>(both)) - 0.3 * tn::sin(x + 1.0)));
  };
  const real<3, 3> g = tn::grad<0>(projection)(a), v{{0.1, 0.2, 0.3}, {0.2, -0.4, 0.5}, {0.3, 0.5, 0.6}};
  const double h = 1e-6;
  const real<3, 3> up = a + h * v, down = a - h * v;
  double along = 0;
  for (int e = 0; e < 9; ++e) along += g.data()[e] * v.data()[e];
  CHECK(along == Approx((tn::compile(projection)(up).item() - tn::compile(projection)(down).item()) / (2 * h)).epsilon(1e-6));
  const real<2, 2> nuclear = tn::grad<0>([](auto x) { return tn::sum(tn::svdvals(x)); })(real<2, 2>{{3, 0}, {0, 3}});
  for (int e = 0; e < 4; ++e) CHECK(nuclear.data()[e] == Approx(e % 3 == 0 ? 1 : 0).margin(1e-15));
}

TEST_CASE("eigh, svd: values that are equal up to rounding count as equal in derivatives") {
  constexpr auto projection = [](auto x) {
    const auto [w, v] = tn::eigh(x);
    const auto both = v.at(tn::all, tn::range<0, 2>());
    return tn::sum(tn::sin(tn::matmul(both, tn::transpose<0, 1>(both)) * 2.0));
  };
  constexpr auto orthogonal_factor = [](auto x) {
    const auto [u, s, vt] = tn::svd(x);
    return tn::sum(tn::sin(tn::matmul(u, vt)));
  };
  constexpr auto of_projection = tn::compile(projection);
  constexpr auto of_factor = tn::compile(orthogonal_factor);
  constexpr auto slope_of_projection = tn::grad<0>(projection);
  constexpr auto slope_of_factor = tn::grad<0>(orthogonal_factor);
  const real<3, 3> v{{0.1, 0.2, 0.3}, {0.2, -0.4, 0.5}, {0.3, 0.5, 0.6}};
  const double h = 1e-5;
  for (const double scale : {1.0, 1e-150, 1e150})
    for (int turn = 0; turn < 12; ++turn) {
      CAPTURE(scale, turn);
      // 1 + 3 q q^T for a unit vector q has the values 1, 1 and 4, and none of its vectors is an axis.
      const double q[3] = {std::cos(0.3 + turn) * std::cos(0.7 * turn), std::sin(0.3 + turn) * std::cos(0.7 * turn), std::sin(0.7 * turn)};
      real<3, 3> a;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) tn::as_span(a)[static_cast<std::size_t>(3 * i + j)] = scale * ((i == j ? 1 : 0) + 3 * q[i] * q[j]);
      const real<3, 3> up = a + scale * h * v, down = a - scale * h * v;
      const auto along = [&](const real<3, 3>& g) {
        double sum = 0;
        for (int e = 0; e < 9; ++e) sum += g.data()[e] * scale * v.data()[e];
        return sum;
      };
      const double of_vectors = (of_projection(up).item() - of_projection(down).item()) / (2 * h);
      const double of_both = (of_factor(up).item() - of_factor(down).item()) / (2 * h);
      CHECK(along(slope_of_projection(a)) == Approx(of_vectors).margin(1e-7));
      CHECK(std::get<1>(tn::jvp(projection)(a, real<3, 3>(scale * v))).item() == Approx(of_vectors).margin(1e-7));
      CHECK(along(slope_of_factor(a)) == Approx(of_both).margin(1e-7));
      CHECK(std::get<1>(tn::jvp(orthogonal_factor)(a, real<3, 3>(scale * v))).item() == Approx(of_both).margin(1e-7));
    }
}

TEST_CASE("svd: a small singular value of a square matrix costs no digits of the derivatives, whether its extents are static or not") {
  // What 1 / s multiplies is zero for a square matrix. Run-time extents do not say that it is square.
  using open = tn::tensor<double, tn::shape<tn::dyn, tn::dyn>>;
  constexpr auto derivatives = tn::compile([](auto a, auto w, auto along) {
    const auto loss = [w](auto x) {
      const auto [u, s, vt] = tn::svd(x);
      return sum(u * w) + sum(s) + sum(vt * transpose(w));
    };
    const auto [u, s, vt] = std::get<1>(tn::jvp([](auto x) { return tn::svd(x); })(a, along));
    return std::tuple{tn::grad(loss)(a), u, vt};
  });
  const auto q = std::get<0>(tn::qr(one<4, 4>(random<double>(1, 4, 4, 3))));
  const real<4, 4> a = matmul(q * real<4>{3, 2, 1, 1e-12}, one<4, 4>(random<double>(1, 4, 4, 4)));
  const real<4, 4> w = one<4, 4>(random<double>(1, 4, 4, 5)), along = one<4, 4>(random<double>(1, 4, 4, 6));
  const auto of_static = derivatives(a, w, along);
  const open b = 1.0 * a, of_w = 1.0 * w, of_along = 1.0 * along;
  const auto of_open = derivatives(b, of_w, of_along);
  const auto far = [](const auto& x, const auto& y) {
    double most = 0;
    for (std::int64_t i = 0; i < 16; ++i) most = std::max(most, std::abs(x.data()[i] - y.data()[i]));
    return most;
  };
  CHECK(far(std::get<0>(of_static), std::get<0>(of_open)) < 1e-12);
  CHECK(far(std::get<1>(of_static), std::get<1>(of_open)) < 1e-12);
  CHECK(far(std::get<2>(of_static), std::get<2>(of_open)) < 1e-12);
}

TEMPLATE_TEST_CASE("eigh: matrices that are tridiagonal, split, graded, or whose eigenvalues are equal or opposite, beside each other in a batch", "", TENURE_LAW_TYPES) {
  using T = TestType;
  constexpr std::int64_t kinds = 11;
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 4e-15;
  for (const std::int64_t n : {5, 6, 9, 13, 21}) {
    batch<T> a = symmetric<T>(2 * kinds, n, static_cast<unsigned>(n));
    for (std::int64_t s = 0; s < kinds; ++s)  // the others stay random
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          T& x = tn::as_span(a)[static_cast<std::size_t>((s * n + i) * n + j)];
          const std::int64_t apart = i > j ? i - j : j - i, half = n / 2, from_middle = i > half ? i - half : half - i;
          const double by_kind[kinds] = {i == j ? 2.0 : 0.0, 1, apart == 1 ? 1.0 : 0.0, std::pow(10.0, static_cast<double>(-i - j)), i / half == j / half && i < 2 * half && j < 2 * half ? 1.0 / static_cast<double>(1 + i % half + j % half) : 0.0,
                                         i == j ? static_cast<double>(i / 2) : 0.0, i == j ? 1.0 : 1e-20, apart == 0 ? static_cast<double>(from_middle) : apart == 1 ? 1.0 : 0.0, apart == n - 1 ? 3.0 : 0.0,
                                         std::pow(10.0, static_cast<double>(i + j - 2 * n)), apart == 0 ? 1.0 : std::pow(10.0, -3.0 * static_cast<double>(i + j))};
          x = static_cast<T>(by_kind[s]);
        }
    const auto [w, v, alone] = of_symmetric(a);
    const auto as = numbers(a), ws = numbers(w), vs = numbers(v), values = numbers(alone);
    for (std::int64_t s = 0; s < 2 * kinds; ++s) {
      CAPTURE(n, s, sizeof(T));
      const view_of vectors{vs.data() + s * n * n, n, n}, turned{vs.data() + s * n * n, n, n, true};
      const double largest = std::max(std::abs(ws[static_cast<std::size_t>(s * n)]), std::abs(ws[static_cast<std::size_t>((s + 1) * n - 1)]));
      CHECK(distance(vectors, ws.data() + s * n, turned, as.data() + s * n * n) < tolerance * largest * static_cast<double>(n));
      CHECK(distance(turned, nullptr, vectors, nullptr) < tolerance * static_cast<double>(n));
      CHECK(std::is_sorted(ws.begin() + s * n, ws.begin() + (s + 1) * n));
      for (std::int64_t i = s * n; i < (s + 1) * n; ++i) CHECK(std::abs(values[static_cast<std::size_t>(i)] - ws[static_cast<std::size_t>(i)]) < tolerance * largest * static_cast<double>(n));
      const auto [w_alone, v_alone, values_alone] = of_symmetric(one_of(a, s));
      CHECK((same_bits(w_alone.data(), w.data() + s * n, n) && same_bits(v_alone.data(), v.data() + s * n * n, n * n)));
    }
  }
}

TEMPLATE_TEST_CASE("svd: matrices that are graded, of small rank, whose columns are almost parallel, or whose values are equal, beside each other in a batch", "", TENURE_LAW_TYPES) {
  using T = TestType;
  constexpr std::int64_t kinds = 10;
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 4e-15, unit = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{4, 4}, {5, 3}, {7, 12}, {20, 20}}) {
    batch<T> a = random<T>(2 * kinds, n, m, static_cast<unsigned>(n));
    for (std::int64_t s = 0; s < kinds; ++s)  // the others stay random
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < m; ++j) {
          T& x = tn::as_span(a)[static_cast<std::size_t>((s * n + i) * m + j)];
          const double was = static_cast<double>(x);
          const double by_kind[kinds] = {was * std::pow(10.0, -static_cast<double>(j)), was * std::pow(10.0, -2.0 * static_cast<double>(i)), 1.0 + 1e3 * unit * was, 1.0 + 10 * unit * was, std::pow(10.0, static_cast<double>(i - j)),
                                         i == j ? 1.0 : 0.0, (i + 1) % n == j ? static_cast<double>(1 + i / 2) : 0.0, static_cast<double>(i % 2), static_cast<double>(i * j), i < j ? 1e-8 * was : was};
          x = static_cast<T>(by_kind[s]);
        }
    const auto [u, s, vt, p] = of_any(a);
    const auto as = numbers(a), us = numbers(u), ss = numbers(s), vs = numbers(vt);
    const std::int64_t k = std::min(n, m);
    for (std::int64_t i = 0; i < 2 * kinds; ++i) {
      CAPTURE(n, m, i, sizeof(T));
      const view_of left{us.data() + i * n * k, n, k}, left_turned{us.data() + i * n * k, k, n, true}, right{vs.data() + i * k * m, k, m}, right_turned{vs.data() + i * k * m, m, k, true};
      const double largest = ss[static_cast<std::size_t>(i * k)];
      CHECK(distance(left, ss.data() + i * k, right, as.data() + i * n * m) < tolerance * largest * static_cast<double>(k));
      CHECK(distance(left_turned, nullptr, left, nullptr) < tolerance * static_cast<double>(k));
      CHECK(distance(right, nullptr, right_turned, nullptr) < tolerance * static_cast<double>(k));
      CHECK(std::is_sorted(ss.begin() + i * k, ss.begin() + (i + 1) * k, std::greater<>()));
      const auto [u_alone, s_alone, vt_alone, p_alone] = of_any(one_of(a, i));
      CHECK((same_bits(u_alone.data(), u.data() + i * n * k, n * k) && same_bits(s_alone.data(), s.data() + i * k, k) && same_bits(vt_alone.data(), vt.data() + i * k * m, k * m)));
    }
  }
}

TEST_CASE("eigh, svd: extreme matrices") {
  for (const std::int64_t n : {1, 2, 3, 5, 12}) {
    CAPTURE(n);
    const batch<double> a = symmetric<double>(9, n, 5);
    const auto [w, v, alone] = of_symmetric(a);
    const auto [u, s, vt, p] = of_any(a);
    for (const double scale : {1e-150, 1e150, 1e-300, 1e300}) {
      CAPTURE(scale);
      batch<double> b = a.clone();
      for (double& x : tn::as_span(b)) x *= scale;
      const auto [scaled_w, scaled_v, scaled_alone] = of_symmetric(b);
      const auto [scaled_u, scaled_s, scaled_vt, scaled_p] = of_any(b);
      for (std::int64_t e = 0; e < w.size(); ++e) REQUIRE((scaled_w.data()[e] == Approx(w.data()[e] * scale).epsilon(1e-11).margin(1e-14 * scale) && scaled_s.data()[e] == Approx(s.data()[e] * scale).epsilon(1e-11)));
      for (std::int64_t e = 0; e < v.size(); ++e) REQUIRE((scaled_v.data()[e] == Approx(v.data()[e]).margin(1e-10) && scaled_u.data()[e] == Approx(u.data()[e]).margin(1e-9)));
    }
    // Zeros, and NaN or inf in one sample of the batch: the others keep their bits.
    batch<double> bad = a.clone();
    for (std::int64_t e = 0; e < n * n; ++e) tn::as_span(bad)[static_cast<std::size_t>(3 * n * n + e)] = 0;
    tn::as_span(bad)[static_cast<std::size_t>(6 * n * n - 1)] = not_a_number;  // sample 5
    tn::as_span(bad)[static_cast<std::size_t>(7 * n * n)] = std::numeric_limits<double>::infinity();
    const auto [bad_w, bad_v, bad_alone] = of_symmetric(bad);
    const auto [bad_u, bad_s, bad_vt, bad_p] = of_any(bad);
    for (std::int64_t i = 0; i < 9; ++i) {
      CAPTURE(i);
      for (std::int64_t e = i * n; e < (i + 1) * n; ++e) {
        if (i == 3) CHECK((bad_w.data()[e] == 0 && bad_s.data()[e] == 0 && bad_alone.data()[e] == 0));
        if (i == 5 || i == 7) CHECK((std::isnan(bad_w.data()[e]) && std::isnan(bad_s.data()[e]) && std::isnan(bad_alone.data()[e])));
      }
      for (std::int64_t e = i * n * n; e < (i + 1) * n * n; ++e) {
        if (i == 3) CHECK((bad_v.data()[e] == (e % (n + 1) == i * n * n % (n + 1) ? 1 : 0) && bad_p.data()[e] == 0));
        if (i == 5 || i == 7) CHECK((std::isnan(bad_v.data()[e]) && std::isnan(bad_u.data()[e]) && std::isnan(bad_vt.data()[e]) && std::isnan(bad_p.data()[e])));
      }
      if (i != 3 && i != 5 && i != 7)
        CHECK((same_bits(bad_w.data() + i * n, w.data() + i * n, n) && same_bits(bad_v.data() + i * n * n, v.data() + i * n * n, n * n) && same_bits(bad_u.data() + i * n * n, u.data() + i * n * n, n * n)));
    }
  }
  // Singular, nearly singular, and equal columns: u and vt stay orthonormal.
  for (const double small : {0.0, 1e-14, 1e-200}) {
    CAPTURE(small);
    batch<double> b(1, 4, 3);
    const double rows[12] = {1, 1, 2, 1, 1, 2 + small, small, 0, 0, 0, 0, small};
    std::copy_n(rows, 12, tn::as_span(b).begin());
    const auto [u, s, vt, p] = of_any(b);
    const auto us = numbers(u), ss = numbers(s), vs = numbers(vt);
    CHECK(distance({us.data(), 4, 3}, ss.data(), {vs.data(), 3, 3}, rows) < 1e-14);
    CHECK(distance({us.data(), 3, 4, true}, nullptr, {us.data(), 4, 3}, nullptr) < 1e-13);
    CHECK(distance({vs.data(), 3, 3}, nullptr, {vs.data(), 3, 3, true}, nullptr) < 1e-13);
  }
}

TEST_CASE("matrix norms, lstsq: by singular values, and as the normal equations") {
  const real<3, 3> a = one<3, 3>(random<double>(1, 3, 3, 21));
  const auto s = tn::eval(tn::svdvals(a));
  CHECK(tn::eval(tn::matrix_norm<2>(a)).item() == s(0));
  CHECK(tn::eval(tn::matrix_norm<tn::nuclear>(a)).item() == Approx(s(0) + s(1) + s(2)).epsilon(1e-15));
  CHECK(tn::eval(tn::matrix_norm(a)).item() == Approx(std::hypot(s(0), s(1), s(2))).epsilon(1e-14));
  constexpr auto tall = tn::compile([](auto a, auto b) {
    const auto t = tn::transpose<-2, -1>(a);
    return std::tuple{tn::lstsq(a, b), tn::solve(tn::matmul(t, a), tn::matmul(t, b))};
  });
  constexpr auto wide = tn::compile([](auto a, auto b) {
    const auto t = tn::transpose<-2, -1>(a);
    return std::tuple{tn::lstsq(a, b), tn::matmul(t, tn::solve(tn::matmul(a, t), b)), tn::matmul(tn::pinv(a), b)};
  });
  tn::tensor<double, tn::shape<7, 5, 3>> x;
  tn::tensor<double, tn::shape<7, 5, 2>> y;
  const batch<double> open_x = random<double>(7, 5, 3, 22), open_y = random<double>(7, 5, 2, 23);
  std::copy_n(open_x.data(), x.size(), tn::as_span(x).begin());
  std::copy_n(open_y.data(), y.size(), tn::as_span(y).begin());
  const auto [found, wanted] = tall(x, y);
  for (std::int64_t e = 0; e < found.size(); ++e) CHECK(found.data()[e] == Approx(wanted.data()[e]).epsilon(1e-10).margin(1e-12));
  const tn::tensor<double, tn::shape<2, 4>> few = one<2, 4>(random<double>(1, 2, 4, 24));
  const tn::tensor<double, tn::shape<2>> right{0.3, -0.7};
  const auto [least, by_solve, by_pinv] = wide(few, right);
  for (int e = 0; e < 4; ++e) CHECK((least(e) == Approx(by_solve(e)).epsilon(1e-12) && least(e) == Approx(by_pinv(e)).epsilon(1e-12)));
  // Run-time extents, and derivatives.
  const auto open = tn::compile([](auto a, auto b) { return tn::lstsq(a, b); })(open_x, open_y);
  for (std::int64_t e = 0; e < found.size(); ++e) CHECK(open.data()[e] == Approx(found.data()[e]).epsilon(1e-10).margin(1e-12));
  check_derivatives(of_lstsq{}, one<4, 2>(random<double>(1, 4, 2, 25)), 26);
  check_derivatives(of_lstsq{}, one<2, 4>(random<double>(1, 2, 4, 27)), 28);
  CHECK_THROWS_AS(tn::compile([](auto a, auto b) { return tn::lstsq(a, b); })(open_x, random<double>(7, 4, 2, 23)), tn::shape_error);
}

TEMPLATE_TEST_CASE("Law: exp(a) exp(-a) = 1, det(exp(a)) = exp(trace(a)), and a sample has the same bits in a batch and alone", "", float, double) {
  using T = TestType;
  constexpr auto of_matrix = tn::compile([](auto a) { return std::tuple{tn::matrix_exp(a), tn::matrix_exp(-a), tn::slogdet(tn::matrix_exp(a)), tn::trace(a)}; });
  const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;
  for (const std::int64_t n : {0, 1, 2, 3, 5})
    for (const std::int64_t samples : {1, 3, 17}) {
      CAPTURE(n, samples, sizeof(T));
      batch<T> a = random<T>(samples, n, n, static_cast<unsigned>(n + 20 * samples));
      for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t e = 0; e < n * n; ++e) tn::as_span(a)[static_cast<std::size_t>(s * n * n + e)] *= static_cast<T>(s % 5);
      const auto [y, inverse, logarithm, trace] = of_matrix(a);
      const auto ys = numbers(y), zs = numbers(inverse);
      for (std::int64_t s = 0; s < samples; ++s) {
        double size = 1;
        for (std::int64_t e = 0; e < n * n; ++e) size = std::max({size, std::abs(ys[static_cast<std::size_t>(s * n * n + e)]), std::abs(zs[static_cast<std::size_t>(s * n * n + e)])});
        CHECK(distance({ys.data() + s * n * n, n, n}, nullptr, {zs.data() + s * n * n, n, n}, nullptr) < tolerance * size * size);
        CHECK(static_cast<double>(std::get<1>(logarithm).data()[s]) == Approx(static_cast<double>(trace.data()[s])).margin(tolerance * size * size));
        const auto alone = of_matrix(one_of(a, s));
        CHECK(same_bits(std::get<0>(alone).data(), y.data() + s * n * n, n * n));
      }
      judged::agree(of_matrix(a), judged::by_reference(of_matrix.function, a), sizeof(T) == 4 ? 2e-3 : 1e-10);
    }
}

TEST_CASE("matrix_exp: known values, derivatives, and extreme matrices") {
  // A rotation, a nilpotent matrix, and scipy.linalg.expm([[1, 2], [3, 4]]).
  const auto of = tn::compile([](auto a) { return tn::matrix_exp(a); });
  const real<2, 2> turned = of(real<2, 2>{{0, -1.2}, {1.2, 0}}), known = of(real<2, 2>{{1, 2}, {3, 4}});
  CHECK((turned(0, 0) == Approx(std::cos(1.2)).epsilon(1e-15) && turned(1, 0) == Approx(std::sin(1.2)).epsilon(1e-15)));
  const double wanted[] = {51.968956198705000, 74.736564567003213, 112.10484685050481, 164.07380304920981};
  for (int e = 0; e < 4; ++e) CHECK(known.data()[e] == Approx(wanted[e]).epsilon(1e-14));
  CHECK(of(real<2, 2>{{0, 1e200}, {0, 0}})(0, 1) == Approx(1e200).epsilon(1e-14));
  CHECK(std::isnan(of(real<2, 2>{{0, std::numeric_limits<double>::infinity()}, {0, 0}})(0, 0)));
  CHECK(std::isnan(of(real<2, 2>{{not_a_number, 0}, {0, 0}})(0, 0)));
  check_derivatives(of_exp{}, one<1, 1>(random<double>(1, 1, 1, 31)), 32);
  check_derivatives(of_exp{}, one<3, 3>(random<double>(1, 3, 3, 33)), 34);
  const auto open = tn::grad<0>([](auto a) { return tn::sum(tn::sin(tn::matrix_exp(a))); })(random<double>(2, 3, 3, 35));
  const auto fixed = tn::grad<0>([](auto a) { return tn::sum(tn::sin(tn::matrix_exp(a))); })(one<3, 3>(random<double>(2, 3, 3, 35)));
  for (int e = 0; e < 9; ++e) CHECK(open.data()[e] == Approx(fixed.data()[e]).epsilon(1e-12));
}

TEST_CASE("eigh and svd: vmap, loops and run-time extents give the bits of a call for one sample") {
  const batch<double> all = symmetric<double>(37, 3, 11);
  using matrices = tn::tensor<double, tn::shape<tn::dyn, 3, 3>>;
  matrices xs(37);
  std::copy_n(all.data(), all.size(), tn::as_span(xs).begin());
  const auto [w, v, alone] = tn::vmap(of_symmetric.function)(xs);
  const auto [w_called, v_called, alone_called] = of_symmetric(all);
  CHECK((same_bits(w.data(), w_called.data(), w.size()) && same_bits(v.data(), v_called.data(), v.size()) && same_bits(alone.data(), alone_called.data(), alone.size())));
  const auto scanned = tn::compile([](auto xs) { return std::get<1>(tn::scan([](auto c, auto x) { return std::tuple{c + 1.0, tn::svdvals(x)}; }, 0.0, xs)); })(xs);
  const auto values = tn::compile([](auto a) { return tn::svdvals(a); })(all);
  CHECK(same_bits(scanned.data(), values.data(), values.size()));
  CHECK_THROWS_AS(of_symmetric(random<double>(2, 3, 4, 1)), tn::shape_error);
  // Outside of a trace, with a history. Only the lower triangle counts, and the gradient is symmetric.
  real<2, 2> upper{{1, 100}, {0.5, 2}};
  CHECK(tn::eval(tn::eigvalsh(upper))(0) == Approx(1.5 - std::sqrt(0.5)));
  auto leaf = real<2, 2>{{1, 0.5}, {0.5, 2}}.requires_grad_();
  sum(tn::eigvalsh(leaf) * tn::tensor<double, tn::shape<2>>{1, 0}).backward();
  CHECK(leaf.grad()(0, 1) == Approx(leaf.grad()(1, 0)));
}
