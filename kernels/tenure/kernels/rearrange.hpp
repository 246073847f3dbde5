// SPDX-License-Identifier: BSL-1.0
// Operations that are not one loop nest: copies between strides, gather, blocks at computed places, index_add, checks of indices, and products that cuBLAS
// does not have. Each is a function of one thread for one element of the result. For repeated indices one thread adds all updates
// of an element, in their order, so that the result is repeatable.
#pragma once

#include <cstdint>

#include <tenure/core/dtype.hpp>
#include <tenure/core/shape.hpp>
#include <tenure/kernels/fused.hpp>

namespace TENURE_NAMESPACE::kernels {

/// An iteration space, and for each of N operands the strides along each axis.
template <int N>
struct walk {
  struct offsets {
    std::int64_t of[N];
  };
  int rank = 0;
  std::int64_t extent[max_rank] = {};
  std::int64_t stride[N][max_rank] = {};

  template <class... Stride>
  constexpr void add(std::int64_t n, Stride... strides) {
    int operand = 0;
    extent[rank] = n;
    ((stride[operand++][rank] = strides), ...);
    ++rank;
  }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
  /// The offsets of element i, counted in row-major order.
  TENURE_KERNEL_INLINE offsets at(std::int64_t i) const {
    offsets o{};
    for (int d = rank - 1; d >= 0; --d) {
      const quotient q = divided(i, extent[d]);
      for (int n = 0; n < N; ++n) o.of[n] += q.rest * stride[n][d];
      i = q.whole;
    }
    return o;
  }
};

/// Writes i to element i: the positions of the iterations of a loop.
struct write_position {
  std::int64_t* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const { to[i] = i; }
};

/// Writes one number.
struct write_number {
  std::int64_t* to;
  std::int64_t number;

  TENURE_KERNEL_INLINE void operator()(std::int64_t) const { *to = number; }
};

/// Copies an element, and converts it if the types differ.
template <class T, class From = T>
struct copy_element {
  walk<2> space;  // from, to
  const From* from;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    to[at.of[1]] = static_cast<T>(from[at.of[0]]);
  }
};

/// Copies one element of a block to its place. The device knows where the block begins.
template <class T>
struct place_element {
  walk<3> space;  // block, result, start
  std::int64_t row_stride;
  index_source start;
  const T* from;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    to[start[at.of[2]] * row_stride + at.of[1]] = from[at.of[0]];
  }
};

/// Computes one element of a gather: reads it from the table row that an index names.
template <class T>
struct gather_element {
  walk<3> space;  // indices, table (without its row), result
  std::int64_t row_stride;
  index_source indices;
  const T* table;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    to[at.of[2]] = table[at.of[1] + indices[at.of[0]] * row_stride];
  }
};

/// The index values (rows) and the position of each index. index_add sorts these pairs before it adds rows.
struct named_rows {
  std::int64_t *row, *position;

  TENURE_KERNEL_INLINE void set(std::int64_t at, std::int64_t r, std::int64_t p) const {
    row[at] = r;
    position[at] = p;
  }
};

struct list_index {
  walk<1> space;
  index_source indices;
  named_rows to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const { to.set(i, indices[space.at(i).of[0]], i); }
};

/// In n ascending rows, the position of the first row that is >= `row`. With After: the first row that is > `row`.
template <bool After>
TENURE_KERNEL_INLINE std::int64_t bound(const std::int64_t* rows, std::int64_t n, std::int64_t row) {
  std::int64_t first = 0;
  while (n > 0) {
    const std::int64_t half = n / 2;
    const bool is_before = After ? rows[first + half] <= row : rows[first + half] < row;
    first = is_before ? first + half + 1 : first;
    n = is_before ? n - half - 1 : half;
  }
  return first;
}

/// Sorts runs of `length` elements: each thread counts the elements that come before its element. This replaces the first six steps of the merge sort.
struct sort_run {
  static constexpr std::int64_t length = 64;
  named_rows from, to;
  std::int64_t count;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t begin = i / length * length, end = begin + length < count ? begin + length : count, row = from.row[i];
    std::int64_t at = begin;
    for (std::int64_t j = begin; j < end; ++j) at += from.row[j] < row || (from.row[j] == row && j < i);
    to.set(at, row, from.position[i]);
  }
};

/// Merges neighbouring sorted runs. The new position of an element is its position in its own run plus its rank in the other run.
struct merge_runs {
  named_rows from, to;
  std::int64_t count, length;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t begin = i / (2 * length) * (2 * length), row = from.row[i];
    const std::int64_t middle = begin + length < count ? begin + length : count, end = middle + length < count ? middle + length : count;
    const bool is_left = i < middle;
    const std::int64_t rank = is_left ? bound<false>(from.row + middle, end - middle, row) : bound<true>(from.row + begin, middle - begin, row);
    to.set((is_left ? i : i - length) + rank, row, from.position[i]);
  }
};

/// Computes one element of index_add: the sum of the updates of a row. The rows are sorted, and equal rows are in the order of
/// their positions. With several pieces it computes the sum of one piece of the updates, and writes it to a table with a row for
/// each piece; fold_pieces adds them.
template <class T>
struct add_rows {
  walk<3> space;        // the row in the result, the updates (without their position), the result
  walk<1> of_position;  // updates
  named_rows rows;
  std::int64_t count, elements, pieces;
  const T* updates;
  T* to;      // the result, or the table
  bool adds;  // to the element that the result already has

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const quotient q = divided(i, elements);  // neighbouring threads have the same piece and neighbouring elements
    const auto at = space.at(q.rest);
    const std::int64_t first = bound<false>(rows.row, count, at.of[0]), n = bound<true>(rows.row + first, count - first, at.of[0]);
    const std::int64_t begin = first + divided(n * q.whole, pieces).whole, end = first + divided(n * (q.whole + 1), pieces).whole;
    const bool goes_on = adds && pieces == 1;
    T sum = goes_on ? to[at.of[2]] : T{};
    for (std::int64_t k = begin; k < end; ++k) sum = number::add(sum, updates[at.of[1] + of_position.at(rows.position[k]).of[0]]);
    to[pieces == 1 ? at.of[2] : i] = sum;
  }
};

template <class T>
struct fold_pieces {
  walk<1> space;  // result
  std::int64_t elements, pieces;
  const T* table;
  T* to;
  bool adds;  // to the element that the result already has

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    T sum = adds ? to[space.at(i).of[0]] : T{};
    for (std::int64_t p = 0; p < pieces; ++p) sum = number::add(sum, table[p * elements + i]);
    to[space.at(i).of[0]] = sum;
  }
};

/// An index that is outside its axis. The host reads it.
struct index_fault {
  std::int64_t index = 0, position = 0;  // in row-major order
  bool any = false;
};

/// Stores an index that is outside [0, extent). If there are several, it stores any of them, and perhaps the position of another one.
struct check_element {
  walk<1> space;
  index_source indices;
  std::int64_t extent;
  index_fault* refused;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t index = indices[space.at(i).of[0]];
    if (index < 0 || index >= extent) refused->index = index, refused->position = i, refused->any = true;
  }
};

/// Computes one element of a matrix product.
template <class T>
struct product_element {
  walk<3> space;  // a (its row), b (its column), c
  std::int64_t inner, a_stride, b_stride;
  const T *a, *b;
  T* c;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    c[at.of[2]] = sum_of_products(a + at.of[0], a_stride, b + at.of[1], b_stride, inner);
  }
};

}  // namespace tenure::kernels
