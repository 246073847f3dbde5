// SPDX-License-Identifier: BSL-1.0
// Runs a kernel as the epilogue of the product before it. The rows of the product are computed in blocks, each directly before the block
// of the kernel that reads them. So a bias and activation, a softmax over the rows, or an update of weights reads its rows from cache.
// Law: the bits are the same as with one step after the other. Only sums over rows can differ, because their blocks differ. Only shapes
// decide the blocks. A product that no later step reads is not written to memory as a whole.
// Later products whose sums run over the rows of the kernel also read these rows from cache (row_consumers.hpp).
// Cost: none for small products: they stay in cache without an epilogue, and the steps run one after the other.
#pragma once

#include <tenure/backend/cpu/fused.hpp>
#include <tenure/backend/cpu/opaque.hpp>
#include <tenure/backend/cpu/row_consumers.hpp>
#include <tenure/passes/overwrite.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::call_memory;

/// The facts about a product and the next step that are known when the program is compiled.
struct epilogue {
  bool is_one = false;
  bool reduces = false, reduces_columns = false;  // the kernel reduces over rows: the number of blocks is limited, or blocks need memory
  bool counts_elements = false;                   // the leading dimension of the kernel counts elements and not rows
  bool is_read_later = true;                      // a later step reads the product, or it is a result
  bool is_passed_on = false;                      // the kernel writes a temporary over the product, so all rows of the product need memory
  int passed_to = -1;                             // the consumer whose rows the kernel writes over the product
  int overwritten_by = -1;                        // the access that stores each element after the product's element was read; it may write to the same place
  std::uint64_t accesses = 0, writes = 0;         // a bit for each access of the kernel that reads the product, and for each access that writes
  int consumer_count = 0;                             // the products after the kernel that read its rows
  product_over_rows consumers[max_products_over_rows] = {};
};

namespace detail {

/// The rows of a block of an epilogue, and the rows of one round: a block computes these rows, runs the kernel on them, and passes them to the consumers.
/// 0 rows: no epilogue, because separate steps are as fast, or the rows cannot be cut well.
struct epilogue_cut {
  std::int64_t rows_of_block = 0, rows_at_once = 0;
  bool has_consumers = false;
};

/// Whether a product of only `rows` rows uses another algorithm than the whole product, with other bits: a single row is a GEMV, and a short column is
/// a few loops.
constexpr bool is_another_product(std::int64_t rows, std::int64_t n, std::int64_t k) { return rows == 1 || (n == 1 && rows > 0 && rows * k <= max_loops(rows, n)); }

/// The number of rows of one round, of m rows. The last round uses the same algorithm (is_another_product). 0 if there is no such number.
constexpr std::int64_t rows_without_rest(std::int64_t wanted, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t unit = costs::epilogue_row_unit;
  std::int64_t rows = wanted < unit ? unit : wanted / unit * unit;
  if (is_another_product(m % rows, n, k)) rows += unit;
  return is_another_product(m % rows, n, k) || rows >= m ? 0 : rows;
}

/// The cut for an m x n x k product. `row_bytes` has the bytes of a row of all matrices that are read twice.
constexpr epilogue_cut cut_of_epilogue(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t element_size, const epilogue& e, int instructions, std::int64_t row_bytes) {
  constexpr std::int64_t unit = costs::epilogue_row_unit;
  if (m < costs::epilogue_rows || n < 1 || k < 1) return {};
  if (e.reduces_columns && blocks_of_columns(m * n * instructions, m) == 1) return {};  // there is no memory for the columns of a second block
  const std::int64_t min_per_block = e.reduces ? (m + costs::max_grid_blocks - 1) / costs::max_grid_blocks : 0;
  if (e.consumer_count > 0 && m * row_bytes >= 2 * costs::epilogue_bytes && unit * row_bytes <= 4 * costs::twice_read_bytes) {
    const std::int64_t fitting = costs::twice_read_bytes / row_bytes;
    const bool is_whole = e.reduces_columns && fitting < min_per_block;  // a block with sums of columns is not cut again
    const std::int64_t rows = rows_without_rest(is_whole ? min_per_block + unit - 1 : fitting, m, n, k);
    return {rows > 0 && !is_whole && rows < min_per_block ? (min_per_block + rows - 1) / rows * rows : rows, rows, rows > 0};
  }
  if (n < 2 || m * n * element_size < costs::epilogue_bytes) return {};
  const std::int64_t fitting = costs::epilogue_bytes / 4 / (n * element_size) / unit * unit;
  const std::int64_t wanted = fitting < min_per_block ? min_per_block + unit - 1 : fitting < unit ? unit : fitting;
  if (k > costs::epilogue_steps_of_row * wanted) return {};
  const std::int64_t rows = rows_without_rest(wanted, m, n, k);
  return {rows, rows, false};
}

/// The cut for the product of step s and the kernel after it.
template <class Program>
constexpr epilogue_cut cut_of_epilogue(const epilogue& e, int s, const opaque_operation& product, const std::int64_t* symbols) {
  const auto& tables = Program::tables;
  const int instructions = tables.kernels[tables.steps[s + 1].kernel].instruction_count;
  const std::int64_t n = product.in[1].extent[1], k = product.in[0].extent[1], size = size_of(tables.steps[s].type);
  std::int64_t row = n + k;
  for (int i = 0; i < e.consumer_count; ++i) row += passes::value_of(e.consumers[i].row, symbols) + (e.consumers[i].shares_factor ? 0 : passes::value_of(e.consumers[i].other_row, symbols));
  return cut_of_epilogue(product.in[0].extent[0], n, k, size, e, instructions, row * size);
}

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
  const passes::symbolic_size rows = passes::symbolic_size_of(shape[0]), columns = passes::symbolic_size_of(shape[1]), elements = rows * columns;
  for (int t = s + 2; t < Program::step_count && e.consumer_count < max_products_over_rows; ++t, ++e.consumer_count)
    if (tables.steps[t].type != product.type || !find_product_over_rows<Program>(s + 1, t, rows, columns, e.consumers[e.consumer_count])) break;
  const bool is_small = elements.is_static() && elements.factor * size_of(product.type) < costs::epilogue_bytes;
  if (is_small && e.consumer_count == 0) return e;

