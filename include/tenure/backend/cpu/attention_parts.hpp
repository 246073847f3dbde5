// SPDX-License-Identifier: BSL-1.0
// Attention and its gradient share these parts: which columns of the weights a row sees, transposed panels, and rows of whole packets.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/matmul.hpp>
#include <tenure/backend/cpu/step.hpp>
#include <tenure/math/math.hpp>
#include <tenure/ops/opaque/attention.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// The extents of one batch: q [m, d], k [n, d], v [n, e].
struct attention_extents {
  index m = 0, n = 0, d = 0, e = 0;
  bool in_place = false;  // few rows of q, and rows of q, k and v that are contiguous: scores are dot products, and nothing is packed but rows of v

  /// The rows of a block.
  constexpr index block_rows() const { return costs::attention_rows[m >= costs::attention_many_queries]; }
};
using ops::seen_rows;
using ops::sight;

constexpr attention_extents attention_extents_of(const opaque_operation& o) {
  const operand_view &q = o.in[0], &k = o.in[1], &v = o.in[2];
  const int last = k.rank - 1;
  const index m = q.extent[last - 1];
  return {m, k.extent[last - 1], k.extent[last], v.extent[last], m <= costs::few_queries && k.extent[last] > 0 && q.stride[last] == 1 && k.stride[last] == 1 && v.stride[last] == 1};
}
/// The rows of k and v that some of these rows of q see.
constexpr seen_rows seen_by_any(const sight& s, index first, index rows) {
  seen_rows all{s.n, 0};
  for (index i = first; i < first + rows; ++i) {
    const seen_rows seen = s.of(i);
    if (seen.first == seen.last) continue;
    all.first = seen.first < all.first ? seen.first : all.first;
    all.last = seen.last > all.last ? seen.last : all.last;
  }
  return all.first < all.last ? all : seen_rows{0, 0};
}

/// Divides one piece of memory into parts, each aligned to a cache line. With a null pointer it only counts the elements.
template <class T>
struct scratch_parts {
  T* memory = nullptr;
  index used = 0;

  constexpr T* next(index elements) {
    T* const part = memory == nullptr ? nullptr : memory + used;
    used += ceil_div(elements, line) * line;
    return part;
  }
  static constexpr index line = 64 / sizeof(T);
};
template <class T>
constexpr index whole_packets(index n) { return ceil_div(n, max_lanes<T>) * max_lanes<T>; }

/// C = A B or C += A B for whole packets of columns. B and C are row-major, and B is small enough for the cache.
template <class T>
void block_product(index m, index n, index k, matrix_ref<T> a, const T* b, index ldb, T* c, index ldc, bool accumulate) {
  constexpr index lanes = max_lanes<T>;
  for (index left = n / lanes, wide = 0; left > 0; left -= wide, b += wide * lanes, c += wide * lanes) {
    wide = ceil_div(left, ceil_div(left, tile_shape<T>::packets_wide));
    panel_of<T>(wide)(m, k, a, b, ldb, c, ldc, lanes, accumulate ? sums_in_c::go_on : sums_in_c::are);
  }
}

/// The columns of a block of scores: whole panels.
template <class T>
inline constexpr index attention_columns = ceil_div(costs::attention_columns, tile_shape<T>::panel_width) * tile_shape<T>::panel_width;

/// The transpose of x [rows, columns] as panels of tile_shape<T>::panel_width columns. The panels are contiguous, so the rows of a panel are near
/// each other.
template <class T>
struct turned {
  static constexpr index width = tile_shape<T>::panel_width;
  static constexpr index elements(index rows, index columns) { return columns * ceil_div(rows, width) * width; }

  static void fill(index rows, index columns, matrix_ref<T> x, T* to) {
    for (index j = 0; j < rows; j += width, to += columns * width)
      pack<T>(columns, rows - j < width ? rows - j : width, width, {x.data + j * x.row_stride, x.col_stride, x.row_stride}, to);
  }
  /// C[m, count] = A x^T, for the rows first ... first + count - 1 of x, rounded up to whole packets. A panel begins at `first`.
  static void product(index m, index columns, matrix_ref<T> a, const T* b, index first, index count, T* c, index ldc) {
    b += first * columns;
    for (index j = 0; j < count; j += width, b += columns * width) {
      const index wide = ceil_div(count - j, max_lanes<T>);
      panel_of<T>(wide)(m, columns, a, b, width, c + j, ldc, max_lanes<T>, sums_in_c::are);
    }
  }
};

/// x as a matrix whose rows are whole packets: x itself, or a copy of x with zeros at the end of each row. Rows that many rows of q read become neighbours.
template <class T>
matrix_ref<T> in_packets(index rows, index columns, matrix_ref<T> x, T* memory, bool are_few = false) {
  if (x.col_stride == 1 && (x.row_stride == columns || are_few) && columns % max_lanes<T> == 0) return x;
  const index width = whole_packets<T>(columns);
  if (rows > 0) pack<T>(rows, columns, width, x, memory);
  return {memory, width, 1};
}

/// to[i] = the combination of all lanes of packet i. There are `count` packets, a multiple of the lanes.
template <class T, class Combine>
void fold_lanes(const T* from, index count, T* to, Combine combine) {
  constexpr index lanes = max_lanes<T>, side = widest<T>(32 / sizeof(T), 32 / sizeof(T));
  using packet = packet_of<T, side>;
  for (index i = 0; i < count; i += side) {
    packet all[side];
    load_transposed<T, side>(from + i * lanes, lanes, all);
    for (index s = 1; s < side; ++s) all[0] = combine(all[0], all[s]);
    for (index half = side; half < lanes; half += side) {
      packet more[side];
      load_transposed<T, side>(from + i * lanes + half, lanes, more);
      for (index s = 0; s < side; ++s) all[0] = combine(all[0], more[s]);
    }
    packets::pstoreu(to + i, all[0]);
  }
}

