// SPDX-License-Identifier: BSL-1.0
// Runs a kernel as the epilogue of the product before it. The rows of the product are computed in blocks, each directly before the block
// of the kernel that reads them. So a bias and activation, a softmax over the rows, or an update of weights reads its rows from cache.
// Law: the bits are the same as with one step after the other. Only sums over rows can differ, because their blocks differ. Only shapes
// decide the blocks. A product that no later step reads is never written to memory as a whole.
// Cost: none for small products: they stay in cache without an epilogue, and the steps run one after the other.
#pragma once

#include <tenure/backend/cpu/fused.hpp>
#include <tenure/backend/cpu/opaque.hpp>
#include <tenure/passes/overwrite.hpp>
#include <tenure/tensor/memory_range.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::call_memory;

/// Products of at least this many bytes can have an epilogue. It is about the size of the second cache of a core.
inline constexpr std::int64_t epilogue_bytes = 1 << 20;

/// The facts about a product and the next step that are known when the program is compiled.
struct epilogue {
  bool is_one = false;
  bool reduces = false, reduces_columns = false;  // the kernel reduces over rows: the number of blocks is limited, or blocks need memory
  bool counts_elements = false;                   // the leading dimension of the kernel counts elements and not rows
  bool is_read_later = true;                      // a later step reads the product, or it is a result
  bool is_passed_on = false;                      // the kernel writes a temporary over the product, so blocks of it cannot share a small part of its memory
  int overwritten_by = -1;                        // the access that stores each element after the product's element was read; it may write to the same place
  std::uint64_t accesses = 0, writes = 0;         // the accesses of the kernel that read the product, and the ones that write
};

namespace detail {

template <class Program>
constexpr epilogue find_epilogue(int s) {
  constexpr auto& tables = Program::tables;
  constexpr auto& plan = Program::plan;
  epilogue e;
  if (s + 1 >= Program::step_count) return e;
  const program_detail::bound_step &product = tables.steps[s], &next = tables.steps[s + 1];
  if (product.op != ir::opcode::matmul || !next.is_fused() || !is_floating(product.type) || next.binding_count > 64) return e;
  const extents& shape = Program::value.view().shape_of(plan.steps[s].node);
  if (shape.rank != 2) return e;
  const passes::number rows = passes::number_of(shape[0]), columns = passes::number_of(shape[1]), elements = rows * columns;
  if (elements.is_static() && elements.factor * size_of(product.type) < epilogue_bytes) return e;

  const passes::kernel& k = tables.kernels[next.kernel];
  const int rank = k.outer + k.inner;
  if (rank == 2 ? !(k.extent[0] == rows && k.extent[1] == columns) : !(rank == 1 && k.extent[0] == elements)) return e;
  e.counts_elements = rank == 1;

  // The bindings of a step have the same order as its accesses in the plan.
  const program_detail::binding& c = tables.bindings[product.first_binding + 2];
  const passes::buffer& buffer = tables.buffers[c.buffer];
  e.is_passed_on = buffer.is_passed_on;
  e.is_read_later = buffer.where != passes::buffer::place::workspace || buffer.last > s + 1 || !(buffer.elements == elements);
  for (int a = 0; a < next.binding_count; ++a) {
    const program_detail::binding& b = tables.bindings[next.first_binding + a];
    if (b.buffer != c.buffer) continue;
    const passes::strides& along = plan.strides[plan.accesses[next.first_binding + a].strides];
    const bool lies_alike = rank == 1 ? along[0] == passes::number{1} : along[0] == columns && along[1] == passes::number{1};
    if (!lies_alike || !(b.offset == c.offset)) return e;
    e.accesses |= std::uint64_t{1} << a;
  }
  for (int i = 0; i < k.instruction_count; ++i) {
    using kind = passes::instruction::kind;
    const passes::instruction& x = plan.instructions[k.first_instruction + i];
    e.reduces_columns = e.reduces_columns || x.what == kind::reduce_columns;
    e.reduces = e.reduces || e.reduces_columns || x.what == kind::reduce_all;
    if (x.what == kind::load || x.access < 0) continue;
    e.writes |= std::uint64_t{1} << x.access;
    const int stored = tables.bindings[next.first_binding + x.access].buffer;
    if (x.what == kind::store && !x.row && !e.is_read_later && tables.buffers[stored].elements == elements &&
        passes::overwrites_elementwise(plan.view(Program::value.view()), plan.steps[s + 1], c.buffer, stored) &&
        (!buffer.is_passed_on || tables.buffers[stored].in_place_of == c.buffer))
      e.overwritten_by = x.access;
  }
  e.is_one = e.accesses != 0 && (e.accesses & e.writes) == 0;
  return e;
}

/// The epilogue of each step.
template <class Program>
struct epilogue_table {
  epilogue at[Program::step_count + 1] = {};
  bool is_empty = true;
  constexpr epilogue_table() {
    for (int s = 0; s < Program::step_count; ++s) {
      at[s] = find_epilogue<Program>(s);
      is_empty = is_empty && !at[s].is_one;
    }
  }
};
template <class Program>
inline constexpr epilogue_table<Program> epilogues{};
template <class Program>
inline constexpr bool has_epilogues = []() -> bool {
#if TENURE_BLAS  // a BLAS computes whole products
  return false;
#else
  return !epilogues<Program>.is_empty;
#endif
}();

/// The number of rows of a block for an m x n x k product. 0 means that there is no epilogue: separate steps are as fast, or the rows
/// cannot be cut well.
constexpr std::int64_t rows_of_epilogue(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t element_size, const epilogue& e, int instructions) {
  if (m < 64 || n < 2 || k < 1 || m * n * element_size < epilogue_bytes) return 0;
  std::int64_t rows = epilogue_bytes / 4 / (n * element_size) / 32 * 32;
  if (e.reduces_columns && blocks_of_columns(m * n * instructions, m) == 1) return 0;  // there is no memory for the columns of a second block
  if (e.reduces && m > rows * most_grid_blocks) rows = (m / most_grid_blocks + 32) / 32 * 32;
  if (rows < 32) rows = 32;
  if (k > 4 * rows) return 0;  // each block packs the right factor again, and compared with such long sums an epilogue saves little
  if (m % rows == 1) rows += 32;  // a single row would be computed as a GEMV, with other bits
  return m % rows != 1 && rows < m ? rows : 0;
}

/// The same for the product of step s and the kernel after it.
template <class Program>
constexpr std::int64_t rows_of_epilogue(int s, const opaque_operation& product) {
  const auto& tables = Program::tables;
  const int instructions = tables.kernels[tables.steps[s + 1].kernel].instruction_count;
  return rows_of_epilogue(product.in[0].extent[0], product.in[1].extent[1], product.in[0].extent[1], size_of(tables.steps[s].type), epilogues<Program>.at[s], instructions);
}

/// The bytes from the first to the last element of a strided operand, whose strides may be negative.
struct byte_range : tenure::detail::memory_range {
  byte_range(const void* data, const std::int64_t* extent, const std::int64_t* stride, int rank, std::int64_t element_size) {
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < rank; ++d) (stride[d] < 0 ? low : high) += (extent[d] - 1) * stride[d];
    const auto at = [&](std::int64_t elements) {
      return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(elements * element_size));
    };
    first = at(low), last = at(high + 1);
  }
};

