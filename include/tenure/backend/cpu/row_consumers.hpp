// SPDX-License-Identifier: BSL-1.0
// Products that read what a kernel writes, row by row: their sums run over its rows. If the kernel is the epilogue of a product, each block of rows
// is added to these sums directly after it was computed. For example, the gradient X^T f(X w) of a linear model reads X from memory once and not twice.
// Law: only shapes decide which rows are added at a time, so the bits do not depend on the number of threads, nor on the memory of results.
#pragma once

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/products.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/tensor/memory_range.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// A product that reads rows that an earlier kernel writes: the facts that are known when the program is compiled.
struct product_over_rows {
  int factor = 0;                   // which factor is the transpose of the rows (0), or the rows (1)
  bool stays = true;                // another step reads the rows too, or they are a result
  bool shares_factor = false;       // the other factor is the left factor of the product before the kernel
  int buffer = -1;                  // of the rows
  std::uint64_t accesses = 0;       // of the kernel, which write the rows
  passes::symbolic_size row{}, other_row{};  // the elements of a row, and of a row of the other factor
};

/// The most products that read the rows of a kernel: one of a gradient, and one of a derivative of this gradient.
inline constexpr int max_products_over_rows = 2;

namespace detail {

/// Whether step t (floating-point) is a product over rows that the kernel of step s writes. It must read nothing else that steps s to t - 1 write.
template <class Program>
constexpr bool find_product_over_rows(int s, int t, const passes::symbolic_size& rows, const passes::symbolic_size& columns, product_over_rows& found) {
  constexpr auto& tables = Program::tables;
  constexpr auto& plan = Program::plan;
  const program_detail::bound_step &kernel = tables.steps[s], &product = tables.steps[t];
  if (product.is_fused() || product.op != ir::opcode::matmul) return false;
  constexpr ir::graph_view g = Program::value.view();
  const ir::node& node = g[plan.steps[t].node];
  const extents& sums = g.shapes[node.shape];
  if (sums.rank != 2 || !(passes::symbolic_size_of(g.shape_of(node.in[0])[1]) == rows)) return false;
  const passes::kernel& k = tables.kernels[kernel.kernel];
  const auto buffer_of = [&](const program_detail::bound_step& of, int a) { return tables.bindings[of.first_binding + a].buffer; };
  const auto is_written_between = [&](int buffer) {
    for (int i = 0; i < k.instruction_count; ++i) {
      const passes::instruction& x = plan.instructions[k.first_instruction + i];
      if (x.what != passes::instruction::kind::load && x.access >= 0 && buffer_of(kernel, x.access) == buffer) return true;
    }
    for (int i = s + 1; i < t; ++i)
      if (buffer_of(tables.steps[i], 2) == buffer) return true;
    return false;
  };
  for (int factor = 0; factor < 2; ++factor) {
    const int read = buffer_of(product, factor), other = buffer_of(product, 1 - factor);
    if (is_written_between(other)) continue;
    // The rows are contiguous, and nothing else is in their buffer.
    const passes::strides& of_factor = plan.strides[plan.accesses[product.first_binding + factor].strides];
    const passes::symbolic_size &from_row_to_row = of_factor[1 - factor], &in_row = of_factor[factor];
    const passes::buffer& buffer = tables.buffers[read];
    const auto is_one = [](const passes::symbolic_size& n) { return n == passes::symbolic_size{1}; };
    if (buffer.type != product.type || !(buffer.elements == rows * from_row_to_row)) continue;
    if (!is_one(in_row) && !is_one(from_row_to_row)) continue;
    found = product_over_rows{factor, buffer.where != passes::buffer::place::workspace || buffer.is_passed_on, other == buffer_of(tables.steps[s - 1], 0), read, 0,
                              from_row_to_row, passes::symbolic_size_of(sums[1 - factor])};
    bool writes_all = false, is_plain = true;
    for (int i = 0; i < k.instruction_count; ++i) {
      using kind = passes::instruction::kind;
      const passes::instruction& x = plan.instructions[k.first_instruction + i];
      if (x.access < 0 || buffer_of(kernel, x.access) != read) continue;
      const passes::strides& along = plan.strides[plan.accesses[kernel.first_binding + x.access].strides];
      is_plain = is_plain && x.what == kind::store && tables.bindings[kernel.first_binding + x.access].offset == tables.bindings[product.first_binding + factor].offset;
      if (k.outer + k.inner == 1) writes_all = !x.row && is_one(along[0]) && from_row_to_row == columns;
      else writes_all = along[0] == from_row_to_row && (x.row ? is_one(from_row_to_row) : is_one(along[1]) && from_row_to_row == columns);
      found.accesses |= std::uint64_t{1} << x.access;
    }
    if (writes_all && is_plain) {
      found.stays = found.stays || buffer.last > t;
      return true;
    }
  }
  return false;
}

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
        written(c, sums.out.extent, sums.out.stride, 2, sizeof(T)), other(pointer[1 - factor_of_rows], sums.in[1 - factor_of_rows].extent, sums.in[1 - factor_of_rows].stride, 2, sizeof(T)) {}

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
