// SPDX-License-Identifier: BSL-1.0
// Matrices on both sides of the sizes from which on Eigen's decompositions compute them: equations, conventions, extreme matrices, batches, threads, and a
// unit of this program that has none of it (plain.cpp).
#define TENURE_EIGEN_DECOMPOSITIONS 1
#include "../catch.hpp"
#include "../sanitizers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <typeinfo>
#include <vector>

#include <tenure/tenure.hpp>
#include <tenure/threads.hpp>

#include "../laws/matrices.hpp"
#include "memory.hpp"
#include "plain.hpp"

// Each type takes ten seconds to compile.
#ifdef TENURE_QUICK_TESTS
#define LARGE_TYPES double
#else
#define LARGE_TYPES double, float
#endif

namespace tn = tenure;

namespace {
constexpr auto of_symmetric = tn::compile([](auto a) {
  const auto [w, v] = tn::eigh(a);
  return std::tuple{w, v, tn::eigvalsh(a)};
});
constexpr auto of_any = tn::compile([](auto a) {
  const auto [u, s, vt] = tn::svd(a);
  const auto [q, r] = tn::qr(a);
  return std::tuple{u, s, vt, q, r, tn::pinv(a)};
});
constexpr auto values_of_any = tn::compile([](auto a) { return std::tuple{tn::svdvals(a), std::get<1>(tn::qr(a)), std::get<0>(tn::eigh(tn::matmul(a, tn::transpose<1, 2>(a))))}; });
constexpr auto of_square = tn::compile([](auto a, auto b) {
  const auto [p, l, u] = tn::lu(a);
  return std::tuple{p, l, u, tn::inverse(a), tn::solve(a, b)};
});
constexpr auto root = tn::compile([](auto a) { return tn::cholesky(a); });

/// Symmetric, with `more` on the diagonal. The upper triangles are NaN: nothing reads them.
template <class T>
batch<T> symmetric(std::int64_t samples, std::int64_t n, unsigned seed, double more = 0) {
  batch<T> a = random<T>(samples, n, n, seed);
  for (std::int64_t e = 0; e < a.size(); ++e) {
    const std::int64_t i = e / n % n, j = e % n;
    T& x = tn::as_span(a)[static_cast<std::size_t>(e)];
    if (i == j) x += static_cast<T>(more);
    if (j > i) x = std::numeric_limits<T>::quiet_NaN();
  }
  return a;
}
template <class X>
auto sample(const X& all, std::int64_t s) { return all.data() + s * (all.size() / all.extent(0)); }
template <class X>
bool same_bits(const X& alone, const X& all, std::int64_t s) {
  return std::memcmp(alone.data(), sample(all, s), static_cast<std::size_t>(alone.size()) * sizeof(*alone.data())) == 0;
}

/// A row-major matrix, or what it stands for, as numbers of long double.
struct numbers {
  std::int64_t rows, columns;
  std::vector<long double> at;

  numbers(std::int64_t n, std::int64_t m) : rows(n), columns(m), at(static_cast<std::size_t>(n * m)) {}
  template <class T>
  numbers(std::int64_t n, std::int64_t m, const T* from) : numbers(n, m) {
    for (std::size_t e = 0; e < at.size(); ++e) at[e] = static_cast<long double>(from[e]);
  }
  long double& operator()(std::int64_t i, std::int64_t j) { return at[static_cast<std::size_t>(i * columns + j)]; }
  long double operator()(std::int64_t i, std::int64_t j) const { return at[static_cast<std::size_t>(i * columns + j)]; }
};
template <class T>
numbers lower(std::int64_t n, const T* from) {
  numbers x(n, n, from);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j) x(i, j) = x(j, i);
  return x;
}
numbers turned(const numbers& x) {
  numbers y(x.columns, x.rows);
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) y(j, i) = x(i, j);
  return y;
}
template <class T>
numbers scaled(numbers x, const T* columns) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) x(i, j) *= static_cast<long double>(columns[j]);
  return x;
}
/// The largest element of x y - z, divided by the largest of z. NaN counts as large.
double distance(const numbers& x, const numbers& y, const numbers& z) {
  long double worst = 0, largest = 0;
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < y.columns; ++j) {
      long double sum = -z(i, j);
      for (std::int64_t k = 0; k < x.columns; ++k) sum += x(i, k) * y(k, j);
      worst = std::abs(sum) <= worst ? worst : std::isnan(sum) ? 1e300L : std::abs(sum);
      largest = std::max(largest, std::abs(z(i, j)));
    }
  return static_cast<double>(largest > 0 ? worst / largest : worst);
}
numbers identity(std::int64_t n) {
  numbers x(n, n);
  for (std::int64_t i = 0; i < n; ++i) x(i, i) = 1;
  return x;
}
/// Whether the largest component of each column is positive, where it is the largest by far.
bool has_signs(const numbers& x) {
  for (std::int64_t j = 0; j < x.columns; ++j) {
    long double most = 0, least = 0;
    for (std::int64_t i = 0; i < x.rows; ++i) most = std::max(most, x(i, j)), least = std::min(least, x(i, j));
    if (-least > most * 1.01L) return false;
  }
  return true;
}
template <class T>
constexpr double unit = static_cast<double>(std::numeric_limits<T>::epsilon());

