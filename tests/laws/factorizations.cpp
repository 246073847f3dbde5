// SPDX-License-Identifier: BSL-1.0
// cholesky and solve_triangular: their equations, their derivatives up to the second, batches in packets, extreme matrices.
#include "matrices.hpp"

namespace {
/// Symmetric positive definite matrices.
template <class T>
batch<T> definite(std::int64_t samples, std::int64_t n, unsigned seed) {
  const batch<T> half = random<T>(samples, n, n, seed);
  batch<T> a(samples, n, n);
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = i == j ? 0.5 : 0;
        for (std::int64_t k = 0; k < n; ++k) sum += static_cast<double>(half.data()[(s * n + i) * n + k]) * static_cast<double>(half.data()[(s * n + j) * n + k]);
        tn::as_span(a)[static_cast<std::size_t>((s * n + i) * n + j)] = static_cast<T>(sum);
      }
  return a;
}

constexpr auto factor = tn::compile([](auto a) { return tn::cholesky(a); });
template <class Of>
struct solves {
  template <class A, class B>
  constexpr auto operator()(A a, B b) const { return tn::solve_triangular(a, b, Of{}); }
};
using lower = decltype(tn::lower);
using upper = decltype(tn::upper);

/// The sums of the columns, by way of memory in addition. It is in no list of operations.
struct sums_of_columns : tn::ops::sample_operation<sums_of_columns, 1> {
  static constexpr tn::ops::signature takes = "( n, m ) -> (m)";
  static constexpr std::int64_t scratch(const tn::ops::sample_sizes& sizes) { return sizes[1]; }
  static constexpr std::int64_t flops_of_sample(const tn::ops::sample_sizes& sizes) { return sizes[0] * sizes[1]; }
  template <class V>
  static void run(const tn::ops::sample_sizes& sizes, V* const* operand, V* to, tn::ops::no_options) {
    V* const sum = operand[1];
    for (std::int64_t j = 0; j < sizes[1]; ++j) sum[j] = V(typename V::number(0));
    for (std::int64_t e = 0; e < sizes[0] * sizes[1]; ++e) sum[e % sizes[1]] = sum[e % sizes[1]] + operand[0][e];
    for (std::int64_t j = 0; j < sizes[1]; ++j) to[j] = sum[j];
  }
};
static_assert(sums_of_columns::takes.letters() == 2 && sums_of_columns::takes.operand(0).rank == 2 && sums_of_columns::takes.result().rank == 1);

/// a x = b for the elements that a triangle reads. The other half holds NaN.
template <class Of, class T>
void check_triangle(bool is_upper, bool is_transposed, bool is_unit) {
  for (const auto& [samples, n, m] : {std::array{1, 1, 1}, {1, 5, 2}, {4, 3, 1}, {17, 4, 3}, {0, 3, 1}, {3, 0, 2}, {2, 40, 5}}) {
    CAPTURE(is_upper, is_transposed, is_unit, samples, n, m, sizeof(T));
    batch<T> a = random<T>(samples, n, n, 3);
    const batch<T> b = random<T>(samples, n, m, 4);
    for (std::int64_t e = 0; e < a.size(); ++e) {
      const std::int64_t i = e / n % n, j = e % n;
      T& x = tn::as_span(a)[static_cast<std::size_t>(e)];
      if (is_upper ? j < i : j > i) x = static_cast<T>(not_a_number);
      else if (i == j) x = is_unit ? static_cast<T>(not_a_number) : x + (x < 0 ? T(-2) : T(2));
      else x = x / static_cast<T>(n);
    }
    const batch<T> x = tn::compile(solves<Of>{})(a, b);
    double worst = 0;
    for (std::int64_t s = 0; s < samples; ++s)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < m; ++c) {
          double rest = -static_cast<double>(b.data()[(s * n + i) * m + c]);
          for (std::int64_t j = 0; j < n; ++j) {
            const std::int64_t row = is_transposed ? j : i, column = is_transposed ? i : j;
            const bool inside = is_upper ? column >= row : column <= row;
            const double of_a = row == column && is_unit ? 1 : inside ? static_cast<double>(a.data()[(s * n + row) * n + column]) : 0;
            rest += of_a * static_cast<double>(x.data()[(s * n + j) * m + c]);
          }
          worst = std::max(worst, std::abs(rest));
        }
    CHECK(worst < (sizeof(T) == 4 ? 1e-5 : 1e-14));
    for (std::int64_t s = 0; s < samples; ++s) {
      const batch<T> alone = tn::compile(solves<Of>{})(one_of(a, s), one_of(b, s));
      CHECK(same_bits(alone.data(), x.data() + s * alone.size(), alone.size()));
    }
    judged::agree(x, judged::by_reference(solves<Of>{}, a, b), sizeof(T) == 4 ? 2e-6 : 1e-12);
  }
}
/// Four operands. It is in no list of operations either.
struct products_of_pairs : tn::ops::sample_operation<products_of_pairs, 4> {
  static constexpr tn::ops::signature takes = "(n),(n),(n),(n)->(n)";
  static constexpr std::int64_t flops_of_sample(const tn::ops::sample_sizes& sizes) { return 3 * sizes[0]; }
  template <class V>
  static void run(const tn::ops::sample_sizes& sizes, V* const* x, V* to, tn::ops::no_options) {
    for (std::int64_t i = 0; i < sizes[0]; ++i) to[i] = x[0][i] * x[1][i] + x[2][i] * x[3][i];
  }
};
}  // namespace

