// SPDX-License-Identifier: BSL-1.0
// The arguments of x[...] and x.at(...). An integer selects one element and removes its axis. range(i, j, step) keeps every
// step-th element from i up to j, which is not included; its extent is known at run time. range<I, J, Step>() and window<N>(i)
// give a static extent. all keeps the whole axis. Indices count from 0; a negative index does not count from the end. An index
// outside its axis throws index_error, or does not compile if both are static. end is the position behind the last element: range(1, end)
// leaves the first element out, range<0, end - 1>() the last one. range<end - 2, end>() is the last two.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "later.hpp"
#include "layout.hpp"

namespace TENURE_NAMESPACE {

namespace detail {
struct all_tag {};
}  // namespace detail

/// A position that counts from the end of an axis.
struct index_from_end {
  std::int64_t back;
  friend constexpr index_from_end operator-(index_from_end e, std::int64_t n) { return {e.back + n}; }
};
/// The position behind the last element. end - 1 is the last element.
inline constexpr index_from_end end{0};

namespace detail {
/// A bound of a range as a position on an axis of this extent.
TENURE_INLINE constexpr std::int64_t position_of(std::int64_t i, std::int64_t) { return i; }
TENURE_INLINE constexpr std::int64_t position_of(index_from_end i, std::int64_t extent) { return extent - i.back; }
}  // namespace detail

// An index that keeps its axis has three functions. kept(): the extent of the axis in the view. inside(): false if the static extent shows that the
// index is outside. apply(): changes the layout.

/// Elements first, first + step, ... up to `last`, which is not included. Each bound is an integer or counts from the end.
template <class First, class Last>
struct index_range_between {
  First first;
  Last last;
  std::int64_t step;
  static constexpr std::int64_t kept(std::int64_t) { return dyn; }
  static constexpr bool inside(std::int64_t) { return true; }
  TENURE_INLINE constexpr void apply(layout& l, int axis) const {
    detail::slice(l, axis, detail::position_of(first, l.shape[axis]), detail::position_of(last, l.shape[axis]), step);
  }
};
using index_range = index_range_between<std::int64_t, std::int64_t>;
using index_range_to_end = index_range_between<std::int64_t, index_from_end>;
using index_range_from_end = index_range_between<index_from_end, index_from_end>;

template <std::int64_t First, std::int64_t Last, std::int64_t Step>
struct static_range {
  static_assert(0 <= First && First <= Last, "tenure: range: the first index lies before 0 or after the last: positions from the end are tn::end - 3, tn::end - 1");
  static_assert(Step >= 1, "tenure: range: the step is not positive");
  static constexpr std::int64_t size = Last < First || Step < 1 ? 0 : (Last - First + Step - 1) / Step;
  static constexpr std::int64_t kept(std::int64_t) { return size; }
  static constexpr bool inside(std::int64_t extent) { return !is_static(extent) || Last <= extent; }
  TENURE_INLINE constexpr void apply(layout& l, int axis) const { detail::slice(l, axis, First, Last, Step); }
};
template <std::int64_t First, index_from_end Last, std::int64_t Step>
struct static_range_to_end {
  static_assert(0 <= First && 0 <= Last.back, "tenure: range: the first index lies before 0, or the last behind the end");
  static_assert(Step >= 1, "tenure: range: the step is not positive");
  static constexpr std::int64_t kept(std::int64_t extent) {
    return !is_static(extent) ? dyn : Step < 1 || extent < First + Last.back ? 0 : (extent - Last.back - First + Step - 1) / Step;
  }
  static constexpr bool inside(std::int64_t extent) { return !is_static(extent) || First + Last.back <= extent; }
  TENURE_INLINE constexpr void apply(layout& l, int axis) const { detail::slice(l, axis, First, l.shape[axis] - Last.back, Step); }
};
template <index_from_end First, index_from_end Last, std::int64_t Step>
struct static_range_from_end {
  static_assert(0 <= Last.back && Last.back <= First.back, "tenure: range: the first index lies behind the last, or the last behind the end");
  static_assert(Step >= 1, "tenure: range: the step is not positive");
  static constexpr std::int64_t kept(std::int64_t) { return First.back < Last.back || Step < 1 ? 0 : (First.back - Last.back + Step - 1) / Step; }
  static constexpr bool inside(std::int64_t extent) { return !is_static(extent) || First.back <= extent; }
  TENURE_INLINE constexpr void apply(layout& l, int axis) const { detail::slice(l, axis, l.shape[axis] - First.back, l.shape[axis] - Last.back, Step); }
};
template <std::int64_t N>
struct index_window {
  static_assert(N >= 0, "tenure: window: the extent is negative");
  std::int64_t first;
  static constexpr std::int64_t kept(std::int64_t) { return N; }
  static constexpr bool inside(std::int64_t extent) { return !is_static(extent) || N <= extent; }
  TENURE_INLINE constexpr void apply(layout& l, int axis) const {
    if (first < 0 || first > l.shape[axis] - N) detail::throw_window(first, N, axis, l.shape[axis]);
    detail::slice(l, axis, first, first + N, 1);
  }
};
struct all_of_axis {
  static constexpr std::int64_t kept(std::int64_t extent) { return extent; }
  static constexpr bool inside(std::int64_t) { return true; }
  TENURE_INLINE constexpr void apply(layout&, int) const {}
  /// all(x): whether all elements are true, or not zero. Axes are given as for amin.
  constexpr auto operator()(const auto& x, const auto&... along) const { return reduced_by(detail::later_phase{}, detail::all_tag{}, x, along...); }
};

/// Elements first, first + step, ... up to `last`, which is not included. The step must be positive.
constexpr index_range range(std::int64_t first, std::int64_t last, std::int64_t step = 1) {
  return {first, last, step};
}
/// A range with static bounds: the view has a static extent.
template <std::int64_t First, std::int64_t Last, std::int64_t Step = 1>
constexpr static_range<First, Last, Step> range() { return {}; }
/// A range up to a position that counts from the end: range(1, end), range(0, end - 1).
constexpr index_range_to_end range(std::int64_t first, index_from_end last, std::int64_t step = 1) { return {first, last, step}; }
/// Such a range with constant bounds. The view has a static extent if the axis has one.
template <std::int64_t First, index_from_end Last, std::int64_t Step = 1>
constexpr static_range_to_end<First, Last, Step> range() { return {}; }
/// A range between two positions that count from the end. With constant bounds the view has a static extent, for every axis: range<end - 2, end>().
constexpr index_range_from_end range(index_from_end first, index_from_end last, std::int64_t step = 1) { return {first, last, step}; }
template <index_from_end First, index_from_end Last, std::int64_t Step = 1>
constexpr static_range_from_end<First, Last, Step> range() { return {}; }
/// N neighbouring elements from `first` on: a static extent at a position known at run time.
template <std::int64_t N>
constexpr index_window<N> window(std::int64_t first) { return {first}; }
/// The whole axis.
inline constexpr all_of_axis all{};

namespace detail {

// The rule of one kind of index: the three functions, and drops: true if the index removes its axis.
template <class I>
struct index_rule {
  static constexpr bool known = false;
};
template <std::integral I>
struct index_rule<I> {
  static constexpr bool known = true;
  static constexpr bool drops = true;
  static constexpr std::int64_t kept(std::int64_t) { return 0; }
  static constexpr bool inside(std::int64_t extent) { return extent != 0; }
  TENURE_INLINE static constexpr void apply(layout& l, int axis, I i) { select(l, axis, static_cast<std::int64_t>(i)); }
};
template <class I>
  requires requires { I::kept(dyn); }
struct index_rule<I> : I {
  static constexpr bool known = true;
  static constexpr bool drops = false;
  TENURE_INLINE static constexpr void apply(layout& l, int axis, const I& i) { i.apply(l, axis); }
};

/// An index that keeps its axis.
template <class I>
concept part_of_axis = index_rule<I>::known && !index_rule<I>::drops;

/// A number, of C++ or of a trace, that is no integer.
template <class I>
concept is_floating_index = (scalar<I> && !std::integral<I>) || (traces<I> && is_floating(dtype_v<typename std::remove_cvref_t<I>::element_type>));

/// True if indices of types I fit the shape. Otherwise a static_assert says why not.
template <class Shape, class... I>
constexpr bool are_indices() {
  constexpr bool are_known = (index_rule<I>::known && ...), are_few = sizeof...(I) <= static_cast<std::size_t>(Shape::rank);
  static_assert(are_known, "tenure: at: an index is an integer, tn::all, tn::range or tn::window");
  static_assert(are_few, "tenure: at: more indices than the tensor has axes");
  if constexpr (are_known && are_few) {
    constexpr bool are_inside = [] {
      [[maybe_unused]] int axis = 0;
      return (index_rule<I>::inside(Shape::value.extent[axis++]) && ... && true);
    }();
    static_assert(are_inside, "tenure: at: the index lies outside its axis");
    return are_inside;
  } else {
    return false;
  }
}

/// The shape of the view at indices of types I.
template <class Shape, class... I>
struct indexed_shape {
  static constexpr extents value = [] {
    extents s;
    int axis = 0;
    [[maybe_unused]] const auto add = [&](bool drops, std::int64_t kept) {
      if (!drops) s.push_back(kept);
      ++axis;
    };
    (add(index_rule<I>::drops, index_rule<I>::kept(Shape::value.extent[axis])), ...);
    for (; axis < Shape::rank; ++axis) s.push_back(Shape::value.extent[axis]);
    return s;
  }();
};

/// Changes the layout of a tensor into the layout of its view at these indices. Throws index_error.
template <class... I>
TENURE_INLINE constexpr void index_layout(layout& l, const I&... index) {
  [[maybe_unused]] int axis = 0;
  ((index_rule<I>::apply(l, axis, index), axis += !index_rule<I>::drops), ...);
}

}  // namespace detail
}  // namespace tenure
