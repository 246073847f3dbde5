// SPDX-License-Identifier: BSL-1.0
// A block of threads as a kernel is written against it. A kernel is a function of a block: each(f) runs f for the threads,
// sync() waits for all of them and sync_warp() for those of the warp, exchange() combines a value with that of another thread of
// the warp. On the device each() is this thread alone (launch.cuh); on the host it is a loop over all (host.hpp), so that tests
// run the same functions.
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace tenure::kernels {

inline constexpr int warp = 32;
inline constexpr int most_threads = 256;

/// A thread's place, which every thread state begins with.
struct thread_place {
  int thread = 0;  // in its block
};

/// Combines the values of `team` threads that stand together (a power of two; more than a warp: the whole block), in an
/// order that depends on `team` alone. Every thread of the team gets the result.
template <class T, class Block, class Get, class Combine>
TENURE_KERNEL_INLINE void across(Block& block, int team, Get get, Combine combine) {
  for (int distance = 1; distance < team && distance < warp; distance *= 2) block.template exchange<T>(distance, get, combine);
  if (team <= warp) return;
  T* const of_warp = block.template warp_results<T>();
  block.each([&](auto& t) {
    if (t.thread % warp == 0) of_warp[t.thread / warp] = get(t);
  });
  block.sync();
  block.each([&](auto& t) {
    T v = of_warp[0];
    for (int w = 1; w < team / warp; ++w) v = combine(v, of_warp[w]);
    get(t) = v;
  });
  block.sync();
}

}  // namespace tenure::kernels
