// SPDX-License-Identifier: BSL-1.0
// Products with a single row or column.
// Law: an element is one sum over ascending k where the rows of the matrix are read along the result, and one partial sum for each lane where they
// are read along k. Its steps depend only on k, so a caller may split rows or steps.
#pragma once

#include "tiles.hpp"

#if defined(__CUDACC__)  // nvcc does not have GCC's pragma for unrolling
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {
namespace detail {

/// The sum of all lanes, added in halves through memory. Eigen's 512-bit predux is not used, because g++ 12 warns in it
/// (gcc.gnu.org/PR105593).
template <class T, index Lanes>
TENURE_INLINE T sum_lanes(const packet_of<T, Lanes>& value) {
  if constexpr (Lanes / 2 < least_lanes<T>) {
    return packets::predux(value);
  } else {
    using half = packet_of<T, Lanes / 2>;
    T memory[Lanes];
    packets::pstoreu(memory, value);
    return sum_lanes<T, Lanes / 2>(packets::padd(packets::ploadu<half>(memory), packets::ploadu<half>(memory + Lanes / 2)));
  }
}

/// Whether a matrix of so many elements is read from memory, or from the slowest cache.
template <class T>
constexpr bool is_far(index elements) { return elements * static_cast<index>(sizeof(T)) > (1 << 20); }

/// sum[r] = a[r] x for Rows rows, with two partial sums for each lane.
template <class T, index Rows>
TENURE_INLINE void lanes_of_dots(index k, const T* x, const T* a, const index (&offset)[Rows], packet_of<T, most_lanes<T>> (&sum)[Rows]) {
  using packet = packet_of<T, most_lanes<T>>;
  constexpr index lanes = most_lanes<T>;
  packet part[Rows][2];
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) part[r][0] = part[r][1] = packets::pset1<packet>(T(0));
#pragma GCC unroll 1
  for (; k >= 2 * lanes; k -= 2 * lanes, x += 2 * lanes, a += 2 * lanes)
#pragma GCC unroll 8
    for (index u = 0; u < 2; ++u) {
      const packet right = packets::ploadu<packet>(x + u * lanes);
#pragma GCC unroll 8
      for (index r = 0; r < Rows; ++r) part[r][u] = packets::pmadd(packets::ploadu<packet>(a + offset[r] + u * lanes), right, part[r][u]);
    }
  for (; k > 0; k -= lanes, x += lanes, a += lanes) {
    const index n = k < lanes ? k : lanes;
    const packet right = load_some<packet>(x, n);
#pragma GCC unroll 8
    for (index r = 0; r < Rows; ++r) part[r][0] = packets::pmadd(load_some<packet>(a + offset[r], n), right, part[r][0]);
  }
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) sum[r] = packets::padd(part[r][0], part[r][1]);
}

/// y[r] = or += sum over k of a[r * lda + k] * x[k], for 1 to 4 rows. With Far they are read one after the other, in the order of the memory, which
/// the processor fetches ahead: rows of 1 KiB come from memory at 28 GB/s, and at 11 GB/s four at a time. Otherwise four rows are always read, and
/// the last row is repeated for missing ones.
template <class T, bool Far>
void dots(index rows, index k, const T* x, const T* a, index lda, T* y, index stride, bool accumulate) {
  constexpr index lanes = most_lanes<T>;
  packet_of<T, lanes> sum[4] = {};
  if constexpr (Far) {
    for (index r = 0; r < rows; ++r) {
      packet_of<T, lanes> one[1];
      lanes_of_dots<T, 1>(k, x, a + r * lda, {0}, one);
      sum[r] = one[0];
    }
  } else {
    lanes_of_dots<T, 4>(k, x, a, {0, rows > 1 ? lda : 0, rows > 2 ? 2 * lda : (rows - 1) * lda, (rows - 1) * lda}, sum);
  }
  T value[4];
#pragma GCC unroll 8
  for (index r = 0; r < 4; ++r) value[r] = sum_lanes<T, lanes>(sum[r]);
  for (index r = 0; r < rows; ++r) y[r * stride] = accumulate ? y[r * stride] + value[r] : value[r];
}

/// y[n] = or += x[Rows] B[Rows, n], where the rows of B are contiguous. The lines of the rows `ahead` elements further are fetched meanwhile, in the
/// order of the memory where nothing else lies between them: then the processor goes on with it.
template <class T, index Rows>
TENURE_INLINE void few_rows_times_matrix(index n, const T* x, index stride, const T* b, index ldb, T* y, bool accumulate, index ahead) {
  using packet = packet_of<T, most_lanes<T>>;
  constexpr index lanes = most_lanes<T>;
  packet left[Rows];
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) left[r] = packets::pset1<packet>(x[r * stride]);
  const T* from = accumulate ? y : tile_shape<T>::zeros;
  const index step = accumulate ? lanes : 0;
  const bool is_dense = ldb < n + lanes;
  const index next_packet = is_dense ? Rows : 1, next_row = is_dense ? lanes : ldb;
  index j = 0;
