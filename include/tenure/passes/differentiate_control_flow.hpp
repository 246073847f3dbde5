// SPDX-License-Identifier: BSL-1.0
// Derivatives of loops and branches. The derivative is another loop or branch with new bodies.
// - Tangents: an iteration computes the next (carry, tangent of the carry).
// - Cotangents: differentiate_scan.hpp for scan, differentiate_while.hpp for while_loop, differentiate_reverse_while.hpp for reverse_while.
// - Cotangents of cond: another cond takes the same branch, and computes the primal branch again.
#pragma once

#include <tenure/passes/differentiate_custom.hpp>
#include <tenure/passes/differentiate_reverse_while.hpp>
#include <tenure/passes/differentiate_while.hpp>

namespace TENURE_NAMESPACE::passes {

/// Calls accumulate(operand, cotangent) for the operands of a cond. `cotangents` are the cotangents of its results, or none. `r` says what they reach.
template <class Accumulate>
constexpr void pull_cond(ir::builder& g, ir::node_id id, const reach& r, const id_list& cotangents, Accumulate accumulate) {
  const ir::control_flow c = g.control_flow_at(id);
  const id_list operands = g.operands_of(id);
  id_list all, wanted;  // wanted: each operand once, even if both branches capture it. A branch without a cotangent for an operand returns zeros
  const auto place_of = [&](ir::node_id operand) {
    int k = 0;
    while (k < wanted.size() && wanted[k] != operand) ++k;
    return k;
  };
  all.push_back(operands[0]);
  for (int b = 0, k = 1; b < 2; ++b)
    for (int j = 0; j < c.captures[b]; ++j, ++k)
      if (r.inputs(b)[j] && place_of(operands[k]) == wanted.size()) wanted.push_back(operands[k]);
  ir::control_flow back{.what = ir::control_flow::kind::cond};
  int first_capture = 1;
  for (int b = 0; b < 2; ++b) {
    derived_body body(g, c.bodies[b]);
    id_list given, wrt, places, values, arriving, outputs(wanted.size(), ir::none);
    mark_list marks;
    for (int j = 0; j < c.captures[b]; ++j) {
      const ir::node_id operand = operands[first_capture + j];
      given.push_back(r.inputs(b)[j] ? body.variable(operand) : operand);
      if (r.inputs(b)[j]) wrt.push_back(given.back()), places.push_back(place_of(operand));
    }
    body.inline_body(given);
    for (int i = 0; i < cotangents.size(); ++i)
      if (r.outputs[i]) values.push_back(body.output(i)), arriving.push_back(cotangents[i]), marks.push_back(r.outputs[i]);
    id_list gradients(wrt.size(), ir::none);
    reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data(), marks.data());
    for (int i = 0; i < wrt.size(); ++i) {
      if (gradients[i] == ir::none) continue;
      ir::node_id& sum = outputs[places[i]];
      sum = sum == ir::none ? gradients[i] : sum_of_cotangents({g, sum}, {g, gradients[i]}).id;
    }
    for (int k = 0; k < wanted.size(); ++k)
      if (outputs[k] == ir::none) outputs[k] = body.zero_like(wanted[k]);
    const int before = all.size();
    back.bodies[b] = body.outline_branch(outputs, all);
    back.captures[b] = all.size() - before;
    first_capture += c.captures[b];
  }
  const ir::node_id branch = g.add_control_flow(back, all);
  for (int k = 0; k < wanted.size(); ++k) accumulate(wanted[k], g.result(branch, k));
}

/// Calls accumulate_with_mark(operand, cotangent, mark) for the operands of a control-flow operation. adjoint[r] is the cotangent of node r, or
/// none, and reached[r] its mark. Only results up to node `last` count.
template <class Accumulate>
constexpr void pull_control_flow(ir::builder& g, ir::node_id id, ir::node_id last, const char* active, const id_list& adjoint, const mark_list& reached, Accumulate accumulate_with_mark) {
  const ir::control_flow c = g.control_flow_at(id);
  id_list cotangents(g.view().results_of(c), ir::none);
  mark_list results(cotangents.size(), is_never);
  bool any = false;
  for (ir::node_id r = id + 1; r <= last; ++r) {
    const ir::node n = g[r];
    if (n.op != ir::opcode::result || n.in[0] != id || adjoint[r] == ir::none) continue;
    ir::node_id& sum = cotangents[static_cast<int>(n.attr)];
    sum = sum == ir::none ? adjoint[r] : sum_of_cotangents({g, sum}, {g, adjoint[r]}).id;
    results[static_cast<int>(n.attr)] |= reached[r];
    any = true;
  }
  reach r;
  if (any) r = reach_of(g.view(), id, active, results);
  const id_list operands = g.operands_of(id);
  const auto accumulate = [&](ir::node_id operand, ir::node_id cotangent) {
    char mark = is_never;
    for (int i = 0; i < operands.size(); ++i)
      if (operands[i] == operand) mark |= r.operands[i];
    accumulate_with_mark(operand, cotangent, mark);
  };
  if (c.is_custom_derivative()) return custom_derivatives::pull(g, id, active, cotangents, results, accumulate);
  if (!any) return;
  switch (c.what) {
    case ir::control_flow::kind::scan: return pull_scan(g, id, r, active, cotangents, accumulate);
    case ir::control_flow::kind::cond: return pull_cond(g, id, r, cotangents, accumulate);
    case ir::control_flow::kind::while_loop: return pull_while(g, id, r, cotangents, accumulate);
    case ir::control_flow::kind::reverse_while: return pull_reverse_while(g, id, r, active, cotangents, accumulate);
    case ir::control_flow::kind::external: return g.refuse({ir::diagnostic::kind::reverse_extern});
    default: return;
  }
}

