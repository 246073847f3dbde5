// SPDX-License-Identifier: BSL-1.0
// The register tiles of matrix products: a tile is a few rows and packets of C, for all k. A panel is a column of tiles.
#pragma once

#include "gemm_small.hpp"

#include "../../core/config.hpp"

#include <cstdint>
#include <type_traits>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// A read-only matrix. Element (i, j) is data[i * row_stride + j * col_stride]. Strides count elements. In a product of lanes T its elements are T or a
/// narrower type in memory (math/packet/narrow.hpp), which loads widen.
template <class T>
struct matrix_ref {
  const T* data;
  std::int64_t row_stride, col_stride;
};

namespace detail {

constexpr index ceil_div(index a, index b) { return (a + b - 1) / b; }
/// The first line of the cache in `memory`.
template <class T>
T* aligned_to_line(void* memory) { return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(memory) + 63) & ~std::uintptr_t(63)); }

/// The shape of the register tile. Registers hold rows x (packets * lanes) elements of C, one row of B, and one broadcast element of A.
template <class T>
struct tile_shape {
  static constexpr index lanes = max_lanes<T>;
  static constexpr index rows = costs::tile_rows[many_registers];
  static constexpr index packets_wide = costs::tile_packets;
  static constexpr index panel_width = lanes * packets_wide;
  static constexpr index depth = costs::panel_bytes / (panel_width * static_cast<index>(sizeof(T)));  // rows of a panel
  static constexpr index block = costs::rows_bytes / (depth * static_cast<index>(sizeof(T)));         // rows of A for all panels
  static constexpr T zeros[8 * lanes] = {};  // the start of sums; it is read like C, so that C += A B needs no branch
};

/// Whether a packet is a whole cache line, and a non-temporal store exists for it.
template <class T>
inline constexpr bool may_stream = [] {
  if constexpr (has_packets<T>) return sizeof(packet_of<T, max_lanes<T>>) == 64 && math::can_stream<packet_of<T, max_lanes<T>>>;
  else return false;
}();

/// How the sums of a tile go to C. are: the sums are the elements of C. go_on: the sums start with the elements of C. add: the sums are added to C.
enum class sums_in_c { are, go_on, add };

/// The length of a partial sum over k. A longer sum is the sum of its parts: one running sum of three million positive float32 is wrong by 1e-3.
template <class T>
constexpr index part_of_sum(index k) { return ceil_div(k, ceil_div(k, tile_shape<T>::depth)); }

/// C[Rows, Packets*lanes] = or += A[Rows, k] B[k, ...]. The last packet of C has `last` columns. With Ragged, only `last` columns of the
/// last packet of B are read. With Streams, C has whole packets and is stored non-temporally.
template <class T, index Rows, index Packets, bool Ragged = false, bool Streams = false, class A, class B>
TENURE_INLINE void tile(index k, matrix_ref<A> a, const B* b, index ldb, T* c, index ldc, index last, sums_in_c how) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  const T* from = how == sums_in_c::go_on ? c : tile_shape<T>::zeros;
  const index step = how == sums_in_c::go_on ? ldc : 0;
  packet sum[Rows][Packets];
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r, from += step)
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p)
      sum[r][p] = p + 1 == Packets ? load_some<packet>(from + p * lanes, last) : packets::ploadu<packet>(from + p * lanes);
  const A* left = a.data;
#pragma GCC unroll 1  // clang would unroll the loop: more compile time, the same speed
  for (index l = 0; l < k; ++l, left += a.col_stride, b += ldb) {
    packet row[Packets];
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) {
      row[p] = Ragged && p + 1 == Packets ? load_some<packet>(b + p * lanes, last) : load_lanes<packet>(b + p * lanes);
      if constexpr (Rows > 1) math::stay_in_register(row[p]);
    }
#pragma GCC unroll 16
    for (index r = 0; r < Rows; ++r) {
      const packet x = broadcast_lane<packet>(left + r * a.row_stride);
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p) sum[r][p] = multiply_add<A, B>(x, row[p], sum[r][p]);
    }
  }
  if (how == sums_in_c::add) {
    from = c;
#pragma GCC unroll 16
    for (index r = 0; r < Rows; ++r, from += ldc)
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p)
        sum[r][p] = packets::padd(p + 1 == Packets ? load_some<packet>(from + p * lanes, last) : packets::ploadu<packet>(from + p * lanes), sum[r][p]);
  }
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r, c += ldc) {
    if constexpr (Streams) {
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p) math::stream<packet>(c + p * lanes, sum[r][p]);
    } else {
#pragma GCC unroll 16
      for (index p = 0; p + 1 < Packets; ++p) packets::pstoreu(c + p * lanes, sum[r][p]);
      store_some(c + (Packets - 1) * lanes, sum[r][Packets - 1], last);
    }
  }
}

