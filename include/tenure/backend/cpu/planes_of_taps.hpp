// SPDX-License-Identifier: BSL-1.0
// The gradient of the taps of images with few channels (ops/opaque/convolution_of_planes.hpp): sums over positions, which are the lanes. A register tile is
// three taps of several results: a packet of positions of each tap meets one of each result. Images are in copies of a few rows between zeros
// (padded_rows.hpp).
// Law: the bits do not depend on the number of threads.
// Cost: 2 n o i j c u v operations. A tile of 24 sums reads 3 packets of images, which cross lines, and 8 of results. The sums of all lanes are in memory: a
// packet for each pair of a result and a tap, to which those of some rows are added.
#pragma once

#include <tenure/backend/cpu/padded_rows.hpp>
#include <tenure/backend/cpu/step.hpp>
#include <tenure/ops/opaque/convolution_of_planes.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// Adds to the sums of three taps of Results results those of some rows of positions. Of results beyond the last, the last is read. The columns beyond `columns`
/// are read by no load.
template <class T, index Results>
void taps_of_planes(const tap_term* terms, index rows, index columns, const T* x, index x_row, const T* g, index g_row, index of_result, index results, T* to) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  packet sum[Results][3];
  const T* from[3];
  const T* of[Results];
#pragma GCC unroll 16
  for (index k = 0; k < 3; ++k) from[k] = x + terms[k].x;
#pragma GCC unroll 16
  for (index r = 0; r < Results; ++r) {
    of[r] = g + (r < results ? r : results - 1) * of_result;
#pragma GCC unroll 16
    for (index k = 0; k < 3; ++k) sum[r][k] = packets::pset1<packet>(T(0));
  }
#pragma GCC unroll 1
  for (index row = 0; row < rows; ++row) {
    const index x_at = row * x_row, g_at = row * g_row;
    index c = 0;
#pragma GCC unroll 1
    for (; c + lanes <= columns; c += lanes) {
      packet tap[3];
#pragma GCC unroll 16
      for (index k = 0; k < 3; ++k) {
        tap[k] = packets::ploadu<packet>(from[k] + x_at + c);
        math::stay_in_register(tap[k]);
      }
#pragma GCC unroll 16
      for (index r = 0; r < Results; ++r) {
        packet factor = packets::ploadu<packet>(of[r] + g_at + c);
        math::stay_in_register(factor);
#pragma GCC unroll 16
        for (index k = 0; k < 3; ++k) sum[r][k] = packets::pmadd(tap[k], factor, sum[r][k]);
      }
    }
    if (c == columns) continue;
    packet tap[3];
#pragma GCC unroll 16
    for (index k = 0; k < 3; ++k) tap[k] = load_some<packet>(from[k] + x_at + c, columns - c);
#pragma GCC unroll 16
    for (index r = 0; r < Results; ++r) {
      const packet factor = load_some<packet>(of[r] + g_at + c, columns - c);
#pragma GCC unroll 16
      for (index k = 0; k < 3; ++k) sum[r][k] = packets::pmadd(tap[k], factor, sum[r][k]);
    }
  }
#pragma GCC unroll 16
  for (index r = 0; r < Results; ++r)
#pragma GCC unroll 16
    for (index k = 0; k < 3; ++k) {
      T* const all = to + (r * 3 + k) * lanes;
      packets::pstoreu(all, packets::padd(packets::ploadu<packet>(all), sum[r][k]));
    }
}

/// A task is some results with all taps, summed over all images.
template <class T>
class planes_of_taps_tasks {
 public:
  constexpr explicit planes_of_taps_tasks(const opaque_operation& o) : o_(o), first_(o.out.rank - 4) {
    const auto options = ops::padded_options::unpacked(o.attr);
    n_ = o.in[0].extent[first_], channels_ = o.in[0].extent[first_ + 1], results_ = o.in[1].extent[first_ + 1];
    for (int a = 0; a < 2; ++a) {
      const int at = first_ + 2 + a;
      axis_[a] = {o.in[1].extent[at], o.in[0].extent[at], o.out.extent[at], options.stride[a], 1, options.stride[a], options.dilation[a], options.zeros[a], false};
    }
    for (int k = 0; k < 2; ++k)
      for (int a = 0; a < 4; ++a) stride_[k][a] = o.in[k].stride[first_ + a];
    samples_ = elements_along(o.out, 0, first_);
    rows_ = padded_rows<T>(axis_[0], axis_[1], channels_, costs::planes_bytes, costs::columns_of_depthwise);
    tasks_of_sample_ = ceil_div(results_, costs::results_of_taps);
  }
  constexpr index tasks() const { return samples_ * tasks_of_sample_; }
  constexpr index blocks() const { return tasks() < costs::max_blocks ? tasks() : costs::max_blocks; }
  constexpr index work() const { return samples_ * n_ * results_ * axis_[0].positions * axis_[1].positions * all_taps() / costs::multiplications_of_work; }
  constexpr index workspace() const { return terms_bytes() + rows_.bytes(channels_) + factor_bytes() + sums_bytes(); }