/// A step with its pointers. `number` holds the numbers of the operands of a product.
struct pointed_step {
  void* const* pointer;
  const std::int64_t* number;
};

/// Runs the product s with elements of type T and the kernel after it, if the shapes make this faster. Returns whether it did so.
template <class T, class Program>
bool run_epilogue(int s, const call_memory& m, const pointed_step& product, void (*kernel)(const kernel_arguments&), kernel_arguments next) {
  constexpr auto& tables = Program::tables;
  const program_detail::bound_step& after = tables.steps[s + 1];
  const passes::kernel& shape = tables.kernels[after.kernel];
  const epilogue& e = epilogues<Program>.at[s];
  const opaque_operation operation(product.number);
  const operand_view &a = operation.in[0], &b = operation.in[1];
  const std::int64_t rows = a.extent[0], n = b.extent[1], k = a.extent[1];
  const std::int64_t rows_of_block = rows_of_epilogue<Program>(s, operation);
  if (rows_of_block == 0) return false;

  const auto range_of_access = [&](int i) {
    const passes::access& x = Program::plan.accesses[after.first_binding + i];
    std::int64_t extent[max_rank], stride[max_rank];
    for (int d = 0; d < shape.outer + shape.inner; ++d) {
      extent[d] = passes::value_of(shape.extent[d], m.symbols);
      stride[d] = passes::value_of(Program::plan.strides[x.strides][d], m.symbols);
    }
    return byte_range(next.pointer[i], extent, stride, shape.outer + shape.inner, size_of(x.type));
  };
  const byte_range left(product.pointer[0], a.extent, a.stride, 2, sizeof(T)), right(product.pointer[1], b.extent, b.stride, 2, sizeof(T));
  bool overwrites = e.overwritten_by >= 0, spoils_factor = false;
  for (int i = 0; i < after.binding_count; ++i) {
    if ((e.accesses >> i & 1) || tables.bindings[after.first_binding + i].buffer < 0) continue;
    const byte_range range = range_of_access(i);
    if ((e.writes >> i & 1) && (range.meets(left) || range.meets(right))) spoils_factor = true;
    if (overwrites && i != e.overwritten_by && range.meets(range_of_access(e.overwritten_by))) overwrites = false;
  }

  const detail::product<T> all{rows, n, k, {static_cast<const T*>(product.pointer[0]), a.stride[0], a.stride[1]}, {static_cast<const T*>(product.pointer[1]), b.stride[0], b.stride[1]}, nullptr, {1, 1}};
  const std::int64_t workers = next.on == nullptr ? 1 : next.on->workers();
  row_source source{.compute = &detail::product<T>::run_rows,
                    .context = &all,
                    .rows_of_block = rows_of_block,
                    .per_row = e.counts_elements ? n : 1,
                    .row_bytes = n * static_cast<std::int64_t>(sizeof(T)),
                    .memory = static_cast<char*>(overwrites ? next.pointer[e.overwritten_by] : product.pointer[2]),
                    .matrix = product.pointer[2],
                    .in_place = overwrites || e.is_read_later || e.is_passed_on || workers * rows_of_block > rows,
                    .accesses = e.accesses,
                    .is_product = true};
  if (spoils_factor) {
    matmul_step<T>(product.pointer, operation, next.scratch, next.on);
    source.compute = nullptr;
  }
  next.rows = &source;
  kernel(next);
  return true;
}

template <class Program>
bool run_with_epilogue(int s, const call_memory& m, const pointed_step& product, void (*kernel)(const kernel_arguments&), const kernel_arguments& next) {
  bool has_run = false;
  visit_floating(Program::tables.steps[s].type, [&]<class T>(element_tag<T>) {
    if constexpr (program_detail::has_step<Program>(ir::opcode::matmul, dtype_v<T>)) has_run = run_epilogue<T, Program>(s, m, product, kernel, next);
  });
  return has_run;
}

}  // namespace detail
}  // namespace tenure::cpu_backend
