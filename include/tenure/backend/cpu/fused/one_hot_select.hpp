// SPDX-License-Identifier: BSL-1.0
// The chosen element of a row. A mask that compares the positions of a row with one number, such as a label, is true for at most one
// element. A pass treats the mask as false in its whole loop, and computes the packet with that element separately.
#pragma once

#include <limits>

#include <tenure/backend/cpu/fused/interleaved.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// What a pass knows about the packet that it computes: whether the packet holds the chosen element of the row (one_hot_select.hpp).
enum class at_choice { unknown, elsewhere, there };

template <class Code>
struct one_hot_select : interleaved<Code> {
  using base = interleaved<Code>;
  using typename base::kind, typename base::local_arguments, typename base::position, typename base::record, typename base::row_state, typename base::T;
  using base::at, base::k, base::lanes, base::last, base::slots;

  /// True if instruction i loads the position in the row.
  static constexpr bool counts_elements(int i) {
    if (at(i).what != kind::load || at(i).row) return false;
    const program_detail::decoded_access& a = k.access[at(i).access];
    return a.counting && a.stride[last] == 1;
  }

  static constexpr bool is_choice(int i) {
    const instruction& x = at(i);
    if (x.what != kind::compute || x.row || x.op != ops::code_of<ops::equal>()) return false;
    return (counts_elements(x.in[0]) && at(x.in[1]).row) || (counts_elements(x.in[1]) && at(x.in[0]).row);
  }

  /// The one-hot mask that a pass reads. It is -1 if the pass reads no such mask or two, if the row is too short to gain, or if T cannot
  /// represent all positions.
  static constexpr int choice_of(int pass) {
    const int digits = std::numeric_limits<T>::digits;
    const std::int64_t most = digits < 31 ? std::int64_t{1} << digits : INT32_MAX;
    if (record::inner != 1 || is_dynamic(k.extent[last]) || k.extent[last] < costs::packets_of_choice * lanes || k.extent[last] > most) return -1;
    int found = -1;
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).runs_in(pass) && is_choice(i)) {
        if (found >= 0) return -1;
        found = i;
      }
    return found;
  }

  static constexpr bool is_zero_elsewhere(int i) {
    const instruction& x = at(i);
    if (x.what != kind::compute || x.op != ops::code_of<ops::where>() || !is_choice(x.in[0])) return false;
    return at(x.in[2]).what == kind::constant && at(x.in[2]).bits == 0;
  }

  static constexpr bool is_sum_of_chosen(int i) {
    return at(i).what == kind::reduce_row && at(i).reduction() == ir::reduction::sum && is_zero_elsewhere(at(i).in[0]);
  }

  /// The slots whose values depend on a choice.
  static constexpr auto decided = [] {
    struct { bool at[slots] = {}; } d;
    for (int i = 0; i < record::instructions; ++i) {
      d.at[i] = is_choice(i);
      if (at(i).what == kind::compute || at(i).what == kind::store)
        for (const int from : at(i).in) d.at[i] = d.at[i] || (from >= 0 && d.at[from]);
    }
    return d;
  }();

  /// True if the loop of a pass can ignore the chosen element: the element affects only stores and sums that add nothing else.
  static constexpr bool chooses(int pass) {
    if (choice_of(pass) < 0) return false;
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = at(i);
      if (!x.runs_in(pass)) continue;
      const bool writes_mask = x.what == kind::store && x.is_mask;
      if (decided.at[i] && (x.is_kept() || writes_mask)) return false;
      if (x.reduces() && decided.at[x.in[0]] && !is_sum_of_chosen(i)) return false;
    }
    return true;
  }

  /// The position of the first element of the packet with the chosen element, or -1 if the row has no chosen element.
  template <int Pass>
  static TENURE_LAYER std::int64_t chosen_packet(const local_arguments& args, const position& p, const row_state& r, std::int64_t begin,
                                                 std::int64_t end) {
    constexpr auto x = at(choice_of(Pass));
    constexpr int counted = counts_elements(x.in[0]) ? 0 : 1, a = at(x.in[counted]).access;
    const T wanted = r.value[x.in[1 - counted]];
    const std::int64_t first = position_of<Code, a>(args, p.offset);
    if (!(wanted >= static_cast<T>(first + begin) && wanted < static_cast<T>(first + end))) return -1;  // also for NaN
    const std::int64_t i = static_cast<std::int64_t>(wanted) - first - begin;
    return i >= 0 && i < end - begin ? begin + i / lanes * lanes : -1;
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
