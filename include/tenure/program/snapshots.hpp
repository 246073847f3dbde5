// SPDX-License-Identifier: BSL-1.0
// Which states a loop keeps whose n iterations go back through them, with room for s states, for any n. It keeps some states as snapshots and
// computes each other state again from the last snapshot before it. With s snapshots and the first state, each iteration is computed again at most
// r times if n <= (s + 1 + r)! / ((s + 1)! r!). No other choice of snapshots computes fewer iterations.
// Source: A. Griewank and A. Walther, Algorithm 799: revolve, ACM Transactions on Mathematical Software 26 (2000).
// Cost: with s = 2048 an iteration is computed again at most once up to 2,050 iterations, twice up to 2.1 million, three times up to 1.4 billion.
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// The number of snapshots of a state of `bytes` bytes: as many as fit into 256 KiB (about the L2 cache of a core), but at least 32 and at most 2048.
/// On a GPU at most 256, because the launches of an iteration take longer than its arithmetic. The number does not depend on the trip count.
constexpr std::int64_t snapshots_of(std::int64_t bytes, bool is_host) {
  const std::int64_t fitting = bytes > 0 ? (std::int64_t{1} << 18) / bytes : 32, most = is_host ? 2048 : 256;
  return fitting < 32 ? 32 : fitting > most ? most : fitting;
}
inline constexpr int max_snapshots_of_device = 256;

/// The number of iterations from a snapshot to the next snapshot. `trip_count` >= 2 iterations follow the first snapshot, and there is room for
/// `places` >= 2 snapshots, the first one included. For few iterations the result is 1: every state is kept.
constexpr std::int64_t distance_of_snapshots(std::int64_t trip_count, std::int64_t places) {
  if (trip_count <= places + 1) return 1;
  // reach = (places + r)! / (places! r!) is the largest trip count for which no iteration is computed again more than r times.
  std::int64_t r = 1, reach = places + 1, before = 1;  // before: the reach of r - 1
  while (reach < trip_count) {
    before = reach;
    ++r;
    reach = reach * (places + r) / r;
  }
  const std::int64_t rest = trip_count - before * places / (places + r - 1);  // iterations minus the reach of r - 1 with places - 1
  return before < rest ? before : rest;
}

/// Runs the iterations backwards: pull(i) for i = trip_count ... 1. Before pull(i) it makes the state that iteration i reads. load(k) loads snapshot k;
/// k = 0 is the first state. go_on(n, k) runs n steps and keeps the last state as snapshot k, or nowhere if k = 0. `taken_at` has room for count + 1
/// numbers: entry k is the number of iterations before snapshot k.
template <class Load, class GoOn, class Pull>
TENURE_INLINE void walk_back(std::int64_t trip_count, std::int64_t count, std::int64_t* taken_at, const Load& load, const GoOn& go_on, const Pull& pull) {
  std::int64_t last = 0;
  taken_at[0] = 0;
  for (std::int64_t left = trip_count; left > 0; --left) {
    if (last > 0 && taken_at[last] == left) --last;
    std::int64_t at = taken_at[last];
    load(last);
    while (at + 1 < left) {
      const bool has_room = last < count;
      const std::int64_t distance = has_room ? distance_of_snapshots(left - at, count - last + 1) : left - 1 - at;
      go_on(distance, has_room ? last + 1 : 0);
      at += distance;
      if (has_room) taken_at[++last] = at;
    }
    pull(left);
  }
}

}  // namespace tenure::program_detail
