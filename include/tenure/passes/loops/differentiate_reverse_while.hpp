// SPDX-License-Identifier: BSL-1.0
// Derivatives of a reverse_while, which computes the cotangents c of a while_loop. Its iterations go from state s_n-1 back to s_0, and c_k = pull(c_k+1, s_k).
// - Tangents: another reverse_while over (carries, their tangents) and (states, their tangents).
// - Cotangents: let l_k be the cotangent of c_k. The pull is linear in c, so l is computed forward, from l_0, without c:
//   l_k+1 = (dpull / dc)^T l_k. A while_loop computes l_n. Another reverse_while, with l as one more state, computes each c again and sums up
//   the cotangents d of the states and of the captures: d_k = (dstep / ds)^T d_k+1 + d<l_k, pull(c_k+1, s_k)> / ds.
//   A custom_vjp whose backward is not linear would need each c_k for l_k+1: such a custom_vjp is refused.
// Cost of the cotangents: the iterations once backward, and once forward if something needs l_n.
#pragma once

#include <tenure/passes/loops/liveness.hpp>
#include <tenure/passes/loops/derived_body.hpp>
#include <tenure/passes/loops/reach.hpp>

namespace TENURE_NAMESPACE::passes {

/// Computes the cotangents of the operands of a reverse_while, given the cotangents of its results, or none.
template <class Accumulate>
class cotangents_of_reverse_while {
 public:
  constexpr cotangents_of_reverse_while(ir::builder& g, ir::node_id id, const reach& r, const char* active, const id_list& cotangents, Accumulate accumulate)
      : g_(g), active_(active), accumulate_(accumulate), c_(g.control_flow_at(id)), r_(r), operands_(g.operands_of(id)) {
    for (int i = 0; i < c_.states(); ++i) first_states_.push_back(operands_[c_.carries + i]);
    for (int i = 0; i < c_.carries; ++i)
      if (r_.outputs[i]) first_states_.push_back(cotangents[i] != ir::none ? cotangents[i] : zero(operands_[i]));
  }

  /// Calls accumulate(operand, cotangent) for the carries: operand c_n and its cotangent l_n.
  constexpr void of_carries() {
    bool any = false;
    for (int i = 0; i < c_.carries; ++i) any = any || (r_.outputs[i] && active_[operands_[i]]);
    if (!any) return;
    ir::control_flow loop = c_.derived(ir::control_flow::kind::while_loop, first_states_.size() + 1);
    id_list all = first_states_;
    all.push_back(g_.constant(dtype::int64, g_[trip_count()].shape, 0));

    derived_body condition(g_, c_.bodies[0]);
    id_list inputs;
    for (const ir::node_id x : all) inputs.push_back(condition.input_like(x));
    const id_list goes_on(1, ops::pointwise_value<ops::less>({g_, inputs.back()}, {g_, trip_count()}, {}).id);
    loop.bodies[0] = condition.outline(inputs, goes_on, all);
    loop.captures[0] = all.size() - loop.carries;

    derived_body body(g_, c_.bodies[0]);
    iteration next = iteration_forward(body);
    next.inputs.push_back(body.input_like(trip_count()));
    const ops::value counter(g_, next.inputs.back());
    next.outputs.push_back((counter + counter.like(1)).id);
    const int before = all.size();
    loop.bodies[1] = body.outline(next.inputs, next.outputs, all);
    loop.captures[1] = all.size() - before;

    const ir::node_id last = g_.add_control_flow(loop, all);
    for (int i = 0, at = c_.states(); i < c_.carries; ++i) {
      if (!r_.outputs[i]) continue;
      if (active_[operands_[i]]) accumulate_(operands_[i], g_.result(last, at));
      ++at;
    }
  }