template <class T>
void check_symmetric(const batch<T>& a, const auto& found, std::int64_t s) {
  const auto& [w, v, alone] = found;
  const std::int64_t n = a.extent(1);
  const numbers vectors(n, n, sample(v, s));
  CHECK(distance(scaled(vectors, sample(w, s)), turned(vectors), lower(n, sample(a, s))) < 8 * unit<T> * static_cast<double>(n));
  CHECK(distance(turned(vectors), vectors, identity(n)) < 8 * unit<T> * static_cast<double>(n));
  CHECK(has_signs(vectors));
  CHECK(std::is_sorted(sample(w, s), sample(w, s) + n));
  const double largest = std::max(std::abs(static_cast<double>(sample(w, s)[0])), std::abs(static_cast<double>(sample(w, s)[n - 1])));
  for (std::int64_t i = 0; i < n; ++i) REQUIRE(std::abs(static_cast<double>(sample(w, s)[i] - sample(alone, s)[i])) <= 8 * unit<T> * static_cast<double>(n) * largest);
}
template <class T>
void check_any(const batch<T>& a, const auto& found, std::int64_t s, bool has_pinv = true) {
  const auto& [u, sizes, vt, q, r, p] = found;
  const std::int64_t n = a.extent(1), m = a.extent(2), k = std::min(n, m);
  const double tolerance = 8 * unit<T> * static_cast<double>(std::max(n, m));
  const numbers whole(n, m, sample(a, s)), left(n, k, sample(u, s)), right(k, m, sample(vt, s)), first(n, k, sample(q, s)), upper(k, m, sample(r, s));
  CHECK(distance(scaled(left, sample(sizes, s)), right, whole) < tolerance);
  CHECK(distance(turned(left), left, identity(k)) < tolerance);
  CHECK(distance(right, turned(right), identity(k)) < tolerance);
  CHECK(has_signs(left));
  CHECK((std::is_sorted(sample(sizes, s), sample(sizes, s) + k, std::greater<>()) && sample(sizes, s)[k - 1] >= 0));
  CHECK(distance(first, upper, whole) < tolerance);
  CHECK(distance(turned(first), first, identity(k)) < tolerance);
  bool is_upper = true;
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j <= i; ++j) is_upper = is_upper && (j < i ? upper(i, j) == 0 : upper(i, i) >= 0);
  CHECK(is_upper);
  if (!has_pinv) return;
  const numbers inverse(m, n, sample(p, s));  // of full rank: a product with it is the identity
  const double condition = static_cast<double>(sample(sizes, s)[0] / sample(sizes, s)[k - 1]);
  CHECK((n >= m ? distance(inverse, whole, identity(k)) : distance(whole, inverse, identity(k))) < tolerance * condition);
}
template <class T>
void check_square(const batch<T>& a, const batch<T>& b, const auto& found, std::int64_t s) {
  const auto& [p, l, u, inverse, x] = found;
  const std::int64_t n = a.extent(1), m = b.extent(2);
  const double tolerance = 8 * unit<T> * static_cast<double>(n);
  const numbers whole(n, n, sample(a, s)), order(n, n, sample(p, s)), first(n, n, sample(l, s)), second(n, n, sample(u, s));
  numbers product(n, n), turned_a(n, n);
  bool has_form = true;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t ones = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      ones += order(i, j) == 1 ? 1 : 0;
      has_form = has_form && (order(i, j) == 0 || order(i, j) == 1) && (j < i ? second(i, j) == 0 && std::abs(first(i, j)) <= 1 : j > i ? first(i, j) == 0 : first(i, i) == 1);
      for (std::int64_t k = 0; k < n; ++k) turned_a(i, j) += order(k, i) * whole(k, j);
    }
    has_form = has_form && ones == 1;
  }
  CHECK(has_form);
  CHECK(distance(first, second, turned_a) < tolerance);
  // The inverse and the solution are as exact as the matrix allows.
  const numbers of_inverse(n, n, sample(inverse, s)), solution(n, m, sample(x, s));
  double largest = 1;
  for (const long double e : of_inverse.at) largest = std::max(largest, static_cast<double>(std::abs(e)));
  CHECK(distance(whole, of_inverse, identity(n)) < tolerance * largest * static_cast<double>(n));
  CHECK(distance(whole, solution, numbers(n, m, sample(b, s))) < tolerance * largest * static_cast<double>(n));
}
template <class T>
void check_root(const batch<T>& a, const batch<T>& l, std::int64_t s) {
  const std::int64_t n = a.extent(1);
  const numbers factor(n, n, sample(l, s));
  CHECK(distance(factor, turned(factor), lower(n, sample(a, s))) < 8 * unit<T> * static_cast<double>(n));
  bool is_lower = true;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i; j < n; ++j) is_lower = is_lower && (j > i ? factor(i, j) == 0 : factor(i, i) > 0);
  CHECK(is_lower);
}
template <class Found, std::size_t... I>
bool all_same_bits(const Found& alone, const Found& all, std::int64_t s, std::index_sequence<I...>) { return (same_bits(std::get<I>(alone), std::get<I>(all), s) && ...); }
template <class... X>
bool all_same_bits(const std::tuple<X...>& alone, const std::tuple<X...>& all, std::int64_t s) { return all_same_bits(alone, all, s, std::index_sequence_for<X...>{}); }
}  // namespace