TEMPLATE_TEST_CASE("Law: cholesky(a) = l, l l^T = a, and a sample has the same bits in a batch and alone", "", TENURE_LAW_TYPES) {
  using T = TestType;
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 8, 33})
    for (const std::int64_t samples : {0, 1, 3, 4, 8, 15, 16, 33}) {
      CAPTURE(n, samples, sizeof(T));
      batch<T> a = definite<T>(samples, n, static_cast<unsigned>(n + 10 * samples));
      const batch<T> whole = a.clone();
      for (std::int64_t e = 0; e < a.size(); ++e)
        if (e % n > e / n % n) tn::as_span(a)[static_cast<std::size_t>(e)] = static_cast<T>(not_a_number);  // the upper half is not read
      const batch<T> l = factor(a);
      double worst = 0;
      bool is_lower = true;
      for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double rest = -static_cast<double>(whole.data()[(s * n + i) * n + j]);
            for (std::int64_t k = 0; k < n; ++k) rest += static_cast<double>(l.data()[(s * n + i) * n + k]) * static_cast<double>(l.data()[(s * n + j) * n + k]);
            worst = std::max(worst, std::abs(rest));
            is_lower = is_lower && (j <= i || l.data()[(s * n + i) * n + j] == 0);
          }
      CHECK(worst < (sizeof(T) == 4 ? 1e-5 : 1e-14) * static_cast<double>(n + 1));
      CHECK(is_lower);
      for (std::int64_t s = 0; s < samples; ++s) {
        const batch<T> alone = factor(one_of(a, s));
        CHECK(same_bits(alone.data(), l.data() + s * n * n, n * n));
      }
    }
  constexpr auto of_transposed = [](auto a) { return tn::cholesky(tn::transpose<1, 2>(a)); };
  const batch<T> a = definite<T>(19, 5, 1);
  judged::agree(factor(a), judged::by_reference(factor.function, a), sizeof(T) == 4 ? 2e-6 : 1e-12);
  judged::agree(tn::compile(of_transposed)(a), judged::by_reference(of_transposed, a), sizeof(T) == 4 ? 2e-6 : 1e-12);
}

TEST_CASE("Law: a solve_triangular(a, b) = b, and the other half of a is not read") {
  check_triangle<lower, double>(false, false, false);
  check_triangle<upper, float>(true, false, false);
  check_triangle<decltype(tn::lower.transposed()), float>(false, true, false);
  check_triangle<decltype(tn::upper.transposed()), double>(true, true, false);
  check_triangle<decltype(tn::lower.unit()), float>(false, false, true);
  check_triangle<decltype(tn::upper.transposed().unit()), double>(true, true, true);
}

