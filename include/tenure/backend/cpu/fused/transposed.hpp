// SPDX-License-Identifier: BSL-1.0
// Transposed loads and stores, for a kernel whose lanes are rows in memory (samples, or rows of a matrix) and whose accesses are neighbouring
// numbers of a row. Instead of single numbers with a stride, the kernel loads or stores a contiguous part of each row, and transposes these parts
// in registers. Rows that are shorter than a packet, and stand one behind the other, are loaded and stored as packets of several rows, whose numbers are
// separated in registers. If longer rows are contiguous and do not fit into the caches, a packet of rows is collected and stored non-temporally.
// Cost: a block of 4 x 4 doubles takes 4 loads or stores and 8 shuffles. One by one, it takes 16 loads and 12 shuffles.
#pragma once

#include <tenure/backend/cpu/fused/one_hot_select.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct transposed : one_hot_select<Code> {
  using base = one_hot_select<Code>;
  using typename base::element_state, typename base::kind, typename base::local_arguments, typename base::P, typename base::position, typename base::record;
  using typename base::row_state, typename base::T;
  using base::at, base::chooses, base::k, base::lanes, base::last, base::slots, base::streams;

  static constexpr bool may_transpose = [] {
    bool any = false;
    for (int a = 0; a < record::accesses; ++a) any = any || k.access[a].neighbour >= 0;
    return any && math::can_transpose<P> && record::passes == 1;
  }();

  /// The blocks. A block is as many neighbouring accesses as a packet has lanes, or a whole row of fewer numbers. The last block of a long row may overlap
  /// the block before it. The first instruction of a block does all its loads; the last instruction of a block does all its stores.
  struct transposition {
    static constexpr int none = -1;
    struct block {
      int at[lanes > 0 ? lanes : 1];  // the instructions that load or store its numbers, in the order of their memory
      int when;                       // the instruction that does all these loads or stores
      int numbers;                    // fewer than the lanes of a packet: the numbers of a short row
      int collected = none;           // the position of its first number in a collected row
    };
    /// A row of a sample, directly behind the row of the sample before: the access of its first number, and the count of its numbers.
    struct dense_row {
      int first, length;
    };
    /// The blocks that an instruction loads or stores. A number is in two blocks at most.
    struct due_blocks {
      int count = 0, at[2] = {};
    };
    struct all_blocks {
      block blocks[streams + 1] = {};
      int count = 0, long_count = 0;       // all blocks, and those with a number for each lane
      bool in_dense_row[streams + 1] = {};  // for each access
      dense_row stored[streams + 1] = {};   // the rows that can be collected
      int stored_count = 0, stored_numbers = 0;
      bool in_block[slots] = {};
      due_blocks due[slots] = {};

      constexpr all_blocks() {
        if (!may_transpose) return;
        int of[streams + 1] = {}, before[streams + 1] = {};
        for (int a = 0; a < record::accesses; ++a) of[a] = before[a] = none;
        for (int i = 0; i < record::instructions; ++i) {
          const instruction& x = at(i);
          const bool moves = (x.what == kind::load || x.what == kind::store) && !x.row && !x.is_mask;
          if (moves && k.access[x.access].type == record::lane) of[x.access] = i;
        }
        const auto follows = [&](int a, int b) { return b >= 0 && of[a] >= 0 && of[b] >= 0 && at(of[a]).what == at(of[b]).what; };
        for (int a = 0; a < record::accesses; ++a)
          if (follows(a, k.access[a].neighbour)) before[k.access[a].neighbour] = a;
        for (int a = 0; a < record::accesses; ++a) {
          if (of[a] < 0 || before[a] >= 0) continue;
          int row[streams + 1] = {}, length = 0;
          for (int b = a; length < record::accesses; b = k.access[b].neighbour) {
            row[length++] = of[b];
            const int next = k.access[b].neighbour;
            if (!follows(b, next) || before[next] != b) break;
          }
          const bool rows_touch = k.access[a].stride[last] == length;
          if (length < lanes) {
            if (rows_touch && length > 1 && length <= math::max_components && math::can_interleave<P>) add(row, length);
            continue;
          }
          const bool is_dense = record::rank == 1 && rows_touch, is_stored = at(row[0]).what == kind::store;
          for (int i = 0; i < length; ++i) in_dense_row[at(row[i]).access] = is_dense;
          const bool is_collected = is_dense && is_stored && stored_numbers + length <= costs::collected_numbers;
          for (int from = 0; from < length; from += lanes) {
            const int first = from + lanes <= length ? from : length - lanes;
            add(row + first, lanes);
            if (is_collected) blocks[count - 1].collected = stored_numbers * lanes + first;
          }
          if (is_collected) stored[stored_count++] = {a, length}, stored_numbers += length;
        }
      }
      constexpr void add(const int* row, int numbers) {
        block& b = blocks[count++];
        long_count += numbers == lanes;
        const bool loads = at(row[0]).what == kind::load;
        b.when = row[0], b.numbers = numbers;
        for (int l = 0; l < numbers; ++l) {
          b.at[l] = row[l];
          in_block[row[l]] = true;
          if (loads ? row[l] < b.when : row[l] > b.when) b.when = row[l];
        }
        due_blocks& at_once = due[b.when];
        at_once.at[at_once.count++] = count - 1;
      }
    };
    static constexpr all_blocks all{};

    static constexpr bool is_dense(int a) { return may_transpose && all.in_dense_row[a]; }
    /// The count of numbers of a sample that are collected.
    static constexpr int collected = [] { return may_transpose && math::can_stream<P> && base::template in_group<0> == 1 && !chooses(0) ? all.stored_numbers : 0; }();

    /// Whether a block loads or stores the number of this instruction.
    static constexpr bool holds(int i) { return may_transpose && all.in_block[i]; }
    /// The number of blocks that instruction i loads or stores.
    static constexpr int due_at(int i) { return all.due[i].count; }
  };

  /// The memory of the first number of block B, for the sample at i.
  template <int B>
  static TENURE_LAYER auto block_at(const local_arguments& args, const position& p, std::int64_t i) -> T* {
    constexpr int first = at(transposition::all.blocks[B].at[0]).access;
    return static_cast<T*>(args.pointer[first]) + p.offset[first] + i * number_of(args, base::stride(first, last));
  }

  // A block of a partial packet has n rows. As in other partial loads, its first row stands in the unused lanes. The short rows of a packet are a contiguous
  // part of memory, of which a partial packet has the first numbers.
  template <int B, bool Partial, int... L>
  static TENURE_LAYER void load_block(const local_arguments& args, const position& p, element_state& e, std::int64_t i, int n, std::integer_sequence<int, L...>) {
    constexpr auto& block = transposition::all.blocks[B];
    constexpr int numbers = block.numbers;
    const std::int64_t step = number_of(args, base::stride(at(block.at[0]).access, last));
    const T* const from = block_at<B>(args, p, i);
    if constexpr (numbers == lanes) {
      P rows[lanes] = {math::load<P>(from + (Partial && L >= n ? 0 : L * step))...};
      math::transpose<P>(rows);
      ((e.value[block.at[L]] = rows[L]), ...);
    } else {
      P rows[numbers] = {(Partial ? math::load_first<P>(from + L * lanes, in_packet<L>(n * numbers)) : math::load<P>(from + L * lanes))...};
      math::deinterleave<numbers>(rows);
      if constexpr (Partial) {
        const auto is_used = math::lt(base::template lane_index<>(), math::set1<P>(static_cast<T>(n)));
        ((rows[L] = math::select(is_used, rows[L], math::set1<P>(from[L]))), ...);
      }
      ((e.value[block.at[L]] = rows[L]), ...);
    }
  }
  /// How many of the first `count` numbers are in packet L.
  template <int L>
  static TENURE_LAYER int in_packet(int count) {
    const int left = count - L * lanes;
    return left < 0 ? 0 : left > lanes ? lanes : left;
  }

  template <int B, bool Partial, int... L>
  static TENURE_LAYER void store_block(const local_arguments& args, const position& p, const row_state& r, const element_state& e, std::int64_t i, int n,
                                             std::integer_sequence<int, L...>) {
    constexpr auto& block = transposition::all.blocks[B];
    constexpr int numbers = block.numbers;
    const std::int64_t step = number_of(args, base::stride(at(block.at[0]).access, last));
    T* to = block_at<B>(args, p, i);
    bool is_collected = false;
    if constexpr (!Partial && transposition::collected > 0 && block.collected != transposition::none)
      if (args.bypasses_caches) to = args.collected + block.collected, is_collected = true;
    P rows[numbers] = {read<Code, held_in<Code>(at(block.at[L]).in[0])>(r, e, at(block.at[L]).in[0])...};
    if constexpr (numbers < lanes) {
      math::interleave<numbers>(rows);
      if constexpr (Partial) (math::store_first<P>(to + L * lanes, rows[L], in_packet<L>(n * numbers)), ...);
      else (math::store<P>(to + L * lanes, rows[L]), ...);
    } else {
      math::transpose<P>(rows);
      if constexpr (Partial) ((L < n ? math::store<P>(to + L * step, rows[L]) : void()), ...);
      else (math::store<P>(to + L * step, rows[L]), ...);
    }
    // Prefetches the lines of later samples: 100,000 Jacobians of 2 x 15 gain a quarter.
    constexpr bool has_many = is_dynamic(k.extent[last]) || k.extent[last] > 8 * lanes;
    if constexpr (B % 2 == 0 && !Partial && has_many)
      if (!is_collected) (__builtin_prefetch(to + (L + 4 * lanes) * step, 1), ...);
  }

  /// Stores the collected rows of a packet of samples non-temporally. The row of one sample may begin in the middle of a line.
  /// 10^6 Jacobians of 2 x 15 take 0.63 of the time.
  template <int... R>
  static TENURE_LAYER void stream_rows(const local_arguments& args, std::int64_t i, std::integer_sequence<int, R...>) {
    const T* from = args.collected;
    ([&] {
      constexpr auto row = transposition::all.stored[R];
      T* const to = static_cast<T*>(args.pointer[row.first]) + i * row.length;
      for (int n = 0; n < row.length; ++n) math::stream<P>(to + n * lanes, math::load<P>(from + n * lanes));
      from += row.length * lanes;
    }(), ...);
  }

  template <int B>
  using numbers_of_block = std::make_integer_sequence<int, transposition::all.blocks[B].numbers>;

  /// Loads or stores the blocks that are due at instruction I.
  template <int I, bool Partial, int... K>
  static TENURE_LAYER void move_blocks(const local_arguments& args, const position& p, const row_state& r, element_state& e, std::int64_t i, int n,
                                             std::integer_sequence<int, K...>) {
    constexpr auto& due = transposition::all.due[I];
    if constexpr (at(I).what == kind::load) (load_block<due.at[K], Partial>(args, p, e, i, n, numbers_of_block<due.at[K]>{}), ...);
    else (store_block<due.at[K], Partial>(args, p, r, e, i, n, numbers_of_block<due.at[K]>{}), ...);
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
