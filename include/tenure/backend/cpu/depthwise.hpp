// SPDX-License-Identifier: BSL-1.0
// The convolution of each channel by itself, and its derivatives (ops/opaque/depthwise.hpp), without a padded copy of images where channels are contiguous:
// then these are the lanes, and a tap outside an image is no term. Otherwise the lanes are positions of one channel, whose rows are copied between zeros a few
// rows at a time, so that they stay in the L1 cache; with a stride their elements are separated by the remainder of their position.
// Law: the bits of each image do not depend on the number of threads, nor on the other images.
// Cost: 2 operations for each result and tap. Channels in the lanes: a load for each, which is the limit. Positions in the lanes: loads that cross lines.
#pragma once

#include <algorithm>

#include <tenure/backend/cpu/depthwise_tiles.hpp>
#include <tenure/backend/cpu/step.hpp>
#include <tenure/ops/opaque/depthwise.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// A task is some rows of a sample with all channels, or one channel; for the taps some channels.
template <class T, class Record>
class depthwise_tasks {
 public:
  constexpr explicit depthwise_tasks(const opaque_operation& o) : o_(o), first_(o.out.rank - 3) {
    const auto options = ops::padded_options::unpacked(o.attr);
    const operand_view& taps = is_of_taps ? o.out : o.in[1];
    const operand_view& result = is_of_taps ? o.in[1] : o.out;  // whose positions the axes count
    for (int a = 0; a < 2; ++a) {
      padded_axis& x = axis_[a];
      x = {result.extent[first_ + a], o.in[0].extent[first_ + a], taps.extent[first_ + a], options.stride[a], 1, options.stride[a], options.dilation[a], options.zeros[a], false};
      if (is_of_image) x.is_transposed = true, x.step = 1, x.classes = options.stride[a];
    }
    channels_ = o.out.extent[first_ + 2];
    samples_ = elements_along(o.out, 0, first_);
    for (int k = 0; k < 2; ++k)
      for (int a = 0; a < 3; ++a) stride_[k][a] = o.in[k].stride[first_ + a];
    lanes_are_channels_ = 2 * channels_ >= lanes && stride_[0][2] == 1 && stride_[1][2] == 1;
    if (!lanes_are_channels_) rows_ = padded_rows<T>(axis_[0], axis_[1], 1, costs::depthwise_bytes, costs::columns_of_depthwise);
    if (!lanes_are_channels_) tasks_of_sample_ = channels_;
    else if (is_of_taps) tasks_of_sample_ = ceil_div(channels_, channels_of_task);
    else tasks_of_sample_ = ceil_div(axis_[0].positions, costs::rows_of_depthwise);
  }
  constexpr index tasks() const { return samples_ * tasks_of_sample_; }
  constexpr index blocks() const { return tasks() < costs::max_blocks ? tasks() : costs::max_blocks; }
  constexpr index work() const {
    return samples_ * axis_[0].positions * axis_[1].positions * axis_[0].taps * axis_[1].taps * channels_ / costs::multiplications_of_work / lanes;
  }
  constexpr index workspace() const { return terms_bytes() * 2 + rows_.bytes(1) + factor_bytes(); }

  void run_task(void* const* pointer, index number, void* memory) const {
    part p = part_of(pointer, number / tasks_of_sample_, memory);
    number %= tasks_of_sample_;
    if (lanes_are_channels_) {
      if constexpr (is_of_taps) return run_taps_of_channels(p, number * channels_of_task);
      else return run_rows_of_channels(p, number * costs::rows_of_depthwise, smaller((number + 1) * costs::rows_of_depthwise, axis_[0].positions));
    }
    p.x += number * stride_[0][2], p.other += number * stride_[1][2], p.to += number;
    if constexpr (is_of_taps) run_taps_of_positions(p);
    else run_positions(p);
  }

  /// A piece is some rows with their channels, or some planes.
  constexpr bool can_be_cut(index elements) const { return lanes_are_channels_ || (channels_ == 1 && elements % (axis_[0].positions * axis_[1].positions) == 0); }
  void run_piece(void* const* pointer, index first, index count, void* memory) const
    requires(Record::of != 1)
  {
    const index row = axis_[1].positions * channels_, rows = axis_[0].positions, end = (first + count) / row;
    for (index at = first / row, some; at < end; at += some) {
      const part p = part_of(pointer, at / rows, memory);
      const index begin = at % rows;
      some = smaller(rows - begin, end - at);
      if (lanes_are_channels_) run_rows_of_channels(p, begin, begin + some);
      else run_positions(p);
    }
  }

