// SPDX-License-Identifier: BSL-1.0
// The fused kernel on a GPU. One thread computes one element of the iteration space and holds all intermediate values in
// registers. A team of threads (a power of two, at most the block) walks a row in packets of at most 16 bytes, pass by pass. The
// teams take rows in turn. If no value is reduced over a row, the columns are split into tiles as well. For sums over rows or
// over all elements each block writes its part to a buffer, and the parts are added up at the end. The order of all sums depends
// only on the extents, not on the GPU and not on which block finishes first.
// Cost: one load for each input and one store for each output. Values that a later pass needs lie in shared memory if they fit.
// There the packets of neighbouring threads are neighbours, so that a warp reads 16 bytes for each thread without bank conflicts.
#pragma once

#include <bit>

#include <tenure/kernels/block.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/ops/combine.hpp>
#include <tenure/program/decode.hpp>

namespace TENURE_NAMESPACE::kernels {

using passes::instruction;
using program_detail::is_dynamic;

/// The limits of a launch. All except shared_bytes affect the order of sums, so they are the same on every GPU.
struct device_limits {
  int blocks = 4096;            // the number of blocks: several times as many as run at once, so that the GPU stays busy to the end
  int threads = most_threads;   // the threads of a block
  int warp_bytes = 32 << 10;    // with a row for each warp a block keeps at most this; beyond it a block takes a row, so that several run at once
  int wide_bytes = 47 << 10;    // if a block keeps more than this, the number of blocks is reduced
  int kept_bytes = 24 << 20;    //   until all blocks together keep at most this, which fits the second-level cache,
  int wide_blocks = 128;        //   but not to fewer blocks than this
  int table_rows = 512;         // the most rows of blocks that each write a row of the table of column sums
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

/// The arguments of a kernel, passed by value.
template <class T, int Pointers, int Numbers>
struct fused_arguments {
  void* pointer[Pointers];
  std::int64_t number[Numbers];
  geometry shape;
  T* scratch;         // the scratch memory of all blocks, if it does not fit into shared memory
  T* totals;          // for each sum over all elements: one number for each block
  T* columns;         // for each sum over rows: a table with a row for each row of blocks
  T* tiles;           // for each sum over columns: a table with one number for each row and tile
  unsigned* arrived;  // [0]: the number of blocks that are done; then for each row the number of its tiles that are done
};

template <class Code>
struct fused {
  using record = program_detail::decoded<Code>;
  using kind = instruction::kind;
  static constexpr record k{};
  using T = element_of_t<record::lane>;
  static constexpr int last = record::rank - 1;
  static constexpr int slots = record::instructions > 0 ? record::instructions : 1;
  static constexpr int streams = record::accesses > 0 ? record::accesses : 1;

  static constexpr const program_detail::decoded_instruction& at(int i) { return k.instruction[i]; }

