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

template <class Program>
inline constexpr bool has_epilogues = []() -> bool {
#if TENURE_BLAS  // a BLAS computes whole products
  return false;
#else
  return Program::groups.products > 0;
#endif
}();

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
  return passes::cut_of_rows(group, product.in[0].extent[0], product.in[1].extent[1], product.in[0].extent[1], size_of(Program::tables.steps[s].type), instructions, symbols);
}

/// The bytes of the rows of a group that a worker computes at a time, if all rows are never in memory. Otherwise 0. A body has no such group, because its
/// workspace is a part of the scratch memory of its loop.
template <class Program>
constexpr std::int64_t bytes_at_once(int s, const opaque_operation& product, const passes::row_cut& cut) {
  return cut.rows_of_block > 0 && Program::groups.at[s].needs_only_blocks(Program::value.is_body) ? cut.rows_at_once * product.in[1].extent[1] * size_of(Program::tables.steps[s].type) : 0;
}
template <class Program>
constexpr std::int64_t bytes_at_once(int s, const opaque_operation& n, const std::int64_t* symbols) {
  const passes::row_group& e = Program::groups.at[s];
  if (has_epilogues<Program> && e.is_of_product() && e.needs_only_blocks(Program::value.is_body)) return bytes_at_once<Program>(s, n, cut_of_group<Program>(s, n, symbols));
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

/// Runs the product s with sums of type T and factors of types A and B, the kernel after it, and the products that read its rows. Returns the number of steps that it ran.
/// bind(step, pointers) sets the pointers of a step, and returns its operation. The scratch memory of the product, if it has some, is for the rows that each
/// worker computes at a time; otherwise there is memory for all rows.
template <class T, class A, class B, class Program, class Bind>
int run_epilogue(int s, const call_memory& m, const step_call& product, const passes::row_cut& cut, void (*kernel)(const kernel_arguments&), kernel_arguments next, const Bind& bind) {
  constexpr auto& tables = Program::tables;
  const program_detail::bound_step& after = tables.steps[s + 1];
  const passes::kernel& shape = tables.kernels[after.kernel];
  const passes::row_group& e = Program::groups.at[s];
  const opaque_operation& operation = product.operation;
  const opaque_operation::operand &a = operation.in[0], &b = operation.in[1];
  const std::int64_t rows = a.extent[0], n = b.extent[1], k = a.extent[1];

  // The memory of the product, and of all accesses of the kernel to other buffers.
  byte_range memory[64 + 3] = {{product.pointer[0], a, sizeof(A)}, {product.pointer[1], b, sizeof(B)}, {}};
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

  const detail::product<T, A, B> all{rows, n, k, {static_cast<const A*>(product.pointer[0]), a.stride[0], a.stride[1]}, {static_cast<const B*>(product.pointer[1]), b.stride[0], b.stride[1]}, nullptr, {1, 1}};
  row_producer source{.rows = {.row_bytes = n * static_cast<std::int64_t>(sizeof(T)),
                             .memory = static_cast<char*>(overwrites ? next.pointer[e.overwritten_by] : product.scratch != nullptr ? product.scratch : product.pointer[2]),
                             .matrix = product.pointer[2],
                             .in_place = overwrites || e.is_read_later || (e.is_passed_on && !passes_rows) || workers * cut.rows_at_once > rows,
                             .accesses = e.accesses},
                    .compute = &detail::product<T, A, B>::run_rows,
                    .context = &all,
                    .rows_of_block = cut.rows_of_block,
                    .per_row = e.counts_elements ? n : 1,
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

template <class Program, class Bind>
int run_with_epilogue(int s, const call_memory& m, const step_call& product, const passes::row_cut& cut, void (*kernel)(const kernel_arguments&), const kernel_arguments& next,
                      const Bind& bind) {
  int steps = 0;
  visit_lane(Program::tables.steps[s].type, [&]<class T>(element_tag<T>) {
    if constexpr (program_detail::has_step<Program>(ir::opcode::matmul, dtype_v<T>)) {
      visit_factors<Program, T>(product.operation, [&]<class A, class B>(element_tag<A>, element_tag<B>) {
        steps = run_epilogue<T, A, B, Program>(s, m, product, cut, kernel, next, bind);
      });
    }
  });
  return steps;
}

}  // namespace detail
}  // namespace tenure::cpu_backend
