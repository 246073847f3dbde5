// SPDX-License-Identifier: BSL-1.0
// Reductions along axes: sums and extrema.
#pragma once

#include <tenure/ops/structural/view.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr value reduced(value x, std::int64_t mask, ir::reduction kind) {
  if (mask == 0) return x;
  return {*x.graph, x.graph->emit({.op = ir::opcode::reduce, .type = x.type(), .arity = 1, .shape = x.graph->intern(without_axes(x.shape(), mask)), .in = {x.id, ir::none, ir::none}, .attr = mask, .start = static_cast<std::int64_t>(kind)})};
}
/// The result r of a reduction of x along the axes of the mask, stretched back to the shape of x.
constexpr value stretched_like(value r, value x, std::int64_t mask) {
  std::int64_t axes = 0;
  int i = 0;
  for (int a = 0; a < x.shape().rank; ++a)
    if (!((mask >> a) & 1)) axes = ir::pack_axis(axes, i++, a);
  return broadcast_along(r, x.node().shape, axes);
}

namespace nodes {
/// The transpose of a sum is a broadcast. The cotangent of a max or min goes to all elements that equal it, in equal shares (PyTorch's
/// amax, amin).
struct reduce : structural<ir::opcode::reduce, 1, lowering::kernel, attributes::mask_of_axes> {
  static constexpr const char* name = "reduce";
  static constexpr bool computes = true;
  static constexpr bool is_sum(const ir::node& n) { return n.start == static_cast<std::int64_t>(ir::reduction::sum); }
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const ir::node n = y.node();
    const V x = operand_of(y, 0), stretched = stretched_like(g, x, n.attr);
    return is_sum(n) ? stretched : stretched * share_of_extremum(x, y, n.attr);
  }
  template <class V>
  static constexpr V push(V y, const V* tangents) {
    const ir::node n = y.node();
    if (is_sum(n)) return with_operand(y, 0, tangents[0]);
    return reduced(tangents[0] * share_of_extremum(operand_of(y, 0), y, n.attr), n.attr, ir::reduction::sum);
  }
  static constexpr value batch(const auto& b) { return b.node_with(b.node().attr << 1); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) { return count(g.shape_of(g[id].in[0])); }
  static constexpr void verify(rule_check& c) {
    const ir::node& n = c.self();
    const extents& from = c.shape_of(0);
    c.same_type(0);
    c.expect(n.attr > 0 && n.attr <= all_axes(from.rank), "no such axes", n.attr, from.rank);
    c.expect(n.start >= 0 && n.start <= static_cast<std::int64_t>(ir::reduction::max_of_numbers), "no such reduction", n.start);
    if (c.found.ok()) c.extents_are(c.shape(), without_axes(from, n.attr));
  }
};
}  // namespace nodes

}  // namespace tenure::ops
