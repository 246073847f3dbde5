// SPDX-License-Identifier: BSL-1.0
// Lists the residuals of a program: the values that the forward half of a derivative computes and the backward half reads.
#pragma once

#include <tenure/passes/fuse.hpp>

namespace TENURE_NAMESPACE::passes {

/// The residuals in temporary memory, in ascending order: a step of the forward half computes them, and a step of the backward half reads them.
/// Arguments and results do not count, because their memory belongs to the caller. The residuals of a loop are results of the loop.
constexpr ir::array<ir::node_id> residuals_of_backward(const ir::graph_view& g, const fusion_groups_view& c) {
  ir::array<ir::node_id> residuals;
  if (g.backward_from == 0) return residuals;
  const auto is_forward = [&](ir::node_id root) { return (is_result(g[root].op) ? g[root].in[0] : root) < g.backward_from; };
  ir::array<char> is_read(g.count, 0);
  for (ir::node_id id = g.backward_from; id < g.count; ++id) {
    if (c.of[id] < 0 || is_result(g[id].op)) continue;
    const auto read = [&](ir::node_id operand) {
      const ir::node_id root = c.root[operand];
      if (is_forward(root) && c.of[root] != c.of[id]) is_read[root] = 1;
    };
    for (int k = 0; k < g[id].arity; ++k) ir::for_each_operand(g.nodes, g[id].in[k], read);
  }
  for (int i = 0; i < g.output_count; ++i) is_read[c.root[g.outputs[i]]] = 0;
  for (ir::node_id id = 0; id < g.count; ++id)
    if (is_read[id] && !is_source(g[id].op)) residuals.push_back(id);
  return residuals;
}

}  // namespace tenure::passes