TEMPLATE_TEST_CASE("Law: large matrices have the conventions of small ones, and a sample has the same bits in a batch and alone", "", LARGE_TYPES) {
  using T = TestType;
  for (const auto& [samples, n] : {std::array{1, 1}, {0, 40}, {3, 0}, {5, 8}, {17, 23}, {9, 24}, {9, 31}, {1, 32}, {3, 39}, {3, 40}, {3, 33}, {1, 47}, {2, 48}, {1, 64}, {1, 80}}) {
    CAPTURE(samples, n, sizeof(T));
    const batch<T> a = symmetric<T>(samples, n, static_cast<unsigned>(n)), definite = symmetric<T>(samples, n, static_cast<unsigned>(n), n), b = random<T>(samples, n, n, 5), right = random<T>(samples, n, 3, 6);
    const auto found = of_symmetric(a);
    const auto of_b = of_square(b, right);
    const batch<T> l = root(definite);
    for (std::int64_t s = 0; s < samples && n > 0; ++s) {
      check_symmetric(a, found, s);
      check_square(b, right, of_b, s);
      check_root(definite, l, s);
      CHECK(all_same_bits(of_symmetric(one_of(a, s)), found, s));
      CHECK(all_same_bits(of_square(one_of(b, s), one_of(right, s)), of_b, s));
      CHECK(same_bits(root(one_of(definite, s)), l, s));
    }
  }
  for (const auto& [samples, n, m] : {std::array{9, 31, 31}, {3, 32, 31}, {3, 31, 40}, {5, 32, 32}, {2, 32, 70}, {2, 90, 33}, {3, 23, 24}, {2, 24, 24}, {1, 59, 60}, {2, 60, 60}, {1, 64, 64}, {1, 100, 40}, {1, 159, 170}, {1, 170, 159}, {2, 160, 161}, {0, 40, 40}, {2, 40, 0}}) {
    CAPTURE(samples, n, m, sizeof(T));
    const batch<T> a = random<T>(samples, n, m, 7);
    const auto found = of_any(a);
    for (std::int64_t s = 0; s < samples && m > 0; ++s) {
      check_any(a, found, s);
      CHECK(all_same_bits(of_any(one_of(a, s)), found, s));
    }
    // Without the vectors, and r without q.
    const auto [sizes, r, squares] = values_of_any(a);
    for (std::int64_t e = 0; e < sizes.size(); ++e)
      CHECK(std::abs(static_cast<double>(sizes.data()[e] - std::get<1>(found).data()[e])) <= 8 * unit<T> * std::max(n, m) * static_cast<double>(std::get<1>(found).data()[e / sizes.extent(1) * sizes.extent(1)]));
    CHECK(std::memcmp(r.data(), std::get<4>(found).data(), static_cast<std::size_t>(r.size()) * sizeof(T)) == 0);
  }
}

