// SPDX-License-Identifier: BSL-1.0
// The loop nest: the outer dimensions, the passes over a row, the packets of a row.
#pragma once

#include <tenure/backend/cpu/fused/kernel.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// Runs the kernel over a range. `totals` gets one number for each reduction over all elements.
template <class Code>
template <class Range>
TENURE_FLATTEN TENURE_LAYER void fused<Code>::run_range(const local_arguments& args, const Range& range, T* totals) {
  sums total;
  start_all(total, those<accumulated>{});
  position start{};
  if constexpr (!columns_in_registers) start_columns(args, those<part::column_sums>{});
  if constexpr (sums_are_totals && std::is_same_v<Range, block_range>) {
    part_of_row(args, range, start, total);
    finish(args, total, totals, those<part::row_sums>{});
  } else {
    walk<0>(args, range, start, total);
  }
  finish(args, total, totals, those<accumulated>{});
}

template <class Code>
template <int D, class Range>
TENURE_LAYER void fused<Code>::walk(const local_arguments& args, const Range& range, position p, sums& total) {
  if constexpr (D == record::outer) {
    row(args, range, p, total);
  } else {
    const std::int64_t begin = range.template begin<D>(), n = range.template end<D>(args);
    move_along<Code, D>(args, p.offset, begin, stream_indices{});
    std::int64_t i = begin;
    if constexpr (D + 1 == record::outer && adds_several_rows) {
      for (; i + max_rows <= n; i += max_rows) {
        add_rows<max_rows>(args, p, total);
        move_along<Code, D>(args, p.offset, max_rows, stream_indices{});
      }
      for (; i < n; ++i) {
        add_rows<1>(args, p, total);
        move_along<Code, D>(args, p.offset, 1, stream_indices{});
      }
    } else {
      for (; i < n; ++i) {
        walk<D + 1>(args, range, p, total);
        move_along<Code, D>(args, p.offset, 1, stream_indices{});
      }
    }
  }
}

/// Adds rows to the columns, in order. Where a mask leaves out some of the rows, it adds the others one by one.
template <class Code>
template <int Rows>
TENURE_LAYER void fused<Code>::add_rows(const local_arguments& args, const position& first, sums& total) {
  position p[Rows];
  row_state r[Rows];
  int with_work = 0;
  [&]<int... Row>(std::integer_sequence<int, Row...>) {
    ((p[Row] = first, move_along<Code, record::outer - 1>(args, p[Row].offset, Row, stream_indices{}),
      row_phase(args, p[Row], r[Row], total, those<part::row, 0>{}), with_work += has_work<0>(r[Row])), ...);
  }(std::make_integer_sequence<int, Rows>{});
  if constexpr (mask_of_sums(0) >= 0) {
    if (with_work == 0) return;
    if constexpr (Rows > 1)
      if (with_work < Rows) {
        for (int i = 0; i < Rows; ++i) add_rows<1>(args, p[i], total);
        return;
      }
  }
  const std::int64_t n = extent_of<Code, last>(args);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) add_packets<Rows, false>(args, p, r, total, i, lanes);
  constexpr bool has_tail = is_dynamic(k.extent[last]) || k.extent[last] % lanes != 0;
  if constexpr (has_tail)
    if (i < n) add_packets<Rows, true>(args, p, r, total, i, static_cast<int>(n - i));
}

template <class Code>
template <int Rows, bool Partial>
TENURE_LAYER void fused<Code>::add_packets(const local_arguments& args, const position* p, const row_state* r, sums& total, std::int64_t i, int n) {
  load_columns<Partial>(args, total, i, n, those<part::column_sums>{});
  [&]<int... Row>(std::integer_sequence<int, Row...>) {
    (elements<0, at_choice::unknown, Partial, 0>(args, p[Row], r[Row], total, i, n, those<part::elements, 0>{}), ...);
  }(std::make_integer_sequence<int, Rows>{});
  store_columns<Partial>(args, total, i, n, those<part::column_sums>{});
}

template <class Code>
template <bool Partial, int... I>
TENURE_LAYER void fused<Code>::load_columns(const local_arguments& args, sums& total, std::int64_t i, int n, std::integer_sequence<int, I...>) {
  if constexpr (Partial) ((total.packet[I][0] = math::load_first<P>(result_of<I>(args) + i, n)), ...);
  else ((total.packet[I][0] = math::load<P>(result_of<I>(args) + i)), ...);
}

template <class Code>
template <bool Partial, int... I>
TENURE_LAYER void fused<Code>::store_columns(const local_arguments& args, const sums& total, std::int64_t i, int n, std::integer_sequence<int, I...>) {
  if constexpr (Partial) (math::store_first<P>(result_of<I>(args) + i, total.packet[I][0], n), ...);
  else (math::store<P>(result_of<I>(args) + i, total.packet[I][0]), ...);
}

template <class Code>
template <class Range>
TENURE_LAYER void fused<Code>::row(const local_arguments& args, const Range& range, const position& p, sums& total) {
  row_state r;
  row_phase(args, p, r, total, those<part::row, 0>{});
  row_passes<0>(args, range, p, r, total);
}

/// A block of the only row. end_blocks() runs the instructions after the sums of the row.
template <class Code>
TENURE_LAYER void fused<Code>::part_of_row(const local_arguments& args, const block_range& range, const position& p, sums& total) {
  row_state r;
  row_phase(args, p, r, total, those<part::row, 0>{});
  start_all(total, those<part::row_sums, 0>{});
  if (has_work<0>(r)) walk_row<0, 0>(args, range, p, r, total);
}

