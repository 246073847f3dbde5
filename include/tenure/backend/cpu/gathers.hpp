// SPDX-License-Identifier: BSL-1.0
// Gathers that wait for the kernel that reads their rows. The rows of a block are gathered directly before this block of the kernel runs, so the
// kernel reads them from cache, and the gathered array is never in memory as a whole. Example: vmap over table rows that indices name.
// Law: the bits are the same as with one step after the other.
// Cost: none for few rows: they stay in cache, and the steps run one after the other.
#pragma once

#include <tenure/backend/cpu/epilogue.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// The facts about a gather that are known when the program is compiled.
struct waiting_gather {
  int reader = -1;             // the step whose kernel reads the rows, or -1 if the gather does not wait
  std::uint64_t accesses = 0;  // the accesses of the kernel that read them
};

namespace detail {

/// Finds whether gather s may wait. It must gather along the first axis of an argument by a list of indices. The only step that reads the rows must be a
/// kernel that walks the rows and reduces nothing.
template <class Program>
constexpr waiting_gather find_waiting_gather(int s) {
  constexpr auto& tables = Program::tables;
  constexpr auto& plan = Program::plan;
  using place = passes::buffer::place;
  const program_detail::bound_step& gather = tables.steps[s];
  if (gather.is_fused() || gather.op != ir::opcode::gather) return {};
  constexpr ir::graph_view g = Program::value.view();
  const ir::node& node = g[plan.steps[s].node];
  if (node.attr != 0 || g.shape_of(node.in[1]).rank != 1) return {};
  const auto buffer_of = [&](const program_detail::bound_step& bound, int a) { return tables.bindings[bound.first_binding + a].buffer; };
  const int rows = buffer_of(gather, 2), t = tables.buffers[rows].last;
  const auto is_argument = [&](int a) { return tables.buffers[buffer_of(gather, a)].where == place::argument; };
  const bool reads_arguments = is_argument(0) && is_argument(1);
  const bool is_checked_between = s <= program_detail::last_check<Program> && t > program_detail::last_check<Program>;
  if (tables.buffers[rows].where != place::workspace || !reads_arguments || t <= s || is_checked_between) return {};
  const program_detail::bound_step& reader = tables.steps[t];
  if (!reader.is_fused() || reader.binding_count > 64 || epilogues<Program>.at[t - 1].is_one) return {};
  for (int between = s + 1; between < t; ++between)
    for (int a = 0; a < tables.steps[between].binding_count; ++a)
      if (buffer_of(tables.steps[between], a) == rows) return {};

  const extents& shape = g.shape_of(plan.steps[s].node);
  std::int64_t length = 1;
  for (int d = 1; d < shape.rank; ++d) {
    if (!is_static(shape[d])) return {};
    length *= shape[d];
  }
  const passes::kernel& k = tables.kernels[reader.kernel];
  if (k.outer + k.inner != 1 || !(k.extent[0] == passes::symbolic_size_of(shape[0]))) return {};
  for (int i = 0; i < k.instruction_count; ++i)
    if (plan.instructions[k.first_instruction + i].reduces()) return {};
  waiting_gather found{.reader = t};
  for (int a = 0; a < reader.binding_count; ++a) {
    if (buffer_of(reader, a) != rows) continue;
    const passes::symbolic_size& offset = tables.bindings[reader.first_binding + a].offset;
    const bool is_of_row = offset.is_static() && offset.factor >= 0 && offset.factor < length;
    if (!is_of_row || !(plan.strides[plan.accesses[reader.first_binding + a].strides][0] == passes::symbolic_size{length})) return {};
    found.accesses |= std::uint64_t{1} << a;
  }
  return found;
}

/// The gathers of a program that may wait.
template <class Program>
struct waiting_gather_table {
  waiting_gather at[Program::step_count + 1] = {};
  int count = 0;