namespace {
/// A system of static extents with several columns: each column has the bits of a call with this column alone, also if one of them is special. The columns
/// of a transposed array have a stride.
template <class T, std::int64_t N, std::int64_t M>
void check_columns() {
  CAPTURE(N, M, sizeof(T));
  const auto fill = [](auto& x, unsigned seed) {
    for (std::int64_t i = 0; i < x.size(); ++i) tn::as_span(x)[static_cast<std::size_t>(i)] = static_cast<T>(std::sin(static_cast<double>(3 * i + seed)));
  };
  tn::tensor<T, tn::shape<N, N>> a = tn::zeros<T>(tn::shape<N, N>{});
  tn::tensor<T, tn::shape<N, M>> b = tn::zeros<T>(tn::shape<N, M>{});
  tn::tensor<T, tn::shape<M, N>> across = tn::zeros<T>(tn::shape<M, N>{});
  fill(a, 1), fill(b, 5);
  b.at(N - 1, M - 1) = std::numeric_limits<T>::infinity(), b.at(0, 0) = std::numeric_limits<T>::quiet_NaN();
  across = transpose(b);
  const auto check = [&](auto f) {
    const tn::tensor<T, tn::shape<N, M>> all = tn::compile(f)(a, b);
    const tn::tensor<T, tn::shape<N, M>> strided = tn::compile([](auto m, auto c) { return decltype(f){}(m, transpose(c)); })(a, across);
    for (std::int64_t j = 0; j < M; ++j) {
      tn::tensor<T, tn::shape<N>> column = tn::zeros<T>(tn::shape<N>{});
      for (std::int64_t i = 0; i < N; ++i) column.at(i) = b(i, j);
      const tn::tensor<T, tn::shape<N>> alone = tn::compile(f)(a, column);
      for (std::int64_t i = 0; i < N; ++i) {
        CAPTURE(i, j, all(i, j), alone(i));
        CHECK((all(i, j) == alone(i) || (std::isnan(all(i, j)) && std::isnan(alone(i)))));
        CHECK((strided(i, j) == alone(i) || (std::isnan(strided(i, j)) && std::isnan(alone(i)))));
      }
    }
  };
  check([](auto m, auto c) { return tn::solve(m, c); });
  check([](auto m, auto c) { return tn::solve_triangular(m, c, tn::lower); });
}
}  // namespace

TEST_CASE("Law: a column of a small system has the same bits beside others and alone") {
  check_columns<double, 3, 6>();
  check_columns<double, 2, 3>();
  check_columns<double, 4, 8>();
  check_columns<float, 3, 5>();
  check_columns<float, 1, 7>();
}

TEST_CASE("cholesky: a matrix that is not positive definite is NaN from the failing column on, and its neighbours are right") {
  batch<double> a = definite<double>(9, 3, 5);
  const batch<double> right = factor(a);
  tn::as_span(a)[4 * 9 + 4] = -1;   // sample 4: column 1 fails
  tn::as_span(a)[6 * 9 + 0] = not_a_number;  // sample 6
  const batch<double> l = factor(a);
  for (std::int64_t s = 0; s < 9; ++s) {
    CAPTURE(s);
    if (s != 4 && s != 6) CHECK(same_bits(l.data() + s * 9, right.data() + s * 9, 9));
  }
  CHECK(std::isfinite(l.data()[4 * 9]));
  for (const int at : {4, 7, 8}) CHECK(std::isnan(l.data()[4 * 9 + at]));
  for (const int at : {0, 3, 4, 6, 7, 8}) CHECK(std::isnan(l.data()[6 * 9 + at]));
  for (const double scale : {1e-150, 1e150}) {
    const real<2, 2> small = {{4 * scale, 2 * scale}, {2 * scale, 5 * scale}};
    const real<2, 2> root = tn::cholesky(small);
    CHECK(root(0, 0) == Approx(2 * std::sqrt(scale)).epsilon(1e-15));
    CHECK(root(1, 0) == Approx(std::sqrt(scale)).epsilon(1e-15));
    CHECK(root(1, 1) == Approx(2 * std::sqrt(scale)).epsilon(1e-15));
  }
}

