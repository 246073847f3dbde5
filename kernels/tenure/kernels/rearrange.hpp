// SPDX-License-Identifier: BSL-1.0
// What is not one loop nest: copies between strides, rows named by indices, sums of rows that indices name, indices checked,
// products of what cuBLAS does not take. Each is the work of one thread for one element of the result, so that repeated
// indices meet in one thread, in their order.
#pragma once

#include <cstdint>

#include <tenure/core/dtype.hpp>
#include <tenure/core/shape.hpp>
#include <tenure/kernels/fused.hpp>

namespace tenure::kernels {

/// An iteration space, and for each of N operands how far apart neighbours are along each axis.
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
  /// Of element i in row-major order.
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

/// Integers of either type that a tensor of indices may have.
struct index_source {
  const void* first;
  bool is_short;

  TENURE_KERNEL_INLINE std::int64_t operator[](std::int64_t i) const {
    return is_short ? static_cast<const std::int32_t*>(first)[i] : static_cast<const std::int64_t*>(first)[i];
  }
};

template <class T>
struct copy_element {
  walk<2> space;  // from, to
  const T* from;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    to[at.of[1]] = from[at.of[0]];
  }
};

/// An element of rows of a table.
template <class T>
struct gather_element {
  walk<3> space;  // indices, table (but for its row), result
  std::int64_t row_stride;
  index_source indices;
  const T* table;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    to[at.of[2]] = table[at.of[1] + indices[at.of[0]] * row_stride];
  }
};

/// The row that an index names, beside the position of the index: what is sorted before rows are added.
struct list_index {
  walk<1> space;
  index_source indices;
  std::int64_t *rows, *positions;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    rows[i] = indices[space.at(i).of[0]];
    positions[i] = i;
  }
};

/// An element of the sums of updates that go to the same row; rows are sorted, equal ones in the order of their positions.
template <class T>
struct add_rows {
  walk<3> space;        // which row (extents of the result), updates (but for their position), result
  walk<1> of_position;  // updates
  const std::int64_t *rows, *positions;
  std::int64_t count;
  const T* updates;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    const std::int64_t row = at.of[0];
    std::int64_t first = 0;
    for (std::int64_t n = count; n > 0;) {
      const std::int64_t half = n / 2;
      const bool before = rows[first + half] < row;
      first = before ? first + half + 1 : first;
      n = before ? n - half - 1 : half;
    }
    T sum{};
    for (std::int64_t k = first; k < count && rows[k] == row; ++k) sum = static_cast<T>(sum + updates[at.of[1] + of_position.at(positions[k]).of[0]]);
    to[at.of[2]] = sum;
  }
};

/// What the first index outside its axis says, for the host to read; an index that is no index stands for none.
struct refusal {
  static constexpr std::int64_t none = INT64_MIN;
  std::int64_t index = none;
};

/// Leaves an index outside [0, extent) behind; of several, any.
struct check_element {
  walk<1> space;
  index_source indices;
  std::int64_t extent;
  refusal* refused;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const std::int64_t index = indices[space.at(i).of[0]];
    if (index < 0 || index >= extent) refused->index = index;
  }
};

/// An element of a product.
template <class T>
struct product_element {
  walk<3> space;  // a (its row), b (its column), c
  std::int64_t inner, a_stride, b_stride;
  const T *a, *b;
  T* c;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const auto at = space.at(i);
    T sum{};
    for (std::int64_t k = 0; k < inner; ++k) sum = math::fma(a[at.of[0] + k * a_stride], b[at.of[1] + k * b_stride], sum);
    c[at.of[2]] = sum;
  }
};

}  // namespace tenure::kernels
