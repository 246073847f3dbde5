// SPDX-License-Identifier: BSL-1.0
// The matrix product. Leading axes are batches: there is one product for each index of them.
#pragma once

#include <tenure/ops/structural/view.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr value matrix_product(value a, value b) {
  if (const dtype narrow = a.graph->products_in(); narrow != dtype::float32 && a.type() == dtype::float32)  // transform/autocast.hpp
    return cast_to(matrix_product(cast_to(a, narrow), cast_to(b, narrow)), dtype::float32);
  extents to = a.shape();
  to[to.rank - 1] = b.shape()[b.shape().rank - 1];
  return {*a.graph, a.graph->emit({.op = ir::opcode::matmul, .type = a.type(), .arity = 2, .shape = a.graph->intern(to), .in = {a.id, b.id, ir::none}})};
}

namespace nodes {
struct matmul : structural<ir::opcode::matmul, 2, lowering::step> {
  static constexpr const char* name = "matmul";
  static constexpr bool computes = true;
  static constexpr int axes_of_piece = 1;
  template <class V>
  static constexpr V pull(V y, int i, V g) {
    return i == 0 ? matrix_product(g, transposed(operand_of(y, 1))) : matrix_product(transposed(operand_of(y, 0)), g);
  }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return push_of_product(y, tangents); }
  static constexpr value batch(const auto& b) {
    ir::builder& g = *b.graph;
    const extents left = b.sample(0), right = b.sample(1), to = b.batch_of(g.shape(b.node().shape));
    // One matrix for all samples: one product computes the rows of all of them.
    if (left.rank == 2 && b.is_shared(1)) {
      const std::int64_t rows = g.derived(ir::symbol::kind::product, b.samples(), left[0]);
      return reshape_to(matrix_product(reshape_to(b.given(0), {2, {rows, left[1]}}), b.given(1)), to);
    }
    if (left.rank == 2 && b.is_shared(0) && right[1] == 1)
      return reshape_to(matrix_product(reshape_to(b.given(1), {2, {b.samples(), right[0]}}), transposed(b.given(0))), to);
    return b.same_node();
  }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) {
    const extents& left = g.shape_of(g[id].in[0]);
    return 2 * count(g.shape_of(id)) * left[left.rank - 1];
  }
  static constexpr void verify(rule_check& c) {
    const extents &a = c.shape_of(0), &b = c.shape_of(1), &to = c.shape();
    for (int k = 0; k < 2; ++k)
      if (!widens_to(c.operand(k).type, c.self().type)) c.same_type(k);  // loads may widen a factor: passes/narrow_factors.hpp
    c.expect(c.self().type != dtype::boolean, "a product of bool");
    c.expect(to.rank >= 2, "a product of less than matrices", to.rank, 2);
    c.rank_is(a, to.rank);
    c.rank_is(b, to.rank);
    if (!c.found.ok()) return;
    for (int i = 0; i < to.rank - 2; ++i) {
      c.extent_is(a[i], to[i]);
      c.extent_is(b[i], to[i]);
    }
    c.extent_is(a[to.rank - 2], to[to.rank - 2]);
    c.extent_is(b[to.rank - 1], to[to.rank - 1]);
    c.extent_is(b[to.rank - 2], a[to.rank - 1]);
  }
};
}  // namespace nodes

}  // namespace tenure::ops