  static constexpr int count(kind what) {
    int n = 0;
    for (int i = 0; i < record::instructions; ++i) n += at(i).what == what;
    return n;
  }
  /// The number of earlier instructions of the same kind, which gives the position of this one's memory.
  static constexpr int rank_of(int slot) {
    int n = 0;
    for (int i = 0; i < slot; ++i) n += at(i).what == at(slot).what;
    return n;
  }
  static constexpr bool keeps(int i) { return at(i).what == kind::compute && !at(i).row && at(i).access >= 0; }
  static constexpr int kept_before(int slot) {
    int n = 0;
    for (int i = 0; i < slot; ++i) n += keeps(i);
    return n;
  }
  static constexpr int kept_rows = kept_before(record::instructions);
  static constexpr int column_sums = count(kind::reduce_columns), total_sums = count(kind::reduce_all), row_sums = count(kind::reduce_row);
  // True if a later pass reads values that an earlier pass loaded or kept.
  static constexpr bool comes_back = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (keeps(i) || (at(i).what == kind::load && !at(i).row && std::popcount(static_cast<unsigned>(at(i).passes)) > 1)) return true;
    return false;
  }();
  static constexpr bool reduces_rows = record::passes > 1 || row_sums > 0;
  static constexpr bool stores_rows = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::store && at(i).row) return true;
    return false;
  }();
  // True if one team must take a whole row, because it reduces the row or stores one value for it.
  static constexpr bool owns_rows = reduces_rows || stores_rows;

  // True if several blocks may share a row. Each block writes its part of the row's sums, and the last block of the row continues
  // with the whole sums. This is not possible if a value of the row is added to a total: any block may be the last, so the order
  // would vary.
  static constexpr bool may_split_rows = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::reduce_all && at(at(i).in[0]).row) return false;
    return record::passes == 1 && row_sums > 0 && kept_rows + column_sums == 0;
  }();

  // Packets of 16 bytes use the memory best. Each lane of a packet is a copy of the code, so long kernels have smaller packets: 8
  // bytes where arithmetic takes longer than memory (16 would cost nvcc 0.2 s for 64 operations), and one element beyond that.
  static constexpr int packet_bytes = record::instructions <= 48 ? 16 : record::instructions <= 96 ? 8 : 0;
  static constexpr int lanes = std::is_floating_point_v<T> && k.extent[last] != 1 && packet_bytes > 0 ? packet_bytes / static_cast<int>(sizeof(T)) : 1;

  static constexpr int number_count = [] {
    std::int64_t n = 0;
    const auto see = [&](std::int64_t word) {
      if (is_dynamic(word) && word - program_detail::first_dynamic >= n) n = word - program_detail::first_dynamic + 1;
    };
    for (int d = 0; d < record::rank; ++d) {
      see(k.extent[d]);
      for (int a = 0; a < record::accesses; ++a) see(k.access[a].stride[d]);
    }
    return static_cast<int>(n);
  }();

  using arguments = fused_arguments<T, streams, (number_count > 0 ? number_count : 1)>;

  struct thread_state {
    int thread;      // its number in the block
    bool is_active;  // true if the thread has a row
    std::int64_t row;
    std::int64_t offset[streams];
    T value[slots];  // values with one number for each row
    bool mask[slots];
    T sum[slots];  // sums over the row
    T total[slots];
  };

  // ---- geometry ----

  static constexpr geometry shape_of(const std::int64_t* numbers, const device_limits& limits) {
    const auto number = [&](std::int64_t word) { return is_dynamic(word) ? numbers[word - program_detail::first_dynamic] : word; };
    geometry g;
    g.threads = limits.threads;
    std::int64_t before_last = 1;
    for (int d = 0; d < record::outer; ++d) g.rows *= number(k.extent[d]);
    for (int d = record::outer; d < last; ++d) before_last *= number(k.extent[d]);
    g.columns = before_last * number(k.extent[last]);
    g.packets = before_last * ceil_div(number(k.extent[last]), lanes);
    // A warp takes a short row, with at most 8 packets for each lane, or 4 if a later pass reads them again: then the rows of all
    // running warps stay in the first-level cache. If no team must take a whole row, a block takes a part of each row. For sums
    // over rows the parts are as wide as a warp, if there are enough rows and the rows are not so wide that a lane would have
    // many packets.
    constexpr std::int64_t kept_of_packet = (kept_rows + column_sums) * lanes * size;  // bytes
    const std::int64_t of_lane = ceil_div(g.packets, warp);
    const bool of_warp = owns_rows ? of_lane <= (comes_back ? 4 : 8) && kept_of_packet * of_lane * g.threads <= limits.warp_bytes
                                   : column_sums > 0 && g.rows >= g.threads / warp && kept_of_packet * ceil_div(of_lane, limits.blocks) * g.threads <= limits.warp_bytes;
    const std::int64_t wanted = of_warp && g.packets > warp ? warp : g.packets;
    while (g.team < g.threads && g.team < wanted) g.team *= 2;
    if (g.team > warp) {
      if (owns_rows) g.threads = g.team;  // threads without a packet would only wait at the barriers
      else g.team = g.threads;
    }
    const auto at_most = [](std::int64_t n, std::int64_t bound) { return static_cast<int>(greater(1, lesser(n, bound))); };
    // Summing over all threads of a block takes as long as a few packets, so with such sums each thread gets at least four.
    if (!owns_rows) g.tiles = at_most(ceil_div(g.packets, g.team * (total_sums > 0 ? 4 : 1)), limits.blocks);
    if (may_split_rows && g.team == g.threads && g.rows > 0 && g.rows < limits.split_rows) g.tiles = at_most(ceil_div(g.packets, g.team * 4), limits.blocks / g.rows);
    g.packet_steps = ceil_div(g.packets, std::int64_t{g.tiles} * g.team);
    const std::int64_t kept = kept_of_packet * g.packet_steps * g.threads;
    g.scratch = kept / size;
    g.shares = kept <= limits.shared_bytes;
    std::int64_t most = limits.blocks, rows_of_block = g.teams();
    if (kept > limits.wide_bytes) most = lesser(most, greater(limits.wide_blocks, limits.kept_bytes / kept));
    most /= g.tiles;
    if (column_sums > 0) {  // the table of column sums must be small compared with the data that the blocks read, and quick to add up
      most = lesser(most, limits.table_rows);
      rows_of_block = greater(rows_of_block, owns_rows && kept <= limits.wide_bytes ? 4 : 16);
    }
    g.row_blocks = at_most(ceil_div(g.rows, rows_of_block), most);
    g.row_steps = ceil_div(g.rows, std::int64_t{g.row_blocks} * g.teams());
    return g;
  }

  static std::int64_t shared_bytes(const geometry& g) { return g.shares ? g.scratch * size : 0; }

  /// The device memory that a launch needs in addition to the operands. It begins with counters, which must be 0 before the launch.
  static constexpr std::int64_t memory_bytes(const geometry& g) { return layout_of(g).end; }
  static constexpr std::int64_t counter_bytes(const geometry& g) {
    return counts_blocks(g) || splits_rows(g) ? static_cast<std::int64_t>(sizeof(unsigned)) * (1 + (splits_rows(g) ? g.rows : 0)) : 0;
  }
  /// True if a table of column sums must be added up after all blocks are done.
  static constexpr bool leaves_table(const geometry& g) { return column_sums > 0 && g.row_blocks > 1; }

  static arguments bind(void* const* pointers, const std::int64_t* numbers, const geometry& g, void* memory) {
    arguments a;
    for (int i = 0; i < record::accesses; ++i) a.pointer[i] = pointers[i];
    for (int i = 0; i < number_count; ++i) a.number[i] = numbers[i];
    a.shape = g;
    const auto within = [&](std::int64_t at) { return static_cast<void*>(static_cast<char*>(memory) + at); };
    const memory_layout l = layout_of(g);
    a.arrived = static_cast<unsigned*>(memory);
    a.scratch = static_cast<T*>(within(l.scratch));
    a.totals = static_cast<T*>(within(l.totals));
    a.columns = static_cast<T*>(within(l.columns));
    a.tiles = static_cast<T*>(within(l.tiles));
    return a;
  }

  // ---- a thread ----

  template <class Block>
  static TENURE_KERNEL_INLINE void run(Block& block, const arguments& args) {
    T* const scratch = args.shape.shares ? static_cast<T*>(block.shared()) : args.scratch + block.index * args.shape.scratch;
    thread_state t{};
    t.thread = block.thread;
    begin(args, t, scratch);
    for (std::int64_t step = 0; step < args.shape.row_steps; ++step) {
      begin_row(args, t, block.index, step);
      passes_from<0>(block, args, t, scratch);
      if constexpr (stores_rows) {
        if (args.shape.team > warp) block.sync();  // the store may overwrite an operand in place that other threads still read
        else block.sync_warp();
        store_row(args, t, those<part::row_stores>{});
      }
    }
    if constexpr (column_sums > 0) finish_columns(block, args, t, scratch, those<part::column_sums>{});
    if constexpr (total_sums > 0) finish_totals(block, args, t, those<part::totals>{});
  }

  // ---- a thread of the second kernel, which adds up the table of column sums; its blocks have most_threads threads ----

  static constexpr int fold_blocks(const geometry& g) { return static_cast<int>(ceil_div(g.columns, warp)); }
  static constexpr int fold_bytes = static_cast<int>(sizeof(T)) * most_threads;  // its shared memory

  /// Adds up the table of column sums. A block takes as many columns as a warp has threads: each warp adds a part of the rows,
  /// then the parts are added in order. With one thread for each column, that thread would wait for memory once for each row.
  template <class Block>
  static TENURE_KERNEL_INLINE void fold_columns(Block& block, const arguments& args) { fold(block, args, those<part::column_sums>{}); }

 private:
  static constexpr std::int64_t size = sizeof(T);

  static constexpr bool counts_blocks(const geometry& g) { return total_sums > 0 && g.blocks() > 1; }
  static TENURE_KERNEL_INLINE constexpr bool splits_rows(const geometry& g) { return may_split_rows && g.tiles > 1; }

  struct memory_layout {
    std::int64_t scratch, totals, columns, tiles, end;  // bytes
  };
  static constexpr memory_layout layout_of(const geometry& g) {
    const auto padded = [](std::int64_t elements) { return (elements * size + 15) / 16 * 16; };
    memory_layout l{};
    l.scratch = (counter_bytes(g) + 15) / 16 * 16;
    l.totals = l.scratch + (g.shares ? 0 : padded(g.scratch) * g.blocks());
    l.columns = l.totals + (counts_blocks(g) ? padded(std::int64_t{total_sums} * g.blocks()) : 0);
    l.tiles = l.columns + (leaves_table(g) ? padded(column_sums * g.row_blocks * g.columns) : 0);
    l.end = l.tiles + (splits_rows(g) ? padded(row_sums * g.rows * g.tiles) : 0);
    return l;
  }

  /// The groups of instructions that run together in a pass or a phase.
  enum class part { loads, computes, stores, row_values, row_stores, row_sums, column_sums, totals };

  static constexpr bool is_in(part what, int pass, int i) {
    const auto& x = at(i);
    const bool runs = (x.passes >> pass & 1) != 0, ran = (x.passes & ((1u << pass) - 1)) != 0;
    switch (what) {
      case part::loads: return runs && (keeps(i) ? ran : x.what == kind::load);
      case part::computes: return runs && (keeps(i) ? !ran : x.what != kind::load && x.what != kind::store && x.what != kind::reduce_columns);
      case part::stores: return runs && (keeps(i) ? !ran : x.what == kind::store || x.what == kind::reduce_columns);
      case part::row_values: return x.row && x.phase == pass && x.what != kind::reduce_row && x.what != kind::store;
      case part::row_stores: return x.row && x.what == kind::store;
      case part::row_sums: return runs && x.what == kind::reduce_row;
      case part::column_sums: return x.what == kind::reduce_columns;
      case part::totals: return x.what == kind::reduce_all;
    }
    return false;
  }
  /// A group as a sequence of instruction numbers. A loop over all instructions with a test would instantiate a function for each
  /// instruction outside the group too, and nvcc took seconds for those.
  template <part What, int Pass>
  struct selection {
    struct list {
      int count = 0, at[slots] = {};
    };
    static constexpr list chosen = [] {
      list l;
      for (int i = 0; i < record::instructions; ++i)
        if (is_in(What, Pass, i)) l.at[l.count++] = i;
      return l;
    }();
    template <int... J>
    static constexpr std::integer_sequence<int, chosen.at[J]...> sequence(std::integer_sequence<int, J...>);
    using type = decltype(sequence(std::make_integer_sequence<int, chosen.count>{}));
  };
  template <part What, int Pass = 0>
  using those = typename selection<What, Pass>::type;
  using stream_indices = std::make_integer_sequence<int, record::accesses>;

  struct packet_state {
    T value[slots][lanes];
    bool mask[slots][lanes];
  };
  /// The position of a packet.
  struct place {
    std::int64_t offset[streams];  // the offset of its first element in each operand
    std::int64_t column;           // the column of its first element
    int count;                     // the number of its elements inside the row
    T* scratch;                    // its first kept value; the values of other slots follow at a fixed distance
  };

  template <std::int64_t Word>
  static TENURE_KERNEL_INLINE std::int64_t number(const arguments& args) {
    if constexpr (is_dynamic(Word)) return args.number[Word - program_detail::first_dynamic];
    else return Word;
  }
  template <int D>
  static TENURE_KERNEL_INLINE std::int64_t extent(const arguments& args) { return number<k.extent[D]>(args); }
  template <int A, int D>
  static TENURE_KERNEL_INLINE std::int64_t stride(const arguments& args) { return number<k.access[A].stride[D]>(args); }

  template <int D, int... A>
  static TENURE_KERNEL_INLINE void move(const arguments& args, std::int64_t* offset, std::int64_t by, std::integer_sequence<int, A...>) {
    ((offset[A] += by * stride<A, D>(args)), ...);
  }
  /// Moves the offsets to the position `index`, counted row-major over the dimensions First to D.
  template <int First, int D>
  static TENURE_KERNEL_INLINE void move_to(const arguments& args, std::int64_t* offset, std::int64_t index) {
    if constexpr (D == First) {
      move<D>(args, offset, index, stream_indices{});
    } else if constexpr (D > First) {
      const quotient q = divided(index, extent<D>(args));
      move<D>(args, offset, q.rest, stream_indices{});
      move_to<First, D - 1>(args, offset, q.whole);
    }
  }

  struct alignas(sizeof(T) * lanes) run_of_lanes {
    T at[lanes];
  };
  /// The place of a thread's packet in a step, for the first kept slot.
  static TENURE_KERNEL_INLINE T* scratch_at(const arguments& args, T* scratch, int thread, std::int64_t step) {
    return scratch + (step * args.shape.threads + thread) * lanes;
  }
  /// The same for another slot. It is aligned even if the operands are not.
  static TENURE_KERNEL_INLINE run_of_lanes& run_at(const arguments& args, T* of_first, int slot) {
    return *reinterpret_cast<run_of_lanes*>(of_first + slot * (args.shape.packet_steps * lanes * args.shape.threads));
  }

  static TENURE_KERNEL_INLINE void begin(const arguments& args, thread_state& t, T* scratch) {
    [&]<int... I>(std::integer_sequence<int, I...>) { ((t.total[I] = identity<at(I).bits>()), ...); }(those<part::totals>{});
    [&]<int... I>(std::integer_sequence<int, I...>) { (begin_column<I>(args, t, scratch), ...); }(those<part::column_sums>{});
  }
  template <int I>
  static TENURE_KERNEL_INLINE void begin_column(const arguments& args, const thread_state& t, T* scratch) {
    run_of_lanes nothing;
    for (int l = 0; l < lanes; ++l) nothing.at[l] = identity<at(I).bits>();
    for (std::int64_t s = 0; s < args.shape.packet_steps; ++s) run_at(args, scratch_at(args, scratch, t.thread, s), kept_rows + rank_of(I)) = nothing;
  }

  static TENURE_KERNEL_INLINE void begin_row(const arguments& args, thread_state& t, int block, std::int64_t step) {
    const geometry& g = args.shape;
    t.row = (step * g.row_blocks + block / g.tiles) * g.teams() + t.thread / g.team;
    t.is_active = t.row < g.rows;
    for (int a = 0; a < record::accesses; ++a) t.offset[a] = 0;
    if (!t.is_active) return;
    move_to<0, record::outer - 1>(args, t.offset, t.row);
    // A value with one number for each row is added to a total once: by the first thread of the first tile of the row.
    row_phase(args, t, block % g.tiles == 0 && t.thread % g.team == 0, those<part::row_values>{});
  }

  template <int Pass, class Block>
  static TENURE_KERNEL_INLINE void passes_from(Block& block, const arguments& args, thread_state& t, T* scratch) {
    if constexpr (Pass < record::passes) {
      const geometry& g = args.shape;
      begin_sums(t, those<part::row_sums, Pass>{});
      if (t.is_active) {
        const std::int64_t stride = std::int64_t{g.tiles} * g.team;
        std::int64_t packet = std::int64_t{block.index % g.tiles} * g.team + t.thread % g.team;
        for (std::int64_t s = 0; s < g.packet_steps; ++s, packet += stride) {
          if (packet >= g.packets) break;
          elements<Pass>(args, t, place_of(args, t, packet, scratch_at(args, scratch, t.thread, s)));
        }
      }
      reduce_rows(block, args, t, those<part::row_sums, Pass>{});
      if constexpr (reduces_rows)
        if (t.is_active) row_phase(args, t, t.thread % g.team == 0, those<part::row_values, Pass + 1>{});
      passes_from<Pass + 1>(block, args, t, scratch);
    }
  }

  static TENURE_KERNEL_INLINE place place_of(const arguments& args, const thread_state& t, std::int64_t packet, T* scratch) {
    place p;
    p.scratch = scratch;
    for (int a = 0; a < record::accesses; ++a) p.offset[a] = t.offset[a];
    const std::int64_t n = extent<last>(args);
    std::int64_t i = packet * lanes;
    p.column = i;
    if constexpr (record::inner > 1) {
      const quotient q = divided(packet, ceil_div(n, lanes));
      move_to<record::outer, last - 1>(args, p.offset, q.whole);
      i = q.rest * lanes;
      p.column = q.whole * n + i;
    }
    move<last>(args, p.offset, i, stream_indices{});
    p.count = lanes == 1 || n - i >= lanes ? lanes : static_cast<int>(n - i);
    return p;
  }

  // ---- per element: all loads of a packet, then its lanes one after the other, then all stores ----

  template <int Pass>
  static TENURE_KERNEL_INLINE void elements(const arguments& args, thread_state& t, const place& p) {
    packet_state e;
    [&]<int... I>(std::integer_sequence<int, I...>) { (read<I>(args, p, e), ...); }(those<part::loads, Pass>{});
    [&]<int... L>(std::integer_sequence<int, L...>) { (lane(t, p, e, L, those<part::computes, Pass>{}), ...); }(std::make_integer_sequence<int, lanes>{});
    [&]<int... I>(std::integer_sequence<int, I...>) { (write<I>(args, t, p, e), ...); }(those<part::stores, Pass>{});
  }
  template <int... I>
  static TENURE_KERNEL_INLINE void lane(thread_state& t, const place& p, packet_state& e, [[maybe_unused]] int l, std::integer_sequence<int, I...>) {
    (element<I>(t, p, e, l), ...);
  }

  /// True if the type of access A allows a packet: its elements have type T and may be neighbours in memory.
  template <int A>
  static constexpr bool is_run = lanes > 1 && k.access[A].type == record::lane && (is_dynamic(k.access[A].stride[last]) || k.access[A].stride[last] == 1);

  static TENURE_KERNEL_INLINE bool is_whole(const T* first, int n) { return n == lanes && reinterpret_cast<std::uintptr_t>(first) % sizeof(run_of_lanes) == 0; }

  template <int I>
  static TENURE_KERNEL_INLINE void read(const arguments& args, const place& p, packet_state& e) {
    constexpr auto x = at(I);
    if constexpr (keeps(I)) {
      const run_of_lanes kept = run_at(args, p.scratch, kept_before(I));
      for (int l = 0; l < lanes; ++l) e.value[I][l] = kept.at[l];
    } else {
      constexpr auto a = k.access[x.access];
      const std::int64_t step = stride<x.access, last>(args);
      if constexpr (a.counting) {
        const std::int64_t first = reinterpret_cast<std::int64_t>(args.pointer[x.access]) + p.offset[x.access];
        for (int l = 0; l < lanes; ++l) e.value[I][l] = static_cast<T>(first + l * step);
      } else {
        using from = element_of_t<a.type>;
        const from* const source = static_cast<const from*>(args.pointer[x.access]) + p.offset[x.access];
        if constexpr (!x.is_mask && is_run<x.access>)
          if (step == 1 && is_whole(source, p.count)) {
            const run_of_lanes run = *reinterpret_cast<const run_of_lanes*>(source);
            for (int l = 0; l < lanes; ++l) e.value[I][l] = run.at[l];
            return;
          }
        for (int l = 0; l < lanes; ++l) {
          const from v = lanes == 1 || l < p.count ? source[l * step] : from(0);
          if constexpr (x.is_mask) e.mask[I][l] = v != from(0);
          else e.value[I][l] = number::convert<T>(v);
        }
      }
    }
  }

  struct none {};
  template <int Slot>
  static TENURE_KERNEL_INLINE auto operand(const thread_state& t, const packet_state& e, int l) {
    if constexpr (Slot < 0) return none{};
    else if constexpr (at(Slot).row) return row_operand<Slot>(t);
    else if constexpr (at(Slot).is_mask) return e.mask[Slot][l];
    else return e.value[Slot][l];
  }

  template <int I>
  static TENURE_KERNEL_INLINE void element(thread_state& t, const place& p, packet_state& e, int l) {
    constexpr auto x = at(I);
    if constexpr (x.what == kind::compute) {
      const auto value = computed<x.op, x.is_mask>(operand<x.in[0]>(t, e, l), operand<x.in[1]>(t, e, l), operand<x.in[2]>(t, e, l));
      if constexpr (x.is_mask) e.mask[I][l] = value;
      else e.value[I][l] = value;
    } else if constexpr (x.what == kind::reduce_row) {
      if (lanes == 1 || l < p.count) t.sum[I] = combined<x.bits>(t.sum[I], operand<x.in[0]>(t, e, l));
    } else if constexpr (x.what == kind::reduce_all) {
      if (lanes == 1 || l < p.count) t.total[I] = combined<x.bits>(t.total[I], operand<x.in[0]>(t, e, l));
    }
  }

  template <int I>
  static TENURE_KERNEL_INLINE void write(const arguments& args, const thread_state& t, const place& p, const packet_state& e) {
    constexpr auto x = at(I);
    if constexpr (keeps(I)) {
      run_of_lanes kept;
      for (int l = 0; l < lanes; ++l) kept.at[l] = e.value[I][l];
      run_at(args, p.scratch, kept_before(I)) = kept;
    } else if constexpr (x.what == kind::reduce_columns) {
      run_of_lanes mine;
      for (int l = 0; l < lanes; ++l) mine.at[l] = operand<x.in[0]>(t, e, l);
      add_run<x.bits>(run_at(args, p.scratch, kept_rows + rank_of(I)), mine);
    } else {
      const std::int64_t step = stride<x.access, last>(args);
      using to = element_of_t<k.access[x.access].type>;
      to* const target = static_cast<to*>(args.pointer[x.access]) + p.offset[x.access];
      if constexpr (!x.is_mask && is_run<x.access>)
        if (step == 1 && is_whole(target, p.count)) {
          run_of_lanes run;
          for (int l = 0; l < lanes; ++l) run.at[l] = operand<x.in[0]>(t, e, l);
          *reinterpret_cast<run_of_lanes*>(target) = run;
          return;
        }
      for (int l = 0; l < lanes; ++l)
        if (lanes == 1 || l < p.count) target[l * step] = number::convert<to>(operand<x.in[0]>(t, e, l));
    }
  }

  /// The result of a compute instruction for one element.
  template <ir::opcode Op, bool IsMask, class A, class B, class C>
  static TENURE_KERNEL_INLINE auto computed(A a, [[maybe_unused]] B b, [[maybe_unused]] C c) {
    if constexpr (ops::is_pointwise(Op)) {
      using operation = ops::operation_of<Op>;
      if constexpr (operation::arity == 1) return operation::evaluate(a);
      else if constexpr (operation::arity == 2) return operation::evaluate(a, b);
      else return operation::evaluate(a, b, c);
    } else if constexpr (IsMask == std::is_same_v<A, bool>) {  // cast and copy: the load has already converted numbers
      return a;
    } else if constexpr (IsMask) {
      return a != T(0);
    } else {
      return a ? T(1) : T(0);
    }
  }

  // ---- per row ----

  template <int... I>
  static TENURE_KERNEL_INLINE void row_phase(const arguments& args, thread_state& t, [[maybe_unused]] bool is_first, std::integer_sequence<int, I...>) {
    (row_instruction<I>(args, t, is_first), ...);
  }

  template <int Slot>
  static TENURE_KERNEL_INLINE auto row_operand(const thread_state& t) {
    if constexpr (Slot < 0) return none{};
    else if constexpr (at(Slot).is_mask) return t.mask[Slot];
    else return t.value[Slot];
  }

  template <int I>
  static TENURE_KERNEL_INLINE void row_instruction(const arguments& args, thread_state& t, bool is_first) {
    constexpr auto x = at(I);
    if constexpr (x.what == kind::constant) {
      if constexpr (x.is_mask) t.mask[I] = x.bits != 0;
      else if constexpr (std::is_floating_point_v<T>) t.value[I] = static_cast<T>(std::bit_cast<double>(x.bits));
      else t.value[I] = static_cast<T>(x.bits);
    } else if constexpr (x.what == kind::load) {
      if constexpr (k.access[x.access].counting) {
        t.value[I] = static_cast<T>(reinterpret_cast<std::int64_t>(args.pointer[x.access]) + t.offset[x.access]);
      } else {
        using from = element_of_t<k.access[x.access].type>;
        const from v = static_cast<const from*>(args.pointer[x.access])[t.offset[x.access]];
        if constexpr (x.is_mask) t.mask[I] = v != from(0);
        else t.value[I] = number::convert<T>(v);
      }
    } else if constexpr (x.what == kind::compute) {
      const auto value = computed<x.op, x.is_mask>(row_operand<x.in[0]>(t), row_operand<x.in[1]>(t), row_operand<x.in[2]>(t));
      if constexpr (x.is_mask) t.mask[I] = value;
      else t.value[I] = value;
    } else {  // a sum over all rows of a value with one number for each row
      if (is_first) t.total[I] = combined<x.bits>(t.total[I], t.value[x.in[0]]);
    }
  }

  template <int... I>
  static TENURE_KERNEL_INLINE void store_row(const arguments& args, const thread_state& t, std::integer_sequence<int, I...>) {
    if (!t.is_active || t.thread % args.shape.team != 0) return;
    ([&] {
      constexpr auto x = at(I);
      using to = element_of_t<k.access[x.access].type>;
      static_cast<to*>(args.pointer[x.access])[t.offset[x.access]] = number::convert<to>(row_operand<x.in[0]>(t));
    }(), ...);
  }

  // ---- reductions ----

  template <std::int64_t Kind>
  static TENURE_KERNEL_INLINE T combined(T a, T b) { return ops::combine<static_cast<ir::reduction>(Kind)>(a, b); }
  template <std::int64_t Kind>
  static TENURE_KERNEL constexpr T identity() { return ops::identity<static_cast<ir::reduction>(Kind), T>(); }

  template <int... I>
  static TENURE_KERNEL_INLINE void begin_sums(thread_state& t, std::integer_sequence<int, I...>) {
    ((t.sum[I] = identity<at(I).bits>()), ...);
  }
  template <std::int64_t Kind, class Block>
  static TENURE_KERNEL_INLINE T reduced_across(Block& block, int team, T mine) {
    return across(block, team, mine, [](T a, T b) { return combined<Kind>(a, b); });
  }
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void reduce_rows(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>) {
    ((t.value[I] = reduced_across<at(I).bits>(block, args.shape.team, t.sum[I])), ...);
    if constexpr (may_split_rows)
      if (splits_rows(args.shape)) fold_tiles(block, args, t, std::integer_sequence<int, I...>{});
  }

  /// Each block of a row writes its sums. The block that comes last reads the sums of all of them and continues; the others are
  /// done.
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold_tiles(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>) {
    const geometry& g = args.shape;
    const int row = block.index / g.tiles;
    const auto first_of = [&](int sum) { return args.tiles + (sum * g.rows + row) * g.tiles; };
    if (t.thread == 0) ((first_of(rank_of(I))[block.index % g.tiles] = t.value[I]), ...);
    t.is_active = block.arrives_last(args.arrived + 1 + row, g.tiles);
    if (!t.is_active) return;
    ([&] {
      T sum = identity<at(I).bits>();
      for (int tile = t.thread; tile < g.tiles; tile += g.threads) sum = combined<at(I).bits>(sum, block.published(first_of(rank_of(I)) + tile));
      t.value[I] = reduced_across<at(I).bits>(block, g.threads, sum);
    }(), ...);
  }

  /// Adds the column sums of this block's teams to one row. It is the result, or a row of the table that the second kernel adds up.
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_columns(Block& block, const arguments& args, const thread_state& t, T* scratch, std::integer_sequence<int, I...>) {
    const geometry& g = args.shape;
    const auto sums_of = [&](int thread, std::int64_t step, int sum) -> run_of_lanes& { return run_at(args, scratch_at(args, scratch, thread, step), kept_rows + sum); };
    for (int half = g.teams() / 2; half > 0; half /= 2) {
      block.sync();
      if (t.thread < half * g.team)
        for (std::int64_t s = 0; s < g.packet_steps; ++s)
          (add_run<at(I).bits>(sums_of(t.thread, s, rank_of(I)), sums_of(t.thread + half * g.team, s, rank_of(I))), ...);
    }
    if (t.thread >= g.team) return;
    std::int64_t packet = std::int64_t{block.index % g.tiles} * g.team + t.thread;
    for (std::int64_t s = 0; s < g.packet_steps; ++s, packet += std::int64_t{g.tiles} * g.team) {
      if (packet >= g.packets) break;
      const place p = place_of(args, t, packet, nullptr);  // for its column and count, which are the same in every row
      ([&] {
        T* const row = g.row_blocks == 1 ? static_cast<T*>(args.pointer[at(I).access]) : args.columns + (std::int64_t{rank_of(I)} * g.row_blocks + block.index / g.tiles) * g.columns;
        T* const to = row + p.column;
        const run_of_lanes sums = sums_of(t.thread, s, rank_of(I));
        if (is_whole(to, p.count)) *reinterpret_cast<run_of_lanes*>(to) = sums;
        else
          for (int l = 0; l < lanes; ++l)
            if (l < p.count) to[l] = sums.at[l];
      }(), ...);
    }
  }
  template <std::int64_t Kind>
  static TENURE_KERNEL_INLINE void add_run(run_of_lanes& to, run_of_lanes from) {
    for (int l = 0; l < lanes; ++l) to.at[l] = combined<Kind>(to.at[l], from.at[l]);
  }
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold(Block& block, const arguments& args, std::integer_sequence<int, I...>) {
    const geometry& g = args.shape;
    constexpr int pieces = most_threads / warp;
    const int piece = block.thread / warp, begin = piece * g.row_blocks / pieces, end = (piece + 1) * g.row_blocks / pieces;
    const std::int64_t column = std::int64_t{block.index} * warp + block.thread % warp;
    T* const sums = static_cast<T*>(block.shared());
    ([&] {
      T sum = identity<at(I).bits>();
      const T* const table = args.columns + std::int64_t{rank_of(I)} * g.row_blocks * g.columns + column;
      if (column < g.columns)
        for (int b = begin; b < end; ++b) sum = combined<at(I).bits>(sum, table[b * g.columns]);
      sums[block.thread] = sum;
      block.sync();
      if (piece == 0 && column < g.columns) {
        for (int p = 1; p < pieces; ++p) sum = combined<at(I).bits>(sum, sums[p * warp + block.thread]);
        static_cast<T*>(args.pointer[at(I).access])[column] = sum;
      }
      block.sync();
    }(), ...);
  }

  /// Each block writes its totals. The block that comes last adds the totals of all blocks, in order.
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_totals(Block& block, const arguments& args, const thread_state& t, std::integer_sequence<int, I...>) {
    const int blocks = args.shape.blocks();
    ([&] {
      const T total = reduced_across<at(I).bits>(block, args.shape.threads, t.total[I]);
      if (t.thread == 0) (blocks == 1 ? static_cast<T*>(args.pointer[at(I).access])[0] : args.totals[rank_of(I) * blocks + block.index]) = total;
    }(), ...);
    if (blocks == 1 || !block.arrives_last(args.arrived, blocks)) return;
    ([&] {
      T total = identity<at(I).bits>();
      for (int b = t.thread; b < blocks; b += args.shape.threads) total = combined<at(I).bits>(total, block.published(args.totals + rank_of(I) * blocks + b));
      total = reduced_across<at(I).bits>(block, args.shape.threads, total);
      if (t.thread == 0) static_cast<T*>(args.pointer[at(I).access])[0] = total;
    }(), ...);
  }
};

}  // namespace tenure::kernels