  /// Calls accumulate(operand, cotangent) for the first states and the captures.
  constexpr void of_states_and_captures() {
    id_list wanted;
    for (int i = 0; i < c_.states(); ++i)
      if (r_.of_first[i]) wanted.push_back(operands_[c_.carries + i]);
    const int active_states = wanted.size();
    for (int b = 0; b < 2; ++b)
      for (int j = 0; j < c_.captures[b]; ++j)
        if (is_wanted(b, j)) wanted.push_back(capture(b, j));
    if (wanted.size() == 0) return;

    derived_body body(g_, c_.bodies[1]);  // inputs: c_k+1, the cotangents of `wanted`, s_k, l_k
    id_list inputs, of_pull, of_step;
    for (int i = 0; i < c_.carries; ++i) of_pull.push_back(body.input_of(i)), inputs.push_back(of_pull[i]);
    for (const ir::node_id x : wanted) inputs.push_back(body.input_like(x));
    const int first_state = inputs.size();
    for (const ir::node_id x : first_states_) inputs.push_back(body.input_like(x));
    for (int i = 0; i < c_.states(); ++i) of_pull.push_back(inputs[first_state + i]), of_step.push_back(inputs[first_state + i]);
    for (int b = 0; b < 2; ++b)
      for (int j = 0; j < c_.captures[b]; ++j) (b == 0 ? of_step : of_pull).push_back(is_wanted(b, j) ? body.variable(capture(b, j)) : capture(b, j));
    body.inline_body(of_pull);
    const id_list stepped = g_.inline_body(c_.bodies[0], of_step, ir::builder::bounds::if_read);

    id_list values, arriving, wrt, outputs;
    mark_list marks;
    for (int i = 0, at = c_.carries; i < c_.states(); ++i)
      if (r_.of_first[i]) values.push_back(stepped[output_of(0, i)]), arriving.push_back(inputs[at++]), marks.push_back(r_.of_first[i]);
    for (int i = 0, at = first_state + c_.states(); i < c_.carries; ++i)
      if (r_.outputs[i]) values.push_back(body.output(i)), arriving.push_back(inputs[at++]), marks.push_back(r_.outputs[i]);
    for (int i = 0; i < of_step.size(); ++i)
      if (r_.of_first[i]) wrt.push_back(of_step[i]);
    for (int j = 0; j < c_.captures[1]; ++j)
      if (is_wanted(1, j)) wrt.push_back(of_pull[c_.own_inputs(1) + j]);
    id_list gradients(wrt.size(), ir::none);
    reverse(g_, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data(), marks.data());
    for (int i = 0; i < c_.carries; ++i) outputs.push_back(body.output(i));
    for (int k = 0; k < wrt.size(); ++k) {
      const ir::node_id sum = inputs[c_.carries + k], more = gradients[k];
      if (k < active_states) outputs.push_back(more != ir::none ? more : body.zero_like(wrt[k]));
      else outputs.push_back(more != ir::none ? sum_of_cotangents({g_, sum}, {g_, more}).id : sum);
    }
    ir::control_flow back = c_.derived(c_.what, first_state, first_states_.size() + 1);
    id_list all, captured;
    back.bodies[1] = body.outline(inputs, outputs, captured);
    back.captures[1] = captured.size();

    for (int i = 0; i < c_.carries; ++i) all.push_back(operands_[i]);
    for (const ir::node_id x : wanted) all.push_back(zero(x));
    for (const ir::node_id x : first_states_) all.push_back(x);
    all.push_back(trip_count());
    derived_body step(g_, c_.bodies[0]);
    const iteration next = iteration_forward(step);
    const int before = all.size();
    back.bodies[0] = step.outline(next.inputs, next.outputs, all);
    back.captures[0] = all.size() - before;
    for (const ir::node_id x : captured) all.push_back(x);
    const ir::node_id loop = g_.add_control_flow(back, all);
    for (int k = 0; k < wanted.size(); ++k) accumulate_(wanted[k], g_.result(loop, c_.carries + k));
  }

 private:
  /// An iteration (s_k, l_k) -> (s_k+1, l_k+1).
  struct iteration {
    id_list inputs, outputs;
  };
  constexpr iteration iteration_forward(derived_body& body) {
    iteration t;
    id_list of_step, of_pull, values, arriving, wrt;
    mark_list marks;
    for (int i = 0; i < c_.states(); ++i) of_step.push_back(body.input_of(i)), t.inputs.push_back(of_step[i]);
    for (int i = 0; i < c_.carries; ++i)
      if (r_.outputs[i]) t.inputs.push_back(body.input_like(operands_[i])), arriving.push_back(t.inputs.back()), marks.push_back(r_.outputs[i]);
    for (int i = 0; i < c_.carries; ++i) {
      of_pull.push_back(body.variable(zero(operands_[i])));  // the pull is linear in c, so its derivative at 0 is its derivative at each c
      if (r_.outputs[i]) wrt.push_back(of_pull[i]);
    }
    for (int i = 0; i < c_.states(); ++i) of_pull.push_back(of_step[i]);
    for (int b = 0; b < 2; ++b)
      for (int j = 0; j < c_.captures[b]; ++j) (b == 0 ? of_step : of_pull).push_back(capture(b, j));
    body.inline_body(of_step);
    const id_list pulled = g_.inline_body(c_.bodies[1], of_pull, ir::builder::bounds::if_read);
    for (int i = 0; i < c_.carries; ++i)
      if (r_.outputs[i]) values.push_back(pulled[output_of(1, i)]);
    id_list gradients(wrt.size(), ir::none);
    reverse(g_, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data(), marks.data());
    for (int i = 0; i < c_.states(); ++i) t.outputs.push_back(body.output(i));
    for (int k = 0; k < wrt.size(); ++k) t.outputs.push_back(gradients[k] != ir::none ? gradients[k] : body.zero_like(wrt[k]));
    ir::graph_view read = g_.view();
    read.outputs = t.outputs.data(), read.output_count = t.outputs.size();
    const mark_list needed = liveness_of(read, mark_list(t.outputs.size(), 1)).nodes;
    for (const ir::node_id x : wrt)
      if (needed[x]) g_.refuse({ir::diagnostic::kind::nonlinear_backward});
    return t;
  }

  constexpr ir::node_id zero(ir::node_id x) { return g_.constant(g_[x].type, g_[x].shape, 0); }
  constexpr ir::node_id trip_count() const { return operands_[c_.own_operands() - 1]; }
  constexpr ir::node_id capture(int b, int j) const { return operands_[c_.own_operands() + (b == 0 ? 0 : c_.captures[0]) + j]; }
  constexpr bool is_wanted(int b, int j) const { return r_.inputs(b)[c_.own_inputs(b) + j] != 0; }
  /// The node of output i in body b.
  constexpr ir::node_id output_of(int b, int i) const { return g_.view().body_at(c_.bodies[b]).outputs[i]; }

  ir::builder& g_;
  const char* active_;
  Accumulate accumulate_;
  ir::control_flow c_;
  reach r_;
  id_list operands_, first_states_;
};

template <class Accumulate>
constexpr void pull_reverse_while(ir::builder& g, ir::node_id id, const reach& r, const char* active, const id_list& cotangents, Accumulate accumulate) {
  cotangents_of_reverse_while all(g, id, r, active, cotangents, accumulate);
  all.of_carries();
  all.of_states_and_captures();
}

}  // namespace tenure::passes
