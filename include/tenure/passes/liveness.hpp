// SPDX-License-Identifier: BSL-1.0
// Which values are needed, also inside loops and branches. Needed results of a control-flow operation need values in its bodies, and these need
// operands. activity.hpp goes from operands to results. Cost: a sweep over each body, and a few sweeps for a body whose carries need each other.
#pragma once

#include <tenure/passes/activity.hpp>
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
/// Which outputs and inputs of the bodies of a control-flow operation are needed.
struct liveness_of_bodies {
  // Workaround for g++ 12: in constant evaluation it does not copy an array of arrays.
  mark_list of_first, of_second, inputs_of_first, inputs_of_second;

  constexpr const mark_list& outputs(int body) const { return body == 0 ? of_first : of_second; }
  constexpr const mark_list& inputs(int body) const { return body == 0 ? inputs_of_first : inputs_of_second; }

  constexpr bool needs(const ir::control_flow& c, int i) const {
    using kind = ir::control_flow::kind;
    const int own = c.own_operands();
    if (i >= own + c.captures[0]) return inputs_of_second[c.own_inputs(1) + i - own - c.captures[0]] != 0;
    if (i >= own) return inputs_of_first[c.own_inputs(0) + c.counts + i - own] != 0;
    if (c.what == kind::cond || (c.what == kind::reverse_while && i == own - 1)) return true;
    if (c.what == kind::scan) return (i < c.carries ? of_first : inputs_of_first)[i] != 0;
    return (i < c.carries ? of_second : inputs_of_second)[i] != 0;
  }
};

/// The first `count` outputs of a body are its first inputs in the next iteration. Marks the outputs that the next iteration needs for its marked
/// outputs, until nothing changes. After `max_rounds` rounds all `count` outputs are marked. needed_for(outputs) returns the inputs that marked outputs
/// need. Returns the inputs that the final marks need.
template <class NeededFor>
constexpr mark_list live_over_iterations(mark_list& outputs, int count, int max_rounds, NeededFor needed_for) {
  mark_list inputs;
  int rounds = 0;
  for (bool again = true; again; ++rounds) {
    again = false;
    inputs = needed_for(outputs);
    for (int i = 0; i < count; ++i)
      if ((inputs[i] || rounds == max_rounds) && !outputs[i]) outputs[i] = again = true;
  }
  return inputs;
}

constexpr liveness liveness_of(const ir::graph_view& g, const mark_list& outputs);

/// Marks the inputs of a body that its marked outputs need.
constexpr mark_list inputs_needed(const ir::graph_view& body, const mark_list& outputs) {
  const liveness d = liveness_of(body, outputs);
  mark_list inputs(body.input_count, 0);
  for (ir::node_id id = 0; id < body.count; ++id)
    if (body[id].op == ir::opcode::input) inputs[static_cast<int>(body[id].attr)] = d.nodes[id];
  return inputs;
}

/// The liveness in the bodies of a control-flow operation. results[first + i] says whether its result i is needed. A carry that is needed after an
/// iteration makes the carries needed from which the iteration computes it.
constexpr liveness_of_bodies liveness_of(const ir::graph_view& g, const ir::control_flow& c, const mark_list& results, int first) {
  using kind = ir::control_flow::kind;
  liveness_of_bodies d;
  const bool branches = c.what == kind::cond;
  mark_list read;
  for (int i = 0; i < g.inner.bodies[c.body_of_results()].output_count; ++i) read.push_back(results[first + i]);
  if (branches || c.what == kind::scan) d.of_first = read;
  if (c.what != kind::scan) d.of_second = read;
  if (branches) {
    d.inputs_of_first = inputs_needed(g.body_at(c.bodies[0]), read);
    d.inputs_of_second = inputs_needed(g.body_at(c.bodies[1]), read);
    return d;
  }
  const auto over_iterations = [&](int body, int count, mark_list& out, mark_list& in) {
    in = live_over_iterations(out, count, costs::rounds_of_liveness, [&](const mark_list& marked) { return inputs_needed(g.body_at(c.bodies[body]), marked); });
  };
  if (c.what == kind::while_loop) {
    d.of_first = mark_list(1, 1);
    d.inputs_of_first = inputs_needed(g.body_at(c.bodies[0]), d.of_first);
    for (int i = 0; i < c.carries; ++i) d.of_second[i] = d.of_second[i] || d.inputs_of_first[i];
  }
  if (c.what == kind::scan) over_iterations(0, c.carries, d.of_first, d.inputs_of_first);
  else over_iterations(1, c.carries, d.of_second, d.inputs_of_second);
  if (c.what != kind::reverse_while) return d;
  for (int i = 0; i < c.states(); ++i) d.of_first.push_back(d.inputs_of_second[c.carries + i]);
  over_iterations(0, c.states(), d.of_first, d.inputs_of_first);
  for (int i = 0; i < c.states(); ++i) d.inputs_of_second[c.carries + i] = d.of_first[i];
  return d;
}

constexpr liveness liveness_of(const ir::graph_view& g, const mark_list& outputs) {
  liveness d{.nodes = mark_list(g.count, 0), .results = {}, .first_result = ir::array<int>(g.count, -1)};
  for (ir::node_id id = 0; id < g.count && g.inner.control_flow_count > 0; ++id) {
    if (g[id].op != ir::opcode::control_flow) continue;
    d.first_result[id] = d.results.size();
    d.results.resize(d.results.size() + g.results_of(g.control_flow_of(g[id])), 0);
  }
  for (int i = 0; i < g.output_count; ++i)
    if (outputs[i]) d.nodes[g.outputs[i]] = 1;
  for (int i = 0; i < g.bound_count; ++i)
    if ((!g.is_body || !g.bounds[i].is_checked) && !g.bounds[i].if_read) d.nodes[g.bounds[i].indices] = 1;
  for (ir::node_id id = g.count - 1; id >= 0; --id) {
    if (!d.nodes[id]) continue;
    const ir::node& n = g[id];
    if (n.op == ir::opcode::result) {
      if (g.control_flow_of(g[n.in[0]]).is_custom_derivative()) {
        d.nodes[value_of_custom(g, n)] = 1;
      } else {
        d.nodes[n.in[0]] = 1;
        d.results[d.first_result[n.in[0]] + static_cast<int>(n.attr)] = 1;
      }
    } else if (n.op == ir::opcode::control_flow && g.control_flow_of(n).what != ir::control_flow::kind::external) {
      const ir::control_flow& c = g.control_flow_of(n);
      const liveness_of_bodies of_bodies = liveness_of(g, c, d.results, d.first_result[id]);
      int i = 0;
      ir::for_each_operand(g.nodes, n.in[0], [&](ir::node_id operand) { d.nodes[operand] = d.nodes[operand] || of_bodies.needs(c, i), ++i; });
    } else {
      for (int k = 0; k < n.arity; ++k) d.nodes[n.in[k]] = 1;
    }
  }
  return d;
}

}  // namespace tenure::passes
