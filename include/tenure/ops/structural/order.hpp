// SPDX-License-Identifier: BSL-1.0
// The positions of the elements of each row in sorted order. sort, topk and median read the elements at these positions.
#pragma once

#include <tenure/ops/structural/rule.hpp>
#include <tenure/ops/structural/view.hpp>

namespace TENURE_NAMESPACE::ops {

/// For each row along the last axis, the first `count` positions of its elements in ascending or descending order, as int64. Equal elements stay in
/// the order of their positions. NaN is above every number.
constexpr value ordered(value x, bool descending, std::int64_t count) {
  extents to = x.shape();
  to[to.rank - 1] = count;
  return {*x.graph, x.graph->emit({.op = ir::opcode::order, .type = dtype::int64, .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .start = descending})};
}

namespace nodes {
struct order : structural<ir::opcode::order, 1, lowering::step, attributes::direction> {
  static constexpr const char* name = "order";
  static constexpr bool flows_to(int) { return false; }
  template <class V>
  static constexpr V pull(V, int, V g) { return g; }
  template <class B>
  static constexpr value batch(const B& b) { return b.same_node(); }
  static constexpr void verify(rule_check& c) {
    const extents &x = c.shape_of(0), &y = c.shape();
    c.is_type(c.self(), dtype::int64);
    c.expect(x.rank >= 1, "an order of a scalar", x.rank, 1);
    c.rank_is(y, x.rank);
    if (!c.found.ok()) return;
    for (int a = 0; a < x.rank - 1; ++a) c.extent_is(y[a], x[a]);
    const std::int64_t count = y[y.rank - 1], length = x[x.rank - 1];
    c.expect(!is_static(count) || !is_static(length) || count <= length, "more positions than elements", count, length);
  }
};
}  // namespace nodes

}  // namespace tenure::ops