 private:
  static constexpr bool is_of_taps = Record::of == 1, is_of_image = Record::of == 0;
  static constexpr index lanes = max_lanes<T>, channels_of_task = 4 * lanes, max_sums = 9;
  using packet = packet_of<T, lanes>;

  struct part {
    const T *x, *other;  // the second operand: taps, or results
    T* to;
    tap_term* terms;
    T* copied = nullptr;
  };

  part part_of(void* const* pointer, index sample, void* memory) const {
    index at[2] = {}, rest = sample;
    for (int a = first_ - 1; a >= 0; rest /= o_.out.extent[a--])
      for (int k = 0; k < 2; ++k) at[k] += rest % o_.out.extent[a] * o_.in[k].stride[a];
    return {static_cast<const T*>(pointer[0]) + at[0], static_cast<const T*>(pointer[1]) + at[1], static_cast<T*>(pointer[2]) + sample * elements_along(o_.out, first_, o_.out.rank),
            static_cast<tap_term*>(memory), reinterpret_cast<T*>(static_cast<char*>(memory) + 2 * terms_bytes())};
  }

  static constexpr index whole_lines(index bytes) { return ceil_div(bytes, 64) * 64; }
  constexpr index all_taps() const { return axis_[0].taps * axis_[1].taps; }
  constexpr index terms_bytes() const { return whole_lines(all_taps() * static_cast<index>(sizeof(tap_term))); }
  constexpr index factor_bytes() const { return is_of_taps ? whole_lines(rows_.rows_at_once * rows_.columns_at_once * static_cast<index>(sizeof(T))) : 0; }

  // ---- channels in the lanes ----

  /// The terms of row t of class r, with the columns of taps for whose offsets has(offset).
  template <class Has>
  index find_terms(tap_term* to, index r, index t, index column_class, const Has& has) const {
    index count = 0;
    for (index u = 0; u < axis_[0].taps; ++u) {
      if (!axis_[0].has_offset(r, u)) continue;
      const index row = axis_[0].offset(r, u) + t * axis_[0].step;
      if (row < 0 || row >= axis_[0].elements) continue;
      for (index v = 0; v < axis_[1].taps; ++v)
        if (axis_[1].has_offset(column_class, v) && has(axis_[1].offset(column_class, v)))
          to[count++] = {row * stride_[0][0] + axis_[1].offset(column_class, v) * stride_[0][1], is_of_taps ? (u * axis_[1].taps + v) * channels_ : u * stride_[1][0] + v * stride_[1][1]};
    }
    return count;
  }
  /// The positions whose taps all lie within the rows of the image.
  struct interior {
    index begin, end;
  };
  interior interior_of(index column_class, index all) const {
    interior found{0, all};
    for (index v = 0; v < axis_[1].taps; ++v)
      if (axis_[1].has_offset(column_class, v)) {
        const index at = axis_[1].offset(column_class, v);
        found.begin = larger(found.begin, axis_[1].begin(at, all)), found.end = smaller(found.end, axis_[1].end(at, all));
      }
    if (found.begin >= found.end) found = {all, all};
    return found;
  }

  void run_rows_of_channels(const part& p, index first, index last) const {
    const index x_step = axis_[1].step * stride_[0][1], y_step = axis_[1].classes * channels_;
    for (index row = first; row < last; ++row)
      for (index r = 0; r < smaller(axis_[1].classes, axis_[1].positions); ++r) {
        const index all = axis_[1].count(r), row_class = row % axis_[0].classes, t = row / axis_[0].classes;
        T* const y = p.to + (row * axis_[1].positions + r) * channels_;
        const interior inside = interior_of(r, all);
        const auto at_border = [&](index begin, index end) {
          for (index at = begin; at < end; ++at) {
            const index count = find_terms(p.terms, row_class, t, r, [&](index offset) { return offset + at * axis_[1].step >= 0 && offset + at * axis_[1].step < axis_[1].elements; });
            channels_of_positions<T, 1>(p.terms, count, channels_, p.x + at * x_step, x_step, p.other, y + at * y_step, y_step);
          }
        };
        at_border(0, inside.begin);
        index at = inside.begin;
        const index count = at < inside.end ? find_terms(p.terms, row_class, t, r, [](index) { return true; }) : 0;
        const auto go_on = [&]<index Positions>() {
          for (; at + Positions <= inside.end; at += Positions)
            channels_of_positions<T, Positions>(p.terms, count, channels_, p.x + at * x_step, x_step, p.other, y + at * y_step, y_step);
        };
        go_on.template operator()<8>(), go_on.template operator()<4>(), go_on.template operator()<2>(), go_on.template operator()<1>();
        at_border(inside.end, all);
      }
  }

