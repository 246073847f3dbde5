// SPDX-License-Identifier: BSL-1.0
// Runs the group of a product (passes/groups.hpp): the rows of the product are computed in blocks, each directly before the block of the kernel that reads
// them. So this kernel, the epilogue of the product, and products over its rows (row_consumers.hpp) read these rows from cache.
// Law: the bits are the same as with one step after the other. Only sums over rows can differ, because their blocks differ. Only shapes
// decide the blocks. A product that no later step reads is not written to memory as a whole.
#pragma once

#include <tenure/backend/cpu/fused.hpp>
#include <tenure/backend/cpu/opaque.hpp>
#include <tenure/backend/cpu/row_consumers.hpp>
#include <tenure/passes/overwrite.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::call_memory;

namespace detail {

/// Whether step s is a product whose rows are computed directly before the kernel that reads them.
template <class Program>
constexpr bool has_epilogue(int s) {
#if TENURE_BLAS  // a BLAS computes whole products
  if (Program::tables.steps[s].op == ir::opcode::matmul) return false;
#endif
  return Program::groups.at[s].is_of_product();
}
template <class Program>
inline constexpr bool has_epilogues = [] {
  bool any = false;
  if constexpr (Program::groups.products > 0)
    for (int s = 0; s < Program::step_count; ++s) any = any || has_epilogue<Program>(s);
  return any;
}();

/// Calls f(the tasks of step s), if they can compute pieces of its result.
template <class Program, class F>
constexpr void with_pieces(int s, const opaque_operation& operation, const F& f) {
  program_detail::visit_opaque<Program>(Program::tables.steps[s], [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
    if constexpr (computes_pieces<Op, T>) f(typename step<Op, T>::tasks(operation), element_tag<T>{});
  });
}

/// Whether a gather of a group waits for its reader in a call, which saves time.
constexpr bool waits(const opaque_operation& gather, std::int64_t element_size) {
  const operand_view &table = gather.in[0], &indices = gather.in[1];
  return elements_of(indices) * elements_along(table, 1, table.rank) * element_size >= passes::costs::waiting_gather_bytes && is_dense(table, 1, table.rank) &&
         is_dense(indices, 0, indices.rank);
}

/// The cut of the group of step s, the product.
template <class Program>
constexpr passes::row_cut cut_of_group(int s, const opaque_operation& product, const std::int64_t* symbols) {
  const passes::row_group& group = Program::groups.at[s];
  const int instructions = Program::tables.kernels[Program::tables.steps[group.kernel].kernel].instruction_count;
  const std::int64_t row = passes::value_of(group.row, symbols), size = size_of(Program::tables.steps[s].type);
  if (Program::tables.steps[s].op == ir::opcode::matmul) return passes::cut_of_rows(group, product.in[0].extent[0], row, product.in[0].extent[1], size, instructions, symbols);
  constexpr auto axes_of_piece = [](ir::opcode op) { return ops::structural_record_of(op).axes_of_piece; };
  const std::int64_t image = elements_along(product.out, product.out.rank - axes_of_piece(Program::tables.steps[s].op) - 1, product.out.rank);
  const passes::row_cut cut = passes::cut_of_pieces(group, elements_of(product.out), image, row, size, instructions);
  bool can_be_cut = false;
  with_pieces<Program>(s, product, [&](const auto& tasks, auto) { can_be_cut = tasks.can_be_cut(cut.rows_of_block * row); });
  return can_be_cut ? cut : passes::row_cut{};
}

/// The bytes of the rows of a group that a worker computes at a time, if all rows are never in memory. Otherwise 0. A body has no such group, because its
/// workspace is a part of the scratch memory of its loop.
template <class Program>
constexpr std::int64_t bytes_of_rows(int s, const passes::row_cut& cut, const std::int64_t* symbols) {
  const passes::row_group& group = Program::groups.at[s];
  return cut.rows_of_block > 0 && group.needs_only_blocks(Program::value.is_body) ? cut.rows_at_once * passes::value_of(group.row, symbols) * size_of(Program::tables.steps[s].type) : 0;
}
/// The bytes of the tasks of a worker that compute these rows.
template <class Program>
constexpr std::int64_t bytes_of_tasks(int s, const opaque_operation& product, const passes::row_cut& cut) {
  std::int64_t bytes = 0;
  if (cut.rows_of_block > 0) with_pieces<Program>(s, product, [&](const auto& tasks, auto) { bytes = tasks.workspace(); });
  return bytes;
}
template <class Program>
constexpr std::int64_t bytes_at_once(int s, const opaque_operation& n, const std::int64_t* symbols) {
  const passes::row_group& e = Program::groups.at[s];
  if constexpr (has_epilogues<Program>)
    if (has_epilogue<Program>(s) && e.needs_only_blocks(Program::value.is_body)) return bytes_of_rows<Program>(s, cut_of_group<Program>(s, n, symbols), symbols);
  const std::int64_t size = size_of(Program::tables.steps[s].type);
  if (!e.is_of_gather() || !waits(n, size)) return 0;
  const std::int64_t row = elements_along(n.in[0], 1, n.in[0].rank) * size;
  return passes::gathered_rows(row) * row;
}

/// The products that read the rows of an epilogue, in one call. A product that cannot read them block by block runs after the kernel, with the same bits.
template <class T>
struct consumers_of_call {
  growing_product<T> product[passes::max_products_over_rows];
  row_consumer consumer[passes::max_products_over_rows];
  bool is_active[passes::max_products_over_rows] = {};
  int count = 0;

