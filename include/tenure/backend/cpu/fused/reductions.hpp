// SPDX-License-Identifier: BSL-1.0
// The accumulators of reductions: start, combine, finish.
#pragma once

#include <algorithm>
#include <limits>

#include <tenure/backend/cpu/fused/kernel.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
template <int I>
TENURE_LAYER auto fused<Code>::across(const sums& total) -> T {
  constexpr ir::reduction reduction = at(I).reduction();
  const auto both = [](auto x, auto y) { return ops::combine<reduction>(x, y); };
  const auto& v = total.packet[I];
  P lane = v[0];
  if constexpr (ways_of(I) > 1) lane = both(both(v[0], v[1]), both(v[2], v[3]));
  if constexpr ((reduction != ir::reduction::max && reduction != ir::reduction::min) || !std::is_floating_point_v<T>) {
    return math::across<P>(lane, both);
  } else {
    // The next pass waits for this result. One search for NaN in all lanes is faster than a search in each step.
    if (math::any<P>(math::is_nan(lane))) [[unlikely]] return std::numeric_limits<T>::quiet_NaN();
    constexpr bool largest = reduction == ir::reduction::max;
    return math::across<P>(lane, [](auto x, auto y) { return largest ? math::max_of_numbers(x, y) : math::min_of_numbers(x, y); });
  }
}

template <class Code>
template <int I>
TENURE_LAYER void fused<Code>::start(sums& total) {
  const P nothing = math::set1<P>(ops::identity<at(I).reduction(), T>());
  auto& v = total.packet[I];
  v[0] = nothing;
  if constexpr (ways_of(I) > 1) v[1] = v[2] = v[3] = nothing;
  total.scalar[I] = ops::identity<at(I).reduction(), T>();
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::start_all(sums& total, std::integer_sequence<int, I...>) {
  (start<I>(total), ...);
}

/// Adds the sums of a segment to the sums of the segments before it, and starts the sums of the next segment.
template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::end_segment(sums& total, sums& of_row, std::integer_sequence<int, I...>) {
  ([&] {
    auto& v = total.packet[I];
    if constexpr (ways_of(I) > 1) v[0] = math::add(math::add(v[0], v[1]), math::add(v[2], v[3]));
    of_row.packet[I][0] = math::add(of_row.packet[I][0], v[0]);
    start<I>(total);
  }(), ...);
}
template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::take_segments(sums& total, const sums& of_row, std::integer_sequence<int, I...>) {
  ((total.packet[I][0] = of_row.packet[I][0]), ...);
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::finish_row(row_state& r, const sums& total, std::integer_sequence<int, I...>) {
  ((r.value[I] = across<I>(total)), ...);
}

template <class Code>
template <int I>
TENURE_LAYER void fused<Code>::finish_one(const local_arguments& args, const sums& total, T* totals) {
  if constexpr (at(I).what != kind::reduce_columns) {
    if constexpr (at(I).row && at(I).what == kind::reduce_all) totals[total_of(I)] = total.scalar[I];
    else totals[total_of(I)] = across<I>(total);
  } else {
    if constexpr (k.extent[last] == lanes) math::store<P>(result_of<I>(args), total.packet[I][0]);
    else math::store_first<P>(result_of<I>(args), total.packet[I][0], static_cast<int>(k.extent[last]));
  }
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::finish(const local_arguments& args, const sums& total, [[maybe_unused]] T* totals, std::integer_sequence<int, I...>) {
  (finish_one<I>(args, total, totals), ...);
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::add_totals([[maybe_unused]] T* to, [[maybe_unused]] const T* from, std::integer_sequence<int, I...>) {
  ((to[total_of(I)] = ops::combine<at(I).reduction()>(to[total_of(I)], from[total_of(I)])), ...);
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::take_totals([[maybe_unused]] row_state& r, [[maybe_unused]] const T* totals, std::integer_sequence<int, I...>) {
  ((r.value[I] = totals[total_of(I)]), ...);
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::write_totals(const local_arguments& args, [[maybe_unused]] const T* totals, std::integer_sequence<int, I...>) {
  ((*result_of<I>(args) = totals[total_of(I)]), ...);
}

/// Sets the column results to the identity before the first row.
template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::start_columns(const local_arguments& args, std::integer_sequence<int, I...>) {
  std::int64_t n = 1;
  [&]<int... D>(std::integer_sequence<int, D...>) {
    ((n *= extent_of<Code, record::outer + D>(args)), ...);
  }(std::make_integer_sequence<int, record::inner>{});
  (std::fill_n(result_of<I>(args), n, ops::identity<at(I).reduction(), T>()), ...);
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