  void run_taps_of_channels(const part& p, index first) const {
    const index last = smaller(first + channels_of_task, channels_);
    for (index e = 0; e < all_taps(); ++e) std::fill(p.to + e * channels_ + first, p.to + e * channels_ + last, T(0));
    const index all = axis_[1].positions;
    const interior inside = interior_of(0, all);
    const auto add = [&](const tap_term* terms, index count, index row, index begin, index end) {
      const index x_step = axis_[1].step * stride_[0][1], g_step = stride_[1][1];
      for (index k = 0, some; k < count && begin < end; k += some) {
        some = ceil_div(count - k, ceil_div(count - k, max_sums));
        with_count<max_sums>(some, [&]<index Taps>() {
          for (index c = first; c < last; c += lanes) {
            const T *const x = p.x + begin * x_step + c, *const g = p.other + row * stride_[1][0] + begin * g_step + c;
            if (c + lanes <= last) taps_of_channels_at<T, Taps, false>(terms + k, end - begin, x, x_step, g, g_step, p.to + c, lanes);
            else taps_of_channels_at<T, Taps, true>(terms + k, end - begin, x, x_step, g, g_step, p.to + c, last - c);
          }
        });
      }
    };
    for (index row = 0; row < axis_[0].positions; ++row) {
      add(p.terms, find_terms(p.terms, 0, row, 0, [](index) { return true; }), row, inside.begin, inside.end);
      for (index v = 0; v < axis_[1].taps; ++v) {
        const index at = axis_[1].offset(0, v), begin = axis_[1].begin(at, all), end = axis_[1].end(at, all);
        const index count = find_terms(p.terms, 0, row, 0, [at](index offset) { return offset == at; });
        add(p.terms, count, row, begin, smaller(end, inside.begin));
        add(p.terms, count, row, larger(begin, inside.end), end);
      }
    }
  }

  // ---- positions in the lanes ----

  index find_terms_of_copy(tap_term* to, index row_class, index column_class) const {
    index count = 0;
    for (index u = 0; u < axis_[0].taps; ++u)
      for (index v = 0; v < axis_[1].taps && axis_[0].has_offset(row_class, u); ++v) {
        if (!axis_[1].has_offset(column_class, v)) continue;
        to[count++] = {rows_.place_of(axis_[0].offset(row_class, u), axis_[1].offset(column_class, v)), is_of_taps ? (u * axis_[1].taps + v) * channels_ : u * stride_[1][0] + v * stride_[1][1]};
      }
    return count;
  }

  void run_positions(const part& p) const {
    const index row_step = axis_[0].step * rows_.row_elements(), columns = axis_[1].positions;
    const bool is_paired = math::can_interleave<packet> && axis_[1].classes == 2 && channels_ == 1;
    for (index t = 0; t < axis_[0].count(0); t += rows_.rows_at_once)
      for (index s = 0; s < axis_[1].count(0); s += rows_.columns_at_once) {
        rows_.copy(p.x, stride_[0][0], stride_[0][1], t, s, p.copied);
        for (index i = 0; i < smaller(axis_[0].classes, axis_[0].positions); ++i) {
          const index rows = smaller(rows_.rows_at_once, axis_[0].count(i) - t), of_row = columns * channels_ * axis_[0].classes;
          T* const y = p.to + (i + t * axis_[0].classes) * columns * channels_;
          if (is_paired) {
            tap_term* const odd = reinterpret_cast<tap_term*>(reinterpret_cast<char*>(p.terms) + terms_bytes());
            run_pairs(p, p.terms, find_terms_of_copy(p.terms, i, 0), odd, find_terms_of_copy(odd, i, 1), rows, s, row_step, y, of_row);
            continue;
          }
          for (index j = 0; j < smaller(axis_[1].classes, columns); ++j) {
            const index count = find_terms_of_copy(p.terms, i, j), along = smaller(rows_.columns_at_once, axis_[1].count(j) - s);
            const index y_step = axis_[1].classes * channels_;
            T* const line = y + (j + s * axis_[1].classes) * channels_;
            for (index c = 0; c < along; c += 4 * lanes) {
              const index some = smaller(along - c, 4 * lanes), wide = ceil_div(some, lanes);
              const auto run = [&]<index Rows, index Packets>(index row) {
                positions_at<T, Rows, Packets>(p.terms, count, p.copied + row * row_step + c, row_step, p.other, [&](index r, index k, const packet& sum) __attribute__((always_inline)) {
                  T* const to = line + (row + r) * of_row + (c + k * lanes) * y_step;
                  const index last = k + 1 == Packets ? some - k * lanes : lanes;
                  if (y_step == 1) return store_some(to, sum, last);
                  T element[lanes];
                  packets::pstoreu(element, sum);
                  for (index e = 0; e < last; ++e) to[e * y_step] = element[e];
                });
              };
              index row = 0;
              const auto go_on = [&]<index Rows, index Packets>() {
                for (; row + Rows <= rows; row += Rows) run.template operator()<Rows, Packets>(row);
              };
              if (wide == 1) go_on.template operator()<8, 1>(), go_on.template operator()<4, 1>(), go_on.template operator()<1, 1>();
              else if (wide == 2) go_on.template operator()<4, 2>(), go_on.template operator()<1, 2>();
              else if (wide == 3) go_on.template operator()<2, 3>(), go_on.template operator()<1, 3>();
              else go_on.template operator()<2, 4>(), go_on.template operator()<1, 4>();
            }
          }
        }
      }
  }
  /// Results whose even and odd columns have different taps, written together.
  void run_pairs(const part& p, const tap_term* even, index even_count, const tap_term* odd, index odd_count, index rows, index s, index row_step, T* y, index of_row) const {
    if constexpr (math::can_interleave<packet>) {
      const index columns = axis_[1].positions, along = smaller(rows_.columns_at_once, axis_[1].count(0) - s);
      for (index c = 0; c < along; c += lanes) {
        const auto run = [&]<index Rows>(index row) {
          packet both[2][Rows];
          const T* const x = p.copied + row * row_step + c;
          positions_at<T, Rows, 1>(even, even_count, x, row_step, p.other, [&](index r, index, const packet& sum) __attribute__((always_inline)) { both[0][r] = sum; });
          positions_at<T, Rows, 1>(odd, odd_count, x, row_step, p.other, [&](index r, index, const packet& sum) __attribute__((always_inline)) { both[1][r] = sum; });
          const index first = 2 * (s + c), left = columns - first;
          for (index r = 0; r < Rows; ++r) {  // no pragma: nvcc knows none in a template of a lambda
            packet pair[2] = {both[0][r], both[1][r]};
            math::interleave<2>(pair);
            T* const to = y + (row + r) * of_row + first;
            store_some(to, pair[0], smaller(left, lanes));
            if (left > lanes) store_some(to + lanes, pair[1], smaller(left - lanes, lanes));
          }
        };
        index row = 0;
        for (; row + 4 <= rows; row += 4) run.template operator()<4>(row);
        for (; row < rows; ++row) run.template operator()<1>(row);
      }
    }
  }

