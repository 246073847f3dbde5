// SPDX-License-Identifier: BSL-1.0
// How derivatives go through custom_jvp, custom_vjp and checkpoint. Their results are values that the graph computes.
// - custom_jvp: the rule gives the tangents. The rule is linear in the tangents, so its transpose gives the cotangents.
// - custom_vjp: `backward` gives the cotangents. After that the results are the values by `forward`, which have ordinary derivatives. The values
//   of an external function have no ordinary derivatives: further derivatives go through the rule again.
// - checkpoint: the values are computed again from the inputs of the function, and the cotangents go through this second computation.
// The rule is for the arguments only. A value that the function captures has its ordinary derivative.
#pragma once

#include <tenure/passes/loops/derived_body.hpp>
#include <tenure/passes/loops/reach.hpp>

namespace TENURE_NAMESPACE::passes {

namespace custom_derivatives {

constexpr bool is_floating_node(const ir::builder& g, ir::node_id id) { return is_floating(g[id].type); }
constexpr ir::node_id zero_like(ir::builder& g, ir::node_id id) { return g.constant(g[id].type, g[id].shape, 0); }
/// A node from which a derivative starts.
constexpr ir::node_id variable(ir::builder& g, ir::node_id x) {
  return g.append({.op = ir::opcode::cast, .type = g[x].type, .arity = 1, .shape = g[x].shape, .in = {x, ir::none, ir::none}});
}
constexpr void take(id_list& to, const id_list& from, int first, int count) {
  for (int i = first; i < first + count; ++i) to.push_back(from[i]);
}
/// The arguments of a rule. With of_results the first ones are results of the control-flow operation.
constexpr id_list arguments_of_rule(ir::builder& g, ir::node_id id, const ir::control_flow& c, const id_list& operands) {
  id_list given;
  for (int i = 0; c.of_results && i < c.carries; ++i) given.push_back(g.result(id, i));
  take(given, operands, c.carries + given.size(), c.scanned - given.size());
  return given;
}
/// Appends the nodes of the only body and returns its outputs. The bounds of a rule stay as written, because nothing else may check these indices.
constexpr id_list inline_body(ir::builder& g, const ir::control_flow& c, const id_list& inputs) {
  const id_list inlined = g.inline_body(c.bodies[0], inputs, c.what == ir::control_flow::kind::checkpoint ? ir::builder::bounds::if_read : ir::builder::bounds::as_written);
  const ir::graph_view body = g.view().body_at(c.bodies[0]);
  id_list outputs;
  for (int i = 0; i < body.output_count; ++i) outputs.push_back(inlined[body.outputs[i]]);
  return outputs;
}

/// The floating results that have a cotangent, with the cotangents and their marks.
struct arrivals {
  id_list values, cotangents;
  mark_list marks;
};
constexpr arrivals arrived(const ir::builder& g, const id_list& outputs, const id_list& cotangents, const mark_list& marks) {
  arrivals a;
  for (int i = 0; i < outputs.size(); ++i)
    if (cotangents[i] != ir::none && is_floating_node(g, outputs[i])) a.values.push_back(outputs[i]), a.cotangents.push_back(cotangents[i]), a.marks.push_back(marks[i]);
  return a;
}

template <class Accumulate>
constexpr void pull_custom_jvp(ir::builder& g, ir::node_id id, const ir::control_flow& c, const id_list& operands, const char* active, const id_list& cotangents,
                               const mark_list& results, Accumulate accumulate) {
  if (c.refused != ir::diagnostic::kind::nothing) return g.refuse({c.refused});
  id_list given = arguments_of_rule(g, id, c, operands), wrt, to, floating;
  mark_list marks;
  for (int i = c.carries; i < c.carries + c.scanned; ++i) {
    if (!is_floating_node(g, operands[i])) continue;
    ir::node_id tangent = zero_like(g, operands[i]);
    if (active[operands[i]]) {
      tangent = variable(g, tangent);
      wrt.push_back(tangent);
      to.push_back(operands[i]);
    }
    given.push_back(tangent);
  }
  take(given, operands, c.own_operands(), c.captures[0]);
  for (int i = 0; i < c.carries; ++i)
    if (is_floating_node(g, operands[i])) floating.push_back(cotangents[i]), marks.push_back(results[i]);
  const id_list tangents = inline_body(g, c, given);
  const arrivals at = arrived(g, tangents, floating, marks);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, at.values.data(), at.cotangents.data(), at.values.size(), wrt.data(), wrt.size(), gradients.data(), at.marks.data(), true);
  for (int i = 0; i < wrt.size(); ++i)
    if (gradients[i] != ir::none) accumulate(to[i], gradients[i]);
}

/// The node for result i of a control-flow operation. An existing node is preferred, because a loop may already keep it as a residual.
constexpr ir::node_id result_node(ir::builder& g, ir::node_id id, int i) {
  for (ir::node_id r = id + 1; r < g.count(); ++r)
    if (g[r].op == ir::opcode::result && g[r].in[0] == id && g[r].attr == i) return r;
  return g.result(id, i);
}

template <class Accumulate>
constexpr void pull_custom_vjp(ir::builder& g, ir::node_id id, const ir::control_flow& c, const id_list& operands, const id_list& cotangents, Accumulate accumulate) {
  id_list given;
  const int first_residual = c.first_argument() + c.scanned, first_result_residual = c.first_result_residual();
  take(given, operands, first_residual, first_result_residual - first_residual);
  for (int i = first_result_residual; i < c.own_operands(); ++i) given.push_back(result_node(g, id, i - first_result_residual));
  for (int i = 0; i < c.carries; ++i)
    if (is_floating_node(g, operands[i])) given.push_back(cotangents[i] != ir::none ? cotangents[i] : zero_like(g, operands[i]));
  take(given, operands, c.own_operands(), c.captures[0]);
  const id_list found = inline_body(g, c, given);
  int at = 0;
  for (int i = c.first_argument(); i < c.first_argument() + c.scanned; ++i)
    if (is_floating_node(g, operands[i])) accumulate(operands[i], found[at++]);
}

template <class Accumulate>
constexpr void pull_checkpoint(ir::builder& g, const ir::control_flow& c, const id_list& operands, const char* active, const id_list& cotangents,
                               const mark_list& results, Accumulate accumulate) {
  id_list given, wrt, to, residuals;
  for (int i = c.own_operands(); i < operands.size(); ++i) {
    const ir::node x = g[operands[i]];
    const bool takes_no_memory = x.arity == 0 && x.op != ir::opcode::input, stays = takes_no_memory || !is_floating(x.type);
    given.push_back(stays ? operands[i] : ops::behind_barrier({g, operands[i]}).id);
    if (!active[operands[i]] || stays) continue;
    wrt.push_back(given.back());
    to.push_back(operands[i]);
  }
  for (int i = c.carries; i < c.own_operands(); ++i) residuals.push_back(ops::behind_barrier({g, operands[i]}).id);
  const int first = g.count();
  const id_list again = inline_body(g, c, given);
  id_list values;
  take(values, again, 0, c.carries);
  const arrivals at = arrived(g, values, cotangents, results);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, at.values.data(), at.cotangents.data(), at.values.size(), wrt.data(), wrt.size(), gradients.data(), at.marks.data());
  for (int i = 0; i < residuals.size(); ++i) g.redirect(first, again[c.carries + i], residuals[i]);
  for (int i = 0; i < wrt.size(); ++i)
    if (gradients[i] != ir::none) accumulate(to[i], gradients[i]);
}