TEMPLATE_TEST_CASE("Law: large triangular systems and inverses of definite matrices are those of small ones, in a batch and alone", "", LARGE_TYPES) {
  using T = TestType;
  constexpr auto solve_all = tn::compile([](auto l, auto b) {
    const auto u = tn::transpose<1, 2>(l);
    return std::tuple{tn::solve_triangular(l, b, tn::lower), tn::solve_triangular(l, b, tn::lower.transposed()), tn::solve_triangular(u, b, tn::upper), tn::solve_triangular(u, b, tn::upper.transposed()),
                      tn::solve_triangular(l, b, tn::lower.unit()), tn::solve_triangular(u, b, tn::upper.transposed().unit())};
  });
  constexpr auto inverted = tn::compile([](auto a) { return tn::inverse(a, tn::positive_definite); });
  for (const auto& [samples, n, m] : {std::array{2, 159, 2}, {2, 160, 1}, {1, 160, 7}, {2, 161, 40}, {0, 170, 2}, {2, 170, 0}}) {
    CAPTURE(samples, n, m, sizeof(T));
    const batch<T> definite = symmetric<T>(samples, n, static_cast<unsigned>(n), n), l = symmetric<T>(samples, n, 4, n), b = random<T>(samples, n, m, 5);  // the upper half of l is NaN
    const auto found = solve_all(l, b);
    const batch<T> inverse = inverted(definite);
    for (std::int64_t s = 0; s < samples && m > 0; ++s) {
      numbers factor(n, n, sample(l, s)), unit_factor = factor;
      for (std::int64_t i = 0; i < n; ++i) {
        unit_factor(i, i) = 1;
        for (std::int64_t j = i + 1; j < n; ++j) factor(i, j) = unit_factor(i, j) = 0;
      }
      const numbers right(n, m, sample(b, s));
      const double tolerance = 8 * unit<T> * static_cast<double>(n);
      CHECK(distance(factor, numbers(n, m, sample(std::get<0>(found), s)), right) < tolerance);
      CHECK(distance(factor, numbers(n, m, sample(std::get<3>(found), s)), right) < tolerance);
      CHECK(distance(turned(factor), numbers(n, m, sample(std::get<1>(found), s)), right) < tolerance);
      CHECK(distance(turned(factor), numbers(n, m, sample(std::get<2>(found), s)), right) < tolerance);
      for (const T* x : {sample(std::get<4>(found), s), sample(std::get<5>(found), s)}) {
        const numbers by_unit(n, m, x);
        double largest = 1;
        for (const long double e : by_unit.at) largest = std::max(largest, static_cast<double>(std::abs(e)));
        CHECK(distance(unit_factor, by_unit, right) < tolerance * largest);
      }
      const numbers of_inverse(n, n, sample(inverse, s));
      CHECK(distance(lower(n, sample(definite, s)), of_inverse, identity(n)) < tolerance);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < i; ++j) REQUIRE(of_inverse(i, j) == of_inverse(j, i));
      CHECK(all_same_bits(solve_all(one_of(l, s), one_of(b, s)), found, s));
      CHECK(same_bits(inverted(one_of(definite, s)), inverse, s));
    }
  }
  // NaN and zeros of one sample stay there: a 0 on the diagonal gives inf or NaN from its row on.
  constexpr std::int64_t n = 163;
  batch<T> l = symmetric<T>(3, n, 4, n);
  const batch<T> b = random<T>(3, n, 2, 5);
  const auto good = solve_all(l, b);
  for (const double wrong : {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    batch<T> bad = l.clone();
    tn::as_span(bad)[n * n + 20 * (n + 1)] = static_cast<T>(wrong);
    const auto found = solve_all(bad, b);
    for (const std::int64_t s : {0, 2}) CHECK(std::memcmp(sample(std::get<0>(found), s), sample(std::get<0>(good), s), 2 * n * sizeof(T)) == 0);
    for (int e = 0; e < 40; ++e) CHECK(std::abs(sample(std::get<0>(found), 1)[e] - sample(std::get<0>(good), 1)[e]) <= T(64) * std::numeric_limits<T>::epsilon());  // the rows above
    if (wrong == 0) CHECK(!std::isfinite(sample(std::get<0>(found), 1)[40]));
    if (wrong != wrong) CHECK(std::isnan(sample(std::get<0>(found), 1)[40]));
  }
}

