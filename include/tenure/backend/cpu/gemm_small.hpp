// SPDX-License-Identifier: BSL-1.0
// Products of small static matrices, with C in registers. A column block with few packet operations is unrolled completely. A larger
// block is a loop over k. There is no packing and no branch.
// Law: an element of C is a[i,0] b[0,j] + a[i,1] b[1,j] + ... in ascending k. Each step is one fused multiply-add if the target has this
// instruction. Columns of the remainder may be computed twice, with the same value.
// Cost: ceil(N / lanes) M K multiply-adds. Operands in local arrays can stay in registers from one call to the next.
#pragma once

#include "../../core/config.hpp"
#include "costs.hpp"
#include "lanes.hpp"

#include <cstdint>
#include <type_traits>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// Reads a block of B with `Lanes` rows and `Lanes` columns. Columns of B are contiguous, so the block is loaded and transposed.
template <class T, index Lanes, class B = T>
TENURE_INLINE void load_transposed(const B* b, index column_stride, packet_of<T, Lanes>* rows) {
  using packet = packet_of<T, Lanes>;
  packets::PacketBlock<packet, Lanes> block;
#pragma GCC unroll 16
  for (index s = 0; s < Lanes; ++s) block.packet[s] = load_lanes<packet>(b + s * column_stride);
  packets::ptranspose(block);
#pragma GCC unroll 16
  for (index s = 0; s < Lanes; ++s) rows[s] = block.packet[s];
}

/// sum[Rows, Packets] = or += A[Rows, k .. k+Step] B[k .. k+Step, ...].
template <class T, bool First, index Rows, index Packets, index Lanes, index Step, index ARow, index ACol, index BRow, index BCol>
TENURE_INLINE void small_step(const T* a, const T* b, packet_of<T, Lanes> (&sum)[Rows][Packets]) {
  using packet = packet_of<T, Lanes>;
  packet right[Packets][Step];
#pragma GCC unroll 16
  for (index p = 0; p < Packets; ++p) {
    const T* from = b + p * Lanes * BCol;
    if constexpr (Step > 1) load_transposed<T, Lanes>(from, BCol, right[p]);
    else if constexpr (BCol == 1 || Lanes == 1) right[p][0] = packets::ploadu<packet>(from);
    else right[p][0] = packets::pgather<T, packet>(from, BCol);
  }
#pragma GCC unroll 16
  for (index s = 0; s < Step; ++s)
#pragma GCC unroll 32
    for (index r = 0; r < Rows; ++r) {
      const packet left = packets::pset1<packet>(a[r * ARow + s * ACol]);
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p)
        sum[r][p] = First && s == 0 ? packets::pmul(left, right[p][s]) : packets::pmadd(left, right[p][s], sum[r][p]);
    }
}

/// C[Rows, Packets*Lanes] = A[Rows, K] B[K, ...], with accumulators in registers.
template <class T, bool WrittenOut, index Rows, index Packets, index Lanes, index K, index ARow, index ACol, index BRow, index BCol, index LdC>
TENURE_INLINE void small_tile(const T* a, const T* b, T* c) {
  constexpr index step = Lanes > 1 && BCol != 1 && BRow == 1 && K >= Lanes ? Lanes : 1, whole = K / step * step;
  packet_of<T, Lanes> sum[Rows][Packets];
  small_step<T, true, Rows, Packets, Lanes, step, ARow, ACol, BRow, BCol>(a, b, sum);
  if constexpr (WrittenOut) {
#pragma GCC unroll 64
    for (index k = step; k < whole; k += step) small_step<T, false, Rows, Packets, Lanes, step, ARow, ACol, BRow, BCol>(a + k * ACol, b + k * BRow, sum);
  } else {
#pragma GCC unroll 2
    for (index k = step; k < whole; k += step) small_step<T, false, Rows, Packets, Lanes, step, ARow, ACol, BRow, BCol>(a + k * ACol, b + k * BRow, sum);
  }
#pragma GCC unroll 16
  for (index k = whole; k < K; ++k) small_step<T, false, Rows, Packets, Lanes, 1, ARow, ACol, BRow, BCol>(a + k * ACol, b + k * BRow, sum);
#pragma GCC unroll 32
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) packets::pstoreu(c + r * LdC + p * Lanes, sum[r][p]);
}

