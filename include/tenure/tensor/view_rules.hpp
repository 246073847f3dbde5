// SPDX-License-Identifier: BSL-1.0
// The shape rules of views. A rule computes the static shape of a view (`value`) and, for extents known only at run time, finds
// them (`bind`). Law: a static extent stays static if the types determine it; a view that the types rule out does not compile.
#pragma once

#include <cstdint>

#include "extents.hpp"
#include "layout.hpp"

namespace TENURE_NAMESPACE::detail {

/// The number of elements if all extents are static, else dyn.
constexpr std::int64_t static_count(const extents& s) { return all_static(s) ? count(s) : dyn; }

constexpr int axis_of_name(const extents& s, std::int64_t name) {
  for (int i = 0; i < s.rank; ++i)
    if (is_named(name) && s[i] == name) return i;
  return -1;
}

// The shape of reshape<E...>(n...). A run-time extent of the target comes, in this order, from the source's axis with the same
// name, from the integers of the caller, or, if there is exactly one open extent and no integer, from the number of elements.
template <class Shape, int Given, std::int64_t... E>
struct reshaped {
  static constexpr extents target{sizeof...(E), {E...}};
  static constexpr bool is_open(int i) {
    return !tenure::is_static(target[i]) && axis_of_name(Shape::value, target[i]) < 0 && first_of_name(target, i) == i;
  }
  static constexpr int open = [] {
    int n = 0;
    for (int i = 0; i < target.rank; ++i) n += is_open(i);
    return n;
  }();
  static constexpr bool infers = open == 1 && Given == 0;
  static_assert(Given == open || infers,
                "tenure: reshape: one integer is needed for each run-time extent that the tensor does not have");

  static constexpr extents value = [] {
    extents s = target;
    if (!infers || !Shape::is_static) return s;
    std::int64_t others = 1;
    for (int i = 0; i < s.rank; ++i)
      if (tenure::is_static(s[i])) others *= s[i];
    for (int i = 0; i < s.rank; ++i)
      if (is_open(i) && others != 0) s[i] = Shape::size / others;
    return s;
  }();
  static constexpr std::int64_t size = static_count(value);
  static constexpr bool counts_agree = Shape::size == dyn || size == dyn || Shape::size == size;
  static_assert(counts_agree, "tenure: reshape: the shapes have different numbers of elements");

  static extents bind(const extents& source, const std::int64_t* given) {
    extents s = value;
    std::int64_t others = 1;
    int inferred = -1;
    for (int i = 0; i < s.rank; ++i) {
      if (tenure::is_static(s[i])) others *= s[i];
      else if (const int a = axis_of_name(Shape::value, value[i]); a >= 0) others *= s[i] = source[a];
      else if (const int first = first_of_name(value, i); first < i) others *= s[i] = s[first];
      else if (infers) inferred = i;
      else if ((s[i] = *given++) < 0) throw_shape_mismatch("reshape", s, source);
      else others *= s[i];
    }
    if (inferred >= 0) {
      if (others == 0 || count(source) % others != 0) throw_shape_mismatch("reshape", value, source);
      s[inferred] = count(source) / others;
    }
    return s;
  }
};

// The shape of expand<E...>(n...). The run-time extents come from the integers of the caller. Without integers they come from the
// axes of the source.
template <class Shape, int Given, std::int64_t... E>
struct expanded {
  static constexpr extents target{sizeof...(E), {E...}};
  static constexpr int lead = target.rank - Shape::rank;
  static constexpr extents value = [] {
    extents s = target;
    if (Given != 0) return s;
    for (int i = lead < 0 ? 0 : lead; i < s.rank; ++i)
      if (!tenure::is_static(s[i]) && i >= lead) s[i] = Shape::value[i - lead];
    return s;
  }();
  static constexpr bool complete = [] {
    if (Given != 0) return Given == dynamic_count(target);
    for (int i = 0; i < target.rank; ++i)
      if (!tenure::is_static(target[i]) && i < lead) return false;
    return true;
  }();
  static_assert(complete, "tenure: expand: one integer is needed for each run-time extent");
  static_assert(may_broadcast(Shape::value, value),
                "tenure: expand: only axes of static extent 1 and new leading axes expand");

