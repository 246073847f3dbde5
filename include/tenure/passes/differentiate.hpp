// SPDX-License-Identifier: BSL-1.0
// Derivatives. Their nodes are appended to the same graph. Reverse mode walks from the outputs to the inputs, and forward mode from the
// inputs to the outputs. Cost: at most a few nodes for each node of the primal graph.
#pragma once

#include <tenure/passes/loops/derivatives.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// Whether a partial derivative may be infinite where the operands and the result are finite. The list has frequent operations that never do this. In the
/// rule of a custom_jvp products count as well: the rule multiplies by a derivative, which need not be finite.
constexpr bool may_have_infinite_partial(ir::opcode op, bool of_rule) {
  if (of_rule && is_any_of<ops::mul, ops::div>(op)) return true;
  return ops::is_pointwise(op) && !is_any_of<ops::add, ops::sub, ops::mul, ops::div, ops::neg, ops::where, ops::maximum, ops::minimum, ops::abs, ops::exp,
                                             ops::sin, ops::cos, ops::tanh, ops::sigmoid, ops::relu>(op);
}
/// The cotangent of operand k of node y, given the cotangent g of y. For tangents: the part of the tangent of y that comes from tangent g of operand k.
/// If the mark is not is_always, some zeros of g stand for no cotangent: the result is 0 where such a zero meets an infinite partial derivative.
constexpr ops::value pulled(ops::value y, int k, ops::value g, char mark, bool of_rule) {
  const ops::value arrived = ops::pull(y, k, g);
  if (mark == is_always || !may_have_infinite_partial(y.node().op, of_rule)) return arrived;
  const ops::value is_zero = ops::pointwise_value<ops::equal>(g, g.like(0)), is_nan = ops::pointwise_value<ops::not_equal>(arrived, arrived);
  return ops::pointwise_value<ops::where>(ops::pointwise_value<ops::logical_and>(is_zero, is_nan), g.like(0), arrived);
}

/// The data of reverse() and forward() for the nodes up to `last`. Workaround for nvcc 13: in constant evaluation of a large function it does not
/// free local variables, and then rejects the program. So one function owns the arrays, and another function does the work.
struct pass_over_nodes {
  ir::node_id last;
  bool of_rule;
  ir::array<ir::node_id> derivative;
  mark_list mark;
  ir::array<char> active;  // in reverse(): whether the node depends on wrt

  constexpr pass_over_nodes(ir::node_id end, bool is_rule) : last(end), of_rule(is_rule), derivative(end + 1, ir::none), mark(end + 1, is_never) {}
};
constexpr ir::node_id last_of(const ir::node_id* outputs, int count) {
  ir::node_id last = ir::none;
  for (int i = 0; i < count; ++i) last = outputs[i] > last ? outputs[i] : last;
  return last;
}

/// Calls accumulate(operand, cotangent, mark) for the operands of an operation with several results, whose first node is `id`.
template <class Accumulate>
constexpr void pull_results(ir::builder& g, ir::node_id id, ir::node_id last, const char* active, const id_list& adjoint, const mark_list& reached,
                            Accumulate accumulate) {
  const ir::node n = g[id];
  id_list found(ops::signature::max_results, ir::none);
  char mark = is_never;
  for (ir::node_id r = id; r <= last; ++r) {
    if (adjoint[r] == ir::none || !ops::are_of_one_step(g[r], n)) continue;
    ir::node_id& sum = found[static_cast<int>(g[r].start)];
    sum = sum == ir::none ? adjoint[r] : sum_of_cotangents({g, sum}, {g, adjoint[r]}).id;
    mark |= reached[r];
  }
  const ops::value cotangents[] = {{g, found[0]}, {g, found[1]}, {g, found[2]}};
  for (int k = 0; k < n.arity && mark != is_never; ++k)
    if (active[n.in[k]] && ops::flows_to(n, k, g[n.in[k]])) accumulate(n.in[k], ops::pull_of_results({g, id}, k, cotangents).id, mark);
}

constexpr void pull_all(ir::builder& g, const ir::node_id* outputs, const ir::node_id* cotangents, int output_count, const ir::node_id* wrt, int wrt_count,
                        const char* marks, pass_over_nodes& nodes) {
  const ir::node_id last = nodes.last;
  ir::array<ir::node_id>& adjoint = nodes.derivative;
  mark_list& reached = nodes.mark;
  ir::array<char>& active = nodes.active;
  active.resize(last + 1, 0);
  ir::node_id first = last;  // the first node of wrt: no earlier node depends on wrt
  for (int i = 0; i < wrt_count; ++i)
    if (wrt[i] <= last) active[wrt[i]] = 1, first = wrt[i] < first ? wrt[i] : first;
  {
    ir::graph_view until_last = g.view();
    until_last.count = last + 1;
    mark_active(until_last, active.data(), first);
  }
  const auto accumulate = [&](ir::node_id to, ops::value cotangent, char mark) {
    reached[to] |= mark;
    adjoint[to] = adjoint[to] == ir::none ? cotangent.id : sum_of_cotangents({g, adjoint[to]}, cotangent).id;
  };
  for (int i = 0; i < output_count; ++i) accumulate(outputs[i], {g, cotangents[i]}, marks == nullptr ? char{is_always} : marks[i]);
  const auto accumulate_active = [&](ir::node_id to, ir::node_id cotangent, char mark) {
    if (active[to]) accumulate(to, {g, cotangent}, mark);
  };
  for (ir::node_id id = last; id >= first && id >= 0; --id) {
    const ir::node n = g[id];
#if TENURE_PROFILE_LINES
    const ir::builder::location_scope derivative_of(g, n.location > 0 ? -n.location : n.location);
#endif
    if (n.op == ir::opcode::control_flow && active[n.in[0]]) pull_control_flow(g, id, last, active.data(), adjoint, reached, accumulate_active);
    if (!active[id] || n.op == ir::opcode::result) continue;
    const bool may_have_results = n.op >= ir::opcode::opaque && n.op < ir::opcode::pointwise;  // no call for the other nodes: clang counts its steps
    if (may_have_results && ops::result_count(n.op) > 1) {
      if (ops::first_of_step(g, id) == id) pull_results(g, id, last, active.data(), adjoint, reached, accumulate_active);
      continue;
    }
    if (adjoint[id] == ir::none) continue;
    // x * x gives x the same cotangent g twice. If x already has a cotangent, adding 2 * g needs one addition less than adding g two times.
    const bool doubles = n.op == ir::opcode::mul && n.in[0] == n.in[1] && adjoint[n.in[0]] != ir::none;
    const int arity = doubles ? 1 : n.arity;
    for (int k = 0; k < arity; ++k) {
      const ir::node_id operand = n.in[k];
      if (active[operand] && ops::flows_to(n, k, g[operand])) {
        const ops::value arrived = pulled({g, id}, k, {g, adjoint[id]}, reached[id], nodes.of_rule);
        accumulate(operand, doubles ? arrived * 2.0 : arrived, reached[id]);
      }
    }
  }
}

