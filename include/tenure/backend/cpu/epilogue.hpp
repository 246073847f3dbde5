// SPDX-License-Identifier: BSL-1.0
// Runs a kernel as the epilogue of the product before it. The rows of the product are computed in blocks, each directly before the block
// of the kernel that reads them. So a bias and activation, a softmax over the rows, or an update of weights reads its rows from cache.
// Law: the bits are the same as with one step after the other. Only sums over rows can differ, because their blocks differ. Only shapes
// decide the blocks. A product that no later step reads is never written to memory as a whole.
// Products after the kernel that add up its rows read them from cache too (row_sinks.hpp).
// Cost: none for small products: they stay in cache without an epilogue, and the steps run one after the other.
#pragma once

#include <tenure/backend/cpu/fused.hpp>
#include <tenure/backend/cpu/opaque.hpp>
#include <tenure/backend/cpu/row_sinks.hpp>
#include <tenure/passes/overwrite.hpp>
#include <tenure/tensor/memory_range.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::call_memory;

/// Products of at least this many bytes can have an epilogue. It is about the size of the second cache of a core.
inline constexpr std::int64_t epilogue_bytes = 1 << 20;
/// The bytes of the rows of a block that are read twice: with a product over the rows after the kernel. They stay in the second cache.
inline constexpr std::int64_t twice_read_bytes = 1 << 18;

/// The facts about a product and the next step that are known when the program is compiled.
struct epilogue {
  bool is_one = false;
  bool reduces = false, reduces_columns = false;  // the kernel reduces over rows: the number of blocks is limited, or blocks need memory
  bool counts_elements = false;                   // the leading dimension of the kernel counts elements and not rows
  bool is_read_later = true;                      // a later step reads the product, or it is a result
  bool is_passed_on = false;                      // the kernel writes a temporary over the product, so blocks of it cannot share a small part of its memory
  int passed_to = -1;                             // the sink whose rows they are
  int overwritten_by = -1;                        // the access that stores each element after the product's element was read; it may write to the same place
  std::uint64_t accesses = 0, writes = 0;         // the accesses of the kernel that read the product, and the ones that write
  int sink_count = 0;                             // the products after the kernel that read its rows
  product_over_rows sinks[most_products_over_rows] = {};
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
  for (int t = s + 2; t < Program::step_count && e.sink_count < most_products_over_rows; ++t, ++e.sink_count)
    if (tables.steps[t].type != product.type || !find_product_over_rows<Program>(s + 1, t, rows, columns, e.sinks[e.sink_count])) break;
  const bool is_small = elements.is_static() && elements.factor * size_of(product.type) < epilogue_bytes;
  if (is_small && e.sink_count == 0) return e;

  const passes::kernel& k = tables.kernels[next.kernel];
  const int rank = k.outer + k.inner;
  if (rank == 2 ? !(k.extent[0] == rows && k.extent[1] == columns) : !(rank == 1 && k.extent[0] == elements)) return e;
  e.counts_elements = rank == 1;