  void run_task(void* const* pointer, index number, void* memory) const {
    const index sample = number / tasks_of_sample_, first = number % tasks_of_sample_ * costs::results_of_taps, results = smaller(costs::results_of_taps, results_ - first);
    index at[2] = {}, rest = sample;
    for (int a = first_ - 1; a >= 0; rest /= o_.out.extent[a--])
      for (int k = 0; k < 2; ++k) at[k] += rest % o_.out.extent[a] * o_.in[k].stride[a];
    const T *const x = static_cast<const T*>(pointer[0]) + at[0], *const g = static_cast<const T*>(pointer[1]) + at[1] + first * stride_[1][1];
    T* to = static_cast<T*>(pointer[2]) + (sample * results_ + first) * all_taps();
    tap_term* const terms = static_cast<tap_term*>(memory);
    T* const copied = reinterpret_cast<T*>(static_cast<char*>(memory) + terms_bytes());
    T* const factors = reinterpret_cast<T*>(reinterpret_cast<char*>(copied) + rows_.bytes(channels_));
    T* const sums = reinterpret_cast<T*>(reinterpret_cast<char*>(factors) + factor_bytes());
    find_terms(terms);
    std::fill_n(sums, sums_bytes() / static_cast<index>(sizeof(T)), T(0));
    for (index n = 0; n < n_; ++n)
      for (index t = 0; t < axis_[0].positions; t += rows_.rows_at_once)
        for (index s = 0; s < axis_[1].positions; s += rows_.columns_at_once) {
          for (index c = 0; c < channels_; ++c)
            rows_.copy(x + n * stride_[0][0] + c * stride_[0][1], stride_[0][2], stride_[0][3], t, s, copied + c * rows_.plane_elements());
          add_rows(terms, copied, g + n * stride_[1][0] + t * stride_[1][2] + s * stride_[1][3], smaller(rows_.rows_at_once, axis_[0].positions - t),
                   smaller(rows_.columns_at_once, axis_[1].positions - s), results, factors, sums);
        }
    for (index r = 0; r < results; ++r)
      for (index e = 0; e < all_taps(); ++e) *to++ = sum_lanes<T, lanes>(packets::ploadu<packet>(sums_of(sums, r / tile_results, e / 3) + (r % tile_results * 3 + e % 3) * lanes));
  }

 private:
  static constexpr index lanes = max_lanes<T>, tile_results = tile_shape<T>::rows, tile_elements = tile_results * 3 * lanes;
  using packet = packet_of<T, lanes>;

  static constexpr index whole_lines(index bytes) { return ceil_div(bytes, 64) * 64; }
  constexpr index all_taps() const { return channels_ * axis_[0].taps * axis_[1].taps; }
  constexpr index tiles_of_taps() const { return ceil_div(all_taps(), 3); }
  constexpr index terms_bytes() const { return whole_lines(3 * tiles_of_taps() * static_cast<index>(sizeof(tap_term))); }
  constexpr index factor_bytes() const { return stride_[1][3] == 1 ? 0 : whole_lines(tile_results * rows_.rows_at_once * rows_.columns_at_once * static_cast<index>(sizeof(T))); }
  constexpr index sums_bytes() const { return whole_lines(ceil_div(smaller(costs::results_of_taps, results_), tile_results) * tiles_of_taps() * tile_elements * static_cast<index>(sizeof(T))); }
  T* sums_of(T* sums, index tile_of_results, index tile_of_taps) const { return sums + (tile_of_results * tiles_of_taps() + tile_of_taps) * tile_elements; }

  /// The last tap is repeated until there are three for each tile.
  void find_terms(tap_term* to) const {
    index count = 0;
    for (index c = 0; c < channels_; ++c)
      for (index u = 0; u < axis_[0].taps; ++u)
        for (index v = 0; v < axis_[1].taps; ++v) to[count++] = {c * rows_.plane_elements() + rows_.place_of(axis_[0].offset(0, u), axis_[1].offset(0, v)), 0};
    for (; count < 3 * tiles_of_taps(); ++count) to[count] = to[count - 1];
  }
  void add_rows(const tap_term* terms, const T* copied, const T* g, index rows, index columns, index results, T* factors, T* sums) const {
    for (index r = 0; r < results; r += tile_results) {
      const index some = smaller(tile_results, results - r);
      const T* from = g + r * stride_[1][1];
      index g_row = stride_[1][2], of_result = stride_[1][1];
      if (stride_[1][3] != 1) {
        g_row = columns, of_result = rows * columns;
        for (index k = 0; k < some; ++k)
          for (index i = 0; i < rows; ++i)
            for (index j = 0; j < columns; ++j) factors[k * of_result + i * columns + j] = from[k * stride_[1][1] + i * stride_[1][2] + j * stride_[1][3]];
        from = factors;
      }
      const auto add = 2 * some > tile_results ? &taps_of_planes<T, tile_results> : &taps_of_planes<T, tile_results / 2>;
      for (index e = 0; e < tiles_of_taps(); ++e)
        add(terms + 3 * e, rows, columns, copied, axis_[0].step * rows_.row_elements(), from, g_row, of_result, some, sums_of(sums, r / tile_results, e));
    }
  }

  const opaque_operation& o_;
  int first_;
  padded_axis axis_[2];
  padded_rows<T> rows_;
  index n_ = 0, channels_ = 0, results_ = 0, samples_ = 1, stride_[2][4] = {}, tasks_of_sample_ = 0;
};

}  // namespace detail

template <class T>
struct step<ops::nodes::planes_of_taps::code, T> : step_of_tasks<detail::planes_of_taps_tasks<T>> {};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