/// Calls accumulate(operand, cotangent) for the operands. `cotangents` are the cotangents of the results, or none, and `results` their marks.
template <class Accumulate>
constexpr void pull(ir::builder& g, ir::node_id id, const char* active, const id_list& cotangents, const mark_list& results, Accumulate accumulate) {
  using kind = ir::control_flow::kind;
  const ir::control_flow c = g.control_flow_at(id);
  const id_list operands = g.operands_of(id);
  bool any = false, by_rule = false;
  for (int i = 0; i < c.carries; ++i) any = any || cotangents[i] != ir::none;
  for (int i = c.first_argument(); i < c.first_argument() + c.scanned && !c.is_taken; ++i)
    by_rule = by_rule || (active[operands[i]] && is_floating_node(g, operands[i]));
  if (c.what == kind::checkpoint) {
    if (any) pull_checkpoint(g, c, operands, active, cotangents, results, accumulate);
    return;
  }
  for (int i = 0; i < c.carries; ++i)
    if (cotangents[i] != ir::none) accumulate(operands[c.operand_of_result(i)], cotangents[i]);
  if (!by_rule) return;
  if (any && c.what == kind::custom_jvp) pull_custom_jvp(g, id, c, operands, active, cotangents, results, accumulate);
  if (any && c.what == kind::custom_vjp) pull_custom_vjp(g, id, c, operands, cotangents, accumulate);
  if (c.what == kind::custom_vjp && !c.of_results) g.take_rule(id);
}