TEMPLATE_TEST_CASE("Law: large systems with one matrix share factors that are those of small ones, in a batch and alone", "", LARGE_TYPES) {
  using T = TestType;
  constexpr auto both = tn::compile([](auto a, auto b) { return std::tuple{tn::solve(a, b), tn::solve(tn::transpose<1, 2>(a), b)}; });
  for (const auto& [samples, n, m] : {std::array{2, 63, 2}, {2, 64, 1}, {0, 64, 1}, {2, 64, 0}, {2, 159, 1}, {2, 160, 1}, {2, 161, 7}}) {
    CAPTURE(samples, n, m, sizeof(T));
    const batch<T> a = random<T>(samples, n, n, static_cast<unsigned>(n)), b = random<T>(samples, n, m, 5);
    const auto found = both(a, b);
    for (std::int64_t s = 0; s < samples && m > 0; ++s) {
      const numbers matrix(n, n, sample(a, s)), right(n, m, sample(b, s));
      const numbers x(n, m, sample(std::get<0>(found), s)), y(n, m, sample(std::get<1>(found), s));
      double largest = 1;
      for (const numbers* of : {&x, &y})
        for (const long double e : of->at) largest = std::max(largest, static_cast<double>(std::abs(e)));
      CHECK(distance(matrix, x, right) < 64 * unit<T> * static_cast<double>(n) * largest);
      CHECK(distance(turned(matrix), y, right) < 64 * unit<T> * static_cast<double>(n) * largest);
      CHECK(all_same_bits(both(one_of(a, s), one_of(b, s)), found, s));
    }
  }
  // NaN, inf and a column of zeros keep to their sample, and an infinite right-hand side keeps to its column.
  constexpr std::int64_t n = 163;
  const batch<T> a = random<T>(3, n, n, 4), b = random<T>(3, n, 2, 5);
  const auto good = both(a, b);
  for (const double wrong : {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CAPTURE(wrong);
    batch<T> bad = a.clone(), right = b.clone();
    for (std::int64_t i = 0; i < n; ++i) tn::as_span(bad)[static_cast<std::size_t>(n * n + i * n + 20)] = static_cast<T>(wrong);
    if (wrong != 0) tn::as_span(right)[static_cast<std::size_t>(2 * n * 2 + 5)] = static_cast<T>(wrong);
    const auto found = both(bad, right);
    const auto are_finite = [&](const T* x, std::int64_t first, std::int64_t step) {
      for (std::int64_t e = first; e < 2 * n; e += step)
        if (!std::isfinite(x[e])) return false;
      return true;
    };
    for (const auto& [x, of_good] : {std::pair{&std::get<0>(found), &std::get<0>(good)}, {&std::get<1>(found), &std::get<1>(good)}}) {
      CHECK(std::memcmp(sample(*x, 0), sample(*of_good, 0), 2 * n * sizeof(T)) == 0);
      CHECK(!are_finite(sample(*x, 1), 0, 1));
      CHECK(are_finite(sample(*x, 2), 0, 2));
      CHECK(are_finite(sample(*x, 2), 1, 2) == (wrong == 0));
    }
  }
}

TEMPLATE_TEST_CASE("Law: cholesky and inverse of large definite matrices are those of small ones, in a batch and alone", "", LARGE_TYPES) {
  using T = TestType;
  constexpr auto inverted = tn::compile([](auto a) { return tn::inverse(a, tn::positive_definite); });
  for (const std::int64_t n : {319, 320, 333}) {
    CAPTURE(n, sizeof(T));
    batch<T> a = symmetric<T>(2, n, 4, static_cast<double>(n));
    const batch<T> l = root(a), inverse = inverted(a);
    check_root(a, l, 1);
    CHECK(distance(lower(n, sample(a, 1)), numbers(n, n, sample(inverse, 1)), identity(n)) < 8 * unit<T> * static_cast<double>(n));
    bool is_symmetric = true;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) is_symmetric = is_symmetric && sample(inverse, 1)[i * n + j] == sample(inverse, 1)[j * n + i];
    CHECK(is_symmetric);
    CHECK((same_bits(root(one_of(a, 1)), l, 1) && same_bits(inverted(one_of(a, 1)), inverse, 1)));
    // One that is not positive definite: NaN from the failing column on, and its neighbour is right.
    tn::as_span(a)[static_cast<std::size_t>(100 * (n + 1))] = -1;
    const batch<T> bad = root(a);
    const auto at = [&](std::int64_t i, std::int64_t j) { return bad.data()[i * n + j]; };
    CHECK((!std::isnan(at(n - 1, 99)) && std::isnan(at(100, 100)) && std::isnan(at(n - 1, 100)) && std::isnan(at(n - 1, n - 1)) && at(100, 101) == 0));
    CHECK((same_bits(root(one_of(a, 1)), bad, 1) && same_bits(one_of(bad, 1), l, 1)));
    const batch<T> no_inverse = inverted(a);
    CHECK(std::isnan(no_inverse.data()[0]));
  }
}