  constexpr waiting_gather_table() {
    if (Program::value.is_body) return;
    for (int s = 0; s < Program::step_count; ++s) {
      at[s] = find_waiting_gather<Program>(s);
      count += at[s].reader >= 0;
    }
  }
};
template <class Program>
inline constexpr waiting_gather_table<Program> gathers_that_wait{};
template <class Program>
inline constexpr bool has_waiting_gathers = gathers_that_wait<Program>.count > 0;

/// The rows of a table that indices name: the context of a row_producer.
struct gathered_rows {
  const void *table, *indices;
  dtype index_type;
  std::int64_t step, length;  // of the rows of the table

  template <class T>
  static void gather(const void* context, std::int64_t first, std::int64_t count, void* to) {
    const gathered_rows& g = *static_cast<const gathered_rows*>(context);
    visit_indices(g.index_type, g.indices, [&](const auto* places) {
      gather_rows(static_cast<const T*>(g.table), g.step, places + first, count, g.length, static_cast<T*>(to));
    });
  }
};

/// The gathers of a call that wait.
template <class Program>
class waiting_gathers {
 public:
  /// Lets gather s wait, if this saves time in this call. The gather does not wait if the call writes a result into the memory of an argument that only
  /// the gather reads.
  bool take(int s, const call_memory& m, const pointed_step& gather) {
    const program_detail::bound_step& bound = Program::tables.steps[s];
    const opaque_operation operation(gather.number);
    const opaque_operation::operand &table = operation.in[0], &indices = operation.in[1];
    const std::int64_t count = elements_of(indices), length = elements_along(table, 1, table.rank), bytes = size_of(bound.type);
    if (count * length * bytes < costs::waiting_gather_bytes || !is_dense(table, 1, table.rank) || !is_dense(indices, 0, indices.rank)) return false;
    const byte_range of_table(gather.pointer[0], table.extent, table.stride, table.rank, bytes);
    const byte_range of_indices(gather.pointer[1], indices.extent, indices.stride, indices.rank, size_of(indices.type));
    for (int b = 0; b < Program::buffer_count; ++b) {
      const passes::buffer& result = Program::tables.buffers[b];
      if (result.where != passes::buffer::place::result) continue;
      const std::int64_t elements = passes::value_of(result.elements, m.symbols), next = 1;
      if (elements == 0) continue;
      const byte_range written(m.results[result.index], &elements, &next, 1, size_of(result.type));
      if (written.meets(of_table) || written.meets(of_indices)) return false;
    }
    waiting& w = waiting_[count_++];
    w.rows = {gather.pointer[0], gather.pointer[1], indices.type, table.stride[0], length};
    w.reader = gathers_that_wait<Program>.at[s].reader;
    w.count = count;
    w.source.rows = {.row_bytes = length * bytes, .memory = static_cast<char*>(gather.pointer[2]), .matrix = gather.pointer[2],
                     .accesses = gathers_that_wait<Program>.at[s].accesses};
    w.source.context = &w.rows;
    program_detail::visit_opaque<Program>(bound, [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
      w.source.compute = &gathered_rows::gather<T>;
    });
    return true;
  }

  /// The sources of the rows that step t reads, or null if no gather waits for it.
  const row_producer* before(int t, executor* on) {
    std::int64_t row_bytes = 0;
    for (int i = 0; i < count_; ++i)
      if (waiting_[i].reader == t) row_bytes += waiting_[i].source.rows.row_bytes;
    if (row_bytes == 0) return nullptr;
    constexpr std::int64_t unit = costs::gathered_row_unit;
    const std::int64_t fitting = costs::gathered_block_bytes / row_bytes / unit * unit, rows = fitting < unit ? unit : fitting;
    const std::int64_t workers = on == nullptr ? 1 : on->workers();
    const row_producer* found = nullptr;
    for (int i = 0; i < count_; ++i) {
      waiting& w = waiting_[i];
      if (w.reader != t) continue;
      w.source.rows_of_block = w.source.rows_at_once = rows;
      w.source.rows.in_place = workers * rows > w.count;
      w.source.next = found;
      found = &w.source;
    }
    return found;
  }

 private:
  struct waiting {
    gathered_rows rows;
    row_producer source;
    int reader;
    std::int64_t count;
  };
  waiting waiting_[gathers_that_wait<Program>.count];
  int count_ = 0;
};

}  // namespace detail
}  // namespace tenure::cpu_backend
