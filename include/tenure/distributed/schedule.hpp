// SPDX-License-Identifier: BSL-1.0
// How p ranks add arrays: a reduce-scatter after which each rank has the sum of one block, then an all-gather of the blocks. Both take
// ceil(log2 p) rounds for any p, and in each round a rank sends one message and receives one.
// Law: a rank sends every block but its own once in the reduce-scatter, and the ranks together send (p - 1) times the array in each half.
// So the bytes meet the lower bound 2 (p - 1) / p of the array for each rank, and the messages the lower bound 2 ceil(log2 p).
// Law: the order of additions depends on p and the block alone, and each block is added up on one rank. So all ranks get the same bits.
// Source: Träff, "Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms" (2024).
#pragma once

#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::mpi::detail {

/// A round of the reduce-scatter: a rank sends the blocks at distance skip ... skip + blocks - 1 from its own block to the rank at distance `skip`.
/// The all-gather has the same rounds in the opposite order, and there the rank receives these blocks from that rank.
struct round {
  int skip = 0, blocks = 0;
};

constexpr int round_count(int ranks) {
  int rounds = 0;
  for (int left = ranks; left > 1; left = (left + 1) / 2) ++rounds;
  return rounds;
}

constexpr round round_at(int ranks, int index) {
  int left = ranks;
  for (int i = 0; i < index; ++i) left = (left + 1) / 2;
  const int skip = (left + 1) / 2;
  return {skip, left - skip};
}

/// The elements of consecutive blocks. The first block follows the last one, so there are at most two ranges.
struct cyclic_range {
  std::int64_t first[2] = {}, count[2] = {};

  constexpr std::int64_t total() const { return count[0] + count[1]; }
  constexpr bool wraps() const { return count[1] > 0; }
};

/// An array that is cut into one block for each rank. Blocks begin at multiples of `unit` elements, and their sizes differ by at most one unit. The
/// last block has `tail` more elements.
struct partition {
  std::int64_t elements = 0, tail = 0, unit = 1;
  int ranks = 1;

  /// The first element of a block. begin(ranks) is the end of the array.
  constexpr std::int64_t begin(int block) const {
    if (block == ranks) return elements + tail;
    const std::int64_t units = (elements + unit - 1) / unit, each = units / ranks, more = units % ranks;
    const std::int64_t at = unit * (each * block + (block < more ? block : more));
    return at < elements ? at : elements;
  }
  constexpr std::int64_t size(int block) const { return begin(block + 1) - begin(block); }
  /// The elements of `count` blocks, from block `first` on. `first` may be any number from -ranks to 2 * ranks.
  constexpr cyclic_range blocks(int first, int count) const {
    first = (first + ranks) % ranks;
    const int end = first + count, cut = end < ranks ? end : ranks;
    cyclic_range r{{begin(first), 0}, {begin(cut) - begin(first), 0}};
    if (end > ranks) r.count[1] = begin(end - ranks);
    return r;
  }
  /// The number of elements that a rank sends in the reduce-scatter. sent_to_gather() is that for the all-gather.
  constexpr std::int64_t sent_to_reduce(int rank) const { return elements + tail - size(rank); }
  constexpr std::int64_t sent_to_gather(int rank) const {
    std::int64_t sent = 0;
    for (int i = 0; i < round_count(ranks); ++i) sent += blocks(rank, round_at(ranks, i).blocks).total();
    return sent;
  }
};

}  // namespace tenure::mpi::detail
