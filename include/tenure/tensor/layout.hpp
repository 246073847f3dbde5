// SPDX-License-Identifier: BSL-1.0
// Layouts: the element at an index lies at offset + sum of index[i] * strides[i], counted in elements. Every view is a function
// layout -> layout. It is applied to the layout of the base and, if a gradient flows, to the contiguous gradient of the base.
// Law: a view maps each of its indices to an element of the base. Cost: a few operations for each axis. The functions are
// inlined, so the rank is a constant there and the loops are unrolled.
#pragma once

#include <cstdint>

#include "../core/config.hpp"
#include "../core/error.hpp"
#include "../core/shape.hpp"
#include "extents.hpp"

namespace TENURE_NAMESPACE {

struct layout {
  std::int64_t offset = 0;
  extents shape;
  extents strides;

  friend constexpr bool operator==(const layout& a, const layout& b) {
    return a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
  }
};

/// The strides of contiguous row-major memory.
TENURE_INLINE constexpr extents row_major(const extents& s) {
  extents strides = s;
  std::int64_t step = 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    strides[i] = step;
    step *= s[i] == 0 ? 1 : s[i];
  }
  return strides;
}

TENURE_INLINE constexpr layout contiguous_layout(const extents& s) { return {0, s, row_major(s)}; }

/// True if the elements lie in row-major order without gaps. The stride of an axis with one element does not matter.
TENURE_INLINE constexpr bool is_contiguous(const extents& s, const extents& strides) {
  if (count(s) == 0) return true;
  std::int64_t step = 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    if (s[i] != 1 && strides[i] != step) return false;
    step *= s[i];
  }
  return true;
}

