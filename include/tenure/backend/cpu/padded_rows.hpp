// SPDX-License-Identifier: BSL-1.0
// Rows of a channel, copied between zeros, for convolutions whose lanes are positions (depthwise.hpp, planes.hpp). With a stride, elements with the same
// remainder of their column by the stride are neighbours, so neighbouring positions always read neighbours.
// Cost: a load and a store for each element of a row, and for the zeros. A row begins where a line of the cache begins: otherwise each store would cross a line.
#pragma once

#include <algorithm>

#include <tenure/backend/cpu/dots.hpp>
#include <tenure/math/packet/interleave.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {
namespace detail {

constexpr index floor_div(index a, index b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
constexpr index smaller(index a, index b) { return a < b ? a : b; }
constexpr index larger(index a, index b) { return a > b ? a : b; }

/// What the positions of a result read along one axis. Position r + classes * t of the result reads with tap u element offset(r, u) + step * t of the source.
struct padded_axis {
  index positions = 0, elements = 0, taps = 0;  // of the result and the source
  index step = 1, classes = 1;
  index stride = 1, dilation = 1, zeros = 0;
  bool is_transposed = false;

  constexpr bool has_offset(index r, index u) const { return !is_transposed || (r + zeros - u * dilation) % stride == 0; }
  constexpr index offset(index r, index u) const { return is_transposed ? floor_div(r + zeros - u * dilation, stride) : u * dilation - zeros; }
  constexpr index first_offset() const { return is_transposed ? floor_div(zeros - (taps - 1) * dilation, stride) : -zeros; }
  constexpr index last_offset() const { return is_transposed ? floor_div(classes - 1 + zeros, stride) : (taps - 1) * dilation - zeros; }
  constexpr index count(index r) const { return r < positions ? (positions - r - 1) / classes + 1 : 0; }
  /// The first t for which an element with this offset exists, and the one behind the last, of `all`.
  constexpr index begin(index at, index all) const { return at >= 0 ? 0 : smaller(all, ceil_div(-at, step)); }
  constexpr index end(index at, index all) const { return at >= elements ? 0 : smaller(all, (elements - 1 - at) / step + 1); }
};

/// Calls f.template operator()<n>() for n = 1 ... Most.
template <index Most, class F>
TENURE_INLINE void with_count(index n, const F& f) {
  if constexpr (Most == 1) f.template operator()<1>();
  else if (n == Most) f.template operator()<Most>();
  else with_count<Most - 1>(n, f);
}

/// A tap, and the element of the image that it reads, counted from an address that positions advance.
struct tap_term {
  index x, tap;
};

/// The geometry of the copies, and the copy.
template <class T>
class padded_rows {
 public:
  constexpr padded_rows() = default;
  /// Of positions t ... of one class of rows; `bytes` is the memory for the rows of all `planes` channels that are copied together.
  constexpr padded_rows(const padded_axis& rows, const padded_axis& columns, index planes, index bytes, index most_columns) : rows_(rows), columns_(columns) {
    const index along = columns.count(0), down = rows.count(0);
    first_column_ = floor_div(floor_div(columns.first_offset(), columns.step), lanes) * lanes;  // so a copy has its packets where lines begin
    const index more = floor_div(columns.last_offset(), columns.step) - first_column_, halo = rows.last_offset() - rows.first_offset() + 1;
    columns_at_once = smaller(along, larger(most_columns, ceil_div(2 * more, lanes) * lanes));
    pitch_ = (ceil_div(columns_at_once, lanes) + ceil_div(more, lanes) + (columns.step > 1)) * lanes;
    const index row_bytes = planes * row_elements() * static_cast<index>(sizeof(T)), fitting = bytes / larger(row_bytes, 1) - halo;
    rows_at_once = smaller(down, larger(fitting / rows.step, larger(halo / rows.step, 4)));
    rows_copied_ = rows_at_once > 0 ? (rows_at_once - 1) * rows.step + halo : 0;
  }
  constexpr index row_elements() const { return pitch_ * columns_.step; }
  constexpr index plane_elements() const { return rows_copied_ * row_elements(); }
  /// Behind the last row there is room for packets that go beyond it.
  constexpr index bytes(index planes) const { return plane_elements() == 0 ? 0 : ceil_div((planes * plane_elements() + 4 * lanes) * static_cast<index>(sizeof(T)), 64) * 64; }
  /// Where, from the copy of position t, s on, the element with these offsets is.
  constexpr index place_of(index row_offset, index column_offset) const {
    const index column = floor_div(column_offset, columns_.step);
    return (row_offset - rows_.first_offset()) * row_elements() + (column_offset - column * columns_.step) * pitch_ + column - first_column_;
  }

  /// Copies the rows that positions from t and from column s on read, between zeros. Elements with the same remainder of their column by the step are neighbours.
  void copy(const T* x, index row_stride, index column_stride, index t, index s, T* to) const {
    const index step = columns_.step, first_row = t * rows_.step + rows_.first_offset();
    for (index row = first_row; row < first_row + rows_copied_; ++row, to += row_elements()) {
      if (row < 0 || row >= rows_.elements) {
        std::fill_n(to, row_elements(), T(0));
        continue;
      }
      const T* const from = x + row * row_stride;
      const index first = (s + first_column_) * step;  // of the row, with remainder 0
      const index before = first < 0 ? smaller(pitch_, ceil_div(-first, step)) : 0;
      if (column_stride == 1 && step == 1) {
        const index count = larger(0, smaller(pitch_ - before, columns_.elements - (first + before)));
        set_zero(to, before);
        copy_packets(from + first + before, to + before, count);
        set_zero(to + before + ceil_div(count, lanes) * lanes, pitch_ - before - ceil_div(count, lanes) * lanes);
        continue;
      }
      const index left = columns_.elements - first - before * step;  // elements from the first that is copied on
      const T* const read = from + (first + before * step) * column_stride;
      if constexpr (math::can_interleave<packet>) {
        if (column_stride == 1 && step == 2) {
          set_zero(to, before), set_zero(to + pitch_, before);
          for (index k = before; k + lanes < pitch_; k += lanes) {  // a line has a packet more than is read
            const index at = 2 * (k - before), some = left - at;
            packet both[2] = {load_some<packet>(read + at, larger(0, smaller(some, lanes))), load_some<packet>(read + at + lanes, larger(0, smaller(some - lanes, lanes)))};
            math::deinterleave<2>(both);
            packets::pstoreu(to + k, both[0]), packets::pstoreu(to + pitch_ + k, both[1]);
          }
          continue;
        }
      }
      for (index r = 0; r < step; ++r) {
        T* const line = to + r * pitch_;
        const index count = r >= left ? 0 : smaller(pitch_ - before, (left - r - 1) / step + 1);
        std::fill_n(line, before, T(0));
        for (index k = 0; k < count; ++k) line[before + k] = read[(k * step + r) * column_stride];
        std::fill(line + before + count, line + pitch_, T(0));
      }
    }
  }
 private:
  static constexpr index lanes = max_lanes<T>;
  using packet = packet_of<T, lanes>;

  /// Whole packets are written: the rows behind are copied later, and there is room behind the last.
  static void set_zero(T* to, index count) {
    for (index k = 0; k < count; k += lanes) packets::pstoreu(to + k, packets::pset1<packet>(T(0)));
  }
  static void copy_packets(const T* from, T* to, index count) {
    index k = 0;
    for (; k + lanes <= count; k += lanes) packets::pstoreu(to + k, packets::ploadu<packet>(from + k));
    if (k < count) packets::pstoreu(to + k, load_some<packet>(from + k, count - k));
  }

  padded_axis rows_, columns_;
  index first_column_ = 0, pitch_ = 0, rows_copied_ = 0;  // pitch: of elements with one remainder

 public:
  index columns_at_once = 0, rows_at_once = 0;  // positions
};

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
