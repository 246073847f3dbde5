// SPDX-License-Identifier: BSL-1.0
// The register tiles of convolutions of each channel by itself (depthwise.hpp). The lanes are channels, or positions of one channel, whose elements then lie in
// a padded copy.
#pragma once

#include <tenure/backend/cpu/padded_rows.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {
namespace detail {

/// Results at Positions positions, with channels in the lanes: y = the sum of x times taps over the terms. The last packet has `last` channels.
template <class T, index Positions, bool Ragged>
TENURE_INLINE void channels_at(const tap_term* terms, index count, const T* x, index x_step, const T* taps, T* y, index y_step, index last) {
  using packet = packet_of<T, max_lanes<T>>;
  const auto load = [last](const T* from) __attribute__((always_inline)) { return Ragged ? load_some<packet>(from, last) : packets::ploadu<packet>(from); };
  packet sum[Positions];
#pragma GCC unroll 16
  for (index p = 0; p < Positions; ++p) sum[p] = packets::pset1<packet>(T(0));
#pragma GCC unroll 1
  for (index k = 0; k < count; ++k) {
    packet tap = load(taps + terms[k].tap);
    math::stay_in_register(tap);
    const T* const from = x + terms[k].x;
#pragma GCC unroll 16
    for (index p = 0; p < Positions; ++p) sum[p] = packets::pmadd(load(from + p * x_step), tap, sum[p]);
  }
#pragma GCC unroll 16
  for (index p = 0; p < Positions; ++p) {
    if constexpr (Ragged) store_some(y + p * y_step, sum[p], last);
    else packets::pstoreu(y + p * y_step, sum[p]);
  }
}
template <class T, index Positions>
void channels_of_positions(const tap_term* terms, index count, index channels, const T* x, index x_step, const T* taps, T* y, index y_step) {
  constexpr index lanes = max_lanes<T>;
  index c = 0;
  for (; c + lanes <= channels; c += lanes) channels_at<T, Positions, false>(terms, count, x + c, x_step, taps + c, y + c, y_step, lanes);
  if (c < channels) channels_at<T, Positions, true>(terms, count, x + c, x_step, taps + c, y + c, y_step, channels - c);
}

/// The terms of Taps taps with channels in the lanes, summed over positions, and added to the results.
template <class T, index Taps, bool Ragged>
TENURE_INLINE void taps_of_channels_at(const tap_term* terms, index positions, const T* x, index x_step, const T* g, index g_step, T* to, index last) {
  using packet = packet_of<T, max_lanes<T>>;
  const auto load = [last](const T* from) __attribute__((always_inline)) { return Ragged ? load_some<packet>(from, last) : packets::ploadu<packet>(from); };
  packet sum[Taps];
  const T* from[Taps];
#pragma GCC unroll 16
  for (index k = 0; k < Taps; ++k) sum[k] = packets::pset1<packet>(T(0)), from[k] = x + terms[k].x;
#pragma GCC unroll 1
  for (index p = 0, at = 0; p < positions; ++p, at += x_step, g += g_step) {
    packet factor = load(g);
    math::stay_in_register(factor);
#pragma GCC unroll 16
    for (index k = 0; k < Taps; ++k) sum[k] = packets::pmadd(load(from[k] + at), factor, sum[k]);
  }
#pragma GCC unroll 16
  for (index k = 0; k < Taps; ++k) {
    T* const result = to + terms[k].tap;
    if constexpr (Ragged) store_some(result, packets::padd(load_some<packet>(result, last), sum[k]), last);
    else packets::pstoreu(result, packets::padd(packets::ploadu<packet>(result), sum[k]));
  }
}

/// Results at Rows rows of positions of one channel, whose elements are neighbours in x. store(row, packet, sum) writes a packet of them.
template <class T, index Rows, index Packets, class Store>
TENURE_INLINE void positions_at(const tap_term* terms, index count, const T* x, index row_step, const T* taps, const Store& store) {
  using packet = packet_of<T, max_lanes<T>>;
  packet sum[Rows][Packets];
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) sum[r][p] = packets::pset1<packet>(T(0));
#pragma GCC unroll 1
  for (index k = 0; k < count; ++k) {
    const packet tap = packets::pset1<packet>(taps[terms[k].tap]);
    const T* from = x + terms[k].x;
#pragma GCC unroll 16
    for (index r = 0; r < Rows; ++r, from += row_step)
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p) sum[r][p] = packets::pmadd(packets::ploadu<packet>(from + p * max_lanes<T>), tap, sum[r][p]);
  }
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) store(r, p, sum[r][p]);
}

/// The terms of Taps taps of one channel, summed over rows of positions, and added to the results. The columns beyond `columns` are read by no load.
template <class T, index Taps>
void taps_of_positions(const tap_term* terms, index rows, index columns, const T* x, index x_step, const T* g, index g_step, T* to) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  packet sum[Taps];
  const T* from[Taps];
#pragma GCC unroll 16
  for (index k = 0; k < Taps; ++k) sum[k] = packets::pset1<packet>(T(0)), from[k] = x + terms[k].x;
  for (index r = 0; r < rows; ++r, g += g_step) {
    index at = r * x_step, c = 0;
    for (; c + lanes <= columns; c += lanes, at += lanes) {
      packet factor = packets::ploadu<packet>(g + c);
      math::stay_in_register(factor);
#pragma GCC unroll 16
      for (index k = 0; k < Taps; ++k) sum[k] = packets::pmadd(packets::ploadu<packet>(from[k] + at), factor, sum[k]);
    }
    if (c == columns) continue;
    const packet factor = load_some<packet>(g + c, columns - c);
#pragma GCC unroll 16
    for (index k = 0; k < Taps; ++k) sum[k] = packets::pmadd(load_some<packet>(from[k] + at, columns - c), factor, sum[k]);
  }
#pragma GCC unroll 16
  for (index k = 0; k < Taps; ++k) to[terms[k].tap] += sum_lanes<T, lanes>(sum[k]);
}

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
