// SPDX-License-Identifier: BSL-1.0
// Replaces a scan of one iteration by its body. Then its operations fuse with the operations around it, and its values need no separate memory.
// Law: trip_count_one keeps the meaning, and leaves no scan of one iteration outside bodies. A body gets the same pass where it becomes a program.
// Cost: a copy of the graph for each level of nested scans of one iteration. Graphs without control-flow operations are skipped.
#pragma once

#include <tenure/ir/graph.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

constexpr bool is_trip_count_one(const ir::graph_view& g, node_id id) {
  const ir::found_control_flow c = g.find_control_flow(id);
  return c != nullptr && c->what == ir::control_flow::kind::scan && c->length == 1;
}
constexpr bool has_trip_count_one(const ir::graph_view& g) {
  for (node_id id = 0; id < g.count && g.inner.control_flow_count > 0; ++id)
    if (is_trip_count_one(g, id)) return true;
  return false;
}

/// Sizes that are large enough for the graph with its scans of one iteration inlined.
constexpr ir::graph_sizes sizes_with_trip_count_one(const ir::graph_view& g) {
  ir::graph_sizes sizes = ir::sizes_of(g);
  for (node_id id = 0; id < g.count && g.inner.control_flow_count > 0; ++id) {
    if (!is_trip_count_one(g, id)) continue;
    const ir::control_flow& c = g.control_flow_of(g[id]);
    const ir::graph_view body = g.body_at(c.bodies[0]);
    const ir::graph_sizes inner = sizes_with_trip_count_one(body);
    sizes.nodes += inner.nodes + c.scanned + c.counts + body.output_count;  // a slice of each scanned operand, and a stack of each result
    sizes.bounds += inner.bounds;
    sizes.shapes += c.scanned + body.output_count;
  }
  return sizes;
}

/// Inlines the body of a scan of one iteration, on the operands of the scan. Returns the results.
constexpr ir::array<node_id> only_iteration(ir::builder& out, const ir::control_flow& c, const ir::array<node_id>& operands) {
  ir::array<node_id> inputs, results;
  const int own = c.own_operands();
  for (int i = 0; i < own; ++i) {
    const extents shape = out.shape_of(operands[i]);
    inputs.push_back(i < c.carries ? operands[i] : ops::reshape_to({out, operands[i]}, ops::without_axes(shape, 1)).id);
  }
  if (c.counts) inputs.push_back(out.constant(dtype::int64, out.intern({}), 0));
  for (int i = own; i < operands.size(); ++i) inputs.push_back(operands[i]);
  const ir::array<node_id> nodes = out.inline_body(c.bodies[0], inputs, ir::builder::bounds::as_written);
  const ir::body body = out.bodies().bodies[c.bodies[0]];
  for (int i = 0; i < body.output_count; ++i) {
    const node_id y = nodes[out.bodies().outputs[body.first_output + i]];
    const extents one = out.shape_of(y);
    extents stack{1, {1}};
    for (int a = 0; a < one.rank; ++a) stack.push_back(one[a]);
    results.push_back(i < c.carries ? y : ops::reshape_to({out, y}, stack).id);
  }
  return results;
}

/// Inlines the scans of one iteration. dead_code() removes the control-flow operations that stay without a reader.
constexpr ir::builder trip_count_one(const ir::graph_view& g) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  ir::array<int> first_result(g.count, -1);  // for a scan of one iteration: the position of its first result in `results`
  ir::array<node_id> results;
  for (node_id id = 0; id < g.count; ++id) {
    if (const ir::node& n = g[id]; n.op == ir::opcode::result && first_result[n.in[0]] >= 0) {
      renamed[id] = results[first_result[n.in[0]] + static_cast<int>(n.attr)];
      continue;
    }
    renamed[id] = out.append(with_renamed_operands(g[id], renamed.data()));
    if (!is_trip_count_one(g, id)) continue;
    ir::array<node_id> operands;
    ir::for_each_operand(g.nodes, g[id].in[0], [&](node_id operand) { operands.push_back(renamed[operand]); });
    first_result[id] = results.size();
    for (const node_id result : only_iteration(out, g.control_flow_of(g[id]), operands)) results.push_back(result);
  }
  finish(g, renamed, out);
  ir::builder live = dead_code(out.view());
  if (has_trip_count_one(live.view())) return trip_count_one(live.view());
  return live;
}

}  // namespace tenure::passes
