// SPDX-License-Identifier: BSL-1.0
// The shape rules of views. A rule computes the static shape of a view (`value`) and, for extents known only at run time, finds them (`bind`). Traced
// values use the rules of reshape and expand too. Law: a static extent stays static if the types determine it; a view that the types rule out does
// not compile.
#pragma once

#include <cstdint>
#include <limits>

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

/// The shape of reshape<E...>(n...), for views and for traced values. A run-time extent of the target comes, in this order, from the
/// source's axis with the same name, from the integers of the caller, or, if there is exactly one open extent and no integer, from the
/// number of elements.
template <class Shape, int Given, std::int64_t... E>
struct reshape_rule {
  static constexpr extents target{sizeof...(E), {E...}};
  static constexpr bool is_open(int i) {
    return !tenure::is_static(target[i]) && axis_of_name(Shape::value, target[i]) < 0 && first_of_name(target, i) == i;
  }
  static constexpr int open = [] {
    int n = 0;
    for (int i = 0; i < target.rank; ++i) n += is_open(i);
    return n;
  }();
  // The number of elements does not determine an extent that occurs twice.
  static constexpr bool infers = [] {
    bool is_one = open == 1 && Given == 0;
    for (int i = 0; i < target.rank; ++i) is_one = is_one && (first_of_name(target, i) == i || !is_open(first_of_name(target, i)));
    return is_one;
  }();
  static constexpr bool is_complete = Given == open || infers;

  static constexpr std::int64_t known = (std::int64_t{1} * ... * (E < 0 ? 1 : E));
  static constexpr bool divides = infers && Shape::is_static && known != 0 && Shape::size % known == 0;
  static constexpr extents value = [] {
    extents s = target;
    if constexpr (divides)  // clang warns of a division by 0 that is not made
      for (int i = 0; i < s.rank; ++i)
        if (is_open(i)) s[i] = Shape::size / known;
    return s;
  }();
  static constexpr std::int64_t size = static_count(value);
  static constexpr bool counts_agree = !Shape::is_static || (infers ? divides : size == dyn || size == Shape::size);

  /// The extents of the result, given the extents of the source. They are numbers or symbols, and `on` computes with them: on.given() is the next
  /// integer of the caller, on.product(a, b) is a product, and on.rest(source, others) is the open extent.
  static constexpr extents bound(const extents& source, auto on) {
    extents s = value;
    std::int64_t others = 1;
    int inferred = -1;
    for (int i = 0; i < s.rank; ++i) {
      if (!tenure::is_static(value[i])) {
        if (const int a = axis_of_name(Shape::value, value[i]); a >= 0) s[i] = source[a];
        else if (const int first = first_of_name(value, i); first < i) s[i] = s[first];
        else if (infers) inferred = i;
        else s[i] = on.given();
      }
      if (i != inferred) others = on.product(others, s[i]);
    }
    if (inferred >= 0) s[inferred] = on.rest(source, others);
    return s;
  }
};

template <class Shape, int Given, std::int64_t... E>
struct reshaped : reshape_rule<Shape, Given, E...> {
  using rule = reshape_rule<Shape, Given, E...>;
  static_assert(rule::is_complete, "tenure: reshape: one integer is needed for each run-time extent that the tensor does not have");
  static_assert(rule::counts_agree, "tenure: reshape: the shapes have different numbers of elements");

  struct integers {
    const extents& source;
    const std::int64_t* next;

    std::int64_t given() {
      if (*next < 0) throw_shape_mismatch("reshape", rule::value, source);
      return *next++;
    }
    /// The product, or the largest number if the product overflows. No tensor has so many elements, so reshape() refuses it.
    static std::int64_t product(std::int64_t a, std::int64_t b) {
      std::int64_t n;
      return __builtin_mul_overflow(a, b, &n) ? std::numeric_limits<std::int64_t>::max() : n;
    }
    static std::int64_t rest(const extents& s, std::int64_t others) {
      if (others == 0 || count(s) % others != 0) throw_shape_mismatch("reshape", rule::value, s);
      return count(s) / others;
    }
  };
  static extents bind(const extents& source, const std::int64_t* given) { return rule::bound(source, integers{source, given}); }
};

/// The shape of expand<E...>(n...), for views and for traced values. The run-time extents come from the integers of the caller. Without
/// integers they come from the axes of the source.
template <class Shape, int Given, std::int64_t... E>
struct expand_rule {
  static constexpr extents target{sizeof...(E), {E...}};
  static constexpr int lead = target.rank - Shape::rank;
  static constexpr extents value = [] {
    extents s = target;
    if (Given != 0) return s;
    for (int i = lead < 0 ? 0 : lead; i < s.rank; ++i)
      if (!tenure::is_static(s[i]) && i >= lead) s[i] = Shape::value[i - lead];
    return s;
  }();
  static constexpr bool is_complete = [] {
    if (Given != 0) return Given == dynamic_count(target);
    for (int i = 0; i < target.rank; ++i)
      if (!tenure::is_static(target[i]) && i < lead) return false;
    return true;
  }();
  static constexpr bool broadcasts = may_broadcast(Shape::value, value);

  /// The extents of the result, given those of the source: numbers or symbols.
  static constexpr extents bind(const extents& source, const std::int64_t* given) {
    if (Given != 0) return bind_extents(value, given);
    extents s = value;
    for (int i = 0; i < s.rank; ++i)
      if (!tenure::is_static(s[i])) s[i] = source[i - lead];
    return s;
  }
};

template <class Shape, int Given, std::int64_t... E>
struct expanded : expand_rule<Shape, Given, E...> {
  using rule = expand_rule<Shape, Given, E...>;
  static_assert(rule::is_complete, "tenure: expand: one integer is needed for each run-time extent");
  static_assert(rule::broadcasts, "tenure: expand: only axes of static extent 1 and new leading axes expand");
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

template <class Shape, int K>
struct diagonal_shape {
  static_assert(Shape::rank >= 2, "tenure: diagonal: the tensor has fewer than two axes");
  static constexpr bool is_inside = [] {
    if (Shape::rank < 2) return true;
    const std::int64_t along = Shape::value[K < 0 ? Shape::rank - 2 : Shape::rank - 1];
    return !is_static(along) || along >= (K < 0 ? -K : K);
  }();
  static_assert(is_inside, "tenure: diagonal: the offset lies outside the matrix");
  static constexpr extents value = [] {
    extents s = Shape::value;
    if (s.rank < 2) return s;
    std::int64_t rows = s[s.rank - 2];
    std::int64_t columns = s[s.rank - 1];
    s = without_axis(s, s.rank - 1);
    const bool known = is_static(rows) && is_static(columns), is_square = K == 0 && rows == columns;
    if (known) (K < 0 ? rows : columns) -= K < 0 ? -K : K;
    s[s.rank - 1] = is_square ? rows : !known || !is_inside ? dyn : rows < columns ? rows : columns;
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
