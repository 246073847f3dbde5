// SPDX-License-Identifier: BSL-1.0
// gather, which reads at computed positions, and its transpose scatter, which adds at computed positions.
#pragma once

#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

/// The extents of x, with one axis replaced by the extents of the indices.
constexpr extents gathered_extents(const extents& x, const extents& indices, int axis) {
  extents s;
  for (int i = 0; i < x.rank; ++i)
    if (i != axis) s.push_back(x[i]);
    else
      for (int j = 0; j < indices.rank; ++j) s.push_back(indices[j]);
  return s;
}
/// Verifies that `many` has one block of `table` for each index, and that the graph has a bound for the indices: backends read and write
/// at these positions without a check of their own.
constexpr void verify_indexed(rule_check& c, int k, const extents& table, const extents& many) {
  c.is_integer(k);
  if (!c.axis_in(c.self().attr, table)) return;
  const extents& which = c.shape_of(k);
  c.expect(table.rank - 1 + which.rank <= max_rank, "a shape of impossible rank", table.rank - 1 + which.rank, max_rank);
  if (!c.found.ok()) return;
  c.extents_are(many, gathered_extents(table, which, static_cast<int>(c.self().attr)));
  bool is_bounded = false;
  for (int i = 0; i < c.graph.bound_count; ++i) is_bounded = is_bounded || c.graph.bounds[i].indices == c.self().in[k];
  c.expect(is_bounded, "indices that no bound speaks of", c.self().in[k]);
}

constexpr value gathered(value x, value indices, int axis) {
  const extents to = gathered_extents(x.shape(), indices.shape(), axis);
  return {*x.graph, x.graph->emit({.op = ir::opcode::gather, .type = x.type(), .arity = 2, .shape = x.graph->intern(to), .in = {x.id, indices.id, ir::none}, .attr = axis})};
}

namespace nodes {
struct gather : structural<ir::opcode::gather, 2, lowering::step, attributes::axis> {
  static constexpr const char* name = "gather";
  static constexpr bool flows_to(int i) { return i == 0; }
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const V x = operand_of(y, 0), indices = operand_of(y, 1);
    return scattered(indices, g, static_cast<int>(y.node().attr), x.node().shape);
  }
  static constexpr void verify(rule_check& c) {
    c.same_type(0);
    verify_indexed(c, 1, c.shape_of(0), c.shape());
  }
};
}  // namespace nodes

/// Zeros of the shape `to`, with the updates added at the indices along an axis.
constexpr value scattered(value indices, value updates, int axis, std::int16_t to) {
  return {*updates.graph, updates.graph->emit({.op = ir::opcode::scatter, .type = updates.type(), .arity = 2, .shape = to, .in = {indices.id, updates.id, ir::none}, .attr = axis})};
}

namespace nodes {
struct scatter : structural<ir::opcode::scatter, 2, lowering::step, attributes::axis> {
  static constexpr const char* name = "scatter";
  static constexpr bool flows_to(int i) { return i == 1; }
  template <class V>
  static constexpr V pull(V y, int, V g) { return gathered(g, operand_of(y, 0), static_cast<int>(y.node().attr)); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return with_operand(y, 1, tangents[1]); }
  static constexpr void verify(rule_check& c) {
    c.same_type(1);
    verify_indexed(c, 0, c.shape(), c.shape_of(1));
  }
};
}  // namespace nodes

}  // namespace tenure::ops
