// SPDX-License-Identifier: BSL-1.0
// Reading by index: gather takes whole rows (an embedding), pick takes one element of each row (a label). index_add adds to rows.
// Errors: an index out of range throws index_error before any result is written.
#pragma once

#include <tenure/ops/comparison.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::ops {

template <class I>
inline constexpr bool is_index_v = std::is_same_v<typename I::element_type, std::int32_t> || std::is_same_v<typename I::element_type, std::int64_t>;
template <class I>
constexpr void require_integer_indices() {
  static_assert(is_index_v<I>, "tenure: index: indices must be int32 or int64");
}

/// An integer that says where something begins. Checks of indices read int32 and int64 only, so one of a byte is widened.
template <class I>
constexpr auto as_index(const I& i) {
  if constexpr (number::is_narrow<typename I::element_type>) return traced<number::lane_t<typename I::element_type>, typename I::shape_type>{i.graph, cast_to(value(i), lane_of(dtype_v<typename I::element_type>)).id};
  else return i;
}

/// The element type for positions along an axis: the lanes of T where they represent all of them, else int64. A comparison of positions in these lanes
/// fuses with the computation of x.
template <class T>
constexpr dtype position_dtype(std::int64_t extent) {
  using lane = number::lane_t<T>;
  const std::int64_t most = is_static(extent) ? extent : INT64_MAX;
  return std::is_same_v<T, bool> || most > exact_positions<lane> ? dtype::int64 : dtype_v<lane>;
}
/// The lanes also for an axis of run-time extent. The call then checks that T represents all positions, which is so for every usual row.
template <class T>
constexpr dtype position_dtype(ir::builder& g, std::int64_t extent, const char* call) {
  using lane = number::lane_t<T>;
  if (is_static(extent) || std::is_same_v<T, bool>) return position_dtype<T>(extent);
  if (exact_positions<lane> < INT64_MAX) g.require_at_least(exact_positions<lane>, extent, call);
  return dtype_v<lane>;
}

/// The place of an element in row-major order, from its position along each axis.
struct row_major {
  value place;
  std::int64_t count = 1;  // the number of all places
};
/// `position(a)` is the position along axis a, in `shape`, or no value for an axis that does not count. `axes` is a copy, because the nodes move the shapes.
constexpr row_major row_major_place(ir::builder& g, dtype type, extents axes, std::int16_t shape, auto position) {
  row_major r;
  for (int a = axes.rank - 1; a >= 0; --a) {
    value along = position(a);
    if (along.id == ir::none) continue;
    if (r.count != 1) along = along * broadcast_to(number_of_extent(g, type, r.count), shape);
    r.place = r.place.id == ir::none ? along : r.place + along;
    r.count = g.derived(ir::symbol::kind::product, r.count, axes[a]);
  }
  return r;
}

/// The element where the mask is true; the mask is true at one position along the axes. The axes are dropped.
constexpr value chosen_along(value mask, value x, std::int64_t axes) {
  const bool of_bool = x.type() == dtype::boolean;
  const value one = cast_to(pointwise_value<where>(mask, x, x.like(0)), of_bool ? dtype::int32 : x.type());
  const value r = reduced(one, axes, ir::reduction::sum);
  return of_bool ? pointwise_value<greater>(r, r.like(0)) : r;
}

template <int A>
struct gather {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: gather: the axis lies outside the tensor's rank"); }
  template <class X, class I>
  struct rule {
    static constexpr int at = axis_position<gather, X::rank, A>::value;
    static constexpr extents value = gathered_extents(X::value, I::value, at);
  };
  template <class X, class I>
  static constexpr auto trace(const X& x, const I& indices) {
    require_integer_indices<I>();
    using shapes = rule<typename X::shape_type, typename I::shape_type>;
    x.graph->check_bound({indices.id, value(x).shape()[shapes::at], "gather"});
    return traced<typename X::element_type, shape_from<shapes>>{x.graph, gathered(x, indices, shapes::at).id};
  }
};