/// Sets the tangents of the results of a control-flow operation up to node `last`, and their marks.
constexpr void push_control_flow(ir::builder& g, ir::node_id id, ir::node_id last, id_list& tangent, mark_list& mark) {
  const ir::control_flow c = g.control_flow_at(id);
  const bool branches = c.what == ir::control_flow::kind::cond, is_while = c.what == ir::control_flow::kind::while_loop;
  const id_list operands = g.operands_of(id);
  ir::array<char> active(g.count(), 0);
  bool any = false;
  for (const ir::node_id o : operands)
    if (o <= last && tangent[o] != ir::none) active[o] = mark[o], any = true;
  if (!any) return;
  const flow f = flow_through<by_derivative>(g.view(), id, active.data());
  for (ir::node_id r = id + 1; r <= last; ++r)
    if (g[r].op == ir::opcode::result && g[r].in[0] == id) mark[r] = f.results[static_cast<int>(g[r].attr)];
  const auto set = [&](const id_list& tangents) {
    for (ir::node_id r = id + 1; r <= last; ++r)
      if (const int i = static_cast<int>(g[r].attr); g[r].op == ir::opcode::result && g[r].in[0] == id && f.results[i]) tangent[r] = tangents[i];
  };
  if (c.is_custom_derivative()) return set(custom_derivatives::push(g, id, tangent, active.data()));
  if (c.what == ir::control_flow::kind::reverse_while) return set(push_reverse_while(g, id, active.data(), tangent));
  if (c.what == ir::control_flow::kind::external) {
    for (const char result : f.results)
      if (result) g.refuse({ir::diagnostic::kind::forward_extern});
    return;
  }
  const int own = c.own_operands(), results = f.results.size() - c.counts_iterations;
  const auto zero = [&](ir::node_id x) { return g.constant(g[x].type, g[x].shape, 0); };

  ir::control_flow both{.what = c.what, .reverse = c.reverse, .counts = c.counts, .length = c.length};
  const int differentiated = is_while ? 1 : 0;
  id_list all;
  if (branches) {
    all.push_back(operands[0]);
  } else {
    for (int i = 0; i < c.carries; ++i) all.push_back(operands[i]);
    for (int i = 0; i < c.carries; ++i)
      if (f.inputs(differentiated)[i]) all.push_back(active[operands[i]] ? tangent[operands[i]] : zero(operands[i]));
    both.carries = all.size();
    for (int i = c.carries; i < own; ++i) all.push_back(operands[i]);
    for (int i = c.carries; i < own; ++i)
      if (f.inputs(differentiated)[i]) all.push_back(tangent[operands[i]]);
    both.scanned = all.size() - both.carries;
  }
  int first_capture = own;
  for (int b = 0; b < (branches || is_while ? 2 : 1); ++b) {
    derived_body body(g, c.bodies[b]);
    inputs_with_tangents taken;
    id_list outputs;
    if (!branches) {
      const mark_list& marked = f.inputs(differentiated);
      body.take(taken, 0, c.carries, marked);
      body.take(taken, c.carries, own, marked);
      if (c.counts) body.take(taken, own, own + 1, marked);
    }
    for (int j = 0; j < c.captures[b]; ++j) {
      const ir::node_id operand = operands[first_capture + j];
      body.take_capture(taken, operand, active[operand] ? tangent[operand] : ir::none, active[operand]);
    }
    body.inline_body(taken.given);
    if (is_while && b == 0) {
      outputs.push_back(body.output(0));
    } else {
      id_list values, found(results, ir::none);
      for (int i = 0; i < results; ++i) values.push_back(body.output(i));
      forward(g, taken.wrt.data(), taken.tangents.data(), taken.wrt.size(), values.data(), results, found.data(), taken.marks.data());
      const auto tangent_of = [&](int i) { return found[i] != ir::none ? found[i] : body.zero_like(values[i]); };
      for (int i = 0; i < c.carries; ++i) outputs.push_back(values[i]);
      for (int i = 0; i < results; ++i)
        if (f.results[i]) outputs.push_back(tangent_of(i));
      // The stacked values are results too, so that merge_loops() can take all values from this loop. Unused results are removed later.
      for (ir::node_id r = id + 1; r <= last && c.what == ir::control_flow::kind::scan; ++r)
        if (g[r].op == ir::opcode::result && g[r].in[0] == id && g[r].attr >= c.carries) outputs.push_back(values[static_cast<int>(g[r].attr)]);
    }
    const int before = all.size();
    both.bodies[b] = branches ? body.outline_branch(outputs, all) : body.outline(taken.inputs, outputs, all);
    both.captures[b] = all.size() - before;
    first_capture += c.captures[b];
  }
  const ir::node_id derived = g.add_control_flow(both, all);
  id_list position(f.results.size(), -1);
  int at = c.carries;
  for (int i = 0; i < results; ++i)
    if (f.results[i]) position[i] = at++;
  for (ir::node_id r = id + 1; r <= last; ++r) {
    const ir::node n = g[r];
    if (n.op != ir::opcode::result || n.in[0] != id) continue;
    const int result = position[static_cast<int>(n.attr)];
    if (result >= 0) tangent[r] = g.result(derived, result);
  }
}

}  // namespace tenure::passes

// Here, because the two headers need each other: reverse() and forward() differentiate control-flow operations, and those call them for their bodies.
#include <tenure/passes/differentiate.hpp>
