// SPDX-License-Identifier: BSL-1.0
// The solution of one system of linear equations.
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

/// Solves a x = b in place: b becomes x. a is n x n and b is n x m, both row-major. a is overwritten.
/// Source: Gaussian elimination with partial pivoting (Golub and Van Loan, Matrix Computations, 3.4).
template <class T>
TENURE_KERNEL_INLINE void solve_in_place(T* a, T* b, std::int64_t n, std::int64_t m) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    T largest = a[k * n + k] < 0 ? -a[k * n + k] : a[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T size = a[i * n + k] < 0 ? -a[i * n + k] : a[i * n + k];
      if (size > largest) largest = size, pivot = i;
    }
    if (pivot != k) {
      for (std::int64_t j = k; j < n; ++j) {
        const T kept = a[k * n + j];
        a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = kept;
      }
      for (std::int64_t j = 0; j < m; ++j) {
        const T kept = b[k * m + j];
        b[k * m + j] = b[pivot * m + j], b[pivot * m + j] = kept;
      }
    }
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = a[i * n + k] / a[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      for (std::int64_t j = 0; j < m; ++j) b[i * m + j] -= factor * b[k * m + j];
    }
  }
  for (std::int64_t k = n - 1; k >= 0; --k)
    for (std::int64_t j = 0; j < m; ++j) {
      T sum = b[k * m + j];
      for (std::int64_t i = k + 1; i < n; ++i) sum -= a[k * n + i] * b[i * m + j];
      b[k * m + j] = sum / a[k * n + k];
    }
}

}  // namespace tenure::math