  // The bindings of a step have the same order as its accesses in the plan.
  const program_detail::binding& c = tables.bindings[product.first_binding + 2];
  const passes::buffer& buffer = tables.buffers[c.buffer];
  e.is_passed_on = buffer.is_passed_on;
  for (int i = 0; i < e.sink_count; ++i)
    if (tables.buffers[e.sinks[i].buffer].in_place_of == c.buffer) e.passed_to = i;
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
    e.reduces = e.reduces || e.reduces_columns || x.what == kind::reduce_all || (x.what == kind::reduce_row && rank == 1);
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

/// The rows of a block of an epilogue, and the rows that it computes, reads and gives to the sinks at a time. With none there is no epilogue: separate
/// steps are as fast, or the rows cannot be cut well.
struct epilogue_cut {
  std::int64_t rows_of_block = 0, rows_at_once = 0;
};

/// Whether the last `rows` rows of a product would be another kind of product than all of them, with other bits: a single row is a GEMV, and a short
/// column a few loops.
constexpr bool is_another_product(std::int64_t rows, std::int64_t n, std::int64_t k) { return n > 1 ? rows == 1 : rows > 0 && rows * k <= most_of_loops(rows, n); }

/// The cut for an m x n x k product. `row_bytes` has the bytes of a row of all matrices that are read twice.
constexpr epilogue_cut cut_of_epilogue(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t element_size, const epilogue& e, int instructions, std::int64_t row_bytes) {
  const bool reads_twice = e.sink_count > 0 && m * row_bytes >= 2 * epilogue_bytes;
  if (m < 64 || k < 1 || (!reads_twice && (n < 2 || m * n * element_size < epilogue_bytes))) return {};
  std::int64_t rows = (reads_twice ? twice_read_bytes / row_bytes : epilogue_bytes / 4 / (n * element_size)) / 32 * 32;
  if (e.reduces_columns && blocks_of_columns(m * n * instructions, m) == 1) return {};  // there is no memory for the columns of a second block
  const bool is_limited = e.reduces && m > (rows < 32 ? 32 : rows) * most_grid_blocks;
  if (is_limited && (e.reduces_columns || !reads_twice)) rows = (m / most_grid_blocks + 32) / 32 * 32;
  if (rows < 32) rows = 32;
  if (!reads_twice && k > 4 * rows) return {};  // each block packs the right factor again, and compared with such long sums an epilogue saves little
  if (is_another_product(m % rows, n, k)) rows += 32;
  if (is_another_product(m % rows, n, k) || rows >= m) return {};
  const std::int64_t parts = is_limited ? (m / most_grid_blocks + rows) / rows : 1;  // of a block
  return {parts * rows, rows};
}

/// The same for the product of step s and the kernel after it.
template <class Program>
constexpr epilogue_cut cut_of_epilogue(int s, const opaque_operation& product, const std::int64_t* symbols) {
  const auto& tables = Program::tables;
  const epilogue& e = epilogues<Program>.at[s];
  const int instructions = tables.kernels[tables.steps[s + 1].kernel].instruction_count;
  const std::int64_t n = product.in[1].extent[1], k = product.in[0].extent[1], size = size_of(tables.steps[s].type);
  std::int64_t row = n + k;
  for (int i = 0; i < e.sink_count; ++i) row += passes::value_of(e.sinks[i].row, symbols) + (e.sinks[i].shares_factor ? 0 : passes::value_of(e.sinks[i].other_row, symbols));
  return cut_of_epilogue(product.in[0].extent[0], n, k, size, e, instructions, row * size);
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

/// The products that read the rows of an epilogue, in one call.
template <class T>
struct sinks_of_call {
  growing_product<T> product[most_products_over_rows];
  row_sink sink[most_products_over_rows];
  int count = 0;
};

/// Runs the product s with elements of type T, the kernel after it, and the products that read its rows, as far as the shapes make this faster. Returns
/// the number of steps that it ran. bind(step, pointers, numbers) binds a step.
template <class T, class Program, class Bind>
int run_epilogue(int s, const call_memory& m, const pointed_step& product, void (*kernel)(const kernel_arguments&), kernel_arguments next, const Bind& bind) {
  constexpr auto& tables = Program::tables;
  const program_detail::bound_step& after = tables.steps[s + 1];
  const passes::kernel& shape = tables.kernels[after.kernel];
  const epilogue& e = epilogues<Program>.at[s];
  const opaque_operation operation(product.number);
  const operand_view &a = operation.in[0], &b = operation.in[1];
  const std::int64_t rows = a.extent[0], n = b.extent[1], k = a.extent[1];
  const epilogue_cut cut = cut_of_epilogue<Program>(s, operation, m.symbols);
  if (cut.rows_of_block == 0) return 0;

  const auto range_of_access = [&](int i) {
    const passes::access& x = Program::plan.accesses[after.first_binding + i];
    std::int64_t extent[max_rank], stride[max_rank];
    for (int d = 0; d < shape.outer + shape.inner; ++d) {
      extent[d] = passes::value_of(shape.extent[d], m.symbols);
      stride[d] = passes::value_of(Program::plan.strides[x.strides][d], m.symbols);
    }
    return byte_range(next.pointer[i], extent, stride, shape.outer + shape.inner, size_of(x.type));
  };
  const auto is_in_memory = [&](int i) { return tables.bindings[after.first_binding + i].buffer >= 0; };
  const byte_range left(product.pointer[0], a.extent, a.stride, 2, sizeof(T)), right(product.pointer[1], b.extent, b.stride, 2, sizeof(T));
  bool overwrites = e.overwritten_by >= 0, spoils_factor = false;
  for (int i = 0; i < after.binding_count; ++i) {
    if ((e.accesses >> i & 1) || !is_in_memory(i)) continue;
    const byte_range range = range_of_access(i);
    if ((e.writes >> i & 1) && (range.meets(left) || range.meets(right))) spoils_factor = true;
    if (overwrites && i != e.overwritten_by && range.meets(range_of_access(e.overwritten_by))) overwrites = false;
  }

  const std::int64_t workers = next.on == nullptr ? 1 : next.on->workers();
  // The sums of a sink get their first rows before the kernel has read all that it reads.
  sinks_of_call<T> sinks;
  for (int i = 0; i < e.sink_count && workers == 1; ++i) {
    const program_detail::bound_step& reader = tables.steps[s + 2 + i];
    void* pointer[3];
    std::int64_t own_number[program_detail::most_of<Program>(&program_detail::bound_step::number_count)];
    const opaque_operation sums(bind(reader, pointer, own_number));
    const operand_view &p = sums.in[0], &q = sums.in[1], &c = sums.out;
    growing_product<T>& grows = sinks.product[i];
    grows = {c.extent[0], c.extent[1], {static_cast<const T*>(pointer[0]), p.stride[0], p.stride[1]}, {static_cast<const T*>(pointer[1]), q.stride[0], q.stride[1]},
             static_cast<T*>(pointer[2]), e.sinks[i].factor};
    const byte_range written(pointer[2], c.extent, c.stride, 2, sizeof(T)), of_product(product.pointer[2], operation.out.extent, operation.out.stride, 2, sizeof(T));
    bool stays = grows.is_in_order() && !written.meets(left) && !written.meets(right) && !written.meets(of_product);
    for (int j = 0; j < after.binding_count; ++j) stays = stays && (!is_in_memory(j) || !written.meets(range_of_access(j)));
    if (!stays) break;
    void* const matrix = pointer[grows.factor];
    sinks.sink[i] = {.rows = {.row_bytes = passes::value_of(e.sinks[i].row, m.symbols) * static_cast<std::int64_t>(sizeof(T)), .memory = static_cast<char*>(matrix), .matrix = matrix,
                              .in_place = e.sinks[i].stays, .accesses = e.sinks[i].accesses},
                     .consume = &growing_product<T>::consume,
                     .context = &grows};
    if (i > 0) sinks.sink[i - 1].next = &sinks.sink[i];
    ++sinks.count;
  }
  // Rows that two sinks read are moved once. Rows of a sink that does not run stay.
  for (int i = 0; i < sinks.count; ++i)
    for (int j = 0; j < e.sink_count; ++j)
      if (j != i && e.sinks[j].buffer == e.sinks[i].buffer) sinks.sink[i].rows.in_place = true;
  const bool passes_rows = e.passed_to >= 0 && e.passed_to < sinks.count && !sinks.sink[e.passed_to].rows.in_place;
  if (passes_rows) overwrites = false;

  const detail::product<T> all{rows, n, k, {static_cast<const T*>(product.pointer[0]), a.stride[0], a.stride[1]}, {static_cast<const T*>(product.pointer[1]), b.stride[0], b.stride[1]}, nullptr, {1, 1}};
  row_source source{.rows = {.row_bytes = n * static_cast<std::int64_t>(sizeof(T)),
                             .memory = static_cast<char*>(overwrites ? next.pointer[e.overwritten_by] : product.pointer[2]),
                             .matrix = product.pointer[2],
                             .in_place = overwrites || e.is_read_later || (e.is_passed_on && !passes_rows) || workers * cut.rows_at_once > rows,
                             .accesses = e.accesses},
                    .compute = &detail::product<T>::run_rows,
                    .context = &all,
                    .rows_of_block = cut.rows_of_block,
                    .per_row = e.counts_elements ? n : 1,
                    .rows_at_once = cut.rows_at_once,
                    .is_product = true,
                    .sinks = sinks.count > 0 ? sinks.sink : nullptr};
  if (spoils_factor) {
    matmul_step<T>(product.pointer, operation, next.scratch, next.on);
    source.compute = nullptr;
  }
  next.rows = &source;
  if (sinks.count > 0) next.on = nullptr;
  kernel(next);
  return 2 + sinks.count;
}

template <class Program, class Bind>
int run_with_epilogue(int s, const call_memory& m, const pointed_step& product, void (*kernel)(const kernel_arguments&), const kernel_arguments& next, const Bind& bind) {
  int steps = 0;
  visit_floating(Program::tables.steps[s].type, [&]<class T>(element_tag<T>) {
    if constexpr (program_detail::has_step<Program>(ir::opcode::matmul, dtype_v<T>)) steps = run_epilogue<T, Program>(s, m, product, kernel, next, bind);
  });
  return steps;
}

}  // namespace detail
}  // namespace tenure::cpu_backend
