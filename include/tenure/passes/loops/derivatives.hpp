// SPDX-License-Identifier: BSL-1.0
// Derivatives of loops and branches. The derivative is another loop or branch with new bodies.
// - Tangents: an iteration computes the next (carry, tangent of the carry).
// - Cotangents: a file for each kind.
#pragma once

#include <tenure/passes/loops/differentiate_cond.hpp>
#include <tenure/passes/loops/differentiate_custom.hpp>
#include <tenure/passes/loops/differentiate_linear_solve.hpp>
#include <tenure/passes/loops/differentiate_reverse_while.hpp>
#include <tenure/passes/loops/differentiate_scan.hpp>
#include <tenure/passes/loops/differentiate_while.hpp>

namespace TENURE_NAMESPACE::passes {

/// Calls accumulate_with_mark(operand, cotangent, mark) for the operands of a control-flow operation. adjoint[r] is the cotangent of node r, or
/// none, and reached[r] its mark. Only results up to node `last` count.
template <class Accumulate>
constexpr void pull_control_flow(ir::builder& g, ir::node_id id, ir::node_id last, const char* active, const id_list& adjoint, const mark_list& reached, Accumulate accumulate_with_mark) {
  const ir::control_flow c = g.control_flow_at(id);
  id_list cotangents(g.view().results_of(c), ir::none), found, numbers;
  mark_list results(cotangents.size(), is_never);
  ir::for_each_result(g.view().nodes, id, last, [&](ir::node_id r, int i) {
    if (adjoint[r] != ir::none) found.push_back(adjoint[r]), numbers.push_back(i), results[i] |= reached[r];
  });
  for (int k = 0; k < found.size(); ++k) {
    ir::node_id& sum = cotangents[numbers[k]];
    sum = sum == ir::none ? found[k] : sum_of_cotangents({g, sum}, {g, found[k]}).id;
  }
  const bool any = found.size() > 0;
  reach r;
  if (any) r = reach_of(g.view(), id, active, results);
  const id_list operands = g.operands_of(id);
  const auto accumulate = [&](ir::node_id operand, ir::node_id cotangent) {
    char mark = is_never;
    for (int i = 0; i < operands.size(); ++i)
      if (operands[i] == operand) mark |= r.operands[i];
    accumulate_with_mark(operand, cotangent, mark);
  };
  using kind = ir::control_flow::kind;
  if (c.is_custom_derivative() && c.what != kind::linear_solve) return custom_derivatives::pull(g, id, active, cotangents, results, accumulate);
  if (!any) return;
  switch (c.what) {
    case kind::scan: return pull_scan(g, id, r, active, cotangents, accumulate);
    case kind::cond: return pull_cond(g, id, r, cotangents, accumulate);
    case kind::while_loop: return pull_while(g, id, r, cotangents, accumulate);
    case kind::reverse_while: return pull_reverse_while(g, id, r, active, cotangents, accumulate);
    case kind::linear_solve: return linear_systems::pull(g, id, active, cotangents, accumulate);
    case kind::external: return g.refuse({ir::diagnostic::kind::reverse_extern});
    default: return;
  }
}

/// Calls set(result, tangent, mark) for the results of a control-flow operation up to node `last`. tangent[i] is the tangent of node i, or none, and mark[i]
/// its mark. The tangents of a loop or a branch are another one, whose ports are values and then their tangents.
template <class Set>
constexpr void push_control_flow(ir::builder& g, ir::node_id id, ir::node_id last, const id_list& tangent, const mark_list& mark, Set set) {
  using type = ir::port_group::type;
  const ir::control_flow c = g.control_flow_at(id);
  const id_list operands = g.operands_of(id);
  ir::array<char> active(g.count(), 0);
  bool any = false;
  for (const ir::node_id o : operands)
    if (o <= last && tangent[o] != ir::none) active[o] = mark[o], any = true;
  if (!any) return;
  const flow f = flow_through<by_derivative>(g.view(), id, active.data());
  id_list tangents(f.results.size(), ir::none), results, numbers;
  ir::for_each_result(g.view().nodes, id, last, [&](ir::node_id r, int i) { results.push_back(r), numbers.push_back(i); });
  const auto finish = [&] {
    for (int k = 0; k < results.size(); ++k) set(results[k], f.results[numbers[k]] ? tangents[numbers[k]] : ir::none, f.results[numbers[k]]);
  };
  if (c.is_custom_derivative()) {
    const auto found = [&](int i, ir::node_id of_result) { tangents[i] = of_result; };
    if (c.what == ir::control_flow::kind::linear_solve) linear_systems::push(g, id, tangent, found);
    else custom_derivatives::push(g, id, tangent, active.data(), found);
    return finish();
  }
  if (!c.runs_bodies()) {
    if (any_of(f.results, 0, f.results.size())) g.refuse({ir::diagnostic::kind::forward_extern});
    return finish();
  }
  const ir::port_list ports = g.view().ports_of(c);
  ir::control_flow both = c;
  both.counts_iterations = false;
  id_list all;
  for (const ir::port_group& p : ports) {
    if (p.operand < 0 || p.what == type::capture) continue;
    for (int i = 0; i < p.count; ++i) all.push_back(operands[p.operand + i]);
    const int b = p.input[0] >= 0 ? 0 : 1, before = all.size();
    for (int i = 0; i < p.count && p.input[b] >= 0; ++i)
      if (const ir::node_id x = operands[p.operand + i]; f.inputs(b)[p.input[b] + i]) all.push_back(active[x] ? tangent[x] : g.constant(g[x].type, g[x].shape, 0));
    (p.result >= 0 ? both.carries : both.scanned) += all.size() - before;
  }
  for (int b = 0; b < c.body_count(); ++b) {
    derived_body body(g, c.bodies[b]);
    inputs_with_tangents taken;
    for (const ir::port_group& p : ports) {
      if (p.input[b] < 0) continue;
      if (p.what != type::capture) body.take(taken, p.input[b], p.input[b] + p.count, f.inputs(b));
      for (int i = 0; i < p.count && p.what == type::capture; ++i) {
        const ir::node_id x = operands[p.operand + i];
        body.take_capture(taken, x, active[x] ? tangent[x] : ir::none, active[x]);
      }
    }
    body.inline_body(taken.given);
    id_list values, outputs, of_results;
    for (int i = 0; i < g.view().inner.bodies[c.bodies[b]].output_count; ++i) values.push_back(body.output(i));
    id_list found(values.size(), ir::none);
    bool derives = false;
    for (const ir::port_group& p : ports) derives = derives || (p.output[b] >= 0 && !p.decides());
    if (derives) forward(g, taken.wrt.data(), taken.tangents.data(), taken.wrt.size(), values.data(), values.size(), found.data(), taken.marks.data());
    for (const ir::port_group& p : ports) {
      if (p.output[b] < 0) continue;
      for (int i = 0; i < p.count && (p.operand >= 0 || p.decides()); ++i) outputs.push_back(values[p.output[b] + i]);
      for (int i = 0; i < p.count && !p.decides(); ++i) {
        const int at = p.output[b] + i;
        const char is_marked = p.result >= 0 ? f.results[p.result + i] : f.inputs(b)[p.input[b] + i];
        if (is_marked) outputs.push_back(found[at] != ir::none ? found[at] : body.zero_like(values[at]));
      }
      // The stacked values are results too, so that merge_loops() can take all values from this loop. Unused results are removed later.
      for (int k = 0; k < numbers.size() && p.what == type::slice; ++k)
        if (numbers[k] >= p.result) outputs.push_back(values[p.output[b] + numbers[k] - p.result]);
    }
    const int before = all.size();
    both.bodies[b] = c.is_loop() ? body.outline(taken.inputs, outputs, all) : body.outline_branch(outputs, all);
    both.captures[b] = all.size() - before;
  }
  const ir::node_id derived = g.add_control_flow(both, all);
  id_list position(f.results.size(), -1);
  for (int i = 0, at = c.carries; i < f.results.size() - c.counts_iterations; ++i)
    if (f.results[i]) position[i] = at++;
  for (const int i : numbers)
    if (position[i] >= 0) tangents[i] = g.result(derived, position[i]);
  finish();
}

}  // namespace tenure::passes
