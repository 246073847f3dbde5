// SPDX-License-Identifier: BSL-1.0
// Convolution of images with few channels (ops/opaque/convolution_of_planes.hpp) in register tiles: the rows are results, the columns positions of one row of
// the image, whose neighbours are neighbours in memory, and a step is a tap of a channel. So neither images nor results are permuted, and padding is in the
// copies of a few rows (padded_rows.hpp).
// Law: the bits of each image do not depend on the number of threads, nor on the other images.
// Cost: 2 n o i j c u v operations. A load of positions crosses a line of the cache and takes two cycles, and is used for eight results.
#pragma once

#include <tenure/backend/cpu/padded_rows.hpp>
#include <tenure/backend/cpu/step.hpp>
#include <tenure/ops/opaque/convolution_of_planes.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// Rows results at Packets packets of positions, y = or += the sum over the terms. The last packet has `last` positions.
template <class T, index Rows, index Packets>
TENURE_INLINE void planes_tile(const tap_term* terms, index count, const T* x, const T* taps, index of_result, T* y, index y_step, index last, bool adds) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  packet sum[Rows][Packets];
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) sum[r][p] = packets::pset1<packet>(T(0));
#pragma GCC unroll 1
  for (index k = 0; k < count; ++k) {
    packet row[Packets];
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) {
      row[p] = packets::ploadu<packet>(x + terms[k].x + p * lanes);
      math::stay_in_register(row[p]);
    }
    const T* const tap = taps + terms[k].tap;
#pragma GCC unroll 16
    for (index r = 0; r < Rows; ++r) {
      const packet factor = packets::pset1<packet>(tap[r * of_result]);
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p) sum[r][p] = packets::pmadd(row[p], factor, sum[r][p]);
    }
  }
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) {
      T* const to = y + r * y_step + p * lanes;
      const index some = p + 1 == Packets ? last : lanes;
      if (adds) sum[r][p] = packets::padd(load_some<packet>(to, some), sum[r][p]);
      store_some(to, sum[r][p], some);
    }
}
template <class T, index Packets>
void planes_panel(index results, const tap_term* terms, index count, const T* x, const T* taps, index of_result, T* y, index y_step, index last) {
  constexpr index rows = tile_shape<T>::rows;
  const index part = count == 0 ? 1 : part_of_sum<T>(count);
  for (index l = 0; l < count || l == 0; l += part) {
    const index steps = smaller(part, count - l);
    index r = 0;
    const auto run = [&]<index Rows>() { planes_tile<T, Rows, Packets>(terms + l, steps, x, taps + r * of_result, of_result, y + r * y_step, y_step, last, l > 0); };
    for (; r + rows <= results; r += rows) run.template operator()<rows>();
    if (r < results) with_count<rows - 1>(results - r, run);
  }
}

/// A task is some rows of an image, with all results.
template <class T>
class planes_tasks {
 public:
  constexpr explicit planes_tasks(const opaque_operation& o) : o_(o), first_(o.out.rank - 4) {
    const auto options = ops::padded_options::unpacked(o.attr);
    n_ = o.out.extent[first_], channels_ = o.in[0].extent[first_ + 1], results_ = o.out.extent[first_ + 1];
    for (int a = 0; a < 2; ++a) {
      const int at = first_ + 2 + a;
      axis_[a] = {o.out.extent[at], o.in[0].extent[at], o.in[1].extent[at], options.stride[a], 1, options.stride[a], options.dilation[a], options.zeros[a], false};
    }
    for (int k = 0; k < 2; ++k)
      for (int a = 0; a < 4; ++a) stride_[k][a] = o.in[k].stride[first_ + a];
    samples_ = elements_along(o.out, 0, first_);
    rows_ = padded_rows<T>(axis_[0], axis_[1], channels_, costs::planes_bytes, costs::columns_of_depthwise);
    blocks_of_image_ = rows_.rows_at_once == 0 ? 0 : ceil_div(axis_[0].positions, rows_.rows_at_once);
  }
  constexpr index tasks() const { return samples_ * n_ * blocks_of_image_; }
  constexpr index blocks() const { return tasks() < costs::max_blocks ? tasks() : costs::max_blocks; }
  constexpr index work() const { return samples_ * n_ * results_ * axis_[0].positions * axis_[1].positions * all_taps() / costs::multiplications_of_work; }
  constexpr index workspace() const { return terms_bytes() + rows_.bytes(channels_); }

