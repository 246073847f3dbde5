// SPDX-License-Identifier: BSL-1.0
// Dot products of contiguous rows: of one row with a few, and the products A B of few rows A, where the columns of B are contiguous.
// Law: an element of a product of few rows is the sum of one running sum for each lane, added half by half, or the sum of such parts. This depends only on k.
// Cost: 2mnk flops at nine tenths of the FMA peak, if the rows of A fill tiles. B is read once, in the order of memory, and nothing is packed.
#pragma once

#include "choose.hpp"

#include <cstring>
#include <utility>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {
namespace detail {

/// The sum of all lanes, added in halves through memory. Eigen's 512-bit predux is not used, because g++ 12 warns in it
/// (gcc.gnu.org/PR105593).
template <class T, index Lanes>
TENURE_INLINE T sum_lanes(const packet_of<T, Lanes>& value) {
  if constexpr (Lanes / 2 < min_lanes<T>) {
    return packets::predux(value);
  } else {
    using half = packet_of<T, Lanes / 2>;
    T memory[Lanes];
    packets::pstoreu(memory, value);
    return sum_lanes<T, Lanes / 2>(packets::padd(packets::ploadu<half>(memory), packets::ploadu<half>(memory + Lanes / 2)));
  }
}

#if !TENURE_ONE_LANE && __has_builtin(__builtin_shufflevector)
/// Where the halves of groups of lanes are, in one vector or in two: all groups of the first and then those of the second, or one of each in turn.
template <index Lanes, index Group, bool InTurn>
struct halves {
  template <index High>
  static constexpr index lane(index i) {
    constexpr index half = Group / 2, groups = Lanes / Group;
    const index at = i / half, from = InTurn ? at % 2 : at / groups, group = InTurn ? at / 2 : at % groups;
    return from * Lanes + group * Group + High * half + i % half;
  }
};
template <class Halves, class V, index... I>
TENURE_INLINE auto add_halves(V x, V y, std::integer_sequence<index, I...>) {
  return __builtin_shufflevector(x, y, Halves::template lane<0>(I)...) + __builtin_shufflevector(x, y, Halves::template lane<1>(I)...);
}
/// Four sums, each in a group of lanes: halves are added until a group is one lane.
template <class T, index Lanes, class V>
TENURE_INLINE auto sums_of_groups(V x) {
  if constexpr (Lanes == 4) return x;
  else return sums_of_groups<T, Lanes / 2>(add_halves<halves<Lanes, Lanes / 4, false>>(x, x, std::make_integer_sequence<index, Lanes / 2>{}));
}
/// The sums of four packets, each in a group of lanes. The order of groups is the one that takes an instruction for each half.
template <class T, index Lanes>
TENURE_INLINE auto groups_of_sums(const packet_of<T, Lanes> (&sum)[4]) {
  constexpr bool in_turn = Lanes * sizeof(T) == 32;
  constexpr std::make_integer_sequence<index, Lanes> all{};
  using first = halves<Lanes, Lanes, false>;
  const auto x = add_halves<first>(sum[0], sum[in_turn ? 2 : 1], all), y = add_halves<first>(sum[in_turn ? 1 : 2], sum[3], all);
  return add_halves<halves<Lanes, Lanes / 2, in_turn>>(x, y, all);
}
#endif
/// Writes the sums of the lanes of four packets, which are added in halves.
template <class T, index Lanes>
TENURE_INLINE void store_sums_of_lanes(const packet_of<T, Lanes> (&sum)[4], T* to) {
#if !TENURE_ONE_LANE && __has_builtin(__builtin_shufflevector)
  if constexpr (Lanes >= 4) {
    const auto sums = sums_of_groups<T, Lanes>(groups_of_sums<T, Lanes>(sum));
    std::memcpy(to, &sums, 4 * sizeof(T));
  } else
#endif
#pragma GCC unroll 8
    for (index r = 0; r < 4; ++r) to[r] = sum_lanes<T, Lanes>(sum[r]);
}
/// The same for some rows. Four rows of 16 lanes share the last two halves, which takes 34 shuffles in place of 44.
template <class T, index Lanes, index Rows>
TENURE_INLINE void store_sums_of_rows(const packet_of<T, Lanes> (&sum)[Rows][4], T* const (&to)[Rows]) {
#if !TENURE_ONE_LANE && __has_builtin(__builtin_shufflevector)
  if constexpr (Lanes == 16 && Rows == 4) {
    constexpr std::make_integer_sequence<index, Lanes> all{};
    const auto pair = [&](index r) __attribute__((always_inline)) {
      return add_halves<halves<Lanes, 4, true>>(groups_of_sums<T, Lanes>(sum[r]), groups_of_sums<T, Lanes>(sum[r + 2]), all);
    };
    const auto sums = add_halves<halves<Lanes, 2, true>>(pair(0), pair(1), all);  // four rows of each column
    const auto store = [&]<index R>(std::integral_constant<index, R>) __attribute__((always_inline)) {
      const auto row = __builtin_shufflevector(sums, sums, R, R + 4, R + 8, R + 12);
      std::memcpy(to[R], &row, 4 * sizeof(T));
    };
    store(std::integral_constant<index, 0>{}), store(std::integral_constant<index, 1>{}), store(std::integral_constant<index, 2>{}), store(std::integral_constant<index, 3>{});
  } else
#endif
#pragma GCC unroll 8
    for (index r = 0; r < Rows; ++r) store_sums_of_lanes<T, Lanes>(sum[r], to[r]);
}

/// The first n elements of a row that no plain load reads. A processor may prefetch only what plain loads read: where masked loads
/// alone read 64 MB in rows of 3 to 7 numbers, Zen 5 takes 8 times as long without this prefetch.
template <class Packet, class B>
TENURE_INLINE Packet load_of_stream(const B* row, index n) {
  __builtin_prefetch(row + costs::prefetched_bytes / sizeof(B));
  return load_some<Packet>(row, n);
}

/// sum[r] = a[r] x for Rows rows, with two partial sums for each lane.
template <class T, index Rows, class X, class A>
TENURE_INLINE void lanes_of_dots(index k, const X* x, const A* a, const index (&offset)[Rows], packet_of<T, max_lanes<T>> (&sum)[Rows]) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  packet part[Rows][2];
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) part[r][0] = part[r][1] = packets::pset1<packet>(T(0));
#pragma GCC unroll 1
  for (; k >= 2 * lanes; k -= 2 * lanes, x += 2 * lanes, a += 2 * lanes)
