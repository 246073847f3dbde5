// SPDX-License-Identifier: BSL-1.0
// A fused kernel on the CPU: the loop nest that a code describes. Packets run along the last dimension, and every intermediate value
// stays in a register. A tail is a partial packet with the same instructions, so the result of an element does not depend on its
// position. Large kernels run in blocks (blocks.hpp). The results of the blocks are combined in their order.
// Cost: one load for each input and one store for each output. In addition, only the column sums of a block are read from and written to memory.
#pragma once

#include <tenure/backend/cpu/fused/iterations.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

// The jobs of a kernel, each in a class and a header that derives from the one before: facts, interleaved, one_hot_select, transposed, non_temporal, memory,
// reductions, elements, loops, blocks, iterations.
template <class Code>
struct fused : kernel_iterations<Code> {
  using base = kernel_iterations<Code>;
  using typename base::local_arguments, typename base::record, typename base::T, typename base::whole;
  using base::collected_numbers, base::gains_by_bypassing, base::is_cut, base::max_totals, base::may_bypass_caches, base::number_count;

  TENURE_FLATTEN static TENURE_INLINE void run(const kernel_arguments& given) {
    local_arguments args;
    for (int a = 0; a < record::accesses; ++a) args.pointer[a] = given.pointer[a];
    for (int i = 0; i < number_count; ++i) args.number[i] = given.number[i];
    if constexpr (is_cut) {
      base::run_blocks(args, given);
    } else {
      T totals[max_totals];
      alignas(64) [[maybe_unused]] T collected[collected_numbers + 1];
      args.collected = collected;
      if constexpr (may_bypass_caches) args.bypasses_caches = gains_by_bypassing(args);
      base::run_range(args, whole{}, totals);
      if constexpr (may_bypass_caches)
        if (args.bypasses_caches) math::end_of_streams();
      base::write_totals(args, totals, typename base::template those<part::totals>{});
    }
  }

  /// True if the kernel may run in blocks. Then a row_producer may compute rows before each block.
  static constexpr bool runs_in_blocks() { return is_cut; }
  /// True if the kernel may use non-temporal stores when its data does not fit into the caches.
  static constexpr bool stores_non_temporal() { return may_bypass_caches; }
};

/// The kernel as a function. The table of steps has a pointer to it.
template <class Code>
void fused_kernel(const kernel_arguments& args) {
  fused<Code>::run(args);
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