TEST_CASE("cholesky and solve_triangular: derivatives of first and second order by differences") {
  // A log density of a normal distribution: half the squares of l^-1 x, and the logarithms of the diagonal.
  constexpr auto loss = [](auto a, auto b) {
    const auto l = tn::cholesky(a);
    const auto z = tn::solve_triangular(l, b, tn::lower);
    const auto w = tn::solve_triangular(l, z, tn::lower.transposed());
    return tn::sum(tn::log(tn::diagonal(l))) + tn::sum(z * z) * 0.5 + tn::sum(tn::sin(w));
  };
  const batch<double> given = definite<double>(1, 4, 8);
  real<4, 4> a = tn::zeros<double>(tn::shape<4, 4>{});
  std::copy_n(given.data(), 16, tn::as_span(a).begin());
  real<4> b = {0.3, -1.2, 0.7, 2};
  constexpr auto gradient = tn::grad<0, 1>(loss);
  const auto [da, db] = gradient(a, b);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) CHECK(da(i, j) == Approx(da(j, i)).epsilon(1e-12).margin(1e-13));  // Law: the cotangent of a symmetric matrix is symmetric
  // Along a symmetric direction of a and a direction of b.
  real<4, 4> v = {{0.3, -0.2, 0.1, 0.5}, {-0.2, 0.4, 0.7, -0.3}, {0.1, 0.7, -0.6, 0.2}, {0.5, -0.3, 0.2, 0.1}};
  real<4> w = {1, 0.5, -2, 0.25};
  const auto at = [&](double h) { return std::pair<real<4, 4>, real<4>>(a + h * v, b + h * w); };
  const auto value_at = [&](double h) {
    const auto [x, y] = at(h);
    return tn::compile(loss)(x, y).item();
  };
  constexpr double h = 1e-5;
  double along = 0;
  for (int i = 0; i < 16; ++i) along += da.data()[i] * v.data()[i];
  for (int i = 0; i < 4; ++i) along += db.data()[i] * w.data()[i];
  CHECK(along == Approx((value_at(h) - value_at(-h)) / (2 * h)).epsilon(1e-8));
  const auto push = judged::results(tn::jvp(loss), a, b, v, w);
  CHECK(push[1][0] == Approx(along).epsilon(1e-12));
  CHECK(push[0][0] == Approx(value_at(0)).epsilon(1e-13));
  // The second: the tangent of the gradient.
  const auto both = judged::results(tn::jvp(gradient), a, b, v, w);
  const auto above = at(h), below = at(-h);
  const auto [pa, pb] = gradient(above.first, above.second);
  const auto [qa, qb] = gradient(below.first, below.second);
  for (int i = 0; i < 16; ++i) CHECK(both[2][i] == Approx((pa.data()[i] - qa.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
  for (int i = 0; i < 4; ++i) CHECK(both[3][i] == Approx((pb.data()[i] - qb.data()[i]) / (2 * h)).epsilon(1e-6).margin(1e-7));
#ifdef TENURE_QUICK_TESTS  // by the reference backend
  for (int i = 0; i < 16; ++i) CHECK(both[0][i] == Approx(da.data()[i]).epsilon(1e-13).margin(1e-14));
#else
  for (int i = 0; i < 16; ++i) CHECK(both[0][i] == da.data()[i]);
#endif
}

TEST_CASE("solve_triangular: the derivative reads and writes one triangle, and a right-hand side of 0 has one") {
  constexpr auto loss = [](auto a, auto b) { return tn::sum(tn::exp(tn::solve_triangular(a, b, tn::upper.unit()))) + tn::sum(tn::solve_triangular(a, b, tn::lower)); };
  const real<3, 3> a = {{2, 0.5, -1}, {0.25, 3, 0.75}, {-0.5, 1, 4}};
  const real<3> b = {0, 0, 0};
  const auto [da, db] = tn::grad<0, 1>(loss)(a, b);
  for (int i = 0; i < 9; ++i) CHECK(da.data()[i] == 0);  // x is 0
  // d sum(exp(u^-1 b)) = u^-T 1, and d sum(l^-1 b) = l^-T 1.
  const real<3> ones = {1, 1, 1};
  const real<3> wanted = tn::solve_triangular(a, ones, tn::upper.unit().transposed()) + tn::solve_triangular(a, ones, tn::lower.transposed());
  for (int i = 0; i < 3; ++i) CHECK(db(i) == Approx(wanted(i)).epsilon(1e-14));
  const auto [ea, eb] = tn::grad<0, 1>([](auto a, auto b) { return tn::sum(tn::exp(tn::solve_triangular(a, b, tn::upper.unit()))); })(a, ones);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) CHECK(ea(i, j) == 0);
  CHECK(ea(0, 1) != 0);
}

// Law: a sample has the same bits in a packet and alone, and on each thread.
TEST_CASE("cholesky: vmap, loops and threads give the bits of a call for one sample") {
  const batch<double> all = definite<double>(37, 4, 11);
  using matrices = tn::tensor<double, tn::shape<tn::dyn, 4, 4>>;
  matrices xs(37);
  std::copy_n(all.data(), all.size(), tn::as_span(xs).begin());
  const matrices mapped = tn::vmap([](auto a) { return tn::cholesky(a); })(xs);
  const matrices scanned = tn::compile([](auto xs) { return std::get<1>(tn::scan([](auto c, auto x) { return std::tuple{c + 1.0, tn::cholesky(x)}; }, 0.0, xs)); })(xs);
  const batch<double> called = factor(all);
  CHECK(same_bits(mapped.data(), called.data(), all.size()));
  CHECK(same_bits(scanned.data(), mapped.data(), all.size()));
}

TEST_CASE("cholesky and solve_triangular: run-time extents that do not agree throw") {
  CHECK_THROWS_AS(factor(random<double>(2, 3, 4, 1)), tn::shape_error);
  CHECK_THROWS_AS(tn::compile(solves<lower>{})(random<double>(2, 3, 3, 1), random<double>(2, 4, 1, 1)), tn::shape_error);
  CHECK_THROWS_AS(tn::compile(solves<lower>{})(random<double>(2, 3, 3, 1), random<double>(3, 3, 1, 1)), tn::shape_error);
}

TEST_CASE("an operation on samples finds the memory that it asks for, in packets and alone, whatever its extents and strides") {
  using step = tn::cpu_backend::step_of_tasks<tn::cpu_backend::detail::samples<sums_of_columns, double>>;
  // Dense and strided samples, contiguous columns, one matrix for the whole batch, no rows, no columns, no samples.
  for (const auto& [samples, n, m, stride, is_shared, is_by_columns] :
       {std::array{1, 3, 5, 1, 0, 0}, {1, 3, 5, 2, 0, 0}, {19, 3, 5, 1, 0, 0}, {19, 3, 5, 2, 0, 0}, {1, 3, 5, 1, 1, 0}, {19, 3, 5, 2, 1, 0}, {1, 0, 5, 1, 0, 0}, {19, 0, 5, 1, 0, 0}, {19, 3, 0, 1, 0, 0},
        {0, 3, 5, 1, 0, 0}, {19, 3, 5, 1, 0, 1}, {19, 2, 3, 1, 0, 1}, {19, 9, 5, 1, 1, 1}, {1, 3, 5, 1, 0, 1}, {19, 0, 5, 1, 0, 1}, {19, 3, 5, 2, 0, 1}}) {
    CAPTURE(samples, n, m, stride, is_shared, is_by_columns);
    tn::program_detail::opaque_operation o;
    o.in[0].rank = 3;
    const std::int64_t extent[] = {samples, n, m}, strides[] = {is_shared == 1 ? 0 : n * m * stride, is_by_columns == 1 ? stride : m * stride, is_by_columns == 1 ? n * stride : stride};
    for (int d = 0; d < 3; ++d) o.in[0].extent[d] = extent[d], o.in[0].stride[d] = strides[d];
    std::vector<double> x(static_cast<std::size_t>(samples * n * m * stride)), sums(static_cast<std::size_t>(samples * m));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 97);
    std::vector<char> memory(static_cast<std::size_t>(step::memory(o).bytes));
    void* const pointers[] = {x.data(), sums.data()};
    step::run({pointers, o, memory.data()});
    for (std::int64_t s = 0; s < samples; ++s)
      for (std::int64_t j = 0; j < m; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += x[static_cast<std::size_t>(s * strides[0] + i * strides[1] + j * strides[2])];
        CHECK(sums[static_cast<std::size_t>(s * m + j)] == sum);
      }
  }
}