/// The mask of the row on which all results of a pass depend, or -1. If the mask is false, the pass only adds zeros and can be skipped.
template <class Code>
constexpr int fused<Code>::mask_of_sums(int pass) {
  int mask = -1;
  for (int i = 0; i < record::instructions; ++i) {
    const action does = in_pass(k.instruction[i], pass);
    if (does == action::keep || does == action::store) return -1;
    if (does != action::reduce_row && does != action::reduce_columns && does != action::reduce_all) continue;
    const instruction &sum = k.instruction[i], &x = k.instruction[sum.in[0]];
    if (sum.reduction() != ir::reduction::sum || x.what != kind::compute || x.op != ops::code_of<ops::where>()) return -1;
    const instruction &zero = k.instruction[x.in[2]], &by = k.instruction[x.in[0]];
    if (zero.what != kind::constant || zero.bits != 0 || !by.row || by.phase > pass || (mask >= 0 && mask != x.in[0])) return -1;
    mask = x.in[0];
  }
  return mask;
}

/// False where a pass over the row would add only zeros.
template <class Code>
template <int Pass>
TENURE_LAYER bool fused<Code>::has_work(const row_state& r) {
  constexpr int mask = mask_of_sums(Pass);
  if constexpr (mask < 0) return true;
  else return r.mask[mask];
}

template <class Code>
template <int Pass, class Range>
TENURE_LAYER void fused<Code>::row_passes(const local_arguments& args, const Range& range, const position& p, row_state& r, sums& total) {
  if constexpr (Pass < record::passes) {
    start_all(total, those<part::row_sums, Pass>{});
    if (has_work<Pass>(r)) walk_row<Pass, record::outer>(args, range, p, r, total);
    finish_row(r, total, those<part::row_sums, Pass>{});
    row_phase(args, p, r, total, those<part::row, Pass + 1>{});
    row_passes<Pass + 1>(args, range, p, r, total);
  }
}

template <class Code>
template <int Pass, int D, class Range>
TENURE_LAYER void fused<Code>::walk_row(const local_arguments& args, const Range& range, position p, const row_state& r, sums& total) {
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
      const std::int64_t c = chosen_packet<Pass>(args, p, r, i, n);
      const int width = static_cast<int>(n - c < lanes ? n - c : lanes);
      if (c >= 0) choose<Pass>(args, p, r, chosen, total, c, width, those<part::elements, Pass>{});
      walk_packets<Pass, at_choice::elsewhere>(args, p, r, total, i, n);
      // The packet with the chosen element is stored after the loop, because the loop writes to the same place. It is computed before the
      // loop, because a result may be in the memory of an argument.
      if (c >= 0) store_chosen(args, p, r, chosen, c, width, those<part::elements, Pass>{});
    } else {
      walk_packets<Pass, at_choice::unknown>(args, p, r, total, i, n);
    }
  }
}

/// The packets of a row, or of a block of a row. Long sums are sums of segments: with one running sum for each of 64 lanes, the float32 sum of 10^7
/// numbers around 1000 was wrong by 1e-3.
template <class Code>
template <int Pass, at_choice Choice>
TENURE_LAYER void fused<Code>::walk_packets(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                      std::int64_t i, std::int64_t n) {
  if constexpr (adds_segments<Pass>) {
    if (n - i > segment) {
      sums of_row;
      start_all(of_row, those<part::sums, Pass>{});
      for (; n - i > segment; i += segment) {
        walk_segment<Pass, Choice>(args, p, r, total, i, i + segment);
        end_segment(total, of_row, those<part::sums, Pass>{});
      }
      walk_segment<Pass, Choice>(args, p, r, total, i, n);
      end_segment(total, of_row, those<part::sums, Pass>{});
      take_segments(total, of_row, those<part::sums, Pass>{});
      return;
    }
  }
  walk_segment<Pass, Choice>(args, p, r, total, i, n);
}

template <class Code>
template <int Pass, at_choice Choice>
TENURE_LAYER void fused<Code>::walk_segment(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                      std::int64_t i, std::int64_t n) {
  constexpr those<part::elements, Pass> list{};
  constexpr int step = ways(Pass) * lanes;
  if constexpr (ways(Pass) > 1)
    for (; i + step <= n; i += step)
      [&]<int... Way>(std::integer_sequence<int, Way...>) {
        (elements<Pass, Choice, false, Way>(args, p, r, total, i + Way * lanes, lanes, list), ...);
      }(std::make_integer_sequence<int, ways(Pass)>{});
  if constexpr (in_group(Pass) > 1 && Choice == at_choice::unknown) {
    constexpr int packets = in_group(Pass);
    for (; i + packets * lanes <= n; i += packets * lanes) group<Pass, packets>(args, p, r, total, i, list);
    if constexpr (packets > 2)  // for the remaining elements, and for short rows
      for (; i + 2 * lanes <= n; i += 2 * lanes) group<Pass, 2>(args, p, r, total, i, list);
  }
  for (; i + lanes <= n; i += lanes) elements<Pass, Choice, false, 0>(args, p, r, total, i, lanes, list);
  constexpr bool has_tail = is_dynamic(k.extent[last]) || k.extent[last] % lanes != 0;
  if constexpr (has_tail)
    if (i < n) elements<Pass, Choice, true, 0>(args, p, r, total, i, static_cast<int>(n - i), list);
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
