// SPDX-License-Identifier: BSL-1.0
// The groups of gathers (passes/groups.hpp): a gather waits for the kernel that reads its rows. The rows of a block are gathered directly before this block
// of the kernel runs, so the gathered array is never in memory as a whole. Example: vmap over table rows that indices name.
// Law: the bits are the same as with one step after the other.
#pragma once

#include <tenure/backend/cpu/epilogue.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

template <class Program>
inline constexpr bool has_waiting_gathers = Program::groups.gathers > 0;

/// The rows of a table that indices name: the context of a row_producer.
struct gathered_rows {
  const void *table, *indices;
  dtype index_type;
  std::int64_t step, length;  // of the rows of the table

  template <class T>
  static void gather(const void* context, std::int64_t first, std::int64_t count, void* to, int) {
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
  /// Lets gather s wait, if this saves time in this call.
  bool take(int s, const step_call& gather) {
    const program_detail::bound_step& bound = Program::tables.steps[s];
    const opaque_operation::operand &table = gather.operation.in[0], &indices = gather.operation.in[1];
    const std::int64_t count = elements_of(indices), length = elements_along(table, 1, table.rank), bytes = size_of(bound.type);
    if (!waits(gather.operation, bytes)) return false;
    waiting& w = waiting_[count_++];
    w.rows = {gather.pointer[0], gather.pointer[1], indices.type, table.stride[0], length};
    w.reader = Program::groups.at[s].kernel;
    w.count = count;
    w.source.rows = {.row_bytes = length * bytes, .memory = static_cast<char*>(gather.scratch), .matrix = gather.pointer[2],
                     .accesses = Program::groups.at[s].accesses};
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
    const std::int64_t rows = passes::gathered_rows(row_bytes);
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
  waiting waiting_[Program::groups.gathers];
  int count_ = 0;
};

}  // namespace detail
}  // namespace tenure::cpu_backend
