// SPDX-License-Identifier: BSL-1.0
// The windows of an axis: a view, in which an element of the axis stands in as many windows as overlap there. overlap_add, its transpose, adds each window at its
// place. Each is the derivative of the other.
#pragma once

#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

/// The number of windows of `size` elements along an axis of at least so many elements, which may be known at run time only.
constexpr std::int64_t window_count(ir::builder& g, std::int64_t extent, std::int64_t size, std::int64_t step) {
  using kind = ir::symbol::kind;
  return g.derived(kind::sum, g.derived(kind::quotient, g.derived(kind::difference, extent, size), step), 1);
}
/// The windows of an axis, which counts them. Their elements are along a new last axis.
constexpr value windowed(value x, int axis, std::int64_t size, std::int64_t step) {
  extents to = x.shape();
  to[axis] = window_count(*x.graph, to[axis], size, step);
  to.push_back(size);
  return {*x.graph, x.graph->emit({.op = ir::opcode::windows, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = axis, .step = step})};
}

/// The transpose of windowed: an axis of so many elements, with each window added at its place. passes/rules/overlaps.hpp says how it is computed.
constexpr value overlap_added(value g, int axis, std::int64_t extent, std::int64_t step) {
  extents to = without_axes(g.shape(), std::int64_t{1} << (g.shape().rank - 1));
  to[axis] = extent;
  return {*g.graph, g.graph->emit({.op = ir::opcode::overlap_add, .type = g.type(), .arity = 1, .shape = g.graph->intern(to), .in = {g.id, ir::none, ir::none}, .attr = axis, .step = step})};
}

namespace nodes {
/// Checks that `to` has the windows of one axis of `from`. The fields of the node give axis and step.
constexpr void verify_windows(rule_check& c, const extents& from, const extents& to) {
  c.same_type(0);
  c.rank_is(to, from.rank + 1);
  if (!c.axis_in(c.self().attr, from)) return;
  const int axis = static_cast<int>(c.self().attr);
  for (int a = 0; a < from.rank; ++a)
    if (a != axis) c.extent_is(to[a], from[a]);
  const std::int64_t size = to[from.rank], step = c.self().step;
  c.expect(is_static(size) && size > 0 && step > 0, "windows without elements, or with steps below 1", size, step);
  if (c.found.ok() && is_static(from[axis]) && is_static(to[axis])) c.extent_is(to[axis], (from[axis] - size) / step + 1);
}

struct windows : structural<ir::opcode::windows, 1, lowering::view, attributes::axis_step> {
  static constexpr const char* name = "windows";
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const ir::node n = y.node();
    const int axis = static_cast<int>(n.attr);
    return overlap_added(g, axis, operand_of(y, 0).shape()[axis], n.step);
  }
  static constexpr value batch(const auto& b) { return b.node_with(b.node().attr + 1); }
  static constexpr void verify(rule_check& c) { verify_windows(c, c.shape_of(0), c.shape()); }
};
struct overlap_add : structural<ir::opcode::overlap_add, 1, lowering::none, attributes::axis_step> {
  static constexpr const char* name = "overlap_add";
  static constexpr bool computes = true;
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const V x = operand_of(y, 0);
    return windowed(g, static_cast<int>(y.node().attr), x.shape()[x.shape().rank - 1], y.node().step);
  }
  static constexpr value batch(const auto& b) { return b.node_with(b.node().attr + 1); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) { return count(g.shape_of(g[id].in[0])); }
  static constexpr void verify(rule_check& c) { verify_windows(c, c.shape(), c.shape_of(0)); }
};
}  // namespace nodes

}  // namespace tenure::ops