  void run_taps_of_positions(const part& p) const {
    for (index e = 0; e < all_taps(); ++e) p.to[e * channels_] = T(0);
    const index count = find_terms_of_copy(p.terms, 0, 0);
    T* const factors = reinterpret_cast<T*>(reinterpret_cast<char*>(p.copied) + rows_.bytes(1));
    for (index t = 0; t < axis_[0].positions; t += rows_.rows_at_once)
      for (index s = 0; s < axis_[1].positions; s += rows_.columns_at_once) {
        const index rows = smaller(rows_.rows_at_once, axis_[0].positions - t), columns = smaller(rows_.columns_at_once, axis_[1].positions - s);
        rows_.copy(p.x, stride_[0][0], stride_[0][1], t, s, p.copied);
        const T* g = p.other + t * stride_[1][0] + s * stride_[1][1];
        index g_step = stride_[1][0];
        if (stride_[1][1] != 1) {
          for (index r = 0; r < rows; ++r)
            for (index c = 0; c < columns; ++c) factors[r * columns + c] = g[r * stride_[1][0] + c * stride_[1][1]];
          g = factors, g_step = columns;
        }
        for (index k = 0, some; k < count; k += some) {
          some = ceil_div(count - k, ceil_div(count - k, max_sums));
          with_count<max_sums>(some, [&]<index Taps>() { taps_of_positions<T, Taps>(p.terms + k, rows, columns, p.copied, axis_[0].step * rows_.row_elements(), g, g_step, p.to); });
        }
      }
  }

  const opaque_operation& o_;
  int first_;
  padded_axis axis_[2];
  index channels_ = 0, samples_ = 0, stride_[2][3] = {};
  padded_rows<T> rows_;
  index tasks_of_sample_ = 0;
  bool lanes_are_channels_ = false;
};

}  // namespace detail

template <class T>
struct step<ops::nodes::depthwise::code, T> : step_of_tasks<detail::depthwise_tasks<T, ops::nodes::depthwise>> {};
template <class T>
struct step<ops::nodes::depthwise_of_image::code, T> : step_of_tasks<detail::depthwise_tasks<T, ops::nodes::depthwise_of_image>> {};
template <class T>
struct step<ops::nodes::depthwise_of_taps::code, T> : step_of_tasks<detail::depthwise_tasks<T, ops::nodes::depthwise_of_taps>> {};

}  // namespace tenure::cpu_backend
