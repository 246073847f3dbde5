// SPDX-License-Identifier: BSL-1.0
// Computes large products with the BLAS that the program links, if TENURE_BLAS is defined (the CMake option of this name).
// Cost: a BLAS uses its own threads and memory. With some BLAS libraries the bits depend on the number of these threads. Tenure's own
// threads change no bits, because each product is one call with every executor.
#pragma once

#include "matmul.hpp"

// The declarations of Eigen, so that a program can also define EIGEN_USE_BLAS.
#include <Eigen/src/misc/blas.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend)::detail {

/// A matrix for BLAS, which expects column-major matrices. A row-major matrix is passed as its transpose.
template <class T>
struct blas_operand {
  const T* data;
  std::int64_t leading;  // elements from column to column; 0 if BLAS cannot express the strides
  char transposed;

  blas_operand(matrix_ref<T> m, std::int64_t rows, std::int64_t columns) : data(m.data), leading(0), transposed('N') {
    if (m.col_stride == 1 && m.row_stride >= columns) leading = m.row_stride;
    else if (m.row_stride == 1 && m.col_stride >= rows) leading = m.col_stride, transposed = 'T';
  }
};

/// Computes C = A B with BLAS. C is row-major and contiguous. Returns false and does nothing if the product is small, or if BLAS does not
/// accept the strides.
template <class T>
bool matmul_by_blas(std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<T> a, matrix_ref<T> b, T* c) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const bool is_large = m > 1 && n > 1 && k > 0 && m * n * k >= costs::blas_product;
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
