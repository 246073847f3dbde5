// SPDX-License-Identifier: BSL-1.0
// Gaussian elimination of one sample, or of a sample in each lane: what solve, inverse, det and slogdet share.
#pragma once

#include <cstdint>
#include <limits>

#include <tenure/math/lanes.hpp>

namespace TENURE_NAMESPACE::ops {

/// Makes a upper triangular by exchanges and differences of rows, and does the same to b, which has m columns. Returns the determinant of the exchanges, 1 or -1.
/// A column of zeros gives NaN below it; with skips_zeros it is left as it is, and the diagonal of a has the determinant.
/// Source: elimination with partial pivoting (Golub and Van Loan, Matrix Computations, 3.4). A row is exchanged with each later row that has a larger number
/// in the column, in those lanes where it has: the largest ends as the pivot.
template <class V>
TENURE_KERNEL_INLINE V eliminate(V* a, std::int64_t n, V* b, std::int64_t m, bool skips_zeros) {
  const V zero = V(typename V::number(0)), one = V(typename V::number(1));
  V sign = one;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = k + 1; i < n; ++i) {
      const auto is_larger = math::abs(a[i * n + k]) > math::abs(a[k * n + k]);
      if (!math::any(is_larger)) continue;
      sign = math::choose(is_larger, zero - sign, sign);
      for (std::int64_t j = k; j < n; ++j) math::exchange(is_larger, a[k * n + j], a[i * n + j]);
      for (std::int64_t j = 0; j < m; ++j) math::exchange(is_larger, b[k * m + j], b[i * m + j]);
    }
    V pivot = a[k * n + k];
    if (skips_zeros) pivot = math::choose(math::abs(pivot) < V(std::numeric_limits<typename V::number>::denorm_min()), one, pivot);  // NaN stays
    for (std::int64_t i = k + 1; i < n; ++i) {
      const V factor = a[i * n + k] / pivot;
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] = math::minus_product(a[i * n + j], factor, a[k * n + j]);
      for (std::int64_t j = 0; j < m; ++j) b[i * m + j] = math::minus_product(b[i * m + j], factor, b[k * m + j]);
    }
  }
  return sign;
}

/// Divides b by the upper triangle of a, row `rows` - 1 first. The rows of b from there on hold their results.
template <class V>
TENURE_KERNEL_INLINE void substitute(const V* a, std::int64_t n, V* b, std::int64_t m, std::int64_t rows) {
  for (std::int64_t k = rows - 1; k >= 0; --k)
    for (std::int64_t j = 0; j < m; ++j) {
      V rest = b[k * m + j];
      for (std::int64_t i = k + 1; i < n; ++i) rest = math::minus_product(rest, a[k * n + i], b[i * m + j]);
      b[k * m + j] = rest / a[k * n + k];
    }
}

}  // namespace tenure::ops
