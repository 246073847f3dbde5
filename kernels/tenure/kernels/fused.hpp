// SPDX-License-Identifier: BSL-1.0
// The fused kernel on a GPU. A thread computes packets of at most 16 bytes and holds all intermediate values in registers. A team of
// threads (a power of two, at most the block) walks a row, pass by pass. The teams take rows in turn. If no value is reduced over a
// row, the columns are split into tiles as well. For sums over rows or over all elements each block writes its part to a buffer, and the
// parts are added up at the end. The order of all sums depends only on the extents, not on the GPU and not on which block finishes first.
// Cost: one load for each input and one store for each output. Values that a later pass needs are in shared memory if they fit.
// There the packets of neighbouring threads are contiguous, so that a warp reads 16 bytes for each thread without bank conflicts.
#pragma once

#include <tenure/kernels/fused/passes.hpp>