namespace detail {

[[noreturn]] inline void throw_index(const char* call, std::int64_t index, int axis, std::int64_t extent) {
  TENURE_THROW(index_error(message(call) << "index " << index << " is outside axis " << axis << " of extent " << extent));
}

[[noreturn]] inline void throw_range(const char* call, std::int64_t first, std::int64_t last, int axis, std::int64_t extent) {
  TENURE_THROW(index_error(message(call) << "the range from " << first << " to " << last << (first > last ? " is reversed, on" : " is outside") << " axis " << axis
                                  << " of extent " << extent << (first < 0 ? ": positions from the end are tn::end - 1, tn::end - 2 and so on" : "")));
}

[[noreturn]] inline void throw_window(std::int64_t first, std::int64_t length, int axis, std::int64_t extent) {
  TENURE_THROW(index_error(message("window") << length << " elements from " << first << " on are not inside axis " << axis << " of extent " << extent));
}

TENURE_INLINE constexpr void check_index(const char* call, std::int64_t i, int axis, std::int64_t extent) {
  if (i < 0 || i >= extent) throw_index(call, i, axis, extent);
}

TENURE_INLINE constexpr extents without_axis(extents s, int axis) {
  for (int i = axis; i + 1 < s.rank; ++i) s[i] = s[i + 1];
  s[--s.rank] = 0;
  return s;
}
TENURE_INLINE constexpr extents with_axis(extents s, int axis, std::int64_t value) {
  for (int i = s.rank++; i > axis; --i) s[i] = s[i - 1];
  s[axis] = value;
  return s;
}

TENURE_INLINE constexpr layout drop_axis(const layout& l, int axis) {
  return {l.offset, without_axis(l.shape, axis), without_axis(l.strides, axis)};
}
TENURE_INLINE constexpr layout insert_axis(const layout& l, int axis) {
  return {l.offset, with_axis(l.shape, axis, 1), with_axis(l.strides, axis, 0)};
}

// select and slice change a layout in place. If they returned one, g++ 12 would copy it through memory, which takes ten times as
// long as the arithmetic.

TENURE_INLINE constexpr void select(layout& l, int axis, std::int64_t i) {
  check_index("at", i, axis, l.shape[axis]);
  l.offset += i * l.strides[axis];
  for (int k = axis; k + 1 < l.shape.rank; ++k) {
    l.shape[k] = l.shape[k + 1];
    l.strides[k] = l.strides[k + 1];
  }
  l.shape[--l.shape.rank] = 0;
  l.strides[--l.strides.rank] = 0;
}

/// Keeps the elements first, first + step, ... up to `last`, which is not included. Throws index_error.
TENURE_INLINE constexpr void slice(layout& l, int axis, std::int64_t first, std::int64_t last, std::int64_t step) {
  if (step < 1) TENURE_THROW(index_error(message("range") << "the step " << step << " is not positive"));
  if (first < 0 || first > last || last > l.shape[axis]) throw_range("at", first, last, axis, l.shape[axis]);
  l.offset += first == last ? 0 : first * l.strides[axis];
  const std::int64_t length = first == last ? 0 : (last - first - 1) / step + 1;
  l.shape[axis] = length;
  if (length > 1) l.strides[axis] *= step;
}

TENURE_INLINE constexpr extents permuted(const extents& s, const int* axes) {
  extents p = s;
  for (int i = 0; i < s.rank; ++i) p[i] = s[axes[i]];
  return p;
}
TENURE_INLINE constexpr layout permute(const layout& l, const int* axes) {
  return {l.offset, permuted(l.shape, axes), permuted(l.strides, axes)};
}

/// The diagonal of the last two axes becomes the last axis. It begins `offset` columns right of the first element, or -offset rows below it.
constexpr layout diagonal(layout l, std::int64_t offset = 0) {
  const int r = l.shape.rank - 2;
  const std::int64_t rows = l.shape[r] + (offset < 0 ? offset : 0), columns = l.shape[r + 1] - (offset > 0 ? offset : 0);
  if (rows < 0 || columns < 0) TENURE_THROW(shape_error(message("diagonal") << "the offset " << offset << " lies outside " << l.shape[r] << " rows and " << l.shape[r + 1] << " columns"));
  const std::int64_t n = rows < columns ? rows : columns;
  if (n > 0) l.offset += offset < 0 ? -offset * l.strides[r] : offset * l.strides[r + 1];
  const std::int64_t step = l.strides[r] + l.strides[r + 1];
  l = drop_axis(l, r);
  l.shape[r] = n;
  l.strides[r] = step;
  return l;
}

/// True if shape `s` may broadcast to shape `to`. Axes align at the last axis, and a static extent 1 repeats. A run-time extent
/// is checked later.
constexpr bool may_broadcast(const extents& s, const extents& to) {
  const int lead = to.rank - s.rank;
  if (lead < 0) return false;
  for (int i = 0; i < s.rank; ++i)
    if (is_static(s[i]) && is_static(to[i + lead]) && s[i] != 1 && s[i] != to[i + lead]) return false;
  return true;
}

/// Repeats each axis whose extent in `declared` (the static shape) is 1, and repeats the whole along new leading axes. Repeated
/// axes get stride 0. A run-time extent does not repeat, even if it is 1. Throws shape_error if the extents do not fit.
TENURE_INLINE constexpr layout expand(const layout& l, const extents& declared, const extents& to, const char* call) {
  layout wide{l.offset, to, to};
  const int lead = to.rank - l.shape.rank;
  if (lead < 0 || !is_countable(to)) throw_shape_mismatch(call, to, l.shape);
  for (int i = 0; i < to.rank; ++i) {
    const bool repeated = i < lead || (declared[i - lead] == 1 && to[i] != 1);
    if (!repeated && l.shape[i - lead] != to[i]) throw_shape_mismatch(call, to, l.shape);
    wide.strides[i] = repeated ? 0 : l.strides[i - lead];
  }
  return wide;
}

/// The same elements in the same order with other extents. Throws shape_error if the numbers of elements differ, or if no strides
/// describe the result (clone() gives contiguous memory).
constexpr layout reshape(const layout& l, const extents& to) {
  if (!is_countable(to) || count(l.shape) != count(to)) throw_shape_mismatch("reshape", to, l.shape);
  layout view{l.offset, to, row_major(to)};
  if (is_contiguous(l.shape, l.strides)) return view;
  // Neighbouring axes of the source that have one constant step in memory form a run. Each run is split into axes of the target,
  // starting with the last axis.
  layout from;
  for (int i = 0; i < l.shape.rank; ++i) {
    if (l.shape[i] == 1) continue;
    from.shape.push_back(l.shape[i]);
    from.strides.push_back(l.strides[i]);
  }
  int t = to.rank - 1;
  for (int s = from.shape.rank - 1; s >= 0; --s) {
    const std::int64_t step = from.strides[s];
    std::int64_t run = from.shape[s];
    while (s > 0 && from.strides[s - 1] == run * step) run *= from.shape[--s];
    std::int64_t covered = 1;
    while (t >= 0 && (covered < run || to[t] == 1)) {
      view.strides[t] = step * covered;
      covered *= to[t--];
    }
    if (covered != run)
      TENURE_THROW(shape_error(message("reshape") << "the strides of this view of shape " << l.shape << " cannot express shape " << to << ": clone() it first"));
  }
  return view;
}

}  // namespace detail
}  // namespace tenure
