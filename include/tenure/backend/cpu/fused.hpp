// SPDX-License-Identifier: BSL-1.0
// A fused kernel on the CPU: the loop nest that a code describes. Packets run along the last dimension, and every intermediate value
// stays in a register. A tail is a partial packet with the same instructions, so the result of an element does not depend on its
// position. Large kernels run in blocks (blocks.hpp). The results of the blocks are combined in their order.
// Cost: one load for each input and one store for each output. In addition, only the column sums of a block are read from and written to memory.
// The jobs of a kernel have a class and a header each, which derives from the one before: facts (kernel.hpp), interleaved, one_hot_select, transposed,
// non_temporal, memory, reductions, elements, loops, blocks, iterations.
#pragma once

#include <tenure/backend/cpu/fused/iterations.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// The kernel as a function. The table of steps has a pointer to it. Without TENURE_FLATTEN here g++ leaves the loop nest out of line, where it loads the
/// arguments again for each packet: a training step of one sample took 1.5 times as long.
template <class Code>
TENURE_FLATTEN void fused_kernel(const kernel_arguments& args) {
  fused<Code>::run(args);
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
