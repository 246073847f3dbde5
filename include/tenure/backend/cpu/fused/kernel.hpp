// SPDX-License-Identifier: BSL-1.0
// The facts of a fused kernel that follow from its code. Each other header of this folder adds one job to a kernel: it has a class that derives from the
// class of the header before it. fused.hpp has the order.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/fused/arguments.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/program/kernel.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::action;
using program_detail::in_pass;
using program_detail::instruction;
using program_detail::is_dynamic;
using program_detail::move_along;
using program_detail::number_of;
using program_detail::part;
using program_detail::places;
using program_detail::position_of;

/// P, or a narrower packet if a row has fewer elements than P has lanes.
template <class P, std::int64_t N>
constexpr auto packet_filling() {
  constexpr int lanes = math::width<P>;
  if constexpr (lanes == 1 || N <= 0 || N >= lanes) return P{};
  else if constexpr (N == 1) return math::scalar_of<P>{};
  else {
    using half = math::half_of<P>;
    if constexpr (math::width<half> == lanes || N > math::width<half>) return P{};
    else return packet_filling<half, N>();
  }
}
template <class P, std::int64_t N>
using packet_filled_by = decltype(packet_filling<P, N>());

template <class Code>
struct kernel_facts : program_detail::coded_kernel<Code> {
  using base = program_detail::coded_kernel<Code>;
  using typename base::kind, typename base::record, typename base::row_state;
  using T = typename base::T;
  using base::at, base::count_of, base::k, base::last, base::rank_of, base::slots, base::streams;
  // A static row that is shorter than a register uses a narrower packet and fills it. After a masked store the next step would have to
  // wait until the store buffer has written the row.
  using P = packet_filled_by<math::packet_of<T>, k.extent[last]>;
  using M = math::mask_of<P>;
  static constexpr int lanes = math::width<P>;
  // A load or store of the first n lanes (also n = 0) takes as long as a load or store of all lanes.
  static constexpr bool masks_are_free = math::is_512<P>;

  // If one register holds the results of all columns, these stay in it from row to row. Otherwise each row reads and writes the results.
  static constexpr bool columns_in_registers = record::inner == 1 && !is_dynamic(k.extent[last]) && k.extent[last] <= lanes;

  struct position {
    std::int64_t offset[streams];
  };
  struct element_state {
    P value[slots];
    M mask[slots];
  };
  struct sums {
    P packet[slots][costs::max_ways];
    T scalar[slots];
  };

  // The arguments in local variables. Arguments behind a pointer would be loaded again for every packet, because the compiler must assume
  // that a store of an element changes them.
  struct local_arguments {
    void* pointer[streams];
    std::int64_t number[base::numbers];
    bool bypasses_caches = false;  // true if stores of full packets bypass the caches
    T* collected = nullptr;        // memory for the rows of a packet of samples

    local_arguments() = default;
    /// Without a loop, of which g++ makes loads of vectors: they wait until the single stores before them are in the cache. The position of an arm of seven
    /// joints took 95 ns and takes 53. Inline: where a unit has many calls of one kernel, g++ made a function of this, and all pointers went through memory.
    explicit TENURE_INLINE local_arguments(const kernel_arguments& given)
        : local_arguments(given, std::make_integer_sequence<int, record::accesses>{}, std::make_integer_sequence<int, base::number_count>{}) {}
    template <int... A, int... N>
    TENURE_INLINE local_arguments(const kernel_arguments& given, std::integer_sequence<int, A...>, std::integer_sequence<int, N...>) {
      ((pointer[A] = given.pointer[A]), ...);
      ((number[N] = given.number[N]), ...);
    }
  };

  // The reductions that stay in registers from row to row.
  static constexpr part accumulated = columns_in_registers ? part::totals_and_columns : part::totals;