#pragma GCC unroll 8
    for (index u = 0; u < 2; ++u) {
      const packet right = load_lanes<packet>(x + u * lanes);
#pragma GCC unroll 8
      for (index r = 0; r < Rows; ++r) part[r][u] = multiply_add<A, X>(load_lanes<packet>(a + offset[r] + u * lanes), right, part[r][u]);
    }
  if (k >= lanes) {
    const packet right = load_lanes<packet>(x);
#pragma GCC unroll 8
    for (index r = 0; r < Rows; ++r) part[r][0] = multiply_add<A, X>(load_lanes<packet>(a + offset[r]), right, part[r][0]);
    k -= lanes, x += lanes, a += lanes;
  }
  if (k > 0) {
    const packet right = load_some<packet>(x, k);
#pragma GCC unroll 8
    for (index r = 0; r < Rows; ++r) part[r][0] = multiply_add<A, X>(load_of_stream<packet>(a + offset[r], k), right, part[r][0]);
  }
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) sum[r] = packets::padd(part[r][0], part[r][1]);
}

/// y[r] = or += sum over k of a[r * lda + k] * x[k], for 1 to 4 rows. OneByOne reads one row after the other, and rows are at most a part long.
/// Otherwise four rows are read at a time; the last row stands in for missing rows.
template <class T, bool OneByOne, class X, class A>
void dots(index rows, index k, const X* x, const A* a, index lda, T* y, index stride, bool accumulate) {
  constexpr index lanes = max_lanes<T>, part = costs::elements_of_part;
  packet_of<T, lanes> sum[4] = {};
  if constexpr (OneByOne) {
    for (index r = 0; r < rows; ++r) {
      packet_of<T, lanes> one[1];
      lanes_of_dots<T, 1>(k, x, a + r * lda, {0}, one);
      sum[r] = one[0];
    }
  } else {
    const index offset[4] = {0, rows > 1 ? lda : 0, rows > 2 ? 2 * lda : (rows - 1) * lda, (rows - 1) * lda};
    lanes_of_dots<T, 4>(k < part ? k : part, x, a, offset, sum);
    for (index l = part; l < k; l += part) {
      packet_of<T, lanes> of_part[4];
      lanes_of_dots<T, 4>(k - l < part ? k - l : part, x + l, a + l, offset, of_part);
#pragma GCC unroll 8
      for (index r = 0; r < 4; ++r) sum[r] = packets::padd(sum[r], of_part[r]);
    }
  }
  T value[4];
  store_sums_of_lanes<T, lanes>(sum, value);
#pragma GCC unroll 8  // a loop of `rows` iterations would become a call of memcpy for four numbers
  for (index r = 0; r < 4; ++r)
    if (r < rows) y[r * stride] = accumulate ? y[r * stride] + value[r] : value[r];
}

