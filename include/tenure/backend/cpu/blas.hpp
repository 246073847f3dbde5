// SPDX-License-Identifier: BSL-1.0
// Large products by the BLAS that the program is linked to: TENURE_BLAS, the CMake option of that name.
// Cost: a BLAS has threads and memory of its own; whether its bits depend on the number of its threads is its promise, not ours.
// Called once a product whatever the executor, so Tenure's threads change no bits.
#pragma once

#include "matmul.hpp"

// Eigen's declarations: a program may use EIGEN_USE_BLAS beside this.
#include <Eigen/src/misc/blas.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend)::detail {

/// A matrix as BLAS reads it, by columns: the transpose of a row-major one.
template <class T>
struct blas_operand {
  const T* data;
  std::int64_t leading;  // elements from column to column, 0 where BLAS cannot express the strides
  char transposed;

  blas_operand(matrix_ref<T> m, std::int64_t rows, std::int64_t columns) : data(m.data), leading(0), transposed('N') {
    if (m.col_stride == 1 && m.row_stride >= columns) leading = m.row_stride;
    else if (m.row_stride == 1 && m.col_stride >= rows) leading = m.col_stride, transposed = 'T';
  }
};

/// C = A B by BLAS, C row-major without gaps; false, and nothing done, for what is small or strided as no BLAS takes it.
template <class T>
bool matmul_by_blas(std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<T> a, matrix_ref<T> b, T* c) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const bool is_large = m > 1 && n > 1 && k > 0 && m * n * k >= 32 * 32 * 32;  // below that a call's checks and packing cost more than they bring
    if (!is_large) return false;
    const blas_operand<T> left(a, m, k), right(b, k, n);
    const auto fits = [](std::int64_t extent) { return extent <= std::numeric_limits<int>::max(); };
    if (left.leading == 0 || right.leading == 0 || !fits(m) || !fits(n) || !fits(k) || !fits(left.leading) || !fits(right.leading)) return false;
    const int rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k);
    const int left_leading = static_cast<int>(left.leading), right_leading = static_cast<int>(right.leading);
    const T one = 1, zero = 0;
    const auto gemm = [&](auto function) {  // transposed: C' = B' A'
      function(&right.transposed, &left.transposed, &columns, &rows, &inner, &one, right.data, &right_leading, left.data, &left_leading, &zero, c,
               &columns);
    };
    if constexpr (std::is_same_v<T, float>) gemm(sgemm_);
    else gemm(dgemm_);
    return true;
  }
  return false;
}

}  // namespace tenure::cpu_backend::detail