TEST_CASE("large matrices: static extents, strides, and threads give the bits of run-time extents") {
  constexpr auto of_transposed = tn::compile([](auto a) { return tn::eigh(tn::transpose<1, 2>(a)); });
  const batch<double> a = random<double>(5, 64, 64, 1);
  batch<double> turned_a(5, 64, 64);
  for (std::int64_t s = 0; s < 5; ++s)
    for (std::int64_t i = 0; i < 64; ++i)
      for (std::int64_t j = 0; j < 64; ++j) tn::as_span(turned_a)[static_cast<std::size_t>((s * 64 + i) * 64 + j)] = sample(a, s)[j * 64 + i];
  const auto [w, v, unused] = of_symmetric(a);
  const auto [turned_w, turned_v, unused_too] = of_symmetric(turned_a);
  const auto [by_strides, vectors_by_strides] = of_transposed(a);
  CHECK(std::memcmp(turned_w.data(), by_strides.data(), 320 * sizeof(double)) == 0);
  CHECK(std::memcmp(turned_v.data(), vectors_by_strides.data(), 20480 * sizeof(double)) == 0);

  tn::tensor<double, tn::shape<5, 64, 64>> with_extents;
  std::copy_n(a.data(), a.size(), tn::as_span(with_extents).begin());
  const auto [static_w, static_v] = tn::compile([](auto x) { return tn::eigh(x); })(with_extents);
  CHECK(std::memcmp(static_w.data(), w.data(), 320 * sizeof(double)) == 0);
  CHECK(std::memcmp(static_v.data(), v.data(), 20480 * sizeof(double)) == 0);
  // A small one beside a large one in a program, and small ones alone.
  tn::tensor<double, tn::shape<3, 3>> small{{2, 1, 0}, {1, 3, 1}, {0, 1, 4}};
  const auto both = tn::compile([](auto x, auto y) { return std::tuple{std::get<0>(tn::eigh(x)), std::get<0>(tn::eigh(y))}; })(with_extents, small);
  const auto alone = tn::compile([](auto y) { return std::get<0>(tn::eigh(y)); })(small);
  CHECK(std::memcmp(std::get<0>(both).data(), w.data(), 320 * sizeof(double)) == 0);
  for (int i = 0; i < 3; ++i) CHECK((std::get<1>(both)(i) == Approx(alone(i)).epsilon(1e-14)));

  const tn::thread_pool pool(3, 0);
  const auto [threads_w, threads_v] = tn::compile([](auto x) { return tn::eigh(x); }, pool)(a);
  CHECK(std::memcmp(threads_w.data(), w.data(), 320 * sizeof(double)) == 0);
  CHECK(std::memcmp(threads_v.data(), v.data(), 20480 * sizeof(double)) == 0);
}