/// C[Rows, 4] = or += A[Rows, k] B[k, 4], where rows of A and columns of B are contiguous. The last of `columns` columns stands in for missing ones.
template <class T, index Rows, class A, class B>
TENURE_INLINE void tile_of_dots(index k, const A* a, index lda, const B* b, index ldb, T* c, index ldc, index columns, bool accumulate) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  const index offset[4] = {0, columns > 1 ? ldb : 0, columns > 2 ? 2 * ldb : (columns - 1) * ldb, (columns - 1) * ldb};
  packet sum[Rows][4];
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (index j = 0; j < 4; ++j) sum[r][j] = packets::pset1<packet>(T(0));
  const auto add = [&](auto load) __attribute__((always_inline)) {
    packet right[4];
#pragma GCC unroll 8
    for (index j = 0; j < 4; ++j) {
      right[j] = load(b + offset[j]);
      math::stay_in_register(right[j]);
    }
#pragma GCC unroll 8
    for (index r = 0; r < Rows; ++r) {
      packet left = load(a + r * lda);
      math::stay_in_register(left);
#pragma GCC unroll 8
      for (index j = 0; j < 4; ++j) sum[r][j] = multiply_add<A, B>(left, right[j], sum[r][j]);
    }
  };
#pragma GCC unroll 1
  for (; k >= lanes; k -= lanes, a += lanes, b += lanes) add([](const auto* from) __attribute__((always_inline)) { return load_lanes<packet>(from); });
  if (k > 0) add([k](const auto* from) __attribute__((always_inline)) { return load_some<packet>(from, k); });
  T value[Rows][4], *to[Rows];
  const bool are_the_result = columns == 4 && !accumulate;
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) to[r] = are_the_result ? c + r * ldc : value[r];
  store_sums_of_rows<T, lanes, Rows>(sum, to);
  if (are_the_result) return;
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (index j = 0; j < 4; ++j)
      if (j < columns) c[r * ldc + j] = accumulate ? c[r * ldc + j] + value[r][j] : value[r][j];
}

/// C[Rows, n] = or += A[Rows, k] B[k, n], four columns at a time.
template <class T, index Rows, class A, class B>
void panel_of_dots(index n, index k, const A* a, index lda, const B* b, index ldb, T* c, index ldc, bool accumulate) {
#pragma GCC unroll 1
  for (index j = 0; j < n; j += 4) tile_of_dots<T, Rows>(k, a, lda, b + j * ldb, ldb, c + j, ldc, n - j < 4 ? n - j : 4, accumulate);
}

/// C = or += A B for few rows, where rows of A and columns of B are contiguous: in parts of k, and for some columns of B that stay in the L1 cache.
/// With Alone there may be a single row.
template <class T, class A, class B, bool Alone = false>
[[gnu::noinline]] void matmul_of_few_rows(index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, T* c, index ldc, bool accumulate) {
  constexpr index part = costs::dots_part_bytes / sizeof(T), rows = costs::rows_of_dots[many_registers];
  static_assert(rows == 2 || rows == 4);
  const index wide = costs::dots_columns_bytes / static_cast<index>(sizeof(T)) / (k < part ? k : part) / 4 * 4;
  for (index first = 0; first < n; first += wide)
    for (index l = 0; l < k; l += part)
      for (index i = 0, height; i < m; i += height) {
        height = ceil_div(m - i, ceil_div(m - i, rows));
        auto panel = height == rows ? panel_of_dots<T, rows, A, B> : height == rows - 1 ? panel_of_dots<T, rows - 1, A, B> : panel_of_dots<T, rows / 2, A, B>;
        if constexpr (Alone && rows > 2)
          if (height == 1) panel = panel_of_dots<T, 1, A, B>;
        panel(n - first < wide ? n - first : wide, k - l < part ? k - l : part, a.data + i * a.row_stride + l, a.row_stride, b.data + l + first * b.col_stride, b.col_stride,
              c + i * ldc + first, ldc, accumulate || l > 0);
      }
}

