// SPDX-License-Identifier: BSL-1.0
// x[i] and x.at(i, all, range<0, 4>()) of a traced value, as of a tensor. An integer drops its axis. The integer, and the start of window<N>(i), may
// come from a C++ loop, which runs while tracing, or be a traced integer, which is known when the program runs. The bounds of a range are constants,
// integers that the trace knows, or an extent: range<I, J, Step>(), range(i, j), range(1, extent<0>(x)). An axis may have a run-time extent.
// Errors: an index outside a static axis is noted in the graph, and the call of the function reports it with its numbers. A run-time axis that is too
// short, and a traced index outside its axis, throw before a result is written.
// Cost: constant indices give a view. Traced indices copy the elements that they select, see block.hpp.
#pragma once

#include <tenure/ops/block.hpp>
#include <tenure/ops/structure.hpp>
#include <tenure/tensor/indexing.hpp>
#include <tenure/tensor/later.hpp>

namespace TENURE_NAMESPACE::detail {

/// Elements first, first + step, ... up to a traced extent, which is not included.
template <class Last>
struct traced_range {
  std::int64_t first;
  Last last;
  std::int64_t step;
};

/// N neighbouring elements from a traced position on.
template <std::int64_t N, class Start>
struct traced_window {
  Start first;
};

template <class I>
inline constexpr bool is_traced_index = false;
template <class T, class S>
inline constexpr bool is_traced_index<traced<T, S>> = true;
template <std::int64_t N, class Start>
inline constexpr bool is_traced_index<traced_window<N, Start>> = true;

template <class T, class S>
struct index_rule<traced<T, S>> {
  static constexpr bool known = std::is_integral_v<T> && !std::is_same_v<T, bool> && S::rank == 0;
  static constexpr bool drops = true;
  static constexpr std::int64_t kept(std::int64_t) { return 0; }
  static constexpr bool inside(std::int64_t extent) { return extent != 0; }
  static constexpr ops::block_axis block(const traced<T, S>& i) { return {ops::as_index(i), 1}; }
  static constexpr void apply(layout&, int, const traced<T, S>&) {
    static_assert(never<T>, "tenure: trace: a traced function captures nothing: pass the tensor as an argument instead");
  }
};
template <std::int64_t N, class Start>
struct index_rule<traced_window<N, Start>> {
  static constexpr bool known = index_rule<Start>::known && N >= 0;
  static constexpr bool drops = false;
  static constexpr std::int64_t kept(std::int64_t) { return N; }
  static constexpr bool inside(std::int64_t extent) { return !is_static(extent) || N <= extent; }
  static constexpr ops::block_axis block(const traced_window<N, Start>& w) { return {w.first, N}; }
  static constexpr void apply(layout& l, int axis, const traced_window<N, Start>& w) { index_rule<Start>::apply(l, axis, w.first); }
};

template <class Last>
struct index_rule<traced_range<Last>> {
  static constexpr bool known = index_rule<Last>::known;
  static constexpr bool drops = false;
  static constexpr std::int64_t kept(std::int64_t) { return dyn; }
  static constexpr bool inside(std::int64_t) { return true; }
  static constexpr void apply(layout& l, int axis, const traced_range<Last>& r) { index_rule<Last>::apply(l, axis, r.last); }
};

/// Returns `index` and requires that the axis has this element. A run-time axis is checked at the call.
constexpr std::int64_t require_inside(ops::value x, int axis, std::int64_t index) {
  const std::int64_t extent = x.shape()[axis];
  if (is_static(extent)) return x.graph->require_inside(index, extent);
  if (index < 0) x.graph->refuse({ir::diagnostic::kind::index, index, 0});
  else x.graph->require_at_least(extent, index + 1, "at");
  return index < 0 ? 0 : index;
}

/// The elements that one index selects along `axis`.
constexpr ops::value subscript_axis(ops::value x, int axis, std::integral auto i) {
  const std::int64_t at = require_inside(x, axis, static_cast<std::int64_t>(i));
  return ops::reshape_to(ops::sliced(x, axis, at, 1, 1), ops::without_axes(x.shape(), std::int64_t{1} << axis));
}
constexpr ops::value subscript_axis(ops::value x, int, all_of_axis) { return x; }
template <std::int64_t First, std::int64_t Last, std::int64_t Step>
constexpr ops::value subscript_axis(ops::value x, int axis, static_range<First, Last, Step> r) {
  x.graph->require_at_least(x.shape()[axis], Last, "at");
  return ops::sliced(x, axis, First, r.size, Step);
}
/// No extent: static extents and symbols are larger numbers.
inline constexpr std::int64_t no_extent = INT64_MIN;
/// The extent for which a traced number stands: extent<A>(x), also plus, minus or times a constant, or floor_divide by a constant. For any other
/// number, and below 0, it refuses the trace and returns no_extent.
constexpr std::int64_t extent_of_number(ops::value n, ir::diagnostic::kind otherwise) {
  ir::builder& g = *n.graph;
  std::int64_t more = 0;
  while (n.node().op == ir::opcode::add || n.node().op == ir::opcode::sub) {
    const bool adds = n.node().op == ir::opcode::add, is_left = adds && ops::operand_of(n, 0).node().op == ir::opcode::constant;
    const ops::value c = ops::operand_of(n, is_left ? 0 : 1);
    if (c.node().op != ir::opcode::constant) break;
    more += (adds ? 1 : -1) * static_cast<std::int64_t>(ir::value_of(c.node()));
    n = ops::operand_of(n, is_left ? 1 : 0);
  }
  using kind = ir::symbol::kind;
  const bool is_known = n.node().op == ir::opcode::constant, multiplies = n.node().op == ir::opcode::mul;
  std::int64_t extent = no_extent;
  if (multiplies || n.node().op == ops::code_of<ops::floor_divide>()) {
    const bool is_left = multiplies && ops::operand_of(n, 0).node().op == ir::opcode::constant;
    const ops::value by = ops::operand_of(n, is_left ? 0 : 1);
    const std::int64_t factor = by.node().op == ir::opcode::constant ? static_cast<std::int64_t>(ir::value_of(by.node())) : 0;
    if (factor > 0) extent = extent_of_number(ops::operand_of(n, is_left ? 1 : 0), otherwise);
    else g.refuse({otherwise});
    if (extent == no_extent) return no_extent;
    extent = g.derived(multiplies ? kind::product : kind::quotient, extent, factor);
  } else if (is_known) {
    extent = static_cast<std::int64_t>(ir::value_of(n.node()));
  } else if (n.node().op == ir::opcode::extent) {
    extent = g.canonical(n.node().attr);
  } else {
    g.refuse({otherwise});
    return no_extent;
  }
  if (more == 0) return extent;
  if (!is_static(extent)) return more < 0 ? g.derived(kind::difference, extent, -more) : g.derived(kind::sum, extent, more);
  if (extent + more >= 0) return extent + more;
  if (otherwise == ir::diagnostic::kind::made_extent) g.refuse({otherwise});
  else g.refuse({ir::diagnostic::kind::range, 0, extent + more});
  return no_extent;
}

/// Every step-th element from `first` up to `last`, which is an extent of the graph.
constexpr ops::value sliced_up_to(ops::value x, int axis, std::int64_t first, std::int64_t last, std::int64_t step) {
  ir::builder& g = *x.graph;
  const std::int64_t all = g.derived(ir::symbol::kind::difference, last, first);
  const std::int64_t length = step == 1 ? all : g.derived(ir::symbol::kind::quotient, g.derived(ir::symbol::kind::sum, all, step - 1), step);
  return ops::sliced(x, axis, first, length, step);
}
/// Refuses a range. The trace continues with no elements.
constexpr ops::value refuse_range(ops::value x, int axis, const ir::diagnostic& why) {
  x.graph->refuse(why);
  return ops::sliced(x, axis, 0, 0, 1);
}
/// A range whose bounds are not template arguments. A constant range outside its axis is noted in the graph. Other ranges are checked at the call.
constexpr ops::value subscript_range(ops::value x, int axis, std::int64_t first, std::int64_t last, std::int64_t step) {
  ir::builder& g = *x.graph;
  const std::int64_t extent = x.shape()[axis];
  if (first < 0 || step < 1 || (is_static(last) && first > last)) return refuse_range(x, axis, {ir::diagnostic::kind::range, first, last});
  if (is_static(last) && is_static(extent) && last > extent) return refuse_range(x, axis, {ir::diagnostic::kind::index, last - 1, extent});
  g.require_at_least(last, first, "at");
  if (extent != last) g.require_at_least(extent, last, "at");
  return sliced_up_to(x, axis, first, last, step);
}
constexpr ops::value subscript_axis(ops::value x, int axis, index_range r) {
  if (r.last < 0) return refuse_range(x, axis, {ir::diagnostic::kind::range, r.first, r.last});  // a symbol is below 0 too
  return subscript_range(x, axis, r.first, r.last, r.step);
}
constexpr ops::value subscript_axis(ops::value x, int axis, index_range_to_end r) {
  const std::int64_t extent = x.graph->canonical(x.shape()[axis]);
  if (is_static(extent) && extent < r.last.back) return refuse_range(x, axis, {ir::diagnostic::kind::range, r.first, extent - r.last.back});
  return subscript_range(x, axis, r.first, x.graph->derived(ir::symbol::kind::difference, extent, r.last.back), r.step);
}
template <class Last>
constexpr ops::value subscript_axis(ops::value x, int axis, const traced_range<Last>& r) {
  const std::int64_t last = extent_of_number(r.last, ir::diagnostic::kind::range_end);
  if (last == no_extent) return ops::sliced(x, axis, 0, 0, 1);
  return subscript_range(x, axis, r.first, x.graph->canonical(last), r.step);
}
template <std::int64_t First, index_from_end Last, std::int64_t Step>
constexpr ops::value subscript_axis(ops::value x, int axis, static_range_to_end<First, Last, Step>) {
  x.graph->require_at_least(x.shape()[axis], First + Last.back, "at");
  const std::int64_t extent = x.graph->canonical(x.shape()[axis]);
  const bool fits = !is_static(extent) || First + Last.back <= extent;  // if not, the check throws at the call
  return sliced_up_to(x, axis, First, fits ? x.graph->derived(ir::symbol::kind::difference, extent, Last.back) : First, Step);
}
/// A range between two positions that count from the end. For a run-time extent, the place of the first element is known only at run time too.
constexpr ops::value subscript_from_end(ops::value x, int axis, std::int64_t first, std::int64_t last, std::int64_t step) {
  ir::builder& g = *x.graph;
  const std::int64_t extent = g.canonical(x.shape()[axis]);
  if (is_static(extent)) return subscript_range(x, axis, extent - first, extent - last, step);
  if (last < 0 || first < last || step < 1) return refuse_range(x, axis, {ir::diagnostic::kind::range, -first, -last});
  g.require_at_least(extent, first, "at");
  ops::block b;
  for (int a = 0; a < x.shape().rank; ++a)
    b.add(a == axis ? ops::block_axis{ops::number_of_extent(g, dtype::int64, extent) - static_cast<double>(first), first - last} : ops::block_axis{});
  const ops::value block = ops::read_block(x, b, "at");
  return step == 1 ? block : ops::sliced(block, axis, 0, (first - last + step - 1) / step, step);
}
constexpr ops::value subscript_axis(ops::value x, int axis, index_range_from_end r) { return subscript_from_end(x, axis, r.first.back, r.last.back, r.step); }
template <index_from_end First, index_from_end Last, std::int64_t Step>
constexpr ops::value subscript_axis(ops::value x, int axis, static_range_from_end<First, Last, Step>) {
  return subscript_from_end(x, axis, First.back, Last.back, Step);
}
template <std::int64_t N>
constexpr ops::value subscript_axis(ops::value x, int axis, index_window<N> w) {
  const std::int64_t last = require_inside(x, axis, w.first < 0 ? w.first : w.first + N - 1);
  return ops::sliced(x, axis, last < N - 1 ? 0 : last - N + 1, N, 1);
}
template <class I>
  requires is_traced_index<I>
constexpr ops::value subscript_axis(ops::value x, int, const I&) { return x; }  // the block takes it

/// Adds an index to the block of the traced indices. The axes that other indices drop are gone already.
template <class I>
constexpr void add_to_block(ops::block& b, std::int64_t& dropped, const I& index) {
  if constexpr (is_traced_index<I>) {
    if (index_rule<I>::drops) dropped |= std::int64_t{1} << b.axes.size();
    b.add(index_rule<I>::block(index));
  } else if constexpr (!index_rule<I>::drops) {
    b.add({});
  }
}

template <class X, class... I>
constexpr auto subscript(later_phase, const X& x, const I&... index) {
  using S = typename X::shape_type;
  if constexpr (!are_indices<S, I...>()) {
    return x;
  } else {
    ops::value v = x;
    [[maybe_unused]] int axis = 0;
    ((v = subscript_axis(v, axis, index), axis += is_traced_index<I> || !index_rule<I>::drops), ...);
    if constexpr ((is_traced_index<I> || ...)) {
      ops::block b;
      std::int64_t dropped = 0;
      (add_to_block(b, dropped, index), ...);
      v = ops::read_block(v, b, "at");
      v = ops::reshape_to(v, ops::without_axes(v.shape(), dropped));
    }
    return traced<typename X::element_type, shape_from<indexed_shape<S, I...>>>{x.graph, v.id};
  }
}

}  // namespace tenure::detail

