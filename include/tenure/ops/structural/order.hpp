// SPDX-License-Identifier: BSL-1.0
// The positions of the elements of each row in sorted order. sort, topk and median read the elements at these positions.
#pragma once

#include <tenure/ops/structural/rule.hpp>
#include <tenure/ops/structural/view.hpp>

namespace TENURE_NAMESPACE::ops {

/// For each row of the last axis the positions of its elements in ascending or descending order, as int64. Equal elements stay in the order of
/// their positions. A NaN stands above every number.
constexpr value ordered(value x, bool descending) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::order, .type = dtype::int64, .arity = 1, .shape = x.node().shape, .in = {x.id, ir::none, ir::none}, .start = descending})};
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
    c.same_shape(0);
    c.is_type(c.self(), dtype::int64);
    c.expect(c.shape().rank >= 1, "an order of a scalar", c.shape().rank, 1);
  }
};
}  // namespace nodes

}  // namespace tenure::ops
