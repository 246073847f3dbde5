// SPDX-License-Identifier: BSL-1.0
// Work in numbered blocks. A step gives its blocks to several threads, or one thread runs them in order.
// Law: only shapes decide how work is cut, so the bits of the results do not depend on the number of threads.
// Cost: work on one thread is also cut into blocks, of a few microseconds each. Small work is one block.
#pragma once

#include <tenure/backend/cpu/costs.hpp>

#include <bit>
#include <cstdint>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

constexpr bool has_parts(std::int64_t rows) { return rows >= 2 * costs::rows_of_part; }

constexpr std::int64_t blocks_of_work(std::int64_t work) {
  const std::int64_t n = work / costs::block_work;
  return n < 1 ? 1 : n < costs::max_blocks ? n : costs::max_blocks;
}
constexpr std::int64_t blocks_of_columns(std::int64_t work, std::int64_t rows) {
  const std::int64_t n = blocks_of_work(work), most = rows / costs::rows_of_column_block;
  return n <= most ? n : most < 1 ? 1 : most;
}

/// A cut of at most two dimensions into pieces of `length`. The last piece of a dimension may be shorter.
struct block_grid {
  std::int64_t length[2] = {}, pieces[2] = {1, 1};

  constexpr int count() const { return static_cast<int>(pieces[0] * pieces[1]); }
  /// Where a block begins along dimension d.
  constexpr std::int64_t begin(int d, int block) const { return block == 0 ? 0 : (d == 0 ? block / pieces[1] : block % pieces[1]) * length[d]; }

  /// Cuts dimension d into at most `wanted` pieces. Their length is a multiple of `unit`.
  constexpr void cut(int d, std::int64_t extent, std::int64_t wanted, std::int64_t unit) {
    if (extent == 0) return;
    const std::int64_t units = (extent + unit - 1) / unit, most = wanted < units ? wanted : units;
    length[d] = (units + most - 1) / most * unit;
    pieces[d] = (extent + length[d] - 1) / length[d];
  }
};

/// The blocks of a kernel with these extents. The first `cuts` dimensions may be cut, at most two of them.
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

/// The rows of a matrix that a block reads or writes. They are in separate memory of the worker, or in the matrix itself (in_place).
struct block_rows {
  std::int64_t row_bytes = 0;
  char* memory = nullptr;      // contiguous memory for the rows of one block for each worker; or the whole matrix
  const void* matrix = nullptr;  // the address of the matrix in the accesses
  bool in_place = false;
  std::uint64_t accesses = 0;  // a bit for each access of the kernel that reads or writes the matrix

  /// Where the rows from `first` on are. A worker has memory for `rows` rows.
  char* at(std::int64_t first, std::int64_t rows, int worker) const { return memory + (in_place ? first : worker * rows) * row_bytes; }
  /// Moves the pointers of the accesses, so that row `first` is at `to`. The addresses are computed as integers, because the address of row 0 may be
  /// outside the memory.
  void move(void** pointer, std::int64_t first, const char* to) const {
    const auto by = reinterpret_cast<std::uintptr_t>(to) - static_cast<std::uintptr_t>(first * row_bytes) - reinterpret_cast<std::uintptr_t>(matrix);
    for (std::uint64_t left = accesses; left != 0; left &= left - 1) {
      void*& p = pointer[std::countr_zero(left)];
      p = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) + by);
    }
  }
};

/// A consumer of the rows that a kernel writes. It reads them directly after each block, from cache. Used only on one thread, in the order of the rows.
struct row_consumer {
  block_rows rows;
  void (*consume)(const void* context, std::int64_t first, std::int64_t count, const void* rows) = nullptr;
  const void* context = nullptr;
  const row_consumer* next = nullptr;
};

/// The source of the rows of a matrix that a kernel reads. The rows of a block are computed directly before this block, so the
/// block reads them from cache. The leading dimension of the kernel counts the rows, or all elements of the matrix.
struct row_producer {
  block_rows rows;
  /// Writes the rows first ... first + count - 1 to `to`, contiguously.
  void (*compute)(const void* context, std::int64_t first, std::int64_t count, void* to, int worker) = nullptr;
  const void* context = nullptr;
  std::int64_t rows_of_block = 0, per_row = 1;  // per_row: the steps of the leading dimension in one row
  std::int64_t rows_at_once = 0;  // a block repeats: compute so many rows, then run the kernel on them
  bool is_product = false;        // the rows are a product: threads are worth it, and the kernel may write over the rows
  const row_producer* next = nullptr;  // the source of another matrix, with the same blocks
  const row_consumer* consumers = nullptr;

  constexpr block_grid grid(std::int64_t extent, std::int64_t second_extent) const {
    block_grid g;
    g.length[0] = rows_of_block * per_row, g.length[1] = second_extent;
    g.pieces[0] = (extent + g.length[0] - 1) / g.length[0];
    return g;
  }
  /// Computes `count` rows from row `first` on, and moves the pointers of the accesses that read them.
  [[gnu::noinline]] void produce(void** pointer, std::int64_t first, std::int64_t count, int worker) const {
    char* const to = rows.at(first, rows_at_once, worker);
    compute(context, first, count, to, worker);
    rows.move(pointer, first, to);
  }
};

}  // namespace tenure::cpu_backend