  /// Binds the consumers of an epilogue. `read` has the memory that the product and the kernel read and write. A consumer writes its first rows
  /// before the product and the kernel have read all of this memory, so the sums of a consumer must not overlap it.
  template <class Program, class Bind>
  void bind(const passes::row_group& e, int s, const call_memory& m, bool on_one_thread, const byte_range* read, int read_count, const Bind& bind_step) {
    count = e.consumer_count;
    for (int c = 0; c < e.consumer_count; ++c) {
      const passes::product_over_rows& sums = e.consumers[c];
      void* pointer[3];
      growing_product<T>& grows = product[c];
      grows = {bind_step(s + 2 + c, pointer), pointer, sums.factor};
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

/// Computes rows of a product.
struct rows_of_product {
  void (*compute)(const void* context, std::int64_t first, std::int64_t count, void* to, int worker);
  const void* context;
};

/// The tasks of a step, which compute a piece of its result for each worker: the context of a row_producer.
template <class Tasks, class T>
struct pieces {
  const Tasks& tasks;
  void* const* pointer;
  std::int64_t row;  // the elements of a row
  char* memory;
  std::int64_t memory_of_worker;

  static void compute(const void* context, std::int64_t first, std::int64_t count, void* to, int worker) {
    const pieces& p = *static_cast<const pieces*>(context);
    // As if the whole result were there. The address is computed as an integer, because it may be outside the memory.
    void* const all = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(to) - static_cast<std::uintptr_t>(first * p.row) * sizeof(T));
    void* const pointer[] = {p.pointer[0], p.pointer[1], all};
    p.tasks.run_piece(pointer, first * p.row, count * p.row, p.memory + worker * p.memory_of_worker);
  }
};

/// Runs the product s with sums of type T, the kernel after it, and the products that read its rows. Returns the number of steps that it ran.
/// bind(step, pointers) sets the pointers of a step, and returns its operation. The scratch memory of the product, if it has some, is for the rows that each
/// worker computes at a time; otherwise there is memory for all rows.
template <class T, class Program, class Bind>
int run_epilogue(int s, const call_memory& m, const step_call& product, const rows_of_product& rows_of, const passes::row_cut& cut, void (*kernel)(const kernel_arguments&), kernel_arguments next,
                 const Bind& bind) {
  constexpr auto& tables = Program::tables;
  const program_detail::bound_step& after = tables.steps[s + 1];
  const passes::kernel& shape = tables.kernels[after.kernel];
  const passes::row_group& e = Program::groups.at[s];
  const opaque_operation& operation = product.operation;
  const std::int64_t n = passes::value_of(e.row, m.symbols), rows = n == 0 ? 0 : elements_of(operation.out) / n;

  // The memory of the product, and of all accesses of the kernel to other buffers.
  byte_range memory[64 + 3] = {{product.pointer[0], operation.in[0], size_of(operation.in[0].type)}, {product.pointer[1], operation.in[1], size_of(operation.in[1].type)}, {}};
  if (product.scratch == nullptr) memory[2] = {product.pointer[2], operation.out, sizeof(T)};
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
  bool overwrites = e.overwritten_by >= 0;
  for (int i = 3; i < count; ++i)
    for (int j = 3; j < count; ++j)
      if (access[j] == e.overwritten_by && i != j && memory[i].meets(memory[j])) overwrites = false;

  executor* const on = next.on;
  const std::int64_t workers = on == nullptr ? 1 : on->workers();
  consumers_of_call<T> consumers;
  const bool on_one_thread = workers == 1 || (n == 1 && workers < costs::threads_of_vector);
  if (cut.has_consumers) consumers.template bind<Program>(e, s, m, on_one_thread, memory, count, bind);
  const bool passes_rows = consumers.moves_rows(e.passed_to);
  if (passes_rows) overwrites = false;

  row_producer source{.rows = {.row_bytes = n * static_cast<std::int64_t>(sizeof(T)),
                             .memory = static_cast<char*>(overwrites ? next.pointer[e.overwritten_by] : product.scratch != nullptr ? product.scratch : product.pointer[2]),
                             .matrix = product.pointer[2],
                             .in_place = overwrites || e.is_read_later || (e.is_passed_on && !passes_rows) || workers * cut.rows_at_once > rows,
                             .accesses = e.accesses},
                    .compute = rows_of.compute,
                    .context = rows_of.context,
                    .rows_of_block = cut.rows_of_block,
                    .per_row = passes::value_of(e.per_row, m.symbols),
                    .rows_at_once = cut.rows_at_once,
                    .is_product = true,
                    .consumers = consumers.list()};
  next.rows = &source;
  if (source.consumers != nullptr) next.on = nullptr;
  kernel(next);
  for (int i = 0; i < consumers.count; ++i)
    if (!consumers.is_active[i]) consumers.product[i].run(cut.rows_at_once, rows, next.scratch, on);
  return 2 + consumers.count;
}

/// `rows_at_once` is the memory of the rows that the workers compute at a time, and behind them of their tasks.
template <class Program, class Bind>
int run_with_epilogue(int s, const call_memory& m, void* const* pointer, const opaque_operation& operation, char* rows_at_once, const passes::row_cut& cut,
                      void (*kernel)(const kernel_arguments&), const kernel_arguments& next, const Bind& bind) {
  int steps = 0;
  const std::int64_t row_bytes = bytes_of_rows<Program>(s, cut, m.symbols);
  const step_call product{pointer, operation, row_bytes > 0 ? rows_at_once : nullptr};
  if (Program::tables.steps[s].op != ir::opcode::matmul) {
    const std::int64_t workers = next.on == nullptr ? 1 : next.on->workers();
    with_pieces<Program>(s, operation, [&]<class Tasks, class T>(const Tasks& tasks, element_tag<T>) {
      const pieces<Tasks, T> all{tasks, pointer, passes::value_of(Program::groups.at[s].row, m.symbols), rows_at_once + ceil_div(workers * row_bytes, 64) * 64, tasks.workspace()};
      steps = run_epilogue<T, Program>(s, m, product, {&pieces<Tasks, T>::compute, &all}, cut, kernel, next, bind);
    });
    return steps;
  }
  visit_lane(Program::tables.steps[s].type, [&]<class T>(element_tag<T>) {
    if constexpr (program_detail::has_step<Program>(ir::opcode::matmul, dtype_v<T>)) {
      visit_factors<Program, T>(operation, [&]<class A, class B>(element_tag<A>, element_tag<B>) {
        const operand_view &a = operation.in[0], &b = operation.in[1];
        const detail::product<T, A, B> all{a.extent[0], b.extent[1], a.extent[1], {static_cast<const A*>(pointer[0]), a.stride[0], a.stride[1]},
                                           {static_cast<const B*>(pointer[1]), b.stride[0], b.stride[1]}, nullptr, {1, 1}};
        steps = run_epilogue<T, Program>(s, m, product, {&detail::product<T, A, B>::run_rows, &all}, cut, kernel, next, bind);
      });
    }
  });
  return steps;
}

}  // namespace detail
}  // namespace tenure::cpu_backend
