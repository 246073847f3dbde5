// SPDX-License-Identifier: BSL-1.0
// The products over the rows of a group (passes/groups.hpp): each block of rows is added to their sums directly after it was computed.
// Law: only shapes decide which rows are added at a time, so the bits do not depend on the number of threads, nor on the memory of results.
#pragma once

#include <tenure/backend/cpu/products.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/tensor/memory_range.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// The bytes from the first to the last element of a strided operand, whose strides may be negative.
struct byte_range : tenure::detail::memory_range {
  byte_range() = default;
  byte_range(const void* data, const std::int64_t* extent, const std::int64_t* stride, int rank, std::int64_t element_size) {
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < rank; ++d) (stride[d] < 0 ? low : high) += (extent[d] - 1) * stride[d];
    const auto at = [&](std::int64_t elements) {
      return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(elements * element_size));
    };
    first = at(low), last = at(high + 1);
  }
  byte_range(const void* data, const operand_view& v, std::int64_t element_size) : byte_range(data, v.extent, v.stride, v.rank, element_size) {}
};

/// A product to whose sums a few rows at a time are added. `factor` is the number of the factor that has the rows (see product_over_rows).
template <class T>
struct growing_product {
  std::int64_t m = 0, n = 0;
  matrix_ref<T> a{}, b{};
  T* c = nullptr;
  int factor = 0;
  byte_range written, other;  // the sums, and the other factor

  growing_product() = default;
  growing_product(const opaque_operation& sums, void* const* pointer, int factor_of_rows)
      : m(sums.out.extent[0]), n(sums.out.extent[1]), a{static_cast<const T*>(pointer[0]), sums.in[0].stride[0], sums.in[0].stride[1]},
        b{static_cast<const T*>(pointer[1]), sums.in[1].stride[0], sums.in[1].stride[1]}, c(static_cast<T*>(pointer[2])), factor(factor_of_rows),
        written(c, sums.out, sizeof(T)), other(pointer[1 - factor_of_rows], sums.in[1 - factor_of_rows], sizeof(T)) {}

  static void consume(const void* context, std::int64_t first, std::int64_t count, const void* rows) {
    const growing_product& p = *static_cast<const growing_product*>(context);
    matrix_ref<T> a = p.a, b = p.b;
    a.data += first * a.col_stride;
    b.data += first * b.row_stride;
    (p.factor == 0 ? a : b).data = static_cast<const T*>(rows);
    with_borrowed_memory<matmul_max_workspace>(matmul_workspace<T>(p.m, p.n, count),
                                                [&](void* packed) { matmul<T>(p.m, p.n, count, a, b, p.c, p.n, first > 0, packed); });
  }
  /// The whole product, with the same bits as consume() for `rows_at_once` rows at a time.
  void run(std::int64_t rows_at_once, std::int64_t rows, void* scratch, executor* on) const {
    matmul_in_blocks<T>(m, n, rows, a, b, c, scratch, on, is_in_order() ? rows_at_once : 0);
  }
  /// Whether the product can be cut into a few rows at a time, with the same bits on each number of threads. A dot product is not cut.
  bool is_in_order() const {
    if (m > 1 && n > 1) return true;
    return m == 1 ? n > 1 && b.col_stride == 1 : a.row_stride == 1;
  }
};

}  // namespace detail
}  // namespace tenure::cpu_backend
