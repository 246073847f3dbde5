// SPDX-License-Identifier: BSL-1.0
// Operations that assemble an array from parts: pad puts zeros around a part, concat puts one part behind another.
#pragma once

#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

/// The transpose of sliced: an axis of extent `length` with the elements of x at start, start + step, ... and zeros elsewhere.
constexpr value padded(value x, int axis, std::int64_t start, std::int64_t length, std::int64_t step) {
  extents to = x.shape();
  to[axis] = length;
  return {*x.graph, x.graph->emit({.op = ir::opcode::pad, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = axis, .start = start, .step = step})};
}

namespace nodes {
struct pad : structural<ir::opcode::pad, 1, lowering::step, attributes::axis_start_step> {
  static constexpr const char* name = "pad";
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const ir::node n = y.node();
    const int axis = static_cast<int>(n.attr);
    return sliced(g, axis, n.start, operand_of(y, 0).shape()[axis], n.step);
  }
  static constexpr value batch(const auto& b) { return b.node_with(b.node().attr + 1); }
  static constexpr void verify(rule_check& c) {
    c.same_type(0);
    c.strided(c.shape(), c.shape_of(0));
  }
};
}  // namespace nodes

constexpr value concatenated(value a, value b, int axis) {
  extents to = a.shape();
  to[axis] = a.graph->derived(ir::symbol::kind::sum, a.shape()[axis], b.shape()[axis]);
  return {*a.graph, a.graph->emit({.op = ir::opcode::concat, .type = a.type(), .arity = 2, .shape = a.graph->intern(to), .in = {a.id, b.id, ir::none}, .attr = axis})};
}

namespace nodes {
struct concat : structural<ir::opcode::concat, 2, lowering::assembly, attributes::axis> {
  static constexpr const char* name = "concat";
  template <class V>
  static constexpr V pull(V y, int i, V g) {
    const int axis = static_cast<int>(y.node().attr);
    const std::int64_t before = i == 0 ? 0 : operand_of(y, 0).shape()[axis];
    return sliced(g, axis, before, operand_of(y, i).shape()[axis], 1);
  }
  template <class V>
  static constexpr V push(V y, const V* tangents) {
    ir::node n = y.node();
    for (int i = 0; i < 2; ++i) n.in[i] = tangents[i].id != ir::none ? tangents[i].id : operand_of(y, i).like(0).id;
    return {*y.graph, y.graph->emit(n)};
  }
  static constexpr value batch(const auto& b) { return b.node_with(b.node().attr + 1); }
  static constexpr void verify(rule_check& c) {
    const extents &x = c.shape_of(0), &y = c.shape_of(1), &to = c.shape();
    c.same_type(0);
    c.same_type(1);
    c.rank_is(x, to.rank);
    c.rank_is(y, to.rank);
    if (!c.axis_in(c.self().attr, to)) return;
    for (int a = 0; a < to.rank; ++a)
      if (a != c.self().attr) {
        c.extent_is(x[a], to[a]);
        c.extent_is(y[a], to[a]);
      } else if (is_static(x[a]) && is_static(y[a]) && is_static(to[a])) {
        c.extent_is(to[a], x[a] + y[a]);
      }
  }
};
}  // namespace nodes

}  // namespace tenure::ops
