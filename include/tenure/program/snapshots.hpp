// SPDX-License-Identifier: BSL-1.0
// Which states a reverse_while keeps. It takes n turns backwards with room for s states, whatever n is: it keeps some states as snapshots and
// computes the others again from the last snapshot before them. With s snapshots besides the first state no turn is computed again more than
// r times if n <= (s + 1 + r)! / ((s + 1)! r!). No other choice of snapshots computes fewer turns.
// Source: A. Griewank and A. Walther, Algorithm 799: revolve, ACM Transactions on Mathematical Software 26 (2000).
// Cost: with s = 2048 a turn is computed again at most once up to 2,050 turns, twice up to 2.1 million, three times up to 1.4 billion.
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// The number of snapshots of a state of so many bytes: as many as fit into 256 KiB, about the second cache of a core, but 32 to 2048. It does
/// not depend on the number of turns. On a GPU, where the launches of a turn take longer than its arithmetic, it is 32 to 256.
constexpr std::int64_t snapshots_of(std::int64_t bytes, bool is_host) {
  const std::int64_t fitting = bytes > 0 ? (std::int64_t{1} << 18) / bytes : 32, most = is_host ? 2048 : 256;
  return fitting < 32 ? 32 : fitting > most ? most : fitting;
}
inline constexpr int most_snapshots_of_device = 256;

/// How many turns after a snapshot the next one is taken, if `turns` >= 2 turns after it are to go and `places` >= 2 snapshots fit, with this
/// one. With few turns it is 1: then every state is kept.
constexpr std::int64_t distance_of_snapshots(std::int64_t turns, std::int64_t places) {
  if (turns <= places + 1) return 1;
  // reach = (places + r)! / (places! r!) turns are possible where none is computed again more than r times.
  std::int64_t r = 1, reach = places + 1, before = 1;  // before: the reach of r - 1
  while (reach < turns) {
    before = reach;
    ++r;
    reach = reach * (places + r) / r;
  }
  const std::int64_t rest = turns - before * places / (places + r - 1);  // turns minus the reach of r - 1 with places - 1
  return before < rest ? before : rest;
}

}  // namespace tenure::program_detail
