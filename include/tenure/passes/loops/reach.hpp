// SPDX-License-Identifier: BSL-1.0
// Which values the cotangents of results reach, also in loops, branches and rules: the values to which reverse() adds a cotangent. activity.hpp goes
// from operands to results. Other values have no cotangent, which is better than a cotangent of zeros: zeros times an infinite partial derivative
// are NaN, and the products take time. Cost: a sweep over each body, and a few sweeps for a body whose carries reach each other.
#pragma once

#include <tenure/passes/loops/activity.hpp>

namespace TENURE_NAMESPACE::passes {

/// The mark of a value that may have no cotangent, because its loop may run no iteration. Otherwise the value has `mark`.
constexpr char sometimes(char mark) { return mark ? char{is_sometimes} : char{is_never}; }

/// What the cotangents of the results of a control-flow operation reach. A mark says when a cotangent exists. Otherwise zeros stand for it.
/// `outputs` are the marks of the outputs of the body of the results. The mark of a carry is for all iterations.
struct reach {
  mark_list outputs, of_first, of_second, operands;

  constexpr mark_list& inputs(int body) { return body == 0 ? of_first : of_second; }
  constexpr const mark_list& inputs(int body) const { return body == 0 ? of_first : of_second; }
};

constexpr void spread_back(const ir::graph_view& g, const char* active, char* reached);

/// The marks of the inputs of a body, given the marks of its outputs. Only active nodes have a derivative.
constexpr mark_list inputs_reached(const ir::graph_view& body, const mark_list& active, const mark_list& outputs) {
  mark_list reached(body.count + 1, 0), inputs(body.input_count, 0);
  for (int i = 0; i < outputs.size(); ++i)
    if (active[body.outputs[i]]) reached[body.outputs[i]] |= outputs[i];
  spread_back(body, active.data(), reached.data());
  for (ir::node_id id = 0; id < body.count; ++id)
    if (const ir::node& n = body.nodes[id]; n.op == ir::opcode::input) inputs[static_cast<int>(n.attr)] = reached[id];
  return inputs;
}
/// The marks of the inputs of a body that a loop repeats. The first `count` outputs are the carries. Joins the mark of each carry before an iteration
/// to its mark after the iteration, until nothing changes.
constexpr mark_list reached_over_iterations(const ir::graph_view& body, const mark_list& active_inputs, mark_list& outputs, int count) {
  const mark_list active = marks_of_body<by_derivative>(body, active_inputs);
  mark_list inputs;
  for (bool again = true; again;) {
    again = false;
    inputs = inputs_reached(body, active, outputs);
    for (int i = 0; i < count; ++i) {
      const char mark = either(outputs[i], inputs[i]);
      again = again || mark != outputs[i];
      outputs[i] = mark;
    }
  }
  return inputs;
}

/// The marks of the operands of a custom derivative. Its results are equal to operands, and a rule or a second computation gives the cotangents of
/// other operands.
constexpr mark_list reached_by_custom_derivative(const ir::graph_view& g, const ir::control_flow& c, const id_list& ids, const mark_list& active, const mark_list& results) {
  using kind = ir::control_flow::kind;
  mark_list reached(active.size(), 0), inputs, outputs;
  id_list operand_of_input;
  const int first = c.first_argument(), end = c.end_of_arguments();
  const bool is_checkpoint = c.what == kind::checkpoint;
  char any = is_never;
  for (int i = 0; i < c.carries; ++i) {
    any |= results[i];
    if (!is_checkpoint) reached[c.operand_of_result(i)] = results[i];
  }
  if (!any || (!is_checkpoint && (c.is_taken || !any_of(active, first, end)))) return reached;
  // A rule that is refused may be of zeros. It counts as one that reaches all, so that the derivative comes to it and is refused.
  if (c.what == kind::custom_vjp || c.what == kind::linear_solve || c.refused != ir::diagnostic::kind::nothing) {
    for (int i = first; i < end; ++i)
      if (active[i]) reached[i] |= any;
    return reached;
  }
  const ir::graph_view body = g.body_at(c.bodies[0]);
  inputs.resize(body.input_count, 0), operand_of_input.resize(body.input_count, ir::none);
  const auto from = [&](int input, int operand) { inputs[input] = active[operand], operand_of_input[input] = operand; };
  if (is_checkpoint) {
    for (int i = 0; i < body.input_count; ++i) from(i, c.own_operands() + i);
    for (int i = 0; i < c.carries; ++i) outputs.push_back(results[i]);
  } else {  // the rule takes the arguments and then the tangents of floating arguments. It is linear in the tangents
    int input = c.scanned;
    for (int i = first; i < end; ++i)
      if (is_floating(g[ids[i]].type)) from(input++, i);
    for (int i = 0; i < c.carries; ++i)
      if (is_floating(g[ids[i]].type)) outputs.push_back(results[i]);
  }
  const mark_list found = inputs_reached(body, marks_of_body<by_derivative>(body, inputs), outputs);
  for (int i = 0; i < body.input_count; ++i)
    if (found[i]) reached[operand_of_input[i]] |= found[i];
  return reached;
}

/// The reach of a loop or a branch. `f` says what is active in its bodies.
constexpr reach reached_in_bodies(const ir::graph_view& g, const ir::control_flow& c, const id_list& ids, const flow& f, const mark_list& results) {
  reach r;
  const auto body = [&](int b) { return g.body_at(c.bodies[b]); };
  const int last = c.number_of_results_body();
  for (int i = 0; i < g.inner.bodies[c.body_of_results()].output_count; ++i)
    r.outputs.push_back(f.results[i] || c.is_linear_in_carries() ? results[i] : char{is_never});
  r.operands.resize(ids.size(), 0);
  if (!c.is_loop()) {
    for (int b = 0; b < 2; ++b) r.inputs(b) = inputs_reached(body(b), marks_of_body<by_derivative>(body(b), f.inputs(b)), r.outputs);
    for (int i = 1; i < ids.size(); ++i) {  // joins both branches, because both may capture an operand
      char of_branch[2] = {};
      for (int k = 1; k < ids.size(); ++k) {
        const int b = k > c.captures[0] ? 1 : 0;
        if (ids[k] == ids[i]) of_branch[b] |= r.inputs(b)[k - 1 - b * c.captures[0]];
      }
      r.operands[i] = either(of_branch[0], of_branch[1]);
    }
    return r;
  }
  mark_list active = f.inputs(last);
  if (c.is_linear_in_carries()) {
    active = mark_list(active.size(), 0);
    for (int i = 0; i < c.carries; ++i) active[i] = 1;
  }
  r.inputs(last) = reached_over_iterations(body(last), active, r.outputs, c.carries);
  if (c.is_linear_in_carries()) {  // the cotangents of the carries come from its results
    mark_list states;
    r.of_second = inputs_reached(body(1), marks_of_body<by_derivative>(body(1), f.of_second), r.outputs);
    for (int i = 0; i < c.states(); ++i) states.push_back(sometimes(r.of_second[c.carries + i]));
    r.of_first = reached_over_iterations(body(0), f.of_first, states, c.states());
    for (int i = 0; i < c.states(); ++i) r.of_first[i] = states[i];
  }
  const bool has_iterations = is_static(c.length) && c.length > 0;  // only a scan has a length
  for (const ir::port_group& p : g.ports_of(c)) {
    const int b = p.output[0] >= 0 || p.input[1] < 0 ? 0 : 1;
    for (int i = 0; i < p.count && p.operand >= 0 && p.input[b] >= 0 && r.inputs(b).size() > 0; ++i) {
      const char mark = r.inputs(b)[p.input[b] + i];
      const bool is_in_iterations = has_iterations || p.what == ir::port_group::type::slice;
      r.operands[p.operand + i] = is_in_iterations ? mark : p.result >= 0 ? r.outputs[p.result + i] : sometimes(mark);
    }
  }
  return r;
}

/// The reach of a control-flow operation, given the marks of its results.
constexpr reach reach_of(const ir::graph_view& g, ir::node_id id, const char* active, const mark_list& results) {
  const ir::control_flow& c = g.control_flow_of(g[id]);
  mark_list operands;
  id_list ids;
  ir::for_each_operand(g.nodes, g[id].in[0], [&](ir::node_id o) { operands.push_back(char(active[o] && is_floating(g[o].type))), ids.push_back(o); });
  if (c.runs_bodies()) return reached_in_bodies(g, c, ids, flow_through<by_derivative>(g, c, operands), results);
  reach r;
  if (c.is_custom_derivative()) r.operands = reached_by_custom_derivative(g, c, ids, operands, results);
  else r.operands.resize(operands.size(), 0);
  return r;
}

/// Marks the active nodes that marked nodes reach.
constexpr void spread_back(const ir::graph_view& g, const char* active, char* reached) {
  for (ir::node_id id = g.count - 1; id >= 0; --id) {
    const ir::node& n = g.nodes[id];
    if (reached[id]) {  // no control-flow operation, because only its results are reached
      for (int k = 0; k < n.arity && active[id] && n.op != ir::opcode::result; ++k)
        if (active[n.in[k]] && ops::flows_to(n, k, g[n.in[k]])) reached[n.in[k]] |= reached[id];
      continue;
    }
    if (n.arity == 0 || !active[n.in[0]]) continue;
    const ir::found_control_flow c = g.find_control_flow(id);
    if (c == nullptr) continue;
    mark_list results(g.results_of(*c), 0);
    bool any = false;
    ir::for_each_result(g.nodes, id, g.count - 1, [&](ir::node_id r, int i) { results[i] |= reached[r], any = any || reached[r]; });
    if (!any) continue;
    const mark_list operands = reach_of(g, id, active, results).operands;
    int i = 0;
    ir::for_each_operand(g.nodes, n.in[0], [&](ir::node_id o) { reached[o] |= active[o] ? operands[i] : char{is_never}, ++i; });
  }
}

}  // namespace tenure::passes
