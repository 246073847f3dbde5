// SPDX-License-Identifier: BSL-1.0
// A fused kernel on the CPU: the loop nest that a code describes. Packets run along the last dimension, and every intermediate value
// stays in a register. A tail is a partial packet with the same instructions, so the result of an element does not depend on its
// position. Large kernels run in blocks (blocks.hpp). The results of the blocks are combined in their order.
// Cost: one load for each input and one store for each output. In addition, only the column sums of a block are read from and written to memory.
#pragma once

#include <tenure/backend/cpu/fused/arguments.hpp>
#include <tenure/backend/cpu/fused/blocks.hpp>
#include <tenure/backend/cpu/fused/one_hot_select.hpp>
#include <tenure/backend/cpu/fused/elements.hpp>
#include <tenure/backend/cpu/fused/kernel.hpp>
#include <tenure/backend/cpu/fused/loops.hpp>
#include <tenure/backend/cpu/fused/memory.hpp>
#include <tenure/backend/cpu/fused/packet_width.hpp>
#include <tenure/backend/cpu/fused/non_temporal.hpp>
#include <tenure/backend/cpu/fused/reductions.hpp>
#include <tenure/backend/cpu/fused/rows.hpp>
#include <tenure/backend/cpu/fused/interleaved.hpp>
#include <tenure/backend/cpu/fused/transposed.hpp>
#include <tenure/backend/cpu/fused/iterations.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
TENURE_FLATTEN TENURE_INLINE void fused<Code>::run(const kernel_arguments& given) {
  local_arguments args;
  for (int a = 0; a < record::accesses; ++a) args.pointer[a] = given.pointer[a];
  for (int i = 0; i < number_count; ++i) args.number[i] = given.number[i];
  if constexpr (is_cut) {
    run_blocks(args, given);
  } else {
    T totals[max_totals];
    alignas(64) [[maybe_unused]] T collected[collected_numbers + 1];
    args.collected = collected;
    if constexpr (may_bypass_caches) args.bypasses_caches = gains_by_bypassing(args);
    run_range(args, whole{}, totals);
    if constexpr (may_bypass_caches)
      if (args.bypasses_caches) math::end_of_streams();
    write_totals(args, totals, those<part::totals>{});
  }
}

/// The kernel as a function. The table of steps has a pointer to it.
template <class Code>
void fused_kernel(const kernel_arguments& args) {
  fused<Code>::run(args);
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