TEST_CASE("large matrices: huge, tiny, with equal and with no values") {
  for (const double scale : {1.0, 1e-150, 1e150, 1e-300, 1e300}) {
    CAPTURE(scale);
    for (const std::int64_t n : {33, 65}) {
      batch<double> a = symmetric<double>(1, n, 3), definite = symmetric<double>(1, n, 4, static_cast<double>(n)), b = random<double>(1, n, n + 3, 5);
      for (double& x : tn::as_span(a)) x *= scale;
      for (double& x : tn::as_span(definite)) x *= scale;
      for (double& x : tn::as_span(b)) x *= scale;
      check_symmetric(a, of_symmetric(a), 0);
      check_any(b, of_any(b), 0);
      check_root(definite, root(definite), 0);
      const batch<double> c = random<double>(1, n, n, 6);
      batch<double> to = c.clone(), right = random<double>(1, n, 3, 7);
      for (double& x : tn::as_span(to)) x *= scale;
      for (double& x : tn::as_span(right)) x *= scale;
      check_square(to, right, of_square(to, right), 0);
    }
    // Columns of other sizes: each column of q r keeps its digits.
    batch<double> columns = random<double>(1, 160, 160, 8);
    for (std::int64_t e = 0; e < 25600; ++e) tn::as_span(columns)[static_cast<std::size_t>(e)] *= std::pow(10.0, static_cast<double>(e % 160) * 2.5 - 200) * (scale > 1 ? 1 : std::min(1.0, scale * 1e50));
    const auto found = of_any(columns);
    for (std::int64_t j = 0; j < 160; ++j) {
      numbers column(160, 1), of_r(160, 1);
      for (std::int64_t i = 0; i < 160; ++i) column(i, 0) = columns.data()[i * 160 + j], of_r(i, 0) = std::get<4>(found).data()[i * 160 + j];
      if (std::abs(column(0, 0)) > 1e-290L) CHECK(distance(numbers(160, 160, std::get<3>(found).data()), of_r, column) < 1e-13);
    }
  }
  // The identity, zeros, one vector times another, equal columns.
  for (const int kind : {0, 1, 2, 3}) {
    CAPTURE(kind);
    batch<double> a(1, 160, 160);
    for (std::int64_t e = 0; e < 25600; ++e) {
      const std::int64_t i = e / 160, j = e % 160;
      tn::as_span(a)[static_cast<std::size_t>(e)] = kind == 0 ? (i == j ? 3 : 0) : kind == 1 ? 0 : kind == 2 ? std::sin(static_cast<double>(i)) * std::sin(static_cast<double>(j)) : std::cos(static_cast<double>(i / 2 * (j / 2)));
    }
    check_symmetric(a, of_symmetric(a), 0);
    const auto found = of_any(a);
    check_any(a, found, 0, kind == 0);
    if (kind > 0) {
      const numbers whole(160, 160, a.data()), inverse(160, 160, std::get<5>(found).data());
      numbers product(160, 160);
      for (std::int64_t i = 0; i < 160; ++i)
        for (std::int64_t j = 0; j < 160; ++j)
          for (std::int64_t k = 0; k < 160; ++k) product(i, j) += whole(i, k) * inverse(k, j);
      CHECK(distance(product, whole, whole) < 1e-11);
    }
  }
}

