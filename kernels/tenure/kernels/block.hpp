// SPDX-License-Identifier: BSL-1.0
// The interface of a block of threads. A kernel is a function of one thread, which knows its number and the number of its block.
// sync() waits for all threads of the block, sync_warp() for the threads of the warp. exchange() combines a value with the value
// of another thread of the warp. shared() is memory that the block shares. launch.cuh implements the interface in CUDA. Tests
// implement it on the host (tests/kernels/fibers.hpp), so that they run the same kernels.
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::kernels {

inline constexpr int warp = 32;
inline constexpr int max_threads = 256;

/// Combines the values of `team` neighbouring threads and returns the result to each of them. `team` is a power of two. A
/// team that is larger than a warp is the whole block. The order of the combination depends only on `team`.
template <class T, class Block, class Combine>
TENURE_KERNEL_INLINE T across(Block& block, int team, T mine, Combine combine) {
  for (int distance = 1; distance < team && distance < warp; distance *= 2) mine = block.exchange(distance, mine, combine);
  if (team <= warp) return mine;
  T* const of_warp = block.template warp_results<T>();
  if (block.thread % warp == 0) of_warp[block.thread / warp] = mine;
  block.sync();
  mine = of_warp[0];
  for (int w = 1; w < team / warp; ++w) mine = combine(mine, of_warp[w]);
  block.sync();
  return mine;
}

}  // namespace tenure::kernels