TEST_CASE("Law: a result in the memory of an operand has the bits of a result in memory of its own") {
  constexpr auto of_transposed = tn::compile([](auto a, auto b) { return tn::solve(a, tn::transpose<1, 2>(b)); });
  constexpr auto factor_of_transposed = tn::compile([](auto a) { return tn::cholesky(tn::transpose<1, 2>(a)); });
  constexpr auto solved = tn::compile([](auto a, auto b) { return tn::solve(a, b); });
  constexpr auto substituted = tn::compile(solves<lower>{});
  for (const auto& [samples, n] : {std::array{1, 3}, {3, 5}, {19, 4}, {2, 120}}) {  // alone, in packets, too large for packets
    CAPTURE(samples, n);
    const batch<double> a = definite<double>(samples, n, 5), b = random<double>(samples, n, n, 6);
    const auto in_place = [&](const auto& f, bool over_first) {
      const batch<double> wanted = f(a, b);
      batch<double> to = over_first ? a.clone() : b.clone();
      if (over_first) f.into(to)(to, b);
      else f.into(to)(a, to);
      return same_bits(to.data(), wanted.data(), wanted.size());
    };
    for (const bool over_first : {false, true}) {
      CAPTURE(over_first);
      CHECK(in_place(solved, over_first));
      CHECK(in_place(of_transposed, over_first));
      CHECK(in_place(substituted, over_first));
    }
    const batch<double> l = factor(a), l_of_transposed = factor_of_transposed(a);
    batch<double> to = a.clone(), other = a.clone();
    factor.into(to)(to);
    factor_of_transposed.into(other)(other);
    CHECK(same_bits(to.data(), l.data(), l.size()));
    CHECK(same_bits(other.data(), l_of_transposed.data(), l.size()));
  }
}

TEST_CASE("an operation on samples may have four operands, in packets and alone") {
  using step = tn::cpu_backend::step_of_tasks<tn::cpu_backend::detail::samples<products_of_pairs, double>>;
  for (const std::int64_t samples : {1, 19}) {
    CAPTURE(samples);
    tn::program_detail::opaque_operation o;
    std::vector<double> x[4], to(static_cast<std::size_t>(samples * 3));
    void* pointers[5] = {};
    for (int k = 0; k < 4; ++k) {
      o.in[k].rank = 2;
      o.in[k].extent[0] = samples, o.in[k].extent[1] = 3;
      o.in[k].stride[0] = 3, o.in[k].stride[1] = 1;
      for (std::int64_t i = 0; i < samples * 3; ++i) x[k].push_back(static_cast<double>(i * (k + 2) % 11));
      pointers[k] = x[k].data();
    }
    pointers[4] = to.data();
    std::vector<char> memory(static_cast<std::size_t>(step::memory(o).bytes));
    step::run({pointers, o, memory.data()});
    for (std::size_t i = 0; i < to.size(); ++i) CHECK(to[i] == x[0][i] * x[1][i] + x[2][i] * x[3][i]);
  }
}