  static constexpr bool reduces_columns = count_of(kind::reduce_columns) > 0;
  /// Whether rows are added up, in columns or in totals. Many rows are the sum of parts, see costs::rows_of_part.
  static constexpr bool adds_rows = [] {
    bool any = false;
    for (int i = 0; i < record::instructions; ++i)
      any = any || ((at(i).what == kind::reduce_columns || at(i).what == kind::reduce_all) && at(i).reduction() == ir::reduction::sum);
    return any && record::outer == 1 && std::is_floating_point_v<T>;
  }();

  /// Whether the sums of the row are totals: the kernel has only one row, and no element needs these sums. Then the instructions that use the sums run
  /// once, after the last block.
  static constexpr bool sums_are_totals = [] {
    bool any = false, is_simple = record::outer == 0 && record::inner == 1 && record::passes == 1;
    for (int i = 0; i < record::instructions; ++i) {
      any = any || at(i).what == kind::reduce_row;
      is_simple = is_simple && at(i).what != kind::reduce_columns && !(at(i).row && at(i).what == kind::reduce_all);
    }
    return any && is_simple;
  }();
  static constexpr int total_count = count_of(kind::reduce_all) + (sums_are_totals ? count_of(kind::reduce_row) : 0);
  static constexpr int max_totals = total_count > 0 ? total_count : 1;
  static constexpr int total_of(int i) { return rank_of(i) + (at(i).what == kind::reduce_row ? count_of(kind::reduce_all) : 0); }

  /// The number of leading dimensions that blocks may cut. A row may be cut if the only reductions are over all elements. If a row
  /// has its own results, it must be the only row, and the first block writes these results.
  static constexpr int cuts = [] {
    bool row = record::inner > 1;
    for (int i = 0; i < record::instructions; ++i) {
      const kind what = at(i).what;
      const bool has_result = (at(i).row && what == kind::reduce_all) || (at(i).stores_row() && record::outer > 0);
      row = row || (what == kind::reduce_row && !sums_are_totals) || what == kind::reduce_columns || has_result;
    }
    const int n = record::outer + (row ? 0 : 1);
    return n < 2 ? n : 2;
  }();
  static constexpr bool is_cut = [] {
    std::int64_t work = record::instructions;
    for (int d = 0; d < record::rank; ++d) work = is_dynamic(k.extent[d]) ? costs::min_cut_work : k.extent[d] == 0 ? 0 : work * k.extent[d];
    return cuts > 0 && work >= costs::min_cut_work;
  }();
  // memory_plan does not know the code. It assumes that the shape alone decides which dimensions are cut.
  static_assert((!reduces_columns && base::kept_rows == 0) || cuts == (record::outer < 2 ? record::outer : 2));
  /// The numbers 0, 1, 2, ..., plus the lanes of Way packets.
  template <int Way = 0>
  static TENURE_LAYER auto lane_index() -> P {
    static constexpr auto index = [] {
      struct { alignas(64) T at[lanes]; } counted{};
      for (int l = 0; l < lanes; ++l) counted.at[l] = static_cast<T>(Way * lanes + l);
      return counted;
    }();
    return math::load<P>(index.at);
  }

  /// True if the kernel may run in blocks. Then a row_producer may compute rows before each block.
  static constexpr bool runs_in_blocks() { return is_cut; }
};

/// What a slot holds.
enum class held : std::uint8_t { packet, mask, number_of_row, mask_of_row };
template <class Code>
constexpr held held_in(int slot) {
  const auto& x = kernel_facts<Code>::at(slot);
  return x.is_mask ? (x.row ? held::mask_of_row : held::mask) : x.row ? held::number_of_row : held::packet;
}

/// The packet or the mask in a slot. Only what the slot holds is a template argument, so that there are few functions to compile.
template <class Code, held Held>
TENURE_LAYER auto read(const typename kernel_facts<Code>::row_state& r, const typename kernel_facts<Code>::element_state& e, int slot) {
  using P = typename kernel_facts<Code>::P;
  if constexpr (Held == held::mask_of_row) return math::mask_set<P>(r.mask[slot]);
  else if constexpr (Held == held::mask) return e.mask[slot];
  else if constexpr (Held == held::number_of_row) return math::set1<P>(r.value[slot]);
  else return e.value[slot];
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
