// SPDX-License-Identifier: BSL-1.0
// A block of threads as a kernel is written against it. A kernel is what one thread does, with its number and its block's: sync() waits
// for all threads of the block and sync_warp() for those of the warp, exchange() combines a value with that of another thread of the
// warp, shared() is memory of the block. launch.cuh has them as CUDA does; tests have them on the host, so that they run the same
// functions (tests/kernels/fibers.hpp).
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::kernels {

inline constexpr int warp = 32;
inline constexpr int most_threads = 256;

/// Combines the values of `team` threads that stand together (a power of two; more than a warp: the whole block), in an
/// order that depends on `team` alone. Every thread of the team gets the result.
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
