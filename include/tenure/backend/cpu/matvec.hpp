// SPDX-License-Identifier: BSL-1.0
// Products with a single row or column.
// Law: an element is a sum over ascending k where the rows of the matrix are read along the result, and two for each lane where they are read along k.
// A narrow result has several sums for each element, and long sums are sums of parts. All this depends only on the shape of the whole product, as long
// as a part of a result has 32 elements or more. So a caller may split a long column into such parts.
#pragma once

#include "dots.hpp"

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {
namespace detail {

/// y[n] = or += x[Rows] B[Rows, n], where the rows of B are contiguous. Meanwhile the lines `ahead` elements further are prefetched. If the
/// rows are contiguous, this is in the order of memory, and the processor continues the prefetching.
template <class T, index Rows, class X, class B>
TENURE_INLINE void few_rows_times_matrix(index n, const X* x, index stride, const B* b, index ldb, T* y, bool accumulate, index ahead) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  packet left[Rows];
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) left[r] = broadcast_lane<packet>(x + r * stride);
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
      sum = packets::pmadd(left[r], load_lanes<packet>(b + r * ldb + j), sum);
    }
    packets::pstoreu(y + j, sum);
  }
  if (j == n) return;
  packet sum = load_some<packet>(from, n - j);
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) sum = packets::pmadd(left[r], load_some<packet>(b + r * ldb + j, n - j), sum);
  store_some(y + j, sum, n - j);
}

/// sum += x row, for a row of `Packets` packets. The last packet has `last` elements.
template <class T, index Packets, class X, class B>
TENURE_INLINE void add_multiple(const X* x, const B* row, index last, packet_of<T, max_lanes<T>> (&sum)[Packets]) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  const packet left = broadcast_lane<packet>(x);
#pragma GCC unroll 8
  for (index p = 0; p + 1 < Packets; ++p) sum[p] = packets::pmadd(left, load_lanes<packet>(row + p * lanes), sum[p]);
  const B* const end = row + (Packets - 1) * lanes;
  sum[Packets - 1] = packets::pmadd(left, Packets == 1 ? load_of_stream<packet>(end, last) : load_some<packet>(end, last), sum[Packets - 1]);
}

/// y = or += x[k] B[k, ...] for a result of `Packets` packets. The last packet has `last` columns.
template <class T, index Packets, class X, class B>
void narrow_row_times_matrix(index k, const X* x, index stride, const B* b, index ldb, T* y, index last, bool accumulate) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>, ways = Packets == 1 ? 8 : Packets == 4 ? 2 : 4;  // enough sums for two additions in a cycle
  packet sum[ways][Packets];
#pragma GCC unroll 8
  for (index w = 0; w < ways; ++w)
#pragma GCC unroll 8
    for (index p = 0; p < Packets; ++p) sum[w][p] = packets::pset1<packet>(T(0));
  index l = 0;
#pragma GCC unroll 1
  for (; l + ways <= k; l += ways)
#pragma GCC unroll 8
    for (index w = 0; w < ways; ++w) add_multiple<T, Packets>(x + (l + w) * stride, b + (l + w) * ldb, last, sum[w]);
  for (; l < k; ++l) add_multiple<T, Packets>(x + l * stride, b + l * ldb, last, sum[0]);
#pragma GCC unroll 8
  for (index half = ways / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (index w = 0; w < half; ++w)
#pragma GCC unroll 8
      for (index p = 0; p < Packets; ++p) sum[w][p] = packets::padd(sum[w][p], sum[w + half][p]);
#pragma GCC unroll 8
  for (index p = 0; p < Packets; ++p) {
    const index count = p + 1 < Packets ? lanes : last;
    T* const to = y + p * lanes;
    store_some(to, accumulate ? packets::padd(load_some<packet>(to, count), sum[0][p]) : sum[0][p], count);
  }
}

