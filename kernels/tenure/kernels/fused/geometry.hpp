// SPDX-License-Identifier: BSL-1.0
// How a launch divides the elements of a kernel among threads and blocks.
#pragma once

#include <cstdint>

#include <tenure/kernels/block.hpp>

namespace TENURE_NAMESPACE::kernels {

/// The limits of a launch. All except shared_bytes affect the order of sums, so they are the same on every GPU.
struct device_limits {
  int blocks = 4096;            // the number of blocks: several times as many as run at once, so that the GPU stays busy to the end
  int threads = max_threads;   // the threads of a block
  int warp_bytes = 32 << 10;    // if a block with a row for each warp would keep more than this, a block takes one row, so that several blocks run at once
  int wide_bytes = 47 << 10;    // if a block keeps more than this, the number of blocks is reduced
  int kept_bytes = 24 << 20;    //   until all blocks together keep at most this, which fits the L2 cache,
  int wide_blocks = 128;        //   but not to fewer blocks than this
  int table_rows = 512;         // the most rows of the table of column sums; each row of blocks writes one
  int split_rows = 512;         // if there are fewer long rows than this, several blocks share a row
  int shared_bytes = 47 << 10;  // the shared memory of a block, plus 1 KB that the kernel declares; every GPU allows 48 KB by default
};

/// How the iteration space is divided among threads. Sizes are in elements of the lane's type unless the comment says otherwise.
struct geometry {
  std::int64_t rows = 1, columns = 1;  // the number of rows, and of elements in a row
  std::int64_t packets = 1;            // the packets of a row
  int threads = 1;                     // the threads of a block
  int team = 1;                        // the threads that walk a row together
  int row_blocks = 1, tiles = 1;       // the number of blocks along the rows and along the columns
  std::int64_t row_steps = 1;          // the rows that a team takes one after the other
  std::int64_t packet_steps = 1;       // the packets of a row that a thread takes
  std::int64_t scratch = 0;            // the elements of a block for kept values and column sums
  bool shares = true;                  // true if scratch is in shared memory

  TENURE_KERNEL constexpr int blocks() const { return row_blocks * tiles; }
  TENURE_KERNEL constexpr int teams() const { return threads / team; }
};

TENURE_KERNEL_INLINE constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

TENURE_KERNEL_INLINE constexpr std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
TENURE_KERNEL_INLINE constexpr std::int64_t greater(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

/// The quotient a / b and the remainder. It divides in 32 bits if both numbers fit, because a division in 64 bits takes a GPU
/// several times as long.
struct quotient {
  std::int64_t whole, rest;
};
TENURE_KERNEL_INLINE quotient divided(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0) {
    const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
    return {static_cast<std::int64_t>(x / y), static_cast<std::int64_t>(x % y)};
  }
  return {a / b, a % b};
}

}  // namespace tenure::kernels
