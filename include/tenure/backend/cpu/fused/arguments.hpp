// SPDX-License-Identifier: BSL-1.0
// The arguments of a fused kernel, and the memory that its blocks need.
#pragma once

#include <cstdint>

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/execution.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// The arguments of a kernel: one pointer for each access (null if the access counts positions), the run-time numbers, and memory for
/// the columns and rows that its blocks keep (kernel_memory).
struct kernel_arguments {
  void* const* pointer;
  const std::int64_t* number;
  void* scratch;
  executor* on = nullptr;            // runs the blocks; if it is null, this thread runs them
  const row_producer* rows = nullptr;  // computes the rows that a block reads, directly before this block
};

/// The bytes that the blocks of a kernel keep in addition to the results: columns of the blocks and rows of the workers.
struct kernel_memory {
  std::int64_t alone = 0;                      // on one thread: the column sums of one block (added before the next block begins) and of a part
  std::int64_t on_threads = 0, of_helper = 0;  // on several threads: the same for all blocks except one; for each worker except one: rows and a part

  /// `columns` is the number of elements of a row, `sums` the number of reductions over rows, and `kept` the number of rows that a
  /// later pass reads again. `in_parts`: the rows of a block are added up in parts.
  constexpr kernel_memory(std::int64_t blocks, std::int64_t columns, int sums, int kept, bool in_parts, std::int64_t element_size) {
    const std::int64_t of_sums = sums * columns * element_size, of_part = in_parts ? of_sums : 0;
    alone = (blocks < 2 ? 0 : of_sums) + of_part;
    if (blocks < 2) return;
    on_threads = (blocks - 1) * of_sums + of_part;
    of_helper = kept * columns * element_size + of_part;
  }
};

}  // namespace tenure::cpu_backend
