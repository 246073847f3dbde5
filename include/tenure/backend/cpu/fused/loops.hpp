// SPDX-License-Identifier: BSL-1.0
// The loop nest: the outer dimensions, the passes over a row, the packets of a row.
#pragma once

#include <tenure/backend/cpu/fused/elements.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct loop_nest : pass_elements<Code> {
  using base = pass_elements<Code>;
  using typename base::element_state, typename base::kind, typename base::local_arguments, typename base::position, typename base::record, typename base::row_state;
  using typename base::stream_indices, typename base::sums, typename base::T;
  using base::accumulated, base::adds_several_rows, base::chooses, base::columns_in_registers, base::cuts, base::end_segment, base::finish, base::finish_row;
  using base::k, base::lanes, base::last, base::mask_of_sums, base::row_phase, base::start_all, base::start_columns, base::store_chosen;
  using base::sums_are_totals;
  template <part Part, int Pass = 0>
  using those = typename base::template those<Part, Pass>;

  /// The begin and end of the loops over the leading dimensions, for the whole kernel or for a block.
  struct whole {
    template <int D>
    static TENURE_LAYER std::int64_t begin() { return 0; }
    template <int D>
    static TENURE_LAYER std::int64_t end(const local_arguments& args) { return number_of(args, base::extent(D)); }
  };

  struct block_range {
    std::int64_t first[2], last[2];
    template <int D>
    TENURE_LAYER std::int64_t begin() const {
      if constexpr (D < cuts) return first[D];
      else return 0;
    }
    template <int D>
    TENURE_LAYER std::int64_t end(const local_arguments& args) const {
      if constexpr (D < cuts) return last[D];
      else return number_of(args, base::extent(D));
    }
  };

  /// A part of the elements of each row.
  template <class Range>
  struct strip_of {
    Range range;
    std::int64_t first, end_of_strip;
    template <int D>
    TENURE_LAYER std::int64_t begin() const {
      if constexpr (D == last) return first;
      else return range.template begin<D>();
    }
    template <int D>
    TENURE_LAYER std::int64_t end(const local_arguments& args) const {
      if constexpr (D == last) return end_of_strip;
      else return range.template end<D>(args);
    }
  };
  template <class Range>
  static constexpr bool is_strip = requires(Range r) { r.end_of_strip; };
  /// Whether an access goes from row to row to the next number in memory, and along a row elsewhere: a transpose. Then a strip of all rows is computed before the
  /// next strip, because a long row would leave the caches before the next row reads the same lines.
  static constexpr std::int64_t strip = costs::strip_of_transpose_bytes / static_cast<std::int64_t>(sizeof(T));
  static constexpr bool crosses = [] {
    if (record::outer < 1 || record::inner != 1 || record::passes != 1 || base::kept_rows > 0) return false;
    if (base::count_of(kind::reduce_row) + base::count_of(kind::reduce_columns) + base::count_of(kind::reduce_all) > 0) return false;
    bool any = false;
    for (int a = 0; a < record::accesses; ++a) any = any || (k.access[a].stride[record::outer - 1] == 1 && k.access[a].stride[last] != 1 && k.access[a].stride[last] != 0);
    return any && (is_dynamic(k.extent[last]) || k.extent[last] > strip);
  }();

  template <int Pass>
  static constexpr bool adds_segments =
      std::is_floating_point_v<T> && those<part::sums, Pass>::size() > 0 && (is_dynamic(k.extent[last]) || k.extent[last] > costs::elements_of_part);

  /// Runs the kernel over a range. `totals` gets one number for each reduction over all elements.
  template <class Range>
  TENURE_FLATTEN static TENURE_LAYER void run_range(const local_arguments& args, const Range& range, T* totals) {
    sums total;
    start_all(total, those<accumulated>{});
    position start{};
    if constexpr (!columns_in_registers) start_columns(args, those<part::column_sums>{});
    if constexpr (sums_are_totals && std::is_same_v<Range, block_range>) {
      // A block of the only row. end_blocks() runs the instructions after the sums of the row.
      row_state r;
      row_phase(args, start, r, total, those<part::row, 0>{});
      start_all(total, those<part::row_sums, 0>{});
      if (base::template has_work<0>(r)) walk_row<0, 0>(args, range, start, r, total);
      finish(args, total, totals, those<part::row_sums>{});
    } else {
      walk<0>(args, range, start, total);
    }
    finish(args, total, totals, those<accumulated>{});
  }

  template <int D, class Range>
  static TENURE_LAYER void walk(const local_arguments& args, const Range& range, position p, sums& total) {
    if constexpr (D == record::outer) {
      row_state r;
      row_phase(args, p, r, total, those<part::row, 0>{});
      row_passes<0>(args, range, p, r, total);
    } else if constexpr (crosses && D + 1 == record::outer && !is_strip<Range>) {
      const std::int64_t n = range.template end<last>(args);
      for (std::int64_t first = range.template begin<last>(); first < n; first += strip)
        walk<D>(args, strip_of<Range>{range, first, n - first < strip ? n : first + strip}, p, total);
    } else {
      const std::int64_t begin = range.template begin<D>(), n = range.template end<D>(args);
      move_along<Code, D>(args, p.offset, begin, stream_indices{});
      std::int64_t i = begin;
      constexpr bool adds_rows_here = D + 1 == record::outer && adds_several_rows, is_known = !is_dynamic(k.extent[D]) && std::is_same_v<Range, whole>;
      if constexpr (adds_rows_here && (!is_known || k.extent[D] >= base::rows_at_once))
        for (; i + base::rows_at_once <= n; i += base::rows_at_once) {
          add_rows<base::rows_at_once>(args, p, total);
          move_along<Code, D>(args, p.offset, base::rows_at_once, stream_indices{});
        }
      if constexpr (!adds_rows_here || !is_known || k.extent[D] % base::rows_at_once != 0)  // g++ warns of a loop that never runs
        for (; i < n; ++i) {
          if constexpr (adds_rows_here) add_rows<1>(args, p, total);
          else walk<D + 1>(args, range, p, total);
          move_along<Code, D>(args, p.offset, 1, stream_indices{});
        }
    }
  }

  /// Adds rows to the columns, in order. Where a mask leaves out some of the rows, it adds the others one by one.
  template <int Rows>
  static TENURE_LAYER void add_rows(const local_arguments& args, const position& first, sums& total) {
    position p[Rows];
    row_state r[Rows];
    int with_work = 0;
    constexpr std::make_integer_sequence<int, Rows> rows{};
    [&]<int... Row>(std::integer_sequence<int, Row...>) {
      ((p[Row] = first, move_along<Code, record::outer - 1>(args, p[Row].offset, Row, stream_indices{}),
        row_phase(args, p[Row], r[Row], total, those<part::row, 0>{}), with_work += base::template has_work<0>(r[Row])), ...);
    }(rows);
    if constexpr (mask_of_sums(0) >= 0) {
      if (with_work == 0) return;
      if constexpr (Rows > 1)
        if (with_work < Rows) {
          for (int i = 0; i < Rows; ++i) add_rows<1>(args, p[i], total);
          return;
        }
    }
    const std::int64_t n = number_of(args, base::extent(last));
    std::int64_t i = 0;
    if constexpr (may_have(1))
      for (; i + lanes <= n; i += lanes) add_packets<false>(args, p, r, total, i, lanes, rows, those<part::column_sums>{});
    constexpr bool has_tail = is_dynamic(k.extent[last]) || k.extent[last] % lanes != 0;
    if constexpr (has_tail)
      if (i < n) add_packets<true>(args, p, r, total, i, static_cast<int>(n - i), rows, those<part::column_sums>{});
  }

  template <bool Partial, int... Row, int... I>
  static TENURE_LAYER void add_packets(const local_arguments& args, const position* p, const row_state* r, sums& total, std::int64_t i, int n,
                                       std::integer_sequence<int, Row...>, std::integer_sequence<int, I...>) {
    ((total.packet[I][0] = base::template load_column<Partial>(base::template result_of<I>(args) + i, n)), ...);
    (base::template elements<0, at_choice::unknown, Partial>(args, p[Row], r[Row], total, i, n, std::integer_sequence<int, 0>{}), ...);
    (base::template store_column<Partial>(base::template result_of<I>(args) + i, total.packet[I][0], n), ...);
  }

  template <int Pass, class Range>
  static TENURE_LAYER void row_passes(const local_arguments& args, const Range& range, const position& p, row_state& r, sums& total) {
    if constexpr (Pass < record::passes) {
      start_all(total, those<part::row_sums, Pass>{});
      if (base::template has_work<Pass>(r)) walk_row<Pass, record::outer>(args, range, p, r, total);
      finish_row(r, total, those<part::row_sums, Pass>{});
      row_phase(args, p, r, total, those<part::row, Pass + 1>{});
      row_passes<Pass + 1>(args, range, p, r, total);
    }
  }

  template <int Pass, int D, class Range>
  static TENURE_LAYER void walk_row(const local_arguments& args, const Range& range, position p, const row_state& r, sums& total) {
    const std::int64_t n = range.template end<D>(args);
    if constexpr (D < last) {
      for (std::int64_t i = 0; i < n; ++i) {
        walk_row<Pass, D + 1>(args, range, p, r, total);
        move_along<Code, D>(args, p.offset, 1, stream_indices{});
      }
    } else {
      std::int64_t i = range.template begin<D>();
      if constexpr (chooses(Pass)) {
        element_state chosen;
        const std::int64_t c = base::template chosen_packet<Pass>(args, p, r, i, n);
        const int width = static_cast<int>(n - c < lanes ? n - c : lanes);
        if (c >= 0)
          base::template some_elements<Pass, at_choice::there, true, 0>(args, p, r, &chosen, total, c, width, std::integer_sequence<int, 0>{}, typename base::template fold_from<Pass, 0>{});
        walk_packets<Pass, at_choice::elsewhere>(args, p, r, total, i, n);
        // The packet with the chosen element is stored after the loop, because the loop writes to the same place. It is computed before the
        // loop, because a result may be in the memory of an argument.
        if (c >= 0) store_chosen(args, p, r, chosen, c, width, those<part::elements, Pass>{});
      } else {
        walk_packets<Pass, at_choice::unknown>(args, p, r, total, i, n);
      }
    }
  }

  /// Whether a row may have so many packets. A kernel of short static rows has no code for more.
  static constexpr bool may_have(int packets) { return is_dynamic(k.extent[last]) || k.extent[last] >= packets * lanes; }

  /// The packets of a row, or of a block of a row. Long sums are sums of segments: with one running sum for each of 64 lanes, the float32 sum of 10^7
  /// numbers around 1000 was wrong by 1e-3.
  template <int Pass, at_choice Choice>
  static TENURE_LAYER void walk_packets(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                        std::int64_t i, std::int64_t n) {
    constexpr std::int64_t segment = costs::elements_of_part;
    if constexpr (adds_segments<Pass>) {
      if (n - i > segment) {
        sums of_row;
        start_all(of_row, those<part::sums, Pass>{});
        for (std::int64_t end; i < n; i = end) {
          end = n - i > segment ? i + segment : n;
          walk_segment<Pass, Choice>(args, p, r, total, i, end);
          end_segment(total, of_row, those<part::sums, Pass>{});
        }
        [&]<int... I>(std::integer_sequence<int, I...>) { ((total.packet[I][0] = of_row.packet[I][0]), ...); }(those<part::sums, Pass>{});
        return;
      }
    }
    walk_segment<Pass, Choice>(args, p, r, total, i, n);
  }

  template <int Pass, at_choice Choice>
  static TENURE_LAYER void walk_segment(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                        std::int64_t i, std::int64_t n) {
    constexpr int side = base::template ways<Pass>, group = Choice == at_choice::unknown ? base::template in_group<Pass> : 1;
    if constexpr (side > 1 && may_have(side))
      for (; i + side * lanes <= n; i += side * lanes)
        [&]<int... W>(std::integer_sequence<int, W...>) __attribute__((always_inline)) {
          (base::template elements<Pass, Choice, false>(args, p, r, total, i, lanes, std::integer_sequence<int, W>{}), ...);
        }(std::make_integer_sequence<int, side>{});
    if constexpr (group > 1 && may_have(group))
      for (; i + group * lanes <= n; i += group * lanes) base::template elements<Pass, Choice, false>(args, p, r, total, i, lanes, std::make_integer_sequence<int, group>{});
    if constexpr (group > 2 && may_have(2))  // for the remaining elements, and for short rows
      for (; i + 2 * lanes <= n; i += 2 * lanes) base::template elements<Pass, Choice, false>(args, p, r, total, i, lanes, std::integer_sequence<int, 0, 1>{});
    if constexpr (may_have(1))
      for (; i + lanes <= n; i += lanes) base::template elements<Pass, Choice, false>(args, p, r, total, i, lanes, std::integer_sequence<int, 0>{});
    constexpr bool has_tail = is_dynamic(k.extent[last]) || k.extent[last] % lanes != 0;
    if constexpr (has_tail)
      if (i < n) base::template elements<Pass, Choice, true>(args, p, r, total, i, static_cast<int>(n - i), std::integer_sequence<int, 0>{});
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
