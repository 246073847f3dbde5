// SPDX-License-Identifier: BSL-1.0
// The eigenvalues of a symmetric matrix by way of a tridiagonal one, of one sample or of a sample in each lane: reflections of Householder, then QL steps with
// implicit shifts, where a lane that has converged, or whose part of the matrix is shorter, turns by nothing. Below 5 rows the rotations of Jacobi are faster (eigh.hpp).
// Source: Bowdler, Martin, Reinsch and Wilkinson, The QR and QL algorithms for symmetric matrices, Numerische Mathematik 11, 1968; Golub and Van Loan, 8.3.
// Cost: about 9 n^3 operations with the vectors, 4/3 n^3 without.
#pragma once

#include <cstdint>
#include <limits>

#include <tenure/math/lanes.hpp>

namespace TENURE_NAMESPACE::ops {

inline constexpr std::int64_t least_tridiagonal_rows = 5;
/// The numbers of memory that tridiagonal_eigenvalues() needs.
constexpr std::int64_t tridiagonal_scratch(std::int64_t n) { return n < least_tridiagonal_rows ? 0 : 3 * n; }

/// Reflects rows of q at v, from number `first` on. Several rows at a time: an addition of one need not wait for the one before.
template <int Rows, class V>
TENURE_KERNEL_INLINE void reflect_rows(std::int64_t n, std::int64_t first, V* q, const V* v, V factor) {
  V sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = V(typename V::number(0));
  for (std::int64_t j = first; j < n; ++j)
    for (int r = 0; r < Rows; ++r) sums[r] = math::product_plus(q[r * n + j], v[j], sums[r]);
  for (int r = 0; r < Rows; ++r) sums[r] = sums[r] * factor;
  for (std::int64_t j = first; j < n; ++j)
    for (int r = 0; r < Rows; ++r) q[r * n + j] = math::minus_product(q[r * n + j], sums[r], v[j]);
}

/// Makes the lower triangle of a tridiagonal: diagonal d, e[i] beside d[i] and d[i + 1]. The rows of q, unless it is null, are the vectors of the new basis: q a q^T is the
/// tridiagonal matrix. `more` has 2 n numbers.
template <class V>
TENURE_KERNEL_INLINE void tridiagonalize(std::int64_t n, V* a, V* d, V* e, V* more, V* q) {
  const V zero = V(typename V::number(0)), one = V(typename V::number(1)), half = V(typename V::number(0.5));
  // Squares of smaller numbers may lose digits, and the reflection would not be orthogonal.
  constexpr auto eps = std::numeric_limits<typename V::number>::epsilon();
  const V least = V(eps * eps * eps * eps);
  V* const u = more + n;
  for (std::int64_t k = 0; k + 2 < n; ++k) {
    V rest = zero;
    for (std::int64_t i = k + 2; i < n; ++i) rest = math::product_plus(a[i * n + k], a[i * n + k], rest);
    const V first = a[(k + 1) * n + k], size = math::sqrt(math::product_plus(first, first, rest));
    const auto reflects = rest > least;
    const V beside = math::choose(reflects, math::choose(first < zero, size, zero - size), first);
    const V factor = math::choose(reflects, (beside - first) / math::choose(reflects, beside, one), zero);
    const V scale = one / math::choose(reflects, first - beside, one);
    e[k] = beside;
    // The reflection 1 - factor u u^T, with u in column k: its first number is 1, and row k + 1 keeps the factor. It is read from u: numbers of a column, with rows
    // of samples a power of two apart, would compete for few sets of the cache.
    u[k + 1] = a[(k + 1) * n + k] = one;
    for (std::int64_t i = k + 2; i < n; ++i) u[i] = a[i * n + k] = a[i * n + k] * scale;
    for (std::int64_t i = k + 1; i < n; ++i) more[i] = zero;
    for (std::int64_t i = k + 1; i < n; ++i) {  // the symmetric matrix times u
      const V of_i = u[i];
      V sum = more[i];
      for (std::int64_t j = k + 1; j < i; ++j) {
        sum = math::product_plus(a[i * n + j], u[j], sum);
        more[j] = math::product_plus(a[i * n + j], of_i, more[j]);
      }
      more[i] = math::product_plus(a[i * n + i], of_i, sum);
    }
    V along = zero;
    for (std::int64_t i = k + 1; i < n; ++i) more[i] = more[i] * factor, along = math::product_plus(more[i], u[i], along);
    const V less = along * factor * half;
    for (std::int64_t i = k + 1; i < n; ++i) more[i] = math::minus_product(more[i], less, u[i]);
    for (std::int64_t i = k + 1; i < n; ++i) {
      const V of_i = u[i], more_of_i = more[i];
      for (std::int64_t j = k + 1; j <= i; ++j) a[i * n + j] = math::minus_product(math::minus_product(a[i * n + j], of_i, more[j]), more_of_i, u[j]);
    }
    d[k] = a[k * n + k];
    a[k * n + k] = factor;
  }
  for (std::int64_t k = n < 2 ? 0 : n - 2; k < n; ++k) d[k] = a[k * n + k];
  if (n >= 2) e[n - 2] = a[(n - 1) * n + n - 2];
  if (q == nullptr) return;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) q[i * n + j] = i == j ? one : zero;
  for (std::int64_t k = n - 3; k >= 0; --k) {
    const V factor = a[k * n + k];
    for (std::int64_t j = k + 1; j < n; ++j) more[j] = a[j * n + k];
    std::int64_t i = k + 1;
    for (; i + 4 <= n; i += 4) reflect_rows<4>(n, k + 1, q + i * n, more, factor);
    for (; i < n; ++i) reflect_rows<1>(n, k + 1, q + i * n, more, factor);
  }
}

