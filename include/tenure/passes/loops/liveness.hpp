// SPDX-License-Identifier: BSL-1.0
// Which values are needed, also inside loops and branches. Needed results of a control-flow operation need values in its bodies, and these need
// operands. activity.hpp goes from operands to results. Cost: a sweep over each body, and a few sweeps for a body whose carries need each other.
#pragma once

#include <tenure/passes/loops/activity.hpp>
#include <tenure/passes/costs.hpp>

namespace TENURE_NAMESPACE::passes {

/// The operand of a custom derivative that is equal to its result `result`.
constexpr ir::node_id value_of_custom(const ir::graph_view& g, const ir::node& result) {
  const ir::node& made = g[result.in[0]];
  return ir::operand_at(g.nodes, made.in[0], g.control_flow_of(made).operand_of_result(static_cast<int>(result.attr)));
}

/// Which nodes of a graph are needed, and which results of its control-flow operations. A custom derivative itself is not needed, because its
/// results are equal to operands.
struct liveness {
  mark_list nodes, results;
  ir::array<int> first_result;  // for a control-flow operation: the position of its first result in `results`
};
/// Which outputs and inputs of the bodies of a control-flow operation are needed, and which operands.
struct liveness_of_bodies {
  // Workaround for g++ 12: in constant evaluation it does not copy an array of arrays.
  mark_list of_first, of_second, inputs_of_first, inputs_of_second, operands;

  constexpr mark_list& outputs(int body) { return body == 0 ? of_first : of_second; }
  constexpr mark_list& inputs(int body) { return body == 0 ? inputs_of_first : inputs_of_second; }
  constexpr const mark_list& outputs(int body) const { return body == 0 ? of_first : of_second; }
  constexpr const mark_list& inputs(int body) const { return body == 0 ? inputs_of_first : inputs_of_second; }
};

constexpr liveness liveness_of(const ir::graph_view& g, const mark_list& outputs);

/// Marks the inputs of a body that its marked outputs need.
constexpr mark_list inputs_needed(const ir::graph_view& body, const mark_list& outputs) {
  const liveness d = liveness_of(body, outputs);
  mark_list inputs(body.input_count, 0);
  for (ir::node_id id = 0; id < body.count; ++id)
    if (body[id].op == ir::opcode::input) inputs[static_cast<int>(body[id].attr)] = d.nodes[id];
  return inputs;
}

/// The liveness in the bodies of a loop or a branch. results[first + i] says whether its result i is needed. A carry that is needed after an iteration makes
/// the carries needed from which the iteration computes it.
constexpr liveness_of_bodies liveness_of(const ir::graph_view& g, const ir::control_flow& c, const mark_list& results, int first) {
  liveness_of_bodies d;
  const ir::port_list ports = g.ports_of(c);
  const int bodies = c.body_count();
  d.operands.resize(c.operands(), 0);
  for (int b = 0; b < bodies; ++b) d.outputs(b).resize(g.inner.bodies[c.bodies[b]].output_count, 0);
  char* const outputs[2] = {d.of_first.data(), d.of_second.data()};  // pointers, because a call of operator[] is a step of constant evaluation
  for (const ir::port_group& p : ports)
    for (int b = 0; b < bodies; ++b)
      for (int i = 0; i < p.count && p.output[b] >= 0; ++i)
        if (p.decides() || (p.result >= 0 && results[first + p.result + i])) outputs[b][p.output[b] + i] = 1;
  bool is_swept[2] = {false, bodies == 1};
  const bool starts_with_second = bodies == 2 && !any_of(d.of_first, 0, d.of_first.size());
  for (int b = starts_with_second, sweeps[2] = {}; !is_swept[0] || !is_swept[1]; b = 1 - b)
    for (; !is_swept[b]; ++sweeps[b]) {
      is_swept[b] = true;
      d.inputs(b) = inputs_needed(g.body_at(c.bodies[b]), d.outputs(b));
      for (const ir::port_group& p : ports) {
        const int from = p.output[0] >= 0 ? 0 : 1;
        if (p.input[b] < 0 || p.output[from] < 0) continue;
        const char* const read = d.inputs(b).data() + p.input[b];
        char* const carried = outputs[from] + p.output[from];
        for (int i = 0; i < p.count; ++i)
          if (!carried[i] && (read[i] || sweeps[b] == costs::rounds_of_liveness)) carried[i] = 1, is_swept[from] = false;
      }
    }
  char* const inputs[2] = {d.inputs_of_first.data(), d.inputs_of_second.data()};
  for (const ir::port_group& p : ports) {
    if (p.operand < 0) continue;
    char* const operands = d.operands.data() + p.operand;
    for (int b = 0; b < bodies; ++b)
      for (int i = 0; i < p.count; ++i) operands[i] |= p.output[b] >= 0 ? outputs[b][p.output[b] + i] : p.input[b] >= 0 ? inputs[b][p.input[b] + i] : char{p.decides()};
    for (int b = 0; b < bodies; ++b)
      for (int i = 0; i < p.count && p.input[b] >= 0; ++i) inputs[b][p.input[b] + i] = operands[i];
  }
  return d;
}

constexpr liveness liveness_of(const ir::graph_view& g, const mark_list& outputs) {
  liveness d{.nodes = mark_list(g.count, 0), .results = {}, .first_result = ir::array<int>(g.count, -1)};
  for (ir::node_id id = 0; id < g.count && g.inner.control_flow_count > 0; ++id) {
    if (g.nodes[id].op != ir::opcode::control_flow) continue;
    d.first_result[id] = d.results.size();
    d.results.resize(d.results.size() + g.results_of(g.control_flow_of(g[id])), 0);
  }
  char* const needed = d.nodes.data();
  for (int i = 0; i < g.output_count; ++i)
    if (outputs[i]) needed[g.outputs[i]] = 1;
  for (int i = 0; i < g.bound_count; ++i)
    if ((!g.is_body || !g.bounds[i].is_checked) && !g.bounds[i].if_read) needed[g.bounds[i].indices] = 1;
  for (ir::node_id id = g.count - 1; id >= 0; --id) {
    if (!needed[id]) continue;
    const ir::node& n = g.nodes[id];
    if (n.op == ir::opcode::result) {
      if (g.control_flow_of(g[n.in[0]]).is_custom_derivative()) {
        needed[value_of_custom(g, n)] = 1;
      } else {
        needed[n.in[0]] = 1;
        d.results[d.first_result[n.in[0]] + static_cast<int>(n.attr)] = 1;
      }
    } else if (n.op == ir::opcode::control_flow && g.control_flow_of(n).runs_bodies()) {
      const mark_list operands = liveness_of(g, g.control_flow_of(n), d.results, d.first_result[id]).operands;
      int i = 0;
      ir::for_each_operand(g.nodes, n.in[0], [&](ir::node_id operand) { needed[operand] |= operands[i++]; });
    } else {
      for (int k = 0; k < n.arity; ++k) needed[n.in[k]] = 1;
    }
  }
  return d;
}

}  // namespace tenure::passes