namespace TENURE_NAMESPACE {

/// N neighbouring elements from a traced integer on. Errors: index_error if they do not lie inside the axis.
template <std::int64_t N, class T>
constexpr auto window(const traced<T, shape<>>& first) { return detail::traced_window<N, traced<T, shape<>>>{first}; }

/// Elements first, first + step, ... up to a traced extent, which is not included: extent<A>(x), also plus, minus or times a number, or floor_divide
/// by a number. Errors: a range that does not lie inside its axis throws when the call begins.
template <class T>
constexpr auto range(std::int64_t first, const traced<T, shape<>>& last, std::int64_t step = 1) {
  static_assert(std::is_integral_v<T>, "tenure: range: the last index is floating, as n / 2 is: half of an extent n is tn::floor_divide(n, 2)");
  if constexpr (std::is_integral_v<T>) return detail::traced_range<traced<T, shape<>>>{first, last, step};
  else return index_range{0, 0, 1};
}

/// No range begins at a traced integer, because its length would be unknown: window<N>(i) has a length.
template <class T, class Last>
constexpr index_range range(const traced<T, shape<>>&, const Last&, std::int64_t = 1) {
  static_assert(detail::never<T>,
                "tenure: range: in a trace the first index is a number: at a traced position take tn::window<N>(i)");
  return {0, 0, 1};
}

}  // namespace tenure
