// SPDX-License-Identifier: BSL-1.0
// All iterations of a loop whose body is one elementwise kernel: a scan, or a while_loop with a flag for each element (passes/loops/until_done.hpp). The loop
// over the elements is outside, and the loop over the iterations is inside: a few packets of the carries stay in registers from the first iteration to the
// last. Otherwise each iteration would read and write the carries, and an iteration with few elements would wait for the stores of the iteration before.
// Law: each element is computed by the same instructions as in iterations that run one after the other.
#pragma once

#include <tenure/backend/cpu/fused/blocks.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// How a loop uses an access of the kernel that is its body: the same memory in all iterations, a slice of each iteration, or a carry.
enum class in_loop { fixed, of_iteration, carry_in, carry_out };

template <class Code>
struct fused : kernel_in_blocks<Code> {
  using base = kernel_in_blocks<Code>;
  using typename base::element_state, typename base::kind, typename base::local_arguments, typename base::M, typename base::P, typename base::position, typename base::record, typename base::T;
  using typename base::row_state, typename base::sums, typename base::transposition;
  using base::at, base::k, base::lanes, base::last, base::masks_are_free, base::of_one_fold, base::row_phase;
  template <part Part, int Pass = 0>
  using those = typename base::template those<Part, Pass>;

  template <class Loop>
  static constexpr bool may_run_iterations() {
    if (record::outer != 0 || record::inner != 1 || record::passes != 1 || transposition::all.long_count > 0) return false;
    int row_work = 0, stored = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = at(i);
      if (x.what != kind::load && x.what != kind::compute && x.what != kind::constant && x.what != kind::store) return false;
      row_work += x.row && x.what == kind::compute;
      if (x.what == kind::compute && x.access >= 0) return false;
      if (x.what == kind::store && x.row) return false;
      if (x.access < 0) continue;
      const in_loop role = Loop::role(x.access);
      if (role != in_loop::carry_in && role != in_loop::carry_out) continue;
      const program_detail::decoded_access& a = k.access[x.access];
      if (x.row || a.counting || (!x.is_mask && a.type != record::lane) || a.stride[last] != 1) return false;
      stored += role == in_loop::carry_out;
    }
    return stored == Loop::carries && row_work <= costs::row_work_of_iterations;
  }

  /// Whether a number that all elements share changes from iteration to iteration.
  template <class Loop>
  static constexpr bool varies_by_row() {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).row && at(i).what == kind::load && Loop::role(at(i).access) == in_loop::of_iteration) return true;
    return false;
  }

  /// The number of packets of a group. Several packets hide the latency of an iteration, which depends on the results of the iteration before.
  static constexpr int packets_for(std::int64_t elements) {
    const std::int64_t packets = (elements + lanes - 1) / lanes;
    return packets < 1 ? 1 : packets < costs::packets_of_iteration ? static_cast<int>(packets) : costs::packets_of_iteration;
  }
  static constexpr int packets_per_iteration = !is_dynamic(k.extent[last]) ? packets_for(k.extent[last]) : lanes > 1 ? costs::packets_of_iteration : 1;
  /// Elements that are done wait for the others of their group, so it is small.
  template <class Loop>
  static constexpr int packets_of_group = Loop::flag >= 0 && packets_per_iteration > costs::packets_until_done ? costs::packets_until_done : packets_per_iteration;

  /// The carries of one packet of elements: a packet or a mask of each.
  template <class Loop>
  struct carries {
    P value[Loop::carries + 1];
    M mask[Loop::carries + 1];

    template <int C>
    TENURE_INLINE void take(const carries& next) {
      if constexpr (Loop::is_mask(C)) mask[C] = next.mask[C];
      else value[C] = next.value[C];
    }
  };

  /// The loads that read one number of each element in each iteration, with a stride from element to element: the elements are rows in memory, and the
  /// iterations are numbers of a row. As many iterations as a packet has lanes are loaded at a time, and transposed in registers. Otherwise each iteration
  /// would touch a cache line for each element, and rows of 256 numbers share too few sets of a cache.
  template <class Loop>
  struct column_loads {
    int of[record::accesses + 1], count = 0;  // for each access: its position among them, or -1

    constexpr column_loads() {
      for (int& c : of) c = -1;
      for (int i = 0; math::can_transpose<P> && i < record::instructions; ++i) {
        const instruction& x = at(i);
        if (x.what != kind::load || x.row || x.is_mask || Loop::role(x.access) != in_loop::of_iteration || of[x.access] >= 0) continue;
        const program_detail::decoded_access& a = k.access[x.access];
        if (!a.counting && a.type == record::lane && a.stride[last] != 1 && a.stride[last] != 0) of[x.access] = count++;
      }
    }
  };
  template <class Loop>
  static constexpr column_loads<Loop> columns{};
  template <int A>
  static TENURE_INLINE std::int64_t stride_of_elements(const local_arguments& args) { return number_of(args, base::stride(A, last)); }
  /// The numbers of these loads in the next iterations, by load, iteration, packet and lane.
  template <class Loop, int Ways>
  struct column_block {
    alignas(64) T at[columns<Loop>.count + 1][columns<Loop>.count > 0 ? lanes : 1][Ways][lanes];
    int now = lanes;

    /// The numbers of packet `way` in `left` iterations. Its elements begin at `source`; there are n of them.
    TENURE_INLINE void fill(int column, int way, const T* source, std::int64_t stride, std::int64_t step, std::int64_t left, int n) {
      auto& to = at[column];
      if (left >= lanes && n == lanes && (step == 1 || step == -1)) {
        P rows[lanes];
        for (int l = 0; l < lanes; ++l) rows[l] = math::load<P>(source + l * stride - (step < 0 ? lanes - 1 : 0));
        math::transpose<P>(rows);
        for (int i = 0; i < lanes; ++i) math::store<P>(to[step < 0 ? lanes - 1 - i : i][way], rows[i]);
      } else {
        for (int i = 0; i < lanes && i < left; ++i)
          for (int l = 0; l < lanes; ++l) to[i][way][l] = source[(l < n ? l : 0) * stride + i * step];
      }
    }
  };

  /// One instruction for one packet. Before the iterations (Prepares) only loads run whose values are the same in all iterations; in an iteration all other
  /// instructions run. A packet that is not Full has only the first n elements. If n is 0, it computes with element i, and stores nothing.
  template <class Loop, bool Full, bool Prepares, int I, class Block>
  static TENURE_LAYER void in_iteration(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& none,
                                         const carries<Loop>& carried, carries<Loop>& next, const Block& block, int way, std::int64_t i, int n) {
    constexpr auto x = at(I);
    constexpr in_loop role = x.access >= 0 ? Loop::role(x.access) : in_loop::fixed;
    constexpr bool is_fixed = x.what == kind::load && role == in_loop::fixed;
    if constexpr (Prepares != is_fixed) {
      // This instruction runs in the other phase.
    } else if constexpr (role == in_loop::carry_in) {
      if constexpr (x.is_mask) e.mask[I] = carried.mask[Loop::carry(x.access)];
      else e.value[I] = carried.value[Loop::carry(x.access)];
    } else if constexpr (role == in_loop::carry_out) {
      if constexpr (x.is_mask) next.mask[Loop::carry(x.access)] = read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]);
      else next.value[Loop::carry(x.access)] = read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]);
    } else if constexpr (x.what == kind::load && !x.row && columns<Loop>.of[x.access < 0 ? record::accesses : x.access] >= 0) {
      e.value[I] = math::load<P>(block.at[columns<Loop>.of[x.access]][block.now][way]);
    } else if constexpr (Full || x.access < 0) {
      base::template element<0, at_choice::unknown, false, 0, I>(args, p, r, e, none, i, lanes);
    } else {
      const int there = x.what == kind::load && n == 0 ? 1 : n;
      if (!masks_are_free && n == lanes) base::template element<0, at_choice::unknown, false, 0, I>(args, p, r, e, none, i, lanes);
      else if (masks_are_free || there > 0) base::template element<0, at_choice::unknown, true, 0, I>(args, p, r, e, none, i, there);
    }
  }

  /// All iterations for the packets from element `first` on. A row has n elements, and at least Sure of them follow.
  template <class Loop, int Sure, int... W>
  static TENURE_LAYER void run_packets(const local_arguments& given, const Loop& loop, std::int64_t first, std::int64_t n,
                                             std::integer_sequence<int, W...>) {
    constexpr int ways = static_cast<int>(sizeof...(W)), accesses = record::accesses;
    constexpr auto is_full = [](int way) { return (way + 1) * lanes <= Sure; };
    using row_list = those<part::row, 0>;
    local_arguments args = given;
    const position p{};
    row_state r;
    sums none;
    element_state e[ways];
    carries<Loop> carried[ways], next[ways];
    column_block<Loop, ways> block;
    const auto elements_of = [&](int way) {
      const std::int64_t left = n - first - way * lanes;
      return is_full(way) || left > lanes ? lanes : left < 0 ? 0 : static_cast<int>(left);
    };
    const auto first_of = [&](int way) { return elements_of(way) > 0 ? first + way * lanes : first; };
    const auto each_of = [&]<bool Prepares, int I, int... Way>(std::bool_constant<Prepares>, std::integral_constant<int, I>, std::integer_sequence<int, Way...>)
        __attribute__((always_inline)) {
      (in_iteration<Loop, is_full(Way), Prepares, I>(args, p, r, e[Way], none, carried[Way], next[Way], block, Way, first_of(Way), elements_of(Way)), ...);
    };
    constexpr auto& list = base::template selection<part::elements>::list;
    const auto some = [&]<bool Prepares, int First, int... J>(std::bool_constant<Prepares> phase, std::integral_constant<int, First>,
                                                              std::integer_sequence<int, J...>, auto way) __attribute__((always_inline)) {
      (each_of(phase, std::integral_constant<int, list.at[First + J]>{}, way), ...);
    };
    const auto each = [&]<int... F>(auto phase, auto way, std::integer_sequence<int, F...>) __attribute__((always_inline)) {
      (some(phase, std::integral_constant<int, F * of_one_fold>{},
            std::make_integer_sequence<int, (list.count - F * of_one_fold < of_one_fold ? list.count - F * of_one_fold : of_one_fold)>{}, way), ...);
    };
    // A processor looks far enough ahead to overlap two packets that are computed one after the other. Then fewer values are alive, and fewer are
    // spilled to memory: an LSTM of 14 numbers takes 0.95 of the time. With more packets each instruction runs for all packets in turn.
    const auto for_all = [&](auto phase) __attribute__((always_inline)) {
      constexpr std::make_integer_sequence<int, (list.count + of_one_fold - 1) / of_one_fold> folds{};
      if constexpr (ways > 2) each(phase, std::integer_sequence<int, W...>{}, folds);
      else (each(phase, std::integer_sequence<int, W>{}, folds), ...);
    };
    // Loads the initial carries, and stores the final ones.
    const auto move_one = [&]<bool Loads, int Way, int A>(std::bool_constant<Loads>, std::integral_constant<int, Way>, std::integral_constant<int, A>)
        __attribute__((always_inline)) {
      constexpr bool is_mask = k.access[A].type == dtype::boolean;
      P& packet = carried[Way].value[Loop::carry(A)];
      M& mask = carried[Way].mask[Loop::carry(A)];
      const std::int64_t at = first_of(Way);
      const int there = elements_of(Way);
      if constexpr (is_mask) {
        if constexpr (!Loads) base::template store_mask<A>(args, p, mask, at, there);
        else if (there == base::lanes) mask = base::template load_mask<A, false>(args, p, at, base::lanes);
        else mask = base::template load_mask<A, true>(args, p, at, there > 0 ? there : 1);
      } else if (there == base::lanes) {
        if constexpr (Loads) packet = base::template load<A, false, 0>(args, p, at, base::lanes);
        else base::template store<A, false>(args, p, packet, at, base::lanes);
      } else if constexpr (Loads) {
        packet = base::template load<A, true, 0>(args, p, at, there > 0 ? there : 1);
      } else if (there > 0) {
        base::template store<A, true>(args, p, packet, at, there);
      }
    };
    const auto move = [&]<bool Loads, int... A>(std::bool_constant<Loads> loads, std::integer_sequence<int, A...>) __attribute__((always_inline)) {
      ([&]<int B>(std::integral_constant<int, B> access) __attribute__((always_inline)) {
        if constexpr (Loop::role(B) == (Loads ? in_loop::carry_in : in_loop::carry_out)) (move_one(loads, std::integral_constant<int, W>{}, access), ...);
      }(std::integral_constant<int, A>{}), ...);
    };
    constexpr std::make_integer_sequence<int, accesses> all_accesses{};
    move(std::true_type{}, all_accesses);
    if constexpr (!varies_by_row<Loop>()) row_phase(args, p, r, none, row_list{});
    for_all(std::true_type{});
    const auto iterate = [&]([[maybe_unused]] std::int64_t left) __attribute__((always_inline)) {
      if constexpr (columns<Loop>.count > 0)
        if (block.now == lanes) {
          const auto fill_one = [&]<int A>(std::integral_constant<int, A>) __attribute__((always_inline)) {
            constexpr int column = columns<Loop>.of[A];
            if constexpr (column >= 0) {
              const T* const source = static_cast<const T*>(args.pointer[A]) + p.offset[A];
              const std::int64_t stride = stride_of_elements<A>(args), step = loop.step[A] / static_cast<std::int64_t>(sizeof(T));
              (block.fill(column, W, source + first_of(W) * stride, stride, step, left, elements_of(W) > 0 ? elements_of(W) : 1), ...);
            }
          };
          [&]<int... A>(std::integer_sequence<int, A...>) __attribute__((always_inline)) { (fill_one(std::integral_constant<int, A>{}), ...); }(all_accesses);
          block.now = 0;
        }
      if constexpr (varies_by_row<Loop>()) row_phase(args, p, r, none, row_list{});
      for_all(std::false_type{});
      [&]<int... C>(std::integer_sequence<int, C...>) __attribute__((always_inline)) {  // not a loop: the packets stay in registers
        ([&]<int Way>(std::integral_constant<int, Way>) __attribute__((always_inline)) {
          (carried[Way].template take<C>(next[Way]), ...);
        }(std::integral_constant<int, W>{}), ...);
      }(std::make_integer_sequence<int, Loop::carries>{});
      [&]<int... A>(std::integer_sequence<int, A...>) __attribute__((always_inline)) {
        ([&] {
          if constexpr (Loop::role(A) == in_loop::of_iteration) args.pointer[A] = static_cast<char*>(args.pointer[A]) + loop.step[A];
        }(), ...);
      }(all_accesses);
      ++block.now;
    };
    if constexpr (Loop::flag >= 0) {
      while ((math::any<P>(carried[W].mask[Loop::flag]) || ...)) iterate(0);
    } else {
      auto all = loop.all;  // each group of packets runs all iterations
      std::int64_t left = all.trip_count;
      all.run([&]() __attribute__((always_inline)) {
        if (loop.position != nullptr) *loop.position = all.now;
        iterate(left--);
      });
    }
    move(std::false_type{}, all_accesses);
  }

  /// The elements first ... last - 1. `first` is a multiple of the elements of a group of packets, and so is `last`, unless it is the end of the row.
  template <class Loop>
  [[gnu::noinline]] TENURE_FLATTEN static void run_range_of_elements(const kernel_arguments& given, const Loop& loop, std::int64_t first, std::int64_t last_element) {
    local_arguments args(given);
    constexpr int ways = packets_of_group<Loop>, step = ways * lanes;
    constexpr std::int64_t extent = k.extent[last];
    const std::int64_t n = number_of(args, base::extent(last));
    std::int64_t i = first;
    if constexpr (is_dynamic(extent) || extent >= step)
      for (; i + step <= last_element; i += step) run_packets<Loop, step>(args, loop, i, n, std::make_integer_sequence<int, ways>{});
    if (last_element < n) return;
    // The fewest packets that hold the remaining elements compute them (4 instead of 3 if the extent is dynamic). An empty packet takes as long as a full one.
    if constexpr (is_dynamic(extent)) {
      const auto rest = [&]<int Packets>(std::integral_constant<int, Packets>) __attribute__((always_inline)) {
        run_packets<Loop, Packets / 2 * lanes + 1>(args, loop, i, n, std::make_integer_sequence<int, Packets>{});
      };
      const std::int64_t left = n - i;
      if constexpr (ways == 4)
        if (left > 2 * lanes) return rest(std::integral_constant<int, 4>{});
      if constexpr (ways >= 2)
        if (left > lanes) return rest(std::integral_constant<int, 2>{});
      if constexpr (lanes > 1)
        if (left > 0) rest(std::integral_constant<int, 1>{});
    } else if constexpr (extent % step != 0) {
      constexpr int left = static_cast<int>(extent % step);
      run_packets<Loop, left>(args, loop, i, n, std::make_integer_sequence<int, (left + lanes - 1) / lanes>{});
    }
  }

  template <class Loop>
  static void run_iterations(const kernel_arguments& given, const Loop& loop) {
    const local_arguments args(given);
    const std::int64_t n = number_of(args, base::extent(last));
    // Each block of elements runs its own iterations, so threads do not wait for one another. The number of the iteration has one place for all.
    struct blocks {
      const kernel_arguments& given;
      const Loop& loop;
      std::int64_t elements, n;

      static void run(void* context, int b, int) {
        const blocks& all = *static_cast<blocks*>(context);
        const std::int64_t first = b * all.elements;
        run_range_of_elements(all.given, all.loop, first, first + all.elements < all.n ? first + all.elements : all.n);
      }
    } all{given, loop, costs::elements_of_iterations, n};
    const std::int64_t work = n * record::instructions * (Loop::flag >= 0 ? 1 : loop.all.trip_count);
    if (n > all.elements && loop.position == nullptr && given.on != nullptr && given.on->gains_by(work)) {
      const std::int64_t most = all.elements * costs::max_grid_blocks;
      all.elements *= (n + most - 1) / most;
      return given.on->run(static_cast<int>((n + all.elements - 1) / all.elements), &blocks::run, &all);
    }
    run_range_of_elements(given, loop, 0, n);
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