/// Sets gradients[i] to the cotangent of wrt[i], or to none if no gradient flows to wrt[i]. marks[i] says in which iterations and branches
/// cotangents[i] exists, see reach.hpp. In the others cotangents[i] is zero, and its zeros give zeros. Without marks, all cotangents exist always.
/// of_rule: the nodes are those of the rule of a custom_jvp.
// Law: <push(v), w> = <v, pull(w)> for every v, w.
constexpr void reverse(ir::builder& g, const ir::node_id* outputs, const ir::node_id* cotangents, int output_count,
                       const ir::node_id* wrt, int wrt_count, ir::node_id* gradients, const char* marks, bool of_rule) {
  const ir::node_id last = last_of(outputs, output_count);
  if (output_count == 0) {
    for (int i = 0; i < wrt_count; ++i) gradients[i] = ir::none;
    return;
  }
  g.begin_backward();
  pass_over_nodes nodes(last, of_rule);
  pull_all(g, outputs, cotangents, output_count, wrt, wrt_count, marks, nodes);
  for (int i = 0; i < wrt_count; ++i) gradients[i] = wrt[i] <= last ? nodes.derivative[wrt[i]] : ir::none;
}

constexpr void push_all(ir::builder& g, const ir::node_id* wrt, const ir::node_id* tangents, int wrt_count, const char* marks, pass_over_nodes& nodes) {
  const ir::node_id last = nodes.last;
  ir::array<ir::node_id>& tangent = nodes.derivative;
  mark_list& mark = nodes.mark;
  ir::node_id first = last + 1;  // no node before the first of wrt has a tangent
  for (int i = 0; i < wrt_count; ++i)
    if (wrt[i] <= last) tangent[wrt[i]] = tangents[i], mark[wrt[i]] = marks == nullptr ? char{is_always} : marks[i], first = wrt[i] < first ? wrt[i] : first;
  for (ir::node_id id = first; id <= last; ++id) {
    const ir::node n = g[id];
#if TENURE_PROFILE_LINES
    const ir::builder::location_scope derivative_of(g, n.location > 0 ? -n.location : n.location);
#endif
    if (n.op == ir::opcode::control_flow)
      push_control_flow(g, id, last, tangent, mark, [&](ir::node_id result, ir::node_id found, char of) { tangent[result] = found, mark[result] = of; });
    if (tangent[id] != ir::none || n.op == ir::opcode::control_flow || n.op == ir::opcode::result || n.op == ir::opcode::tuple) continue;
    ops::value in[ir::max_operands];
    bool any = false, is_guarded = false;
    for (int k = 0; k < n.arity; ++k)
      if (tangent[n.in[k]] != ir::none && ops::flows_to(n, k, g[n.in[k]])) {
        in[k] = {g, tangent[n.in[k]]};
        mark[id] |= mark[n.in[k]];
        any = true;
        is_guarded = is_guarded || mark[n.in[k]] != is_always;
      }
    if (!any) continue;
    if (!is_guarded || !may_have_infinite_partial(n.op, nodes.of_rule)) {
      tangent[id] = ops::push({g, id}, in).id;
      continue;
    }
    for (int k = 0; k < n.arity; ++k) {  // pulled() works for tangents, because the Jacobian of a pointwise operation is diagonal
      if (in[k].id == ir::none) continue;
      const ops::value part = pulled({g, id}, k, in[k], mark[n.in[k]], nodes.of_rule);
      tangent[id] = tangent[id] == ir::none ? part.id : (ops::value(g, tangent[id]) + part).id;
    }
  }
}

/// Sets results[i] to the tangent of outputs[i], given the tangents of wrt, or to none if no tangent reaches the output. marks[i] says in which
/// iterations and branches tangents[i] exists, and of_rule is as in reverse().
constexpr void forward(ir::builder& g, const ir::node_id* wrt, const ir::node_id* tangents, int wrt_count,
                       const ir::node_id* outputs, int output_count, ir::node_id* results, const char* marks, bool of_rule) {
  pass_over_nodes nodes(last_of(outputs, output_count), of_rule);
  push_all(g, wrt, tangents, wrt_count, marks, nodes);
  for (int i = 0; i < output_count; ++i) results[i] = nodes.derivative[outputs[i]];
}

}  // namespace tenure::passes
