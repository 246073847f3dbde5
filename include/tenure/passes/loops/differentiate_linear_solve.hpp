// SPDX-License-Identifier: BSL-1.0
// How derivatives go through the solution x of A(p) x = b, whatever solver found it:
// - tangents: A dx = db - (the tangent of A x along dp);
// - cotangents: A^T w = (the cotangent of x); w is the cotangent of b, and -w goes back through A x to p.
// Both are solutions of a system again, by the same solver, so derivatives of any order need nothing else.
// Source: the meaning of jax.lax.custom_linear_solve.
#pragma once

#include <tenure/passes/loops/differentiate_custom.hpp>

namespace TENURE_NAMESPACE::passes::linear_systems {

/// A derivative of one system.
class system {
 public:
  constexpr system(ir::builder& g, ir::node_id id) : g_(g), id_(id), c_(g.control_flow_at(id)), operands_(g.operands_of(id)) {}

  constexpr int count() const { return c_.carries; }
  constexpr const id_list& operands() const { return operands_; }
  constexpr int first_parameter() const { return 2 * c_.carries; }
  constexpr bool is_transposed() const { return c_.is_transposed; }

  /// The solutions of this system, as nodes.
  constexpr id_list solutions() const {
    id_list all;
    for (int i = 0; i < count(); ++i) all.push_back(g_.result(id_, i));
    return all;
  }
  /// A u, or A^T u if this system is the transposed one. `parameters` stand for the operands from first_parameter() on.
  constexpr id_list applied(const id_list& u, const id_list& parameters) const {
    if (!c_.is_transposed) return part(0, u, parameters);
    id_list at, found(count(), ir::none);
    for (const ir::node_id id : u) at.push_back(custom_derivatives::variable(g_, custom_derivatives::zero_like(g_, id)));
    const id_list y = part(0, at, parameters);
    reverse(g_, y.data(), u.data(), count(), at.data(), count(), found.data());
    for (int i = 0; i < count(); ++i)
      if (found[i] == ir::none) found[i] = custom_derivatives::zero_like(g_, u[i]);
    return found;
  }
  /// The solutions of A x = b, or of A^T x = b if `transposed`, as results of a new operation with derivatives of its own. None goes through the solver.
  constexpr id_list solved(const id_list& b, bool transposed) const {
    ir::control_flow c = c_;
    c.is_transposed = transposed && !c.is_symmetric;
    id_list given, at, all, found;
    for (int i = first_parameter(); i < operands_.size(); ++i) given.push_back(is_floating(g_[operands_[i]].type) ? stopped(operands_[i]) : operands_[i]);
    for (const ir::node_id id : b) at.push_back(stopped(id));
    for (const ir::node_id id : part(c.is_transposed ? 2 : 1, at, given)) all.push_back(stopped(id));
    for (const ir::node_id id : b) all.push_back(id);
    for (int i = first_parameter(); i < operands_.size(); ++i) all.push_back(operands_[i]);
    const ir::node_id node = g_.add_control_flow(c, all);
    for (int i = 0; i < count(); ++i) found.push_back(g_.result(node, i));
    return found;
  }

 private:
  constexpr ir::node_id stopped(ir::node_id x) const { return ops::stopped({g_, x}).id; }
  /// Outputs `which` of the body: 0: A u; 1: the solution for u; 2: the transposed one. Zeros stand for the other vectors, and nothing reads what
  /// they give. The solver has read the same indices, so only those that are read here are compared again.
  constexpr id_list part(int which, const id_list& u, const id_list& parameters) const {
    id_list inputs, found;
    for (int k = 0; k < count() + c_.right_sides(); ++k) inputs.push_back(k / count() == which ? u[k % count()] : custom_derivatives::zero_like(g_, u[k % count()]));
    for (const ir::node_id id : parameters) inputs.push_back(id);
    const id_list inlined = g_.inline_body(c_.bodies[0], inputs, ir::builder::bounds::if_read);
    const ir::graph_view body = g_.view().body_at(c_.bodies[0]);
    for (int i = 0; i < count(); ++i) found.push_back(inlined[body.outputs[which * count() + i]]);
    return found;
  }

  ir::builder& g_;
  ir::node_id id_;
  ir::control_flow c_;
  id_list operands_;
};

/// Calls accumulate(operand, cotangent) for the operands. `cotangents` are the cotangents of the results, or none.
template <class Accumulate>
constexpr void pull(ir::builder& g, ir::node_id id, const char* active, const id_list& cotangents, Accumulate accumulate) {
  const system s(g, id);
  const int n = s.count();
  id_list given, minus, parameters, wrt, to;
  for (int i = 0; i < n; ++i) given.push_back(cotangents[i] != ir::none ? cotangents[i] : custom_derivatives::zero_like(g, s.operands()[i]));
  const id_list w = s.solved(given, !s.is_transposed());
  for (int i = 0; i < n; ++i) accumulate(s.operands()[n + i], w[i]);
  for (int i = s.first_parameter(); i < s.operands().size(); ++i) {
    const ir::node_id p = s.operands()[i];
    const bool is_wanted = active[p] && is_floating(g[p].type);
    parameters.push_back(is_wanted ? custom_derivatives::variable(g, p) : p);
    if (is_wanted) wrt.push_back(parameters.back()), to.push_back(p);
  }
  if (wrt.size() == 0) return;
  const id_list y = s.applied(s.solutions(), parameters);
  for (const ir::node_id v : w) minus.push_back((-ops::value(g, v)).id);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, y.data(), minus.data(), n, wrt.data(), wrt.size(), gradients.data());
  for (int i = 0; i < wrt.size(); ++i)
    if (gradients[i] != ir::none) accumulate(to[i], gradients[i]);
}

/// Calls set(i, tangent) for each result. tangent[i] is the tangent of node i, or none.
template <class Set>
constexpr void push(ir::builder& g, ir::node_id id, const id_list& tangent, Set set) {
  const system s(g, id);
  const int n = s.count();
  id_list parameters, wrt, along, b;
  bool any = false;
  const auto moves = [&](ir::node_id x) { return x < tangent.size() && tangent[x] != ir::none && is_floating(g[x].type); };
  for (int i = s.first_parameter(); i < s.operands().size(); ++i) {
    const ir::node_id p = s.operands()[i];
    parameters.push_back(moves(p) ? custom_derivatives::variable(g, p) : p);
    if (moves(p)) wrt.push_back(parameters.back()), along.push_back(tangent[p]);
  }
  id_list moved(n, ir::none);
  if (wrt.size() > 0) {
    const id_list y = s.applied(s.solutions(), parameters);
    forward(g, wrt.data(), along.data(), wrt.size(), y.data(), n, moved.data());
  }
  for (int i = 0; i < n; ++i) {
    const ir::node_id of_b = s.operands()[n + i];
    ops::value rhs(g, moves(of_b) ? tangent[of_b] : custom_derivatives::zero_like(g, of_b));
    if (moved[i] != ir::none) rhs = moves(of_b) ? rhs - ops::value(g, moved[i]) : -ops::value(g, moved[i]);
    any = any || moves(of_b) || moved[i] != ir::none;
    b.push_back(rhs.id);
  }
  if (!any) return;
  const id_list x = s.solved(b, s.is_transposed());
  for (int i = 0; i < n; ++i) set(i, x[i]);
}

}  // namespace tenure::passes::linear_systems