/// y[N] = x[K] B[K, N], where x and the columns of B are contiguous: four columns at a time, with x in registers.
template <class T, index N, index K, index BCol>
TENURE_INLINE void small_row_of_dots(const T* x, const T* b, T* y) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>, packets_of_row = ceil_div(K, lanes), last = K - (packets_of_row - 1) * lanes;
  const auto load = [](const T* from, index p) __attribute__((always_inline)) {
    return p + 1 < packets_of_row || last == lanes ? packets::ploadu<packet>(from + p * lanes) : load_some<packet>(from + p * lanes, last);
  };
  packet row[packets_of_row];
#pragma GCC unroll 16
  for (index p = 0; p < packets_of_row; ++p) row[p] = load(x, p);
  constexpr index whole = N / 4 * 4, shared = lanes == 16 && many_registers && packets_of_row <= 4 ? N / 16 * 16 : 0;
  const auto sums_of_four = [&](const T* from, packet (&sum)[4]) __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (index p = 0; p < packets_of_row; ++p)
#pragma GCC unroll 4
      for (index j = 0; j < 4; ++j) sum[j] = p == 0 ? packets::pmul(load(from + j * BCol, p), row[p]) : packets::pmadd(load(from + j * BCol, p), row[p], sum[j]);
  };
  const auto four_columns = [&](const T* from, T* to) __attribute__((always_inline)) {
    packet sum[4];
    sums_of_four(from, sum);
    store_sums_of_lanes<T, lanes>(sum, to);
  };
#pragma GCC unroll 1
  for (index j = 0; j < shared; j += 16) {  // four times four columns, as four rows
    packet sum[4][4];
#pragma GCC unroll 4
    for (index r = 0; r < 4; ++r) sums_of_four(b + (j + 4 * r) * BCol, sum[r]);
    store_sums_of_rows<T, lanes, 4>(sum, {y + j, y + j + 4, y + j + 8, y + j + 12});
  }
#pragma GCC unroll 1
  for (index j = shared; j < whole; j += 4) four_columns(b + j * BCol, y + j);
  if constexpr (N >= 4 && N > whole) four_columns(b + (N - 4) * BCol, y + (N - 4));  // some columns twice, with the same value
}

/// Whether a row of n elements is dot products of x[K] with columns, which are contiguous as x is.
template <class T>
constexpr bool is_small_row_of_dots(index n, index k, index x_stride, index b_row_stride) {
  return has_packets<T> && n >= 4 && k * static_cast<index>(sizeof(T)) >= costs::column_of_small_dots && x_stride == 1 && b_row_stride == 1;
}

}  // namespace detail

/// matmul_small, or dot products: as matmul_small, C[M, N] = A[M, K] B[K, N].
template <class T, std::int64_t M, std::int64_t N, std::int64_t K, std::int64_t ARowStride, std::int64_t AColStride, std::int64_t BRowStride,
          std::int64_t BColStride, std::int64_t LdC>
TENURE_INLINE void small_product(const T* a, const T* b, T* c) {
  if constexpr (M == 1 && detail::is_small_row_of_dots<T>(N, K, AColStride, BRowStride)) detail::small_row_of_dots<T, N, K, BColStride>(a, b, c);
  else if constexpr (N == 1 && LdC == 1 && detail::is_small_row_of_dots<T>(M, K, BRowStride, AColStride)) detail::small_row_of_dots<T, M, K, ARowStride>(b, a, c);
  else matmul_small<T, M, N, K, ARowStride, AColStride, BRowStride, BColStride, LdC>(a, b, c);
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