  /// A piece is some images.
  constexpr bool can_be_cut(index elements) const { return elements % of_image() == 0; }
  void run_piece(void* const* pointer, index first, index count, void* memory) const {
    const index end = (first + count) / of_image() * blocks_of_image_;
    for (index t = first / of_image() * blocks_of_image_; t < end; ++t) run_task(pointer, t, memory);
  }

  void run_task(void* const* pointer, index number, void* memory) const {
    const index block = number % blocks_of_image_, image = number / blocks_of_image_;
    index at[2] = {}, rest = image / n_;
    for (int a = first_ - 1; a >= 0; rest /= o_.out.extent[a--])
      for (int k = 0; k < 2; ++k) at[k] += rest % o_.out.extent[a] * o_.in[k].stride[a];
    const T *const x = static_cast<const T*>(pointer[0]) + at[0] + image % n_ * stride_[0][0], *const taps = static_cast<const T*>(pointer[1]) + at[1];
    const index columns = axis_[1].positions, of_result = axis_[0].positions * columns, first = block * rows_.rows_at_once;
    const index rows = smaller(rows_.rows_at_once, axis_[0].positions - first);
    T* const to = static_cast<T*>(pointer[2]) + image * results_ * of_result + first * columns;
    tap_term* const terms = static_cast<tap_term*>(memory);
    T* const copied = reinterpret_cast<T*>(static_cast<char*>(memory) + terms_bytes());

    index count = 0;
    for (index c = 0; c < channels_; ++c)
      for (index u = 0; u < axis_[0].taps; ++u)
        for (index v = 0; v < axis_[1].taps; ++v)
          terms[count++] = {c * rows_.plane_elements() + rows_.place_of(axis_[0].offset(0, u), axis_[1].offset(0, v)), c * stride_[1][1] + u * stride_[1][2] + v * stride_[1][3]};
    for (index s = 0; s < columns; s += rows_.columns_at_once) {
      for (index c = 0; c < channels_; ++c) rows_.copy(x + c * stride_[0][1], stride_[0][2], stride_[0][3], first, s, copied + c * rows_.plane_elements());
      const index along = smaller(rows_.columns_at_once, columns - s);
      for (index row = 0; row < rows; ++row) {
        index left = ceil_div(along, lanes);  // packets
        for (index c = 0, wide = 0; c < along; c += wide * lanes, left -= wide) {
          wide = ceil_div(left, ceil_div(left, shape::packets_wide));
          const index last = smaller(lanes, along - c - (wide - 1) * lanes);
          const T* const from = copied + row * axis_[0].step * rows_.row_elements() + c;
          with_count<shape::packets_wide>(wide, [&]<index Packets>() {
            planes_panel<T, Packets>(results_, terms, count, from, taps, stride_[1][0], to + row * columns + s + c, of_result, last);
          });
        }
      }
    }
  }

 private:
  using shape = tile_shape<T>;
  static constexpr index lanes = max_lanes<T>;

  constexpr index of_image() const { return results_ * axis_[0].positions * axis_[1].positions; }
  constexpr index all_taps() const { return channels_ * axis_[0].taps * axis_[1].taps; }
  constexpr index terms_bytes() const { return ceil_div(all_taps() * static_cast<index>(sizeof(tap_term)), 64) * 64; }

  const opaque_operation& o_;
  int first_;
  padded_axis axis_[2];
  padded_rows<T> rows_;
  index n_ = 0, channels_ = 0, results_ = 0, samples_ = 1, stride_[2][4] = {}, blocks_of_image_ = 0;
};

}  // namespace detail

template <class T>
struct step<ops::nodes::convolution_of_planes::code, T> : step_of_tasks<detail::planes_tasks<T>> {};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