/// Computes all m rows of one column panel. Aligned, because a product of one step took 1.36 times as long where the function began in the middle of a line.
template <class T, index Packets, bool Ragged = false, bool Streams = false, class A, class B>
[[gnu::aligned(64)]] void panel(index m, index k, matrix_ref<A> a, const B* b, index ldb, T* c, index ldc, index last, sums_in_c how) {
  constexpr index rows = tile_shape<T>::rows;
  index i = 0;
  const auto at = [&] { return matrix_ref<A>{a.data + i * a.row_stride, a.row_stride, a.col_stride}; };
  for (; i + rows <= m; i += rows) tile<T, rows, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, how);
  if constexpr (rows > 4)
    if (i + 4 <= m) tile<T, 4, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, how), i += 4;
  if (i + 2 <= m) tile<T, 2, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, how), i += 2;
  if (i < m) tile<T, 1, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, how);
}

/// A narrow product. If Rows is not 0, it is m, and the product is one tile.
template <class T, index Rows, class A, class B>
TENURE_INLINE void narrow_product(index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, T* c, index ldc, bool accumulate) {
  const index part = part_of_sum<T>(k);
  for (index l = 0; l < k; l += part, a.data += part * a.col_stride, b.data += part * b.row_stride) {
    const index steps = k - l < part ? k - l : part;
    const sums_in_c how = accumulate || l > 0 ? sums_in_c::add : sums_in_c::are;
    if constexpr (Rows > 0) tile<T, Rows, 1, true>(steps, a, b.data, b.row_stride, c, ldc, n, how);
    else panel<T, 1, true>(m, steps, a, b.data, b.row_stride, c, ldc, n, how);
  }
}
/// Many narrow products: A and B advance by a step from product to product, and C is dense.
template <class T, index Rows, class A, class B>
void narrow_products(index count, index m, index n, index k, matrix_ref<A> a, index a_step, matrix_ref<B> b, index b_step, T* c) {
  for (index i = 0; i < count; ++i, a.data += a_step, b.data += b_step, c += m * n) narrow_product<T, Rows>(m, n, k, a, b, c, n, false);
}

/// The function for a panel of `wide` packets.
template <class T, bool Streams = false, class A = T, class B = T>
constexpr auto panel_of(index wide) {
  return wide == 1 ? panel<T, 1, false, Streams, A, B> : wide == 2 ? panel<T, 2, false, Streams, A, B> : panel<T, 3, false, Streams, A, B>;
}

/// Packs a panel: to[k, width] = B[k, n], with zeros in the columns n..width.
template <class T, class B = T>
void pack(index k, index n, index width, matrix_ref<B> b, T* to) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  if (b.col_stride == 1) {
    for (index l = 0; l < k; ++l, b.data += b.row_stride, to += width) {
      index j = 0;
      for (; j + lanes <= n; j += lanes) packets::pstoreu(to + j, load_lanes<packet>(b.data + j));
      if (j < n) packets::pstoreu(to + j, load_some<packet>(b.data + j, n - j)), j += lanes;
    }
    return;
  }
  constexpr index side = widest<T>(32 / sizeof(T), 32 / sizeof(T)), line = 64 / sizeof(T);
  using square = packet_of<T, side>;
  const auto element = [&](index l, index j) { return b.data[l * b.row_stride + j * b.col_stride]; };
  for (index first = 0; first < k; first += line) {  // a cache line of every column at a time
    const index end = first + line < k ? first + line : k;
    index j = 0;
    for (; j + side <= n; j += side) {
      index l = first;
      if (b.row_stride == 1)
        for (; l + side <= end; l += side) {
          square rows[side];
          load_transposed<T, side>(b.data + l + j * b.col_stride, b.col_stride, rows);
          for (index s = 0; s < side; ++s) packets::pstoreu(to + (l + s) * width + j, rows[s]);
        }
      for (; l < end; ++l)
        for (index s = 0; s < side; ++s) to[l * width + j + s] = static_cast<T>(element(l, j + s));
    }
    for (; j < width; ++j)
      for (index l = first; l < end; ++l) to[l * width + j] = j < n ? static_cast<T>(element(l, j)) : T(0);
  }
}

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