/// Computes the columns J .. N, with the widest packets first.
template <class T, index J, index M, index N, index K, index ARow, index ACol, index BRow, index BCol, index LdC>
TENURE_INLINE void small_columns(const T* a, const T* b, T* c) {
  constexpr index limit = BCol == 1 ? max_lanes<T> : 32 / sizeof(T);  // wider gathers are slow, and wider square blocks are rare
  constexpr bool overlap = N - J < min_lanes<T> && N - J > 1 && N >= min_lanes<T>;
  constexpr index start = overlap ? N - min_lanes<T> : J, columns = N - start;
  // A row alone has more packets, because each sum waits four cycles for its next term.
  constexpr index max_packets = BCol != 1 ? 1 : M == 1 ? 8 : M == 2 ? 4 : many_registers ? 3 : 2;
  constexpr index lanes = widest<T>(columns, limit), count = columns / lanes < max_packets ? columns / lanes : max_packets;
  constexpr index max_rows = (many_registers ? 24 : 12) / count > 1 ? (many_registers ? 24 : 12) / count : 1, rows = M < max_rows ? M : max_rows;
  constexpr bool written_out = M * count * K <= costs::unrolled_packets;
  const T* const right = b + start * BCol;
  T* const to = c + start;
  if constexpr (written_out) {
#pragma GCC unroll 16
    for (index i = 0; i + rows <= M; i += rows)
      small_tile<T, true, rows, count, lanes, K, ARow, ACol, BRow, BCol, LdC>(a + i * ARow, right, to + i * LdC);
  } else {
#pragma GCC unroll 1
    for (index i = 0; i + rows <= M; i += rows)
      small_tile<T, false, rows, count, lanes, K, ARow, ACol, BRow, BCol, LdC>(a + i * ARow, right, to + i * LdC);
  }
  constexpr index rest = M % rows, done = M - rest;
  if constexpr (rest != 0) small_tile<T, written_out, rest, count, lanes, K, ARow, ACol, BRow, BCol, LdC>(a + done * ARow, right, to + done * LdC);
  if constexpr (start + count * lanes < N) small_columns<T, start + count * lanes, M, N, K, ARow, ACol, BRow, BCol, LdC>(a, b, c);
}

}  // namespace detail

/// C[M, N] = A[M, K] B[K, N]: element (i, j) of A at a[i * ARowStride + j * AColStride], of C at c[i * LdC + j].
/// C overlaps neither A nor B.
template <class T, std::int64_t M, std::int64_t N, std::int64_t K, std::int64_t ARowStride, std::int64_t AColStride, std::int64_t BRowStride,
          std::int64_t BColStride, std::int64_t LdC>
TENURE_INLINE void matmul_small(const T* a, const T* b, T* c) {
  static_assert(M >= 0 && N >= 0 && K >= 0 && LdC >= N);
  if constexpr (M == 0 || N == 0) {
    return;
  } else if constexpr (K == 0) {
    for (std::int64_t i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < N; ++j) c[i * LdC + j] = T(0);
  } else if constexpr (N == 1 && M > 1 && LdC == 1) {
    // A product with one column is computed as its transpose, b^T A^T, so that packets go along m.
    detail::small_columns<T, 0, 1, M, K, BColStride, BRowStride, AColStride, ARowStride, M>(b, a, c);
  } else {
    detail::small_columns<T, 0, M, N, K, ARowStride, AColStride, BRowStride, BColStride, LdC>(a, b, c);
  }
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
