// SPDX-License-Identifier: BSL-1.0
// The accumulators of reductions: start, combine, finish.
#pragma once

#include <algorithm>
#include <limits>

#include <tenure/backend/cpu/fused/kernel.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
template <int I>
TENURE_LAYER auto fused<Code>::across(const sums& total) -> T {
  constexpr std::int64_t what = at(I).bits;
  const auto both = [](auto x, auto y) { return combine<what>(x, y); };
  const auto& v = total.packet[I];
  P lane = v[0];
  if constexpr (ways_of(I) > 1) lane = both(both(v[0], v[1]), both(v[2], v[3]));
  constexpr auto reduction = static_cast<ir::reduction>(what);
  if constexpr ((reduction != ir::reduction::max && reduction != ir::reduction::min) || !std::is_floating_point_v<T>) {
    return math::across<P>(lane, both);
  } else {
    // The next pass waits for this result. One search for NaN beside the steps is faster than a search in each step.
    if (math::any<P>(math::is_nan(lane))) [[unlikely]] return std::numeric_limits<T>::quiet_NaN();
    constexpr bool largest = reduction == ir::reduction::max;
    return math::across<P>(lane, [](auto x, auto y) { return largest ? math::max_of_numbers(x, y) : math::min_of_numbers(x, y); });
  }
}

template <class Code>
template <int I>
TENURE_LAYER void fused<Code>::start(sums& total) {
  const P nothing = math::set1<P>(identity<at(I).bits>());
  auto& v = total.packet[I];
  v[0] = nothing;
  if constexpr (ways_of(I) > 1) v[1] = v[2] = v[3] = nothing;
  total.scalar[I] = identity<at(I).bits>();
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::start_all(sums& total, std::integer_sequence<int, I...>) {
  (start<I>(total), ...);
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::finish_row(row_state& r, const sums& total, std::integer_sequence<int, I...>) {
  ((r.value[I] = across<I>(total)), ...);
}

template <class Code>
template <int I>
TENURE_LAYER void fused<Code>::finish_one(const local_arguments& args, const sums& total, T* totals) {
  if constexpr (is_total(I)) {
    if constexpr (at(I).row) totals[number_of_total(I)] = total.scalar[I];
    else totals[number_of_total(I)] = across<I>(total);
  } else {
    if constexpr (k.extent[last] == lanes) math::store<P>(target<I>(args), total.packet[I][0]);
    else math::store_first<P>(target<I>(args), total.packet[I][0], static_cast<int>(k.extent[last]));
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
  ((to[number_of_total(I)] = combine<at(I).bits>(to[number_of_total(I)], from[number_of_total(I)])), ...);
}

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::write_totals(const local_arguments& args, [[maybe_unused]] const T* totals, std::integer_sequence<int, I...>) {
  ((*target<I>(args) = totals[number_of_total(I)]), ...);
}

/// Sets the column results to the identity before the first row.
template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::start_columns(const local_arguments& args, std::integer_sequence<int, I...>) {
  std::int64_t n = 1;
  [&]<int... D>(std::integer_sequence<int, D...>) { ((n *= extent<record::outer + D>(args)), ...); }(std::make_integer_sequence<int, record::inner>{});
  (std::fill_n(target<I>(args), n, identity<at(I).bits>()), ...);
}

}  // namespace tenure::cpu_backend

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