  const passes::kernel& k = tables.kernels[next.kernel];
  const int rank = k.outer + k.inner;
  if (rank == 2 ? !(k.extent[0] == rows && k.extent[1] == columns) : !(rank == 1 && k.extent[0] == elements)) return e;
  e.counts_elements = rank == 1;

  // The bindings of a step have the same order as its accesses in the plan.
  const program_detail::binding& c = tables.bindings[product.first_binding + 2];
  const passes::buffer& buffer = tables.buffers[c.buffer];
  e.is_passed_on = buffer.is_passed_on;
  for (int i = 0; i < e.consumer_count; ++i)
    if (tables.buffers[e.consumers[i].buffer].in_place_of == c.buffer) e.passed_to = i;
  e.is_read_later = buffer.where != passes::buffer::place::workspace || buffer.last > s + 1 || !(buffer.elements == elements);
  for (int a = 0; a < next.binding_count; ++a) {
    const program_detail::binding& b = tables.bindings[next.first_binding + a];
    if (b.buffer != c.buffer) continue;
    const passes::strides& along = plan.strides[plan.accesses[next.first_binding + a].strides];
    const bool lies_alike = rank == 1 ? along[0] == passes::symbolic_size{1} : along[0] == columns && along[1] == passes::symbolic_size{1};
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
  if constexpr (Program::is_static) {  // a small program with an epilogue would not be expanded
    std::int64_t number[96] = {};
    for (int i = 0; i < product.number_count; ++i) number[i] = tables.numbers[product.first_number + i].factor;
    e.is_one = e.is_one && elements.factor * k.instruction_count >= costs::min_cut_work && cut_of_epilogue<Program>(e, s, opaque_operation(number), nullptr).rows_of_block > 0;
  }
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

/// A step with its pointers. `number` holds the numbers of the operands of a product.
struct pointed_step {
  void* const* pointer;
  const std::int64_t* number;
};

/// The products that read the rows of an epilogue, in one call. A product that cannot read them block by block runs after the kernel, with the same bits.
template <class T>
struct consumers_of_call {
  growing_product<T> product[max_products_over_rows];
  row_consumer consumer[max_products_over_rows];
  bool is_active[max_products_over_rows] = {};
  int count = 0;

  /// Binds the consumers of an epilogue. `read` has the memory that the product and the kernel read and write. A consumer writes its first rows
  /// before the product and the kernel have read all of this memory, so the sums of a consumer must not overlap it.
  template <class Program, class Bind>
  void bind(const epilogue& e, int s, const call_memory& m, bool on_one_thread, const byte_range* read, int read_count, const Bind& bind_step) {
    count = e.consumer_count;
    for (int c = 0; c < e.consumer_count; ++c) {
      const program_detail::bound_step& reader = Program::tables.steps[s + 2 + c];
      const product_over_rows& sums = e.consumers[c];
      void* pointer[3];
      std::int64_t own_number[program_detail::max_count<Program>(&program_detail::bound_step::number_count)];
      growing_product<T>& grows = product[c];
      grows = {opaque_operation(bind_step(reader, pointer, own_number)), pointer, sums.factor};
      bool& stays = is_active[c] = on_one_thread && grows.is_in_order();
      for (int i = 0; i < read_count; ++i) stays = stays && !grows.written.meets(read[i]);
      for (int i = 0; i < c; ++i) stays = stays && !grows.written.meets(product[i].other);
      bool is_in_place = sums.stays;  // also rows that two products read
      for (int i = 0; i < e.consumer_count; ++i) is_in_place = is_in_place || (i != c && e.consumers[i].buffer == sums.buffer);
      void* const matrix = pointer[sums.factor];
      consumer[c] = {.rows = {.row_bytes = passes::value_of(sums.row, m.symbols) * static_cast<std::int64_t>(sizeof(T)), .memory = static_cast<char*>(matrix), .matrix = matrix,
                          .in_place = is_in_place, .accesses = sums.accesses},
                 .consume = &growing_product<T>::consume,
                 .context = &grows,
                 .next = nullptr};
    }
  }
  /// The active consumers, in order.
  const row_consumer* list() {
    const row_consumer* first = nullptr;
    for (int i = count - 1; i >= 0; --i)
      if (is_active[i]) consumer[i].next = first, first = &consumer[i];
    return first;
  }
  bool moves_rows(int i) const { return i >= 0 && i < count && is_active[i] && !consumer[i].rows.in_place; }
};

/// Runs the product s with elements of type T, the kernel after it, and the products that read its rows. Returns the number of steps that it ran.
/// bind(step, pointers, numbers) binds a step.
template <class T, class Program, class Bind>
int run_epilogue(int s, const call_memory& m, const pointed_step& product, const epilogue_cut& cut, void (*kernel)(const kernel_arguments&), kernel_arguments next, const Bind& bind) {
  constexpr auto& tables = Program::tables;
  const program_detail::bound_step& after = tables.steps[s + 1];
  const passes::kernel& shape = tables.kernels[after.kernel];
  const epilogue& e = epilogues<Program>.at[s];
  const opaque_operation operation(product.number);
  const operand_view &a = operation.in[0], &b = operation.in[1];
  const std::int64_t rows = a.extent[0], n = b.extent[1], k = a.extent[1];

  // The memory of the product, and of all accesses of the kernel to other buffers.
  byte_range memory[64 + 3] = {{product.pointer[0], a.extent, a.stride, 2, sizeof(T)},
                               {product.pointer[1], b.extent, b.stride, 2, sizeof(T)},
                               {product.pointer[2], operation.out.extent, operation.out.stride, 2, sizeof(T)}};
  const byte_range &left = memory[0], &right = memory[1];
  int count = 3, access[64 + 3] = {-1, -1, -1};
  for (int i = 0; i < after.binding_count; ++i) {
    if ((e.accesses >> i & 1) || tables.bindings[after.first_binding + i].buffer < 0) continue;
    const passes::access& x = Program::plan.accesses[after.first_binding + i];
    std::int64_t extent[max_rank], stride[max_rank];
    for (int d = 0; d < shape.outer + shape.inner; ++d) {
      extent[d] = passes::value_of(shape.extent[d], m.symbols);
      stride[d] = passes::value_of(Program::plan.strides[x.strides][d], m.symbols);
    }
    access[count] = i;
    memory[count++] = byte_range(next.pointer[i], extent, stride, shape.outer + shape.inner, size_of(x.type));
  }
  bool overwrites = e.overwritten_by >= 0, spoils_factor = false;
  for (int i = 3; i < count; ++i) {
    if ((e.writes >> access[i] & 1) && (memory[i].meets(left) || memory[i].meets(right))) spoils_factor = true;
    for (int j = 3; j < count; ++j)
      if (access[j] == e.overwritten_by && i != j && memory[i].meets(memory[j])) overwrites = false;
  }

  executor* const on = next.on;
  const std::int64_t workers = on == nullptr ? 1 : on->workers();
  consumers_of_call<T> consumers;
  const bool on_one_thread = workers == 1 || (n == 1 && workers < costs::threads_of_vector);
  if (cut.has_consumers) consumers.template bind<Program>(e, s, m, on_one_thread, memory, count, bind);
  const bool passes_rows = consumers.moves_rows(e.passed_to);
  if (passes_rows) overwrites = false;

  const detail::product<T> all{rows, n, k, {static_cast<const T*>(product.pointer[0]), a.stride[0], a.stride[1]}, {static_cast<const T*>(product.pointer[1]), b.stride[0], b.stride[1]}, nullptr, {1, 1}};
  row_producer source{.rows = {.row_bytes = n * static_cast<std::int64_t>(sizeof(T)),
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
                    .consumers = consumers.list()};
  if (spoils_factor) {
    matmul_step<T>(product.pointer, operation, next.scratch, on);
    source.compute = nullptr;
  }
  next.rows = &source;
  if (source.consumers != nullptr) next.on = nullptr;
  kernel(next);
  for (int i = 0; i < consumers.count; ++i)
    if (!consumers.is_active[i]) consumers.product[i].run(cut.rows_at_once, rows, next.scratch, on);
  return 2 + consumers.count;
}

template <class Program, class Bind>
int run_with_epilogue(int s, const call_memory& m, const pointed_step& product, const epilogue_cut& cut, void (*kernel)(const kernel_arguments&), const kernel_arguments& next,
                      const Bind& bind) {
  int steps = 0;
  visit_floating(Program::tables.steps[s].type, [&]<class T>(element_tag<T>) {
    if constexpr (program_detail::has_step<Program>(ir::opcode::matmul, dtype_v<T>)) steps = run_epilogue<T, Program>(s, m, product, cut, kernel, next, bind);
  });
  return steps;
}

}  // namespace detail
}  // namespace tenure::cpu_backend
