// SPDX-License-Identifier: BSL-1.0
// Work in numbered blocks: what a step of a program hands to several threads, and what one thread walks through in order.
// Law: how work is cut follows from shapes alone, so results do not depend on the number of threads, bit for bit.
// Cost: sequential work is cut too, into blocks of some microseconds; small work is one block.
#pragma once

#include <tenure/core/config.hpp>

#include <bit>
#include <cstdint>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// Work of a block, in elements times instructions (or multiplications, for a product), some two microseconds.
constexpr std::int64_t block_work = 1 << 16;
constexpr int most_blocks = 64;
/// Multiplications of a product that count as one element of one instruction where threads are woken: a product computes faster, and
/// two threads both read and pack its right factor.
constexpr std::int64_t multiplications_of_work = 2;
/// What a kernel reads and writes side by side in elements of its type, from where on it stores past the caches: the largest cache that
/// cores share on most machines. A line that is stored need not be read first then, which is a third of the traffic of one load and
/// one store, and more than what comes next loses (a sum of the result behind a kernel over 33 MB: 1.2 ms instead of 1.5). A constant,
/// since what a virtual machine says of its caches may be ten times what it has.
constexpr std::int64_t cached_bytes = std::int64_t{32} << 20;
/// A block that reduces columns ends with a sum over its columns; this many rows make that little.
constexpr std::int64_t rows_of_column_block = 16;

constexpr std::int64_t blocks_of_work(std::int64_t work) {
  const std::int64_t n = work / block_work;
  return n < 1 ? 1 : n < most_blocks ? n : most_blocks;
}
constexpr std::int64_t blocks_of_columns(std::int64_t work, std::int64_t rows) {
  const std::int64_t n = blocks_of_work(work), most = rows / rows_of_column_block;
  return n <= most ? n : most < 1 ? 1 : most;
}

/// A cut of at most two dimensions into pieces of `length`; the last piece of a dimension may be shorter.
struct block_grid {
  std::int64_t length[2] = {}, pieces[2] = {1, 1};

  constexpr int count() const { return static_cast<int>(pieces[0] * pieces[1]); }
  /// Begin of a block along dimension d.
  constexpr std::int64_t begin(int d, int block) const { return (d == 0 ? block / pieces[1] : block % pieces[1]) * length[d]; }

  /// Cuts dimension d into at most `wanted` pieces, of a multiple of `unit`.
  constexpr void cut(int d, std::int64_t extent, std::int64_t wanted, std::int64_t unit) {
    if (extent == 0) return;
    const std::int64_t units = (extent + unit - 1) / unit, most = wanted < units ? wanted : units;
    length[d] = (units + most - 1) / most * unit;
    pieces[d] = (extent + length[d] - 1) / length[d];
  }
};

/// The blocks of a kernel with these extents. Its first `cuts` dimensions are cut, two at most.
constexpr block_grid cut_of_kernel(const std::int64_t* extent, int outer, int inner, int cuts, int instructions, bool reduces_columns) {
  block_grid g;
  if (cuts == 0) return g;
  std::int64_t rows = 1, columns = 1;
  for (int d = 0; d < outer + inner; ++d) (d < outer ? rows : columns) *= extent[d];
  const std::int64_t work = rows * columns * instructions, wanted = reduces_columns ? blocks_of_columns(work, rows) : blocks_of_work(work);
  const auto unit = [&](int d) { return outer + inner == d + 1 ? 64 : 1; };  // a row is cut into whole cache lines
  g.cut(0, extent[0], wanted, unit(0));
  if (cuts > 1) g.cut(1, extent[1], (wanted + g.pieces[0] - 1) / g.pieces[0], unit(1));
  return g;
}

/// The cuts of a kernel make less than twice most_blocks. After a row_source there may be more, unless the kernel reduces.
constexpr int most_grid_blocks = 2 * most_blocks;

/// Rows of a matrix that a kernel reads and that are computed before each of its blocks, for that block: they are still in cache
/// when it reads them. The kernel's leading dimension counts the rows, or all elements of the matrix.
struct row_source {
  /// Writes rows first ... first + count - 1 at `to`, one behind the other. Null: all are there, and only the blocks are the same.
  void (*compute)(const void* context, std::int64_t first, std::int64_t count, void* to);
  const void* context;
  std::int64_t rows_of_block, per_row;  // per_row: what the leading dimension counts in a row
  std::int64_t row_bytes;
  char* memory;
  bool in_place;           // each row goes where it lies in the matrix; else each worker has memory for the rows of one block
  std::uint64_t accesses;  // the kernel's that read the matrix, as bits

  constexpr block_grid grid(std::int64_t extent, std::int64_t second_extent) const {
    block_grid g;
    g.length[0] = rows_of_block * per_row, g.length[1] = second_extent;
    g.pieces[0] = (extent + g.length[0] - 1) / g.length[0];
    return g;
  }
  /// The rows of a block that begins and ends there; the accesses are pointed to where row 0 would lie.
  [[gnu::noinline]] void produce(void** pointer, std::int64_t begin, std::int64_t end, int worker) const {
    if (compute == nullptr) return;
    const std::int64_t first = begin / per_row, from_row_0 = first * row_bytes;
    const std::int64_t at = in_place ? from_row_0 : worker * rows_of_block * row_bytes;
    compute(context, first, (end - begin) / per_row, memory + at);
    // As an integer: where row 0 would lie need not be in the memory.
    void* const row_0 = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(at - from_row_0));
    for (std::uint64_t left = accesses; left != 0; left &= left - 1) pointer[std::countr_zero(left)] = row_0;
  }
};

}  // namespace tenure::cpu_backend
