// SPDX-License-Identifier: BSL-1.0
// The role of a node in the schedule: a source, a view of its operand, memory that its operands fill, a separate step, or an instruction of a kernel.
#pragma once

#include <tenure/ops/registry.hpp>
#include <tenure/ops/structural/registry.hpp>

namespace TENURE_NAMESPACE::passes {

constexpr ops::lowering lowering_of(ir::opcode op) { return ops::is_pointwise(op) ? ops::lowering::kernel : ops::structural_record_of(op).lowers; }

constexpr bool is_source(ir::opcode op) { return lowering_of(op) == ops::lowering::source; }
constexpr bool is_view(ir::opcode op) { return lowering_of(op) == ops::lowering::view; }
constexpr bool is_step(ir::opcode op) { return lowering_of(op) == ops::lowering::step; }
constexpr bool is_fused(ir::opcode op) { return lowering_of(op) == ops::lowering::kernel; }

/// Whether the node is memory that a control-flow operation writes.
constexpr bool is_result(ir::opcode op) { return lowering_of(op) == ops::lowering::result; }

/// Whether the node can be computed in a part of a concat. A kernel can do this, because it stores by strides, and so can a nested concat. A reduction
/// cannot, because it accumulates in separate memory.
constexpr bool stores_by_strides(ir::opcode op) { return op == ir::opcode::concat || (is_fused(op) && op != ir::opcode::reduce); }

using ir::below_reshapes;
/// The node below a chain of views, which has the memory. `g` is a builder or the view of a graph.
template <class Graph>
constexpr ir::node_id below_views(const Graph& g, ir::node_id id) {
  while (is_view(g[id].op)) id = g[id].in[0];
  return id;
}

/// Whether two shapes are equal when all extents of 1 are ignored.
constexpr bool same_but_ones(const extents& a, const extents& b) {
  int i = 0, j = 0;
  while (true) {
    while (i < a.rank && a[i] == 1) ++i;
    while (j < b.rank && b[j] == 1) ++j;
    if (i == a.rank || j == b.rank) return i == a.rank && j == b.rank;
    if (a[i++] != b[j++]) return false;
  }
}

}  // namespace tenure::passes
