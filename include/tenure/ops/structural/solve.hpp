// SPDX-License-Identifier: BSL-1.0
// The solution of a system of linear equations. Leading axes are batches, as in a matrix product.
#pragma once

#include <tenure/ops/structural/product.hpp>

namespace TENURE_NAMESPACE::ops {

/// The x of a x = b, for matrices.
constexpr value solution(value a, value b) {
  return {*a.graph, a.graph->emit({.op = ir::opcode::solve, .type = b.type(), .arity = 2, .shape = b.node().shape, .in = {a.id, b.id, ir::none}})};
}

namespace nodes {
/// x = a^-1 b, so dx = a^-1 (db - da x).
struct solve : structural<ir::opcode::solve, 2, lowering::step> {
  static constexpr const char* name = "solve";
  static constexpr int copies = 0;  // elimination overwrites the matrix
  template <class V>
  static constexpr V pull(V y, int i, V g) {
    const V of_b = solution(transposed(operand_of(y, 0)), g);
    return i == 1 ? of_b : -matrix_product(of_b, transposed(y));
  }
  template <class V>
  static constexpr V push(V y, const V* tangents) {
    const V a = operand_of(y, 0);
    if (tangents[0].id == ir::none) return solution(a, tangents[1]);
    const V moved = matrix_product(tangents[0], y);
    return solution(a, tangents[1].id == ir::none ? -moved : tangents[1] - moved);
  }
  template <class B>
  static constexpr value batch(const B& b) {
    const extents right = b.sample(1);
    if (right.rank != 2 || !b.is_shared(0)) return b.same_node();
    // One matrix for all samples: their right-hand sides are columns of one.
    const std::int64_t columns = b.graph->derived(ir::symbol::kind::product, b.samples(), right[1]);
    const value beside = reshape_to(moved_axis(b.given(1), 0, 1), {2, {right[0], columns}});
    return moved_axis(reshape_to(solution(b.given(0), beside), {3, {right[0], b.samples(), right[1]}}), 1, 0);
  }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) {
    const extents& right = g.shape_of(id);
    const std::int64_t n = right[right.rank - 2], systems = count(right) / (n * right[right.rank - 1] > 0 ? n * right[right.rank - 1] : 1);
    return systems * 2 * n * n * n / 3 + 2 * n * count(right);
  }
  static constexpr void verify(rule_check& c) {
    const extents &a = c.shape_of(0), &b = c.shape_of(1);
    c.same_type(0);
    c.same_type(1);
    c.same_shape(1);
    c.expect(is_floating(c.self().type), "a system of equations of integers or bool");
    c.expect(b.rank >= 2, "a system of less than matrices", b.rank, 2);
    c.rank_is(a, b.rank);
    if (!c.found.ok()) return;
    for (int i = 0; i < b.rank - 1; ++i) c.extent_is(a[i], b[i]);
    c.extent_is(a[a.rank - 1], a[a.rank - 2]);
  }
};
}  // namespace nodes

}  // namespace tenure::ops