/// The eigenvalues of the tridiagonal matrix, whose largest number is about 1, in d. The rows of q, unless it is null, turn into the vectors.
template <class V>
TENURE_KERNEL_INLINE void diagonalize(std::int64_t n, V* d, V* e, V* q) {
  using number = typename V::number;
  constexpr number eps = std::numeric_limits<number>::epsilon();
  const V zero = V(number(0)), one = V(number(1)), two = V(number(2)), least = V(eps * eps);
  for (std::int64_t l = 0; l + 1 < n; ++l)
    for (int step = 0; step < 60; ++step) {
      // The part of the matrix from row l on ends at row `last` of a lane, before the first number that is small.
      V last = V(static_cast<number>(n - 1)), at_last = d[n - 1];
      for (std::int64_t i = n - 2; i >= l; --i) {
        const V bound = V(eps / 2) * (math::abs(d[i]) + math::abs(d[i + 1]) + V(eps));
        const auto is_large = math::abs(e[i]) > bound;
        last = math::choose(is_large, last, V(static_cast<number>(i)));
        at_last = math::choose(is_large, at_last, d[i]);
      }
      const auto is_open = last > V(static_cast<number>(l));
      if (!math::any(is_open)) break;
      const V beside = math::choose(is_open, e[l], one), ratio = (d[l + 1] - d[l]) / (two * beside), root = math::sqrt(math::product_plus(ratio, ratio, one));
      V g = at_last - d[l] + beside / (ratio + math::choose(ratio < zero, zero - root, root)), sin = one, cos = one, moved = zero;
      V goes_on = math::choose(is_open, one, zero);
      for (std::int64_t i = n - 2; i >= l; --i) {
        const V row = V(static_cast<number>(i));
        const auto turns = last > row && goes_on > zero;
        if (!math::any(turns)) continue;
        const auto begins = !(last > V(static_cast<number>(i + 1)));
        const V f = sin * e[i], b = cos * e[i], length = math::sqrt(math::product_plus(f, f, g * g));
        e[i + 1] = math::choose(turns, math::choose(!begins && length > least, length, zero), e[i + 1]);
        const auto is_turned = turns && length > least;
        const V inverse = one / math::choose(length > least, length, one);
        const V s = f * inverse, c = g * inverse, before = d[i + 1] - moved;
        const V r = math::product_plus(d[i] - before, s, two * c * b), more = s * r;
        d[i + 1] = math::choose(turns, math::choose(is_turned, before + more, before), d[i + 1]);
        moved = math::choose(is_turned, more, moved);
        g = math::choose(is_turned, math::minus_product(zero - b, zero - c, r), g);
        sin = math::choose(is_turned, s, sin);
        cos = math::choose(is_turned, c, cos);
        goes_on = math::choose(turns && !(length > least), zero, goes_on);
        if (q == nullptr) continue;
        const V of_sin = math::choose(is_turned, s, zero), of_cos = math::choose(is_turned, c, one);
        V *const x = q + i * n, *const y = x + n;
        for (std::int64_t k = 0; k < n; ++k) {
          const V was = y[k];
          y[k] = math::product_plus(of_sin, x[k], of_cos * was);
          x[k] = math::minus_product(of_cos * x[k], of_sin, was);
        }
      }
      const auto is_done = is_open && goes_on > zero;
      d[l] = math::choose(is_done, d[l] - moved, d[l]);
      e[l] = math::choose(is_done, g, e[l]);
    }
}

/// The eigenvalues w of the lower triangle of a, whose largest number is about 1, in any order. The rows of v, unless it is null, are the vectors.
template <class V>
TENURE_KERNEL_INLINE void tridiagonal_eigenvalues(std::int64_t n, V* a, V* w, V* v, V* scratch) {
  tridiagonalize(n, a, w, scratch, scratch + n, v);
  diagonalize(n, w, scratch, v);
}

}  // namespace tenure::ops