/// x with the updates added to its rows at the indices along axis A. Repeated indices add up. This is PyTorch's index_add, and for a vector also its
/// scatter_add. The updates are added to x one after another, so many small updates may be lost beside a large element.
template <int A>
struct index_add {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: index_add: the axis lies outside the tensor's rank"); }
  template <class X, class I, class U>
  static constexpr auto trace(const X& x, const I& indices, const U& updates) {
    require_integer_indices<I>();
    using along = axis_position<index_add, X::shape_type::rank, A>;
    using rows = typename gather<along::value>::template rule<typename X::shape_type, typename I::shape_type>;
    constexpr bool fits = extents_agree(rows::value, U::shape_type::value), is_inside = along::is_inside;
    static_assert(!is_inside || fits, "tenure: index_add: the updates have another shape than the rows at the indices");
    static_assert(std::is_same_v<typename X::element_type, typename U::element_type>, "tenure: index_add: operands have different element types");
    ir::builder& g = *x.graph;
    x.graph->check_bound({indices.id, value(x).shape()[rows::at], "index_add"});  // nvcc 13 garbles g.check_bound({...})
    if constexpr (fits) {
      const extents wanted = gathered_extents(x.shape(), indices.shape(), rows::at), given = updates.shape();
      for (int a = 0; a < given.rank; ++a) g.unify(wanted[a], given[a], "index_add", g.intern(wanted), g.intern(given));
    }
    return X{&g, added_at(x, updates, indices, rows::at).id};
  }

 private:
  static constexpr bool extents_agree(const extents& a, const extents& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (!extents_may_agree(a[i], b[i])) return false;
    return true;
  }
};

/// x[i, indices[i]]: one element of each row of the last axis. It is written as a comparison of the positions 0, 1, 2, ... with the
/// index, so that it fuses with neighbouring operations. Cost: a pass over the row, which a loss makes anyway.
struct pick {
  template <class S>
  struct rows_of {
    static constexpr extents value = S::rank == 0 ? extents{} : without_axes(S::value, std::int64_t{1} << (S::rank > 0 ? S::rank - 1 : 0));
  };
  template <class X, class I>
  static constexpr bool has_one_a_row = X::shape_type::rank > 0 && are_alike<rows_of<typename X::shape_type>, typename I::shape_type>;

  /// `call` is the function that the user called: a loss, for instance.
  template <class X, class I>
  static constexpr auto trace(const X& x, const I& indices, const char* call = "pick") {
    require_integer_indices<I>();
    using S = typename X::shape_type;
    static_assert(has_one_a_row<X, I>, "tenure: pick: needs one index for each row of the last axis");
    using rows = shape_from<rows_of<S>>;
    ir::builder& g = *x.graph;
    const std::int64_t last = std::int64_t{1} << (S::rank - 1);
    broadcast_extents(g, call, without_axes(x.shape(), last), indices.shape());
    x.graph->check_bound({indices.id, value(x).shape()[S::rank - 1], call});
    const dtype type = position_dtype<typename X::element_type>(g, value(x).shape()[S::rank - 1], call);
    const value columns = counting(g, type, g.intern(extents(x.shape())), S::rank - 1);
    const value wanted = stretched_like(cast_to(indices, type), x, last);
    return traced<typename X::element_type, rows>{&g, chosen_along(pointwise_value<equal>(columns, wanted), x, last).id};
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The rows of x at the indices along axis A: the shape of x, with axis A replaced by the shape of the indices. Indices must be int32 or
/// int64. Errors: index_error for an index outside 0 .. extent - 1; a negative index is outside.
template <int A = 0, operand_or_scalar X, class I> constexpr auto gather(const X& x, const I& indices) { return apply<ops::gather<A>>(x, indices); }
/// x with the updates added to its rows at the indices along axis A. The updates have the shape of gather<A>(x, indices) and the element type of x.
/// Repeated indices add up. Errors: as gather.
template <int A = 0, operand_or_scalar X, class I, class U> constexpr auto index_add(const X& x, const I& indices, const U& updates) { return apply<ops::index_add<A>>(x, indices, updates); }
/// x[..., indices[...]]: one element of each row of the last axis, which is dropped. The shape of the indices is the shape of x without its
/// last axis. Errors: as gather.
template <operand_or_scalar X, class I> constexpr auto pick(const X& x, const I& indices) { return apply<ops::pick>(x, indices); }

}  // namespace tenure
