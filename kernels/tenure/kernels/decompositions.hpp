// SPDX-License-Identifier: BSL-1.0
// The steps before and after a decomposition by LAPACK on a device. A matrix with inf or NaN is kept from LAPACK, and its results are NaN. The other results become
// row-major, with Tenure's signs. Each step is a function of one thread.
#pragma once

#include <cstdint>
#include <limits>

#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/spectrum.hpp>

namespace TENURE_NAMESPACE::kernels {

/// Whether row i is finite, of all rows of a batch. Of a lower triangle only what stands below and on the diagonal counts.
template <class T>
struct note_finite_row {
  const T* matrices;
  std::int64_t rows, columns;
  bool is_lower;
  int* is_finite;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const T* const row = matrices + i * columns;
    const std::int64_t count = is_lower ? i % rows + 1 : columns;
    bool all = true;
    for (std::int64_t j = 0; j < count; ++j) all = all && row[j] - row[j] == T(0);
    is_finite[i] = all;
  }
};

/// Row i of the identity in place of row i of a matrix that is not finite: LAPACK may not end for it.
template <class T>
struct keep_finite_row {
  T* matrices;
  std::int64_t rows, columns;
  const int* is_finite;
  int* is_wrong;  // of each matrix

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t sample = i / rows, own = i % rows;
    bool all = true;
    for (std::int64_t r = 0; r < rows; ++r) all = all && is_finite[sample * rows + r] != 0;
    if (own == 0) is_wrong[sample] = !all;
    if (all) return;
    for (std::int64_t j = 0; j < columns; ++j) matrices[i * columns + j] = T(j == own ? 1 : 0);
  }
};

/// NaN in element i of results of `size` elements, where the matrix was not finite or LAPACK did not end.
template <class T>
struct refuse_element {
  T* result;
  std::int64_t size;
  const int *is_wrong, *info;  // info: null where a result is one whatever it says

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t sample = i / size;
    if (is_wrong[sample] != 0 || (info != nullptr && info[sample] != 0)) result[i] = std::numeric_limits<T>::quiet_NaN();
  }
};

/// Element i of the transpose.
template <class T>
struct transpose_element {
  const T* from;
  std::int64_t rows, columns;  // of the result
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const { to[i] = from[i % columns * rows + i / columns]; }
};

/// Element i of the identity.
template <class T>
struct identity_element {
  std::int64_t n;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const { to[i] = T(i / n == i % n ? 1 : 0); }
};

/// Element i of lower triangles: zero above the diagonal, and NaN from the column on that is not positive definite. info is the number of that column, from 1.
template <class T>
struct finish_lower_element {
  T* matrices;
  std::int64_t n;
  const int* info;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t sample = i / (n * n), row = i / n % n, column = i % n;
    if (column > row) matrices[i] = T(0);
    else if (info[sample] > 0 && column >= info[sample] - 1) matrices[i] = std::numeric_limits<T>::quiet_NaN();
  }
};

/// Row i of r, and the sign that makes its diagonal positive. LAPACK's r is column-major, with n rows.
template <class T>
struct write_triangle_row {
  const T* from;
  std::int64_t n, m;
  T *r, *sign;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const T own = from[i * n + i] < T(0) ? T(-1) : T(1);
    sign[i] = own;
    for (std::int64_t j = 0; j < m; ++j) r[i * m + j] = j < i ? T(0) : own * from[j * n + i];
  }
};
/// Element i of q, of which LAPACK has the columns one after the other.
template <class T>
struct write_column_element {
  const T *from, *sign;
  std::int64_t n, count;
  T* q;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const { q[i] = sign[i % count] * from[i % count * n + i / count]; }
};

/// The row of a that stands in each row of l u, by LAPACK's exchanges, which count from 1. For one thread.
struct order_of_exchanges {
  const int* exchanges;
  std::int64_t n;
  int* order;

  TENURE_KERNEL_INLINE void operator()(std::int64_t) const {
    for (std::int64_t i = 0; i < n; ++i) order[i] = static_cast<int>(i);
    for (std::int64_t i = 0; i < n; ++i) {
      const int other = exchanges[i] - 1, own = order[i];
      order[i] = order[other], order[other] = own;
    }
  }
};
/// Element i of p, l and u, of which LAPACK has l and u in one column-major matrix.
template <class T>
struct write_triangles_element {
  const T* from;
  const int* order;
  std::int64_t n;
  T *p, *l, *u;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t row = i / n, column = i % n;
    const T x = from[column * n + row];
    p[i] = T(order[column] == row ? 1 : 0);
    l[i] = row > column ? x : T(row == column ? 1 : 0);
    u[i] = row > column ? T(0) : x;
  }
};

/// The row that step c of LAPACK exchanges with row c, counted from 0.
template <class T>
struct write_exchange {
  const int* exchanges;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t c) const { to[c] = static_cast<T>(exchanges[c] - 1); }
};
/// Column i of all columns of a batch of right-hand sides, with its rows exchanged as the factors say, or back.
template <class T>
struct exchange_rows_of_column {
  const T* exchanges;  // n of them for each sample
  std::int64_t n, m;
  bool back;
  T* x;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t sample = i / m;
    T* const column = x + sample * n * m + i % m;
    for (std::int64_t s = 0; s < n; ++s) {
      const std::int64_t c = back ? n - 1 - s : s, other = static_cast<std::int64_t>(exchanges[sample * n + c]);
      const T own = column[c * m];
      column[c * m] = column[other * m], column[other * m] = own;
    }
  }
};

/// Vectors somewhere in memory.
template <class T>
struct vectors {
  T* first;
  std::int64_t size, to_next_component, to_next_vector;

  TENURE_KERNEL_INLINE T& at(std::int64_t vector, std::int64_t component) const { return first[vector * to_next_vector + component * to_next_component]; }
};
/// Vector i with the sign that makes its largest component positive, and the vector that goes with it.
template <class T>
struct write_vector {
  vectors<const T> from, partner;  // a partner may have no components
  vectors<T> to, partner_to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const T sign = ops::sign_of_column(reinterpret_cast<const math::lanes<T>*>(from.first + i * from.to_next_vector), from.size, from.to_next_component).value;
    for (std::int64_t c = 0; c < from.size; ++c) to.at(i, c) = sign * from.at(i, c);
    for (std::int64_t c = 0; c < partner.size; ++c) partner_to.at(i, c) = sign * partner.at(i, c);
  }
};

}  // namespace tenure::kernels