/// Copies the first `count` numbers of each row. Rows are short: the call of memcpy alone would take as long as the copy.
template <class T>
void copy_columns(const T* from, index from_stride, index rows, index count, T* to, index to_stride) {
  using packet = packet_of<T, max_lanes<T>>;
  for (index r = 0; r < rows; ++r, from += from_stride, to += to_stride) {
    index c = 0;
    for (; c + max_lanes<T> <= count; c += max_lanes<T>) packets::pstoreu(to + c, packets::ploadu<packet>(from + c));
    for (; c < count; ++c) to[c] = from[c];
  }
}

/// Replaces the numbers own ... width - 1 of a row. Stores of single numbers would delay the next loads of packets from this memory.
template <class T>
TENURE_INLINE void hide(T* row, index own, index width, const packet_of<T, max_lanes<T>>& by) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  const packet left = packets::pset1<packet>(static_cast<T>(own % lanes));
  index c = own - own % lanes;
  if (c < width && own % lanes != 0) {
    const auto stays = math::lt(packets::plset<packet>(T(0)), left);
    packets::pstoreu(row + c, math::select(stays, packets::ploadu<packet>(row + c), by));
    c += lanes;
  }
  for (; c < width; c += lanes) packets::pstoreu(row + c, by);
}
/// Replaces the numbers 0 ... first - 1 of a row.
template <class T>
TENURE_INLINE void hide_before(T* row, index first, const packet_of<T, max_lanes<T>>& by) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  index c = 0;
  for (; c + lanes <= first; c += lanes) packets::pstoreu(row + c, by);
  if (c == first) return;
  const auto goes = math::lt(packets::plset<packet>(T(0)), packets::pset1<packet>(static_cast<T>(first - c)));
  packets::pstoreu(row + c, math::select(goes, by, packets::ploadu<packet>(row + c)));
}

/// Whether all numbers are finite, `width` in each row, a multiple of the lanes.
template <class T>
bool are_finite(const T* x, index stride, index rows, index width) {
  using packet = packet_of<T, max_lanes<T>>;
  const packet zero = packets::pset1<packet>(T(0));
  packet sum = zero;
  for (index r = 0; r < rows; ++r, x += stride)
    for (index c = 0; c < width; c += max_lanes<T>) sum = packets::pmadd(packets::ploadu<packet>(x + c), zero, sum);
  return sum_lanes<T, max_lanes<T>>(sum) == T(0);  // an infinity times 0 is NaN
}

/// The weights of a block: of the rows of q from row_of_q on, and the columns from column on. Weights that a row does not see are 0, but 0 times infinity is
/// NaN. So if a hidden number is not finite, each row is multiplied alone, with only the columns that it sees.
template <class T>
struct seen_weights {
  const T* at;
  index stride, rows, width;
  const sight& all;
  index row_of_q, column;

  /// The columns of the block that row r sees. If there are none, both are 0.
  constexpr seen_rows seen(index r) const {
    const seen_rows s = all.of(row_of_q + r);
    const index first = s.first < column ? 0 : s.first - column, last = s.last - column < width ? s.last - column : width;
    return first < last ? seen_rows{first, last} : seen_rows{0, 0};
  }
  /// The columns that all rows see.
  constexpr seen_rows seen_by_all() const {
    seen_rows s{0, width};
    for (index r = 0; r < rows; ++r) {
      const seen_rows own = seen(r);
      s.first = own.first > s.first ? own.first : s.first;
      s.last = own.last < s.last ? own.last : s.last;
    }
    return s.first < s.last ? s : seen_rows{width, width};
  }

  /// C = W B or C += W B, in rows of `wide` numbers. B has `width` rows.
  void product(index wide, const T* b, index ldb, T* c, index ldc, bool accumulate) const {
    const seen_rows common = seen_by_all();
    const bool is_finite = are_finite(b, ldb, common.first, wide) && are_finite(b + common.last * ldb, ldb, width - common.last, wide);
    if (is_finite) return block_product<T>(rows, wide, width, {at, stride, 1}, b, ldb, c, ldc, accumulate);
    for (index r = 0; r < rows; ++r) {
      const seen_rows s = seen(r);
      if (s.first < s.last) block_product<T>(1, wide, s.last - s.first, {at + r * stride + s.first, stride, 1}, b + s.first * ldb, ldb, c + r * ldc, ldc, accumulate);
      else if (!accumulate) std::memset(static_cast<void*>(c + r * ldc), 0, static_cast<std::size_t>(wide) * sizeof(T));
    }
  }
  /// C += W^T B. B has `rows` rows. `is_finite` is true if all its numbers are, or if each row sees all columns.
  void transposed_product(index wide, const T* b, index ldb, T* c, index ldc, bool is_finite) const {
    if (const seen_rows common = seen_by_all(); is_finite || (common.first == 0 && common.last == width))
      return block_product<T>(width, wide, rows, {at, 1, stride}, b, ldb, c, ldc, true);
    for (index r = 0; r < rows; ++r) {
      const seen_rows s = seen(r);
      if (s.first < s.last) block_product<T>(s.last - s.first, wide, 1, {at + r * stride + s.first, 1, stride}, b + r * ldb, ldb, c + s.first * ldc, ldc, true);
    }
  }
};

}  // namespace detail

}  // namespace tenure::cpu_backend