TEST_CASE("large matrices: NaN, inf, singular and not definite ones keep to their sample") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  constexpr std::int64_t n = 162;
  batch<double> a = symmetric<double>(4, n, 1, static_cast<double>(n)), b = random<double>(4, n, n, 2), right = random<double>(4, n, 2, 3);
  const auto good = of_symmetric(a);
  const auto good_any = of_any(b);
  const auto good_square = of_square(b, right);
  const batch<double> good_root = root(a);
  for (const double wrong : {not_a_number, infinity, -infinity}) {
    CAPTURE(wrong);
    batch<double> bad = a.clone(), bad_b = b.clone(), bad_right = right.clone();
    tn::as_span(bad)[static_cast<std::size_t>(n * n + 20 * n + 7)] = wrong;
    tn::as_span(bad_b)[static_cast<std::size_t>(n * n + 20 * n + 7)] = wrong;
    tn::as_span(bad_right)[static_cast<std::size_t>(2 * n * 2 + 5)] = wrong;
    const auto found = of_symmetric(bad);
    const auto found_any = of_any(bad_b);
    const auto found_square = of_square(bad_b, bad_right);
    const batch<double> found_root = root(bad);
    for (const std::int64_t s : {0, 3}) {
      CHECK(all_same_bits(of_symmetric(one_of(a, s)), found, s));
      CHECK(all_same_bits(of_any(one_of(b, s)), found_any, s));
      CHECK(all_same_bits(of_square(one_of(b, s), one_of(right, s)), found_square, s));
      CHECK(same_bits(root(one_of(a, s)), found_root, s));
    }
    const auto are_nan = [](const double* x, std::int64_t count) { return std::all_of(x, x + count, [](double e) { return std::isnan(e); }); };
    CHECK((are_nan(sample(std::get<0>(found), 1), n) && are_nan(sample(std::get<1>(found), 1), n * n) && are_nan(sample(std::get<2>(found), 1), n)));
    CHECK((are_nan(sample(std::get<0>(found_any), 1), n * n) && are_nan(sample(std::get<1>(found_any), 1), n) && are_nan(sample(std::get<2>(found_any), 1), n * n)));
    CHECK(are_nan(sample(std::get<5>(found_any), 1), n * n));
    CHECK(std::isnan(sample(std::get<4>(found_any), 1)[n * n - 1]));
    if (std::isnan(wrong)) CHECK(are_nan(sample(std::get<3>(found_square), 1), 1));  // with an infinite pivot the inverse is its limit
    // A right-hand side that is not finite: its column, and not the one beside it.
    for (std::int64_t i = 0; i < n; ++i) {
      CHECK(!std::isfinite(sample(std::get<4>(found_square), 2)[i * 2 + 1]));
      CHECK(std::isfinite(sample(std::get<4>(found_square), 2)[i * 2]));
    }
  }
  // Not positive definite from column 37 on.
  batch<double> indefinite = a.clone();
  tn::as_span(indefinite)[static_cast<std::size_t>(n * n + 37 * (n + 1))] = -1;
  const batch<double> l = root(indefinite);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      CHECK(std::isnan(sample(l, 1)[i * n + j]) == (j >= 37));
      if (j < 37) CHECK(sample(l, 1)[i * n + j] == Approx(sample(good_root, 1)[i * n + j]).epsilon(1e-12).margin(1e-14));
    }
  CHECK(same_bits(root(one_of(a, 2)), l, 2));
  // Two equal rows of small integers: exactly singular.
  batch<double> singular(1, n, n);
  for (std::int64_t e = 0; e < n * n; ++e) tn::as_span(singular)[static_cast<std::size_t>(e)] = e % (n + 1) == 0 ? 2 : 0;
  for (std::int64_t j = 0; j < n; ++j) tn::as_span(singular)[static_cast<std::size_t>((n - 1) * n + j)] = singular.data()[j];
  const auto found = of_square(singular, one_of(right, 0));
  CHECK(!std::isfinite(std::get<3>(found).data()[0]));
  CHECK(!std::isfinite(std::get<4>(found).data()[2 * (n - 1)]));
  CHECK(std::get<2>(found).data()[n * n - 1] == 0);
}

TEST_CASE("large matrices: a unit without Eigen's decompositions computes small ones with the same bits, large ones by other steps, and has types of its own") {
  for (const std::int64_t n : {23, 24, 47, 48}) {
    const batch<double> a = symmetric<double>(3, n, 1, static_cast<double>(n));
    const auto [w, v, alone] = of_symmetric(a);
    std::vector<double> wanted(static_cast<std::size_t>(3 * n));
    plain::eigenvalues(3, n, a.data(), wanted.data());
    CHECK((std::memcmp(w.data(), wanted.data(), wanted.size() * sizeof(double)) == 0) == (n < 48));
    for (std::int64_t e = 0; e < 3 * n; ++e) REQUIRE(w.data()[e] == Approx(wanted[static_cast<std::size_t>(e)]).epsilon(1e-12).margin(1e-13 * static_cast<double>(n)));
  }
  CHECK(std::strcmp(plain::name_of_tensor(), typeid(batch<double>).name()) != 0);
}

#if defined(__GLIBC__) && !TENURE_TEST_ADDRESS_SANITIZER
TEST_CASE("large matrices: where Eigen finds no memory, Tenure's own kernels compute the same operation") {
  constexpr std::int64_t n = 330;
  const batch<double> a = symmetric<double>(2, n, 1, static_cast<double>(n));
  batch<double> to = root(a);
  std::vector<double> wanted(static_cast<std::size_t>(2 * n * n));
  plain::cholesky(2, n, a.data(), wanted.data());
  CHECK(std::memcmp(to.data(), wanted.data(), wanted.size() * sizeof(double)) != 0);  // Eigen's
  memory::refused = 0;
  memory::refuses = true;
  root.into(to)(a);
  memory::refuses = false;
  CHECK(memory::refused >= 2);
  CHECK(std::memcmp(to.data(), wanted.data(), wanted.size() * sizeof(double)) == 0);
}
#endif