/// y[n] = x[k] B[k, n], where the rows of B are contiguous: a few rows at a time.
template <class T, class X, class B>
[[gnu::noinline]] void row_times_matrix_by_rows(index n, index k, const X* x, index stride, matrix_ref<B> b, T* y, bool accumulate) {
  constexpr index rows = costs::rows_at_once, max_columns = costs::sums_of_rows_bytes / sizeof(T);
  const index part = part_of_sum<T>(k);
  alignas(64) T sums[max_columns];  // of one part
  for (index j = 0; j < n; j += max_columns)
    for (index begin = 0; begin < k; begin += part) {
      const index columns = n - j < max_columns ? n - j : max_columns, end = k - begin < part ? k : begin + part;
      const bool adds = accumulate || begin > 0;
      T* const to = adds ? sums : y + j;
      const auto from = [&](index l) { return b.data + l * b.row_stride + j; };
      index l = begin;
      for (; l + rows <= end; l += rows) few_rows_times_matrix<T, rows>(columns, x + l * stride, stride, from(l), b.row_stride, to, l > begin, rows * b.row_stride);
      for (; l < end; ++l) few_rows_times_matrix<T, 1>(columns, x + l * stride, stride, from(l), b.row_stride, to, l > begin, 0);
      for (index c = 0; adds && c < columns; ++c) y[j + c] += sums[c];
    }
}
/// The same with several sums for each element.
template <class T, class X, class B>
[[gnu::noinline]] void row_times_matrix_in_narrow_columns(index n, index k, const X* x, index stride, matrix_ref<B> b, T* y, bool accumulate) {
  constexpr index lanes = max_lanes<T>;
  const index part = part_of_sum<T>(k);
  for (index l = 0; l < k; l += part) {
    const index steps = k - l < part ? k - l : part;
    for (index j = 0; j < n; j += 4 * lanes) {
      const index columns = n - j < 4 * lanes ? n - j : 4 * lanes, packets = ceil_div(columns, lanes);
      const auto sums = packets == 1 ? narrow_row_times_matrix<T, 1, X, B> : packets == 2 ? narrow_row_times_matrix<T, 2, X, B> : packets == 3 ? narrow_row_times_matrix<T, 3, X, B> : narrow_row_times_matrix<T, 4, X, B>;
      sums(steps, x + l * stride, stride, b.data + l * b.row_stride + j, b.row_stride, y + j, columns - (packets - 1) * lanes, accumulate || l > 0);
    }
  }
}
/// The same in columns of packets, whose sums stay in registers.
template <class T, class X, class B>
[[gnu::noinline]] void row_times_matrix_in_columns(index n, index k, const X* x, index stride, matrix_ref<B> b, T* y, bool accumulate) {
  constexpr index lanes = max_lanes<T>;
  const index part = part_of_sum<T>(k);
  for (index l = 0; l < k; l += part) {
    const index steps = k - l < part ? k - l : part;
    const sums_in_c how = accumulate || l > 0 ? sums_in_c::add : sums_in_c::are;
    const matrix_ref<X> a{x + l * stride, 0, stride};
    const B* const from = b.data + l * b.row_stride;
    index j = 0;
    for (; j + 8 * lanes <= n; j += 8 * lanes) tile<T, 1, 8>(steps, a, from + j, b.row_stride, y + j, 0, lanes, how);
    if (j + 4 * lanes <= n) tile<T, 1, 4>(steps, a, from + j, b.row_stride, y + j, 0, lanes, how), j += 4 * lanes;
    for (; j < n; j += lanes) tile<T, 1, 1, true>(steps, a, from + j, b.row_stride, y + j, 0, n - j < lanes ? n - j : lanes, how);
  }
}

/// y[n] = x[k] B[k, n], where the columns of B are contiguous. A strided x is copied piece by piece.
template <class T, class X, class B>
void row_times_transposed(index n, index k, const X* x, index x_stride, matrix_ref<B> b, T* y, index y_stride, bool accumulate, index whole) {
  if (x_stride != 1 && k > 1) {
    constexpr index most = costs::copied_vector;
    X piece[most];
    for (index l = 0; l < k; l += most, accumulate = true) {
      const index length = k - l < most ? k - l : most;
      for (index i = 0; i < length; ++i) piece[i] = x[(l + i) * x_stride];
      row_times_transposed<T, X, B>(n, length, piece, 1, {b.data + l, 1, b.col_stride}, y, y_stride, accumulate, whole);
    }
    return;
  }
  const auto four = choose_dots(k, whole, sizeof(B)) == product_kernel::dots_one_by_one ? dots<T, true, X, B> : dots<T, false, X, B>;
  for (index j = 0; j < n; j += 4) four(n - j < 4 ? n - j : 4, k, x, b.data + j * b.col_stride, b.col_stride, y + j * y_stride, y_stride, accumulate);
}

template <class T, class A, class B>
[[gnu::noinline]] void matmul_loops(index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, T* c, index ldc, bool accumulate) {
  constexpr index part = costs::scalar_part;
  for (index i = 0; i < m; ++i)
    for (index j = 0; j < n; ++j) {
      T& element = c[i * ldc + j];
      if (k == 0 && !accumulate) element = T(0);
      for (index begin = 0, end; begin < k; begin = end) {
        end = k - begin < part ? k : begin + part;
        T sum = T(0);
        for (index l = begin; l < end; ++l) sum = math::fma(static_cast<T>(a.data[i * a.row_stride + l * a.col_stride]), static_cast<T>(b.data[l * b.row_stride + j * b.col_stride]), sum);
        element = accumulate || begin > 0 ? math::add(element, sum) : sum;
      }
    }
}

/// y[n] = x[k] B[k, n], by the kernel that choose() names, which is one of the set Kernels.
template <class T, product_kernels Kernels, class X, class B>
TENURE_INLINE void row_times(product_kernel kernel, index n, index k, const X* x, index x_stride, matrix_ref<B> b, T* y, index y_stride, bool accumulate, index whole) {
  if constexpr (has(Kernels, product_kernel::dots) || has(Kernels, product_kernel::dots_one_by_one))
    if (kernel == product_kernel::dots || kernel == product_kernel::dots_one_by_one) return row_times_transposed<T>(n, k, x, x_stride, b, y, y_stride, accumulate, whole);
  if constexpr (has(Kernels, product_kernel::rows))
    if (kernel == product_kernel::rows) return row_times_matrix_by_rows<T>(n, k, x, x_stride, b, y, accumulate);
  if constexpr (has(Kernels, product_kernel::narrow_columns))
    if (kernel == product_kernel::narrow_columns) return row_times_matrix_in_narrow_columns<T>(n, k, x, x_stride, b, y, accumulate);
  if constexpr (has(Kernels, product_kernel::columns)) row_times_matrix_in_columns<T>(n, k, x, x_stride, b, y, accumulate);
}
/// The product with a single row or column. A column is computed as a row of the transposed product.
template <class T, product_kernels Kernels, class A, class B>
void matmul_of_vector(product_choice choice, index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, T* c, index ldc, bool accumulate, index whole) {
  if (choice.swaps) return row_times<T, Kernels>(choice.kernel, m, k, b.data, b.row_stride, matrix_ref<A>{a.data, a.col_stride, a.row_stride}, c, ldc, accumulate, whole);
  row_times<T, Kernels>(choice.kernel, n, k, a.data, a.col_stride, b, c, 1, accumulate, whole);
}

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