/// Whether an output of a body depends on marked inputs.
constexpr bool reads_any(const ir::graph_view& body, const mark_list& inputs) {
  if (!any_of(inputs, 0, inputs.size())) return false;
  const mark_list marks = marks_of_body<by_sample>(body, inputs);
  for (int i = 0; i < body.output_count; ++i)
    if (marks[body.outputs[i]]) return true;
  return false;
}
/// Whether a derivative goes through all that depends on the marked inputs of a body and is floating.
constexpr bool is_differentiable(const ir::graph_view& body, const mark_list& inputs) {
  using kind = ir::control_flow::kind;
  const mark_list marks = marks_of_body<by_derivative>(body, inputs);
  for (ir::node_id id = 0; id < body.count; ++id) {
    const ir::node& n = body.nodes[id];
    const ir::found_control_flow c = body.find_control_flow(id);
    if (c == nullptr) {
      for (int k = 0; k < n.arity && is_floating(n.type) && n.op != ir::opcode::result; ++k)
        if (marks[n.in[k]] && is_floating(body[n.in[k]].type) && !marks[id]) return false;
      continue;
    }
    if (!marks[n.in[0]] || c->what == kind::checkpoint) continue;
    if (!c->runs_bodies()) return false;
    const flow f = flow_through<by_derivative>(body, id, marks.data());
    for (int b = 0; b < c->body_count(); ++b)
      if (!is_differentiable(body.body_at(c->bodies[b]), f.inputs(b))) return false;
  }
  return true;
}

/// Calls set(i, tangent) for each result i that has a tangent. tangent[i] is the tangent of node i, or none, and marks[i] its mark. A rule is
/// linear in the tangents, so it is its own derivative along them: where one of them is not always there, this derivative leaves out what it has no
/// part in. A rule that calls another one or an external function with tangents is computed as it is written, with zeros.
template <class Set>
constexpr void push(ir::builder& g, ir::node_id id, const id_list& tangent, const char* marks, Set set) {
  using kind = ir::control_flow::kind;
  const ir::control_flow c = g.control_flow_at(id);
  const id_list operands = g.operands_of(id);
  const auto of_value = [&](int i) { return tangent[operands[c.operand_of_result(i)]]; };
  for (int i = 0; i < c.carries; ++i) set(i, of_value(i));
  const auto moves = [&](int i) { return tangent[operands[i]] != ir::none && is_floating_node(g, operands[i]); };
  bool by_rule = false;
  for (int i = c.first_argument(); i < c.first_argument() + c.scanned && !c.is_taken; ++i) by_rule = by_rule || moves(i);
  if (by_rule && c.what == kind::custom_vjp) g.refuse({c.of_results ? ir::diagnostic::kind::forward_extern : ir::diagnostic::kind::forward_custom_vjp});
  if (!by_rule || c.what != kind::custom_jvp) return;
  if (c.refused != ir::diagnostic::kind::nothing) g.refuse({c.refused});
  id_list given = arguments_of_rule(g, id, c, operands), wrt, along;
  const int input_count = g.view().body_at(c.bodies[0]).input_count;
  mark_list there(input_count, is_never), lacking(input_count, 0), of_along;
  for (int i = c.carries; i < c.carries + c.scanned; ++i) {
    if (!is_floating_node(g, operands[i])) continue;
    there[given.size()] = moves(i) ? marks[operands[i]] : char{is_never};
    lacking[given.size()] = there[given.size()] != is_always;
    given.push_back(moves(i) ? tangent[operands[i]] : zero_like(g, operands[i]));
  }
  take(given, operands, c.own_operands(), c.captures[0]);
  const bool derives = reads_any(g.view().body_at(c.bodies[0]), lacking) && is_differentiable(g.view().body_at(c.bodies[0]), there);
  for (int i = 0; i < input_count && derives; ++i) {
    if (!there[i]) continue;
    along.push_back(given[i]), of_along.push_back(there[i]);
    given[i] = variable(g, given[i]);
    wrt.push_back(given[i]);
  }
  id_list found = inline_body(g, c, given);
  if (derives) {
    const id_list values = found;
    forward(g, wrt.data(), along.data(), wrt.size(), values.data(), values.size(), found.data(), of_along.data(), true);
  }
  int at = 0;
  for (int i = 0; i < c.carries; ++i) {
    if (!is_floating_node(g, operands[i])) continue;
    const ir::node_id by_rule_of_result = found[at++];
    if (by_rule_of_result == ir::none) continue;
    set(i, of_value(i) == ir::none ? by_rule_of_result : (ops::value(g, of_value(i)) + ops::value(g, by_rule_of_result)).id);
  }
}

}  // namespace custom_derivatives
}  // namespace tenure::passes
