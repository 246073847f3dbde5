// SPDX-License-Identifier: BSL-1.0
// Rows that a kernel reads although no kernel has written them: rows of a table that indices name, and products whose sums are short. Each thread finds or
// computes the elements that it loads. backend/cuda/groups.hpp says which kernels do this.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tenure/kernels/fused/geometry.hpp>
#include <tenure/kernels/name.hpp>
#include <tenure/math/packet.hpp>

namespace TENURE_NAMESPACE::kernels {

/// A tensor of indices, which may be int32 or int64.
struct index_source {
  const void* first;
  bool is_short;

  TENURE_KERNEL_INLINE std::int64_t operator[](std::int64_t i) const {
    return is_short ? static_cast<const std::int32_t*>(first)[i] : static_cast<const std::int64_t*>(first)[i];
  }
};

/// The sum of `count` products, in order.
template <class T>
TENURE_KERNEL_INLINE T sum_of_products(const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, std::int64_t count) {
  T sum{};
  for (std::int64_t k = 0; k < count; ++k) sum = math::fma(a[k * a_stride], b[k * b_stride], sum);
  return sum;
}

/// The source of the rows of a gather. Iteration i of the kernel reads the row of the table that index i names.
struct rows_of_table {
  index_source indices{nullptr, false};
  std::int64_t row_stride = 0;

  TENURE_KERNEL_INLINE bool is_given() const { return indices.first != nullptr; }
  /// `table` points to the element of row 0 that the kernel reads of each row.
  template <class T>
  TENURE_KERNEL_INLINE T at(const T* table, std::int64_t i) const { return table[indices[i] * row_stride]; }
};

/// The source of the elements of a matrix product. Iteration i of the kernel reads element i, in row-major order.
struct elements_of_product {
  const void *a = nullptr, *b = nullptr;
  std::int64_t columns = 0, inner = 0, a_row = 0, a_inner = 0, b_inner = 0, b_column = 0;  // extents, and strides

  TENURE_KERNEL_INLINE bool is_given() const { return a != nullptr; }
  template <class T>
  TENURE_KERNEL_INLINE T at(const T*, std::int64_t i) const {
    const quotient q = divided(i, columns);
    return sum_of_products(static_cast<const T*>(a) + q.whole * a_row, a_inner, static_cast<const T*>(b) + q.rest * b_column, b_inner, inner);
  }
};

/// The sources of a kernel, a part of its arguments. The words are part of its name: the kind of all its sources, then for each source a bit for each access
/// that reads its rows. If a source is not given in a call, its rows are in memory.
template <std::uint64_t... Words>
struct sources {
  static constexpr int of(int) { return -1; }
};
template <std::uint64_t IsProduct, std::uint64_t... Accesses>
struct sources<IsProduct, Accesses...> {
  std::conditional_t<IsProduct != 0, elements_of_product, rows_of_table> source[sizeof...(Accesses)];

  /// The source of an access, or -1.
  static constexpr int of(int access) {
    int found = -1, i = 0;
    ((found = (Accesses >> access & 1) != 0 ? i : found, ++i), ...);
    return found;
  }
};

/// The sources that the name of a kernel states.
template <class Name>
struct sources_in {
  using type = sources<>;
};
template <std::uint64_t A, std::uint64_t B, std::uint64_t... Words>
struct sources_in<code_name<A, B, Words...>> {
  using type = sources<Words...>;
  /// The name of the same kernel with other sources.
  template <std::uint64_t... Others>
  using with = code_name<A, B, Others...>;
};
template <class Name>
using sources_of = typename sources_in<Name>::type;

}  // namespace tenure::kernels
