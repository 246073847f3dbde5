// SPDX-License-Identifier: BSL-1.0
// Products read factors of a narrow type, such as bfloat16, from memory as they are. After legalize such a factor is a cast to the type of the lanes, or a view of
// one. Here the product reads what the cast reads, and the loads of the product widen the numbers. So a matrix of bfloat16 is read once, with half of the bytes,
// and no widened copy of it is written.
// Law: a factor keeps every number, because a cast to the type of the lanes is exact. The order of the additions may change with the type.
// Cost: one sweep. The pass is skipped for graphs without such casts.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/legalize.hpp>
#include <tenure/passes/roles.hpp>

namespace TENURE_NAMESPACE::passes {

/// The cast that widens a factor, which may be a view of it. none: the factor has the type of the lanes in memory, or is a constant.
constexpr node_id widened_factor(const ir::graph_view& g, node_id factor) {
  while (is_view(g[factor].op)) factor = g[factor].in[0];
  if (g[factor].op != ir::opcode::cast) return none;
  return widens_to(g[g[factor].in[0]].type, g[factor].type) ? factor : none;
}

/// Whether a product is so small that its factors are in registers. Such a product reads lanes.
constexpr bool reads_lanes(const ir::graph_view& g, const ir::node& product) {
  const extents &to = g.shapes[product.shape], &left = g.shape_of(product.in[0]);
  const int last = to.rank - 1;
  if (!is_static(to[last]) || !is_static(to[last - 1]) || !is_static(left[last])) return false;
  return to[last] * to[last - 1] * left[last] <= costs::product_of_lanes;
}

constexpr bool needs_narrow_factors(const ir::graph_view& g) {
  for (node_id id = 0; id < g.count; ++id)
    if (g[id].op == ir::opcode::matmul && !reads_lanes(g, g[id]))
      for (int k = 0; k < 2; ++k)
        if (widened_factor(g, g[id].in[k]) != none) return true;
  return false;
}

constexpr ir::builder narrow_factors(const ir::graph_view& g) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  const auto narrow = [&](auto&& self, node_id id) -> node_id {  // the same view of what the cast reads
    if (g[id].op == ir::opcode::cast) return renamed[g[id].in[0]];
    ir::node view = g[id];
    view.in[0] = self(self, view.in[0]);
    view.type = out[view.in[0]].type;
    return out.emit(view);
  };
  for (node_id id = 0; id < g.count; ++id) {
    ir::node n = with_renamed_operands(g[id], renamed.data());
    if (n.op == ir::opcode::matmul && !reads_lanes(g, g[id]))
      for (int k = 0; k < 2; ++k)
        if (widened_factor(g, g[id].in[k]) != none) n.in[k] = narrow(narrow, g[id].in[k]);
    renamed[id] = out.emit(n);
  }
  finish(g, renamed, out);
  return dead_code(out.view());
}

}  // namespace tenure::passes