  static extents bind(const extents& source, const std::int64_t* given) {
    if (Given != 0) return bind_extents(value, given);
    extents s = value;
    for (int i = 0; i < s.rank; ++i)
      if (!tenure::is_static(s[i])) s[i] = source[i - lead];
    return s;
  }
};

struct axis_order {
  int axis[max_rank + 1];
};

constexpr bool is_permutation(const axis_order& order, int given, int rank) {
  if (given != rank) return false;
  bool seen[max_rank] = {};
  for (int i = 0; i < rank; ++i) {
    const int a = order.axis[i];
    if (a < 0 || a >= rank || seen[a]) return false;
    seen[a] = true;
  }
  return true;
}

template <class Shape, int... Axes>
struct permuted_shape {
  static constexpr axis_order order{{axis_from_front(Axes, Shape::rank)...}};
  static constexpr bool permutes = is_permutation(order, sizeof...(Axes), Shape::rank);
  static_assert(permutes, "tenure: permute: each axis must be named exactly once");
  static constexpr extents value = permutes ? permuted(Shape::value, order.axis) : Shape::value;
};

constexpr axis_order swapped_axes(int a, int b) {
  axis_order order{};
  for (int i = 0; i < max_rank; ++i) order.axis[i] = i == a ? b : i == b ? a : i;
  return order;
}

template <class Shape, int A, int B>
struct transposed_shape {
  static constexpr int a = axis_from_front(A, Shape::rank), b = axis_from_front(B, Shape::rank);
  static constexpr bool inside = 0 <= a && a < Shape::rank && 0 <= b && b < Shape::rank;
  static_assert(inside, "tenure: transpose: an axis lies outside the tensor's rank");
  static constexpr axis_order order = inside ? swapped_axes(a, b) : swapped_axes(0, 0);
  static constexpr extents value = permuted(Shape::value, order.axis);
};

template <class Shape>
struct diagonal_shape {
  static_assert(Shape::rank >= 2, "tenure: diagonal: the tensor has fewer than two axes");
  static constexpr extents value = [] {
    extents s = Shape::value;
    if (s.rank < 2) return s;
    const std::int64_t rows = s[s.rank - 2];
    const std::int64_t columns = s[s.rank - 1];
    s = without_axis(s, s.rank - 1);
    const bool known = is_static(rows) && is_static(columns);
    s[s.rank - 1] = rows == columns ? rows : !known ? dyn : rows < columns ? rows : columns;
    return s;
  }();
};

template <class Shape, int Axis>
struct unsqueezed_shape {
  static constexpr int given = axis_from_front(Axis, Shape::rank + 1);
  static constexpr bool inside = 0 <= given && given <= Shape::rank;
  static_assert(inside, "tenure: unsqueeze: the axis lies outside the result's rank");
  static constexpr int at = inside ? given : 0;
  static constexpr extents value = with_axis(Shape::value, at, 1);
};

template <class Shape, int Axis>
struct squeezed_shape {
  static constexpr int given = axis_from_front(Axis, Shape::rank);
  static constexpr bool inside = 0 <= given && given < Shape::rank;
  static_assert(inside, "tenure: squeeze: the axis lies outside the tensor's rank");
  static constexpr int at = inside ? given : 0;
  static constexpr bool is_one = !inside || !is_static(Shape::value.extent[at]) || Shape::value.extent[at] == 1;
  static_assert(is_one, "tenure: squeeze: the axis has more than one element");
  static constexpr extents value = inside ? without_axis(Shape::value, at) : Shape::value;
};

}  // namespace tenure::detail