#pragma GCC unroll 1
  for (; j + lanes <= n; j += lanes, from += step) {
    packet sum = packets::ploadu<packet>(from);
#pragma GCC unroll 8
    for (index r = 0; r < Rows; ++r) {
      __builtin_prefetch(b + ahead + j * next_packet + r * next_row);
      sum = packets::pmadd(left[r], packets::ploadu<packet>(b + r * ldb + j), sum);
    }
    packets::pstoreu(y + j, sum);
  }
  if (j == n) return;
  packet sum = load_some<packet>(from, n - j);
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) sum = packets::pmadd(left[r], load_some<packet>(b + r * ldb + j, n - j), sum);
  store_some(y + j, sum, n - j);
}

/// y[n] = x[k] B[k, n], where the rows of B are contiguous. A matrix that is in a cache is read in columns of packets that stay in registers. One that
/// is far is read once, a few rows at a time: in columns it comes from memory at a third of the speed, and more than once where they are narrow.
template <class T>
void row_times_matrix(index n, index k, const T* x, index stride, matrix_ref<T> b, T* y, bool accumulate, bool far) {
  constexpr index lanes = most_lanes<T>, rows = 4;
  if (far && n > lanes) {
    index l = 0;
    for (; l + rows <= k; l += rows)
      few_rows_times_matrix<T, rows>(n, x + l * stride, stride, b.data + l * b.row_stride, b.row_stride, y, accumulate || l > 0, rows * b.row_stride);
    for (; l < k; ++l) few_rows_times_matrix<T, 1>(n, x + l * stride, stride, b.data + l * b.row_stride, b.row_stride, y, accumulate || l > 0, 0);
    return;
  }
  const matrix_ref<T> a{x, 0, stride};
  index j = 0;
  for (; j + 8 * lanes <= n; j += 8 * lanes) tile<T, 1, 8>(k, a, b.data + j, b.row_stride, y + j, 0, lanes, accumulate);
  if (j + 4 * lanes <= n) tile<T, 1, 4>(k, a, b.data + j, b.row_stride, y + j, 0, lanes, accumulate), j += 4 * lanes;
  for (; j < n; j += lanes) tile<T, 1, 1, true>(k, a, b.data + j, b.row_stride, y + j, 0, n - j < lanes ? n - j : lanes, accumulate);
}

/// y[n] = x[k] B[k, n], where the columns of B are contiguous. A strided x is copied piece by piece.
template <class T>
void row_times_transposed(index n, index k, const T* x, index x_stride, matrix_ref<T> b, T* y, index y_stride, bool accumulate, bool far) {
  if (x_stride != 1 && k > 1) {
    T piece[512];
    for (index l = 0; l < k; l += 512, accumulate = true) {
      const index length = k - l < 512 ? k - l : 512;
      for (index i = 0; i < length; ++i) piece[i] = x[(l + i) * x_stride];
      row_times_transposed<T>(n, length, piece, 1, {b.data + l, 1, b.col_stride}, y, y_stride, accumulate, far);
    }
    return;
  }
  for (index j = 0; j < n; j += 4)
    (far && k > 2 * most_lanes<T> ? dots<T, true> : dots<T, false>)(n - j < 4 ? n - j : 4, k, x, b.data + j * b.col_stride, b.col_stride, y + j * y_stride, y_stride, accumulate);
}

template <class T>
[[gnu::noinline]] void matmul_loops(index m, index n, index k, matrix_ref<T> a, matrix_ref<T> b, T* c, index ldc, bool accumulate) {
  for (index i = 0; i < m; ++i)
    for (index j = 0; j < n; ++j) {
      T sum = accumulate ? c[i * ldc + j] : T(0);
      for (index l = 0; l < k; ++l) sum = math::fma(a.data[i * a.row_stride + l * a.col_stride], b.data[l * b.row_stride + j * b.col_stride], sum);
      c[i * ldc + j] = sum;
    }
}

/// The product with a single row or column. `far`: the matrix, or the one that it is a part of, is_far().
template <class T>
[[gnu::noinline]] void matmul_of_vector(index m, index n, index k, matrix_ref<T> a, matrix_ref<T> b, T* c, index ldc, bool accumulate, bool far) {
  if (m == 1 && n > 1 && b.col_stride == 1) return row_times_matrix(n, k, a.data, a.col_stride, b, c, accumulate, far);
  if (n == 1 && m > 1 && a.row_stride == 1 && ldc == 1) return row_times_matrix(m, k, b.data, b.row_stride, {a.data, a.col_stride, 1}, c, accumulate, far);
  if (m == 1 && b.row_stride == 1) return row_times_transposed(n, k, a.data, a.col_stride, b, c, 1, accumulate, far);
  if (n == 1 && a.col_stride == 1) return row_times_transposed(m, k, b.data, b.row_stride, {a.data, 1, a.row_stride}, c, ldc, accumulate, far);
  matmul_loops(m, n, k, a, b, c, ldc, accumulate);
}

}  // namespace detail
}  // namespace tenure::cpu_backend

#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
