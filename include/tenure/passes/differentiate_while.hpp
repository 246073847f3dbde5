// SPDX-License-Identifier: BSL-1.0
// Cotangents of a while_loop without a bound: a reverse_while takes the turns from the last one to the first. It has room for a fixed number of
// states, so it computes the states of other turns again (program/snapshots.hpp). The while_loop counts its turns for it. The condition
// has no derivative: the gradient is that of the turns that were taken.
// Cost: between the two loops the number of turns, the first state and the captured values are kept.
#pragma once

#include <tenure/passes/demand.hpp>
#include <tenure/passes/differentiate_scan.hpp>

namespace TENURE_NAMESPACE::passes {

/// The inputs that the marked outputs of a body read. Its index checks read nothing here: they were made before.
constexpr mark_list inputs_read(const ir::graph_view& body, const mark_list& outputs) {
  mark_list live(body.count, 0), inputs(body.input_count, 0);
  for (int i = 0; i < outputs.size(); ++i)
    if (outputs[i]) live[body.outputs[i]] = 1;
  ir::mark_needed(body.nodes, body.count, live.data());
  for (ir::node_id id = 0; id < body.count; ++id)
    if (body[id].op == ir::opcode::input) inputs[static_cast<int>(body[id].attr)] = live[id];
  return inputs;
}

/// Adds the cotangents of the operands of a while_loop. `cotangents` are those of its results, or none. accumulate(operand, cotangent) takes
/// them. Those of captures are summed up in each turn. The states that the pull needs are computed again, but not the others, such as a number of
/// turns that only the condition reads. The pull of a linear turn may need none.
template <class Accumulate>
constexpr void pull_while(ir::builder& g, ir::node_id id, const char* active, const id_list& cotangents, Accumulate accumulate) {
  const ir::construct c = g.construct_at(id);
  const flow f = flow_through<by_derivative>(g.view(), id, active);
  const id_list operands = g.operands_of(id);
  const int turn = c.bodies[1], first_capture = c.carries + c.captures[0];
  ir::construct counted = c;
  counted.counts_turns = true;
  g.replace_construct(id, counted);
  const ir::node_id turns = g.result(id, c.carries);

  id_list all, wanted;
  for (int i = 0; i < c.carries + c.captures[1]; ++i) {
    if (!f.inputs(1)[i]) continue;
    const ir::node_id operand = operands[i < c.carries ? i : first_capture + i - c.carries], arrives = i < c.carries ? cotangents[i] : ir::none;
    wanted.push_back(operand);
    all.push_back(arrives != ir::none ? arrives : g.constant(g[operand].type, g[operand].shape, 0));
  }

  derived_body pull(g, turn);
  id_list inputs, given, wrt, values, arriving, outputs;
  for (const ir::node_id operand : wanted) inputs.push_back(pull.input_like(operand));
  for (int i = 0; i < c.carries; ++i) given.push_back(pull.input_of(i));
  for (int j = 0; j < c.captures[1]; ++j) {
    const ir::node_id operand = operands[first_capture + j];
    given.push_back(f.inputs(1)[c.carries + j] ? pull.variable(operand) : operand);
  }
  pull.paste(given);
  for (int i = 0; i < given.size(); ++i)
    if (f.inputs(1)[i]) wrt.push_back(given[i]);
  for (int i = 0; i < c.carries; ++i)
    if (f.inputs(1)[i]) values.push_back(pull.output(i)), arriving.push_back(inputs[arriving.size()]);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data());
  for (int k = 0; k < wrt.size(); ++k) {
    const bool is_sum = k >= values.size(), is_zero = gradients[k] == ir::none;
    if (!is_sum) outputs.push_back(is_zero ? pull.zero_like(wrt[k]) : gradients[k]);
    else outputs.push_back(is_zero ? inputs[k] : (ops::value(g, inputs[k]) + ops::value(g, gradients[k])).id);
  }

  mark_list needed(c.carries, 0), live = pull.live(outputs);
  bool all_needed = true;
  for (int i = 0; i < c.carries; ++i) needed[i] = char(live[given[i] - pull.first()]);
  need_over_turns(needed, c.carries, c.carries, [&](const mark_list& states) { return inputs_read(g.view().body_at(turn), states); });
  for (int i = 0; i < c.carries; ++i) all_needed = all_needed && needed[i];
  for (int i = 0; i < c.carries; ++i)
    if (needed[i]) inputs.push_back(given[i]), all.push_back(operands[i]);
  all.push_back(turns);
  ir::construct back{.what = ir::construct::kind::reverse_while, .carries = wanted.size(), .scanned = all.size() - wanted.size()};
  id_list captured;
  back.bodies[1] = pull.cut(inputs, outputs, captured);
  back.captures[1] = captured.size();

  const int before = all.size();
  back.bodies[0] = turn;
  if (all_needed && g.view().body_at(turn).bound_count == 0) {
    for (int j = 0; j < c.captures[1]; ++j) all.push_back(operands[first_capture + j]);
  } else {  // the while_loop has checked the bounds
    derived_body step(g, turn);
    id_list states, in_turn, next;
    for (int i = 0; i < c.carries; ++i) {
      in_turn.push_back(needed[i] ? step.input_of(i) : step.zero_like(operands[i]));
      if (needed[i]) states.push_back(in_turn.back());
    }
    for (int j = 0; j < c.captures[1]; ++j) in_turn.push_back(operands[first_capture + j]);
    step.paste(in_turn);
    for (int i = 0; i < c.carries; ++i)
      if (needed[i]) next.push_back(step.output(i));
    back.bodies[0] = step.cut(states, next, all);
  }
  back.captures[0] = all.size() - before;
  for (const ir::node_id x : captured) all.push_back(x);

  const ir::node_id loop = g.add_construct(back, all);
  for (int k = 0; k < wanted.size(); ++k) accumulate(wanted[k], g.result(loop, k));
}

/// Which carries of a reverse_while get a cotangent in some turn, given those of its results.
constexpr mark_list carries_reached(const ir::graph_view& g, const ir::construct& c, const id_list& cotangents) {
  const ir::graph_view pull = g.body_at(c.bodies[1]);
  mark_list reached(c.carries, 0);
  for (int i = 0; i < c.carries; ++i) reached[i] = cotangents[i] != ir::none;
  for (bool again = true; again;) {
    again = false;
    for (int j = 0; j < c.carries; ++j) {
      if (reached[j]) continue;
      mark_list inputs(pull.input_count, 0);
      inputs[j] = 1;
      const mark_list marks = marks_of_body<by_derivative>(pull, inputs);
      for (int i = 0; i < c.carries; ++i)
        if (reached[i] && marks[pull.outputs[i]]) reached[j] = again = true;
    }
  }
  return reached;
}

/// Adds the cotangents of the operands of a reverse_while, whose turns go from state s_n-1 back to s_0: c_k = pull(c_k+1, s_k). The pull is linear in c, so
/// the cotangent of c goes forward, from that of the result c_0, and needs no c: l_k+1 = (dpull / dc)^T l_k. It is one more state. Then another
/// reverse_while computes each c again and sums up the cotangents of the states and the captures: d_k = (dstep / ds)^T d_k+1 + d<l_k, pull(c_k+1, s)> / ds.
/// A custom_vjp whose backward is not linear would need each c on the way forward: it is refused.
/// Cost: the turns once more forward for the cotangent of the first c, where something needs it, and once backward.
template <class Accumulate>
constexpr void pull_reverse_while(ir::builder& g, ir::node_id id, const char* active, const id_list& cotangents, Accumulate accumulate) {
  const ir::construct c = g.construct_at(id);
  const flow f = flow_through<by_derivative>(g.view(), id, active);
  const id_list operands = g.operands_of(id);
  const int states = c.states(), own = c.own_operands(), first_of_pull = own + c.captures[0];
  const ir::node_id turns = operands[own - 1];
  const mark_list reached = carries_reached(g.view(), c, cotangents);
  const auto zero = [&](ir::node_id x) { return g.constant(g[x].type, g[x].shape, 0); };
  const auto capture = [&](derived_body& body, int b, int j) {
    const ir::node_id operand = operands[(b == 0 ? own : first_of_pull) + j];
    return f.inputs(b)[c.own_inputs(b) + j] ? body.variable(operand) : operand;
  };

  id_list first_states;  // s_0 and l_0
  for (int i = 0; i < states; ++i) first_states.push_back(operands[c.carries + i]);
  for (int i = 0; i < c.carries; ++i)
    if (reached[i]) first_states.push_back(cotangents[i] != ir::none ? cotangents[i] : zero(operands[i]));

  // (s_k, l_k) -> (s_k+1, l_k+1). As the pull is linear, its derivative at c = 0 is that at each c.
  const auto turn_forward = [&](derived_body& body, id_list& inputs, id_list& outputs) {
    id_list given, values, arriving, wrt, of_pull;
    for (int i = 0; i < states; ++i) given.push_back(body.input_of(i)), inputs.push_back(given[i]);
    for (int i = 0; i < c.carries; ++i)
      if (reached[i]) inputs.push_back(body.input_like(operands[i])), arriving.push_back(inputs.back());
    for (int i = 0; i < c.carries; ++i) {
      of_pull.push_back(body.variable(zero(operands[i])));
      if (reached[i]) wrt.push_back(of_pull[i]);
    }
    for (int i = 0; i < states; ++i) of_pull.push_back(given[i]);
    for (int j = 0; j < c.captures[0]; ++j) given.push_back(operands[own + j]);
    for (int j = 0; j < c.captures[1]; ++j) of_pull.push_back(operands[first_of_pull + j]);
    body.paste(given);
    const ir::array<ir::node_id> pulled = g.paste(c.bodies[1], of_pull);
    for (int i = 0; i < c.carries; ++i)
      if (reached[i]) values.push_back(pulled[g.view().body_at(c.bodies[1]).outputs[i]]);
    id_list gradients(wrt.size(), ir::none);
    reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data());
    for (int i = 0; i < states; ++i) outputs.push_back(body.output(i));
    for (int k = 0; k < wrt.size(); ++k) outputs.push_back(gradients[k] != ir::none ? gradients[k] : body.zero_like(wrt[k]));
    const ir::array<char> live = body.live(outputs);
    for (const ir::node_id x : wrt)
      if (live[x - body.first()]) g.refuse({ir::refusal::kind::second_reverse_while});
  };

  bool any_carry = false, any_other = false;
  for (int i = 0; i < c.carries; ++i) any_carry = any_carry || (reached[i] && active[operands[i]]);
  for (int i = c.carries; i < operands.size(); ++i) any_other = any_other || (i != own - 1 && active[operands[i]]);
  if (any_carry) {
    ir::construct loop{.what = ir::construct::kind::while_loop, .carries = first_states.size() + 1};
    id_list all = first_states;
    all.push_back(g.constant(dtype::int64, g[turns].shape, 0));
    {
      derived_body condition(g, c.bodies[0]);
      id_list inputs;
      for (const ir::node_id x : all) inputs.push_back(condition.input_like(x));
      const int before = all.size();
      id_list goes_on(1, ops::pointwise_value<ops::less>({g, inputs.back()}, {g, turns}, {}).id);
      loop.bodies[0] = condition.cut(inputs, goes_on, all);
      loop.captures[0] = all.size() - before;
    }
    derived_body body(g, c.bodies[0]);
    id_list inputs, outputs;
    turn_forward(body, inputs, outputs);
    inputs.push_back(body.input_like(turns));
    outputs.push_back((ops::value(g, inputs.back()) + ops::value(g, inputs.back()).like(1)).id);
    const int before = all.size();
    loop.bodies[1] = body.cut(inputs, outputs, all);
    loop.captures[1] = all.size() - before;
    const ir::node_id last = g.add_construct(loop, all);
    for (int i = 0, at = states; i < c.carries; ++i) {
      if (!reached[i]) continue;
      if (active[operands[i]]) accumulate(operands[i], g.result(last, at));
      ++at;
    }
  }
  if (!any_other) return;

  ir::construct back{.what = ir::construct::kind::reverse_while};
  id_list all, wanted, captured;  // carries: each c, then the cotangents of `wanted`
  derived_body body(g, c.bodies[1]);
  id_list inputs, given, of_step, wrt, values, arriving, outputs;
  for (int i = 0; i < c.carries; ++i) given.push_back(body.input_of(i)), inputs.push_back(given[i]);
  const auto want = [&](ir::node_id operand) {
    wanted.push_back(operand);
    inputs.push_back(body.input_like(operand));
  };
  for (int i = 0; i < states; ++i)
    if (f.inputs(0)[i]) want(operands[c.carries + i]);
  const int active_states = wanted.size();
  for (int b = 0; b < 2; ++b)
    for (int j = 0; j < c.captures[b]; ++j)
      if (f.inputs(b)[c.own_inputs(b) + j]) want(operands[(b == 0 ? own : first_of_pull) + j]);
  const int first_state = inputs.size();
  for (const ir::node_id x : first_states) inputs.push_back(body.input_like(x));
  for (int i = 0; i < states; ++i) given.push_back(inputs[first_state + i]), of_step.push_back(inputs[first_state + i]);
  for (int j = 0; j < c.captures[0]; ++j) of_step.push_back(capture(body, 0, j));
  for (int j = 0; j < c.captures[1]; ++j) given.push_back(capture(body, 1, j));
  body.paste(given);
  const ir::array<ir::node_id> stepped = g.paste(c.bodies[0], of_step);
  for (int i = 0; i < of_step.size(); ++i)
    if (f.inputs(0)[i]) wrt.push_back(of_step[i]);
  for (int j = 0; j < c.captures[1]; ++j)
    if (f.inputs(1)[c.own_inputs(1) + j]) wrt.push_back(given[c.own_inputs(1) + j]);
  for (int i = 0, at = c.carries; i < states; ++i)
    if (f.inputs(0)[i]) values.push_back(stepped[g.view().body_at(c.bodies[0]).outputs[i]]), arriving.push_back(inputs[at++]);
  for (int i = 0, at = first_state + states; i < c.carries; ++i)
    if (reached[i]) values.push_back(body.output(i)), arriving.push_back(inputs[at++]);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data());
  for (int i = 0; i < c.carries; ++i) outputs.push_back(body.output(i));
  for (int k = 0; k < wrt.size(); ++k) {
    const ir::node_id sum = inputs[c.carries + k], more = gradients[k];
    if (k < active_states) outputs.push_back(more != ir::none ? more : body.zero_like(wrt[k]));
    else outputs.push_back(more != ir::none ? (ops::value(g, sum) + ops::value(g, more)).id : sum);
  }
  back.bodies[1] = body.cut(inputs, outputs, captured);
  back.captures[1] = captured.size();
  for (int i = 0; i < c.carries; ++i) all.push_back(operands[i]);
  for (const ir::node_id x : wanted) all.push_back(zero(x));
  for (const ir::node_id x : first_states) all.push_back(x);
  all.push_back(turns);
  back.carries = first_state;
  back.scanned = first_states.size() + 1;

  derived_body step(g, c.bodies[0]);
  id_list before_turn, after_turn;
  turn_forward(step, before_turn, after_turn);
  const int before = all.size();
  back.bodies[0] = step.cut(before_turn, after_turn, all);
  back.captures[0] = all.size() - before;
  for (const ir::node_id x : captured) all.push_back(x);
  const ir::node_id loop = g.add_construct(back, all);
  for (int k = 0; k < wanted.size(); ++k) accumulate(wanted[k], g.result(loop, c.carries + k));
}

/// The reverse_while of (carries, tangents of the carries) over (states, tangents of the states), given the tangents of its operands. Returns
/// the tangents of its results, or none.
constexpr id_list push_reverse_while(ir::builder& g, ir::node_id id, const char* active, const id_list& tangent) {
  const ir::construct c = g.construct_at(id);
  const flow f = flow_through<by_derivative>(g.view(), id, active);
  const id_list operands = g.operands_of(id);
  const int own = c.own_operands();
  const auto tangent_of_operand = [&](int i) {
    const ir::node_id x = operands[i];
    return active[x] ? tangent[x] : g.constant(g[x].type, g[x].shape, 0);
  };
  ir::construct both{.what = c.what};
  id_list all;
  const auto add = [&](int from, int to) {
    for (int i = from; i < to; ++i) all.push_back(operands[i]);
    for (int i = from; i < to; ++i)
      if (f.inputs(1)[i]) all.push_back(tangent_of_operand(i));
  };
  add(0, c.carries);
  both.carries = all.size();
  add(c.carries, c.carries + c.states());
  all.push_back(operands[own - 1]);
  both.scanned = all.size() - both.carries;
  int first_capture = own;
  for (int b = 0; b < 2; ++b) {
    derived_body body(g, c.bodies[b]);
    const int own_inputs = c.own_inputs(b), returned = b == 0 ? c.states() : c.carries;
    id_list inputs, given(own_inputs, ir::none), wrt, tangents, values, outputs;
    const auto take = [&](int from, int to) {
      const auto input = [&](int i) {
        inputs.push_back(body.input_of(i));
        return inputs.back();
      };
      for (int i = from; i < to; ++i) given[i] = input(i);
      for (int i = from; i < to; ++i)
        if (f.inputs(b)[i]) wrt.push_back(given[i]), tangents.push_back(input(i));
    };
    take(0, returned);
    take(returned, own_inputs);
    for (int j = 0; j < c.captures[b]; ++j) {
      const ir::node_id operand = operands[first_capture + j];
      given.push_back(active[operand] ? body.variable(operand) : operand);
      if (active[operand]) wrt.push_back(given.back()), tangents.push_back(tangent[operand]);
    }
    body.paste(given);
    for (int i = 0; i < returned; ++i) values.push_back(body.output(i));
    id_list found(returned, ir::none);
    forward(g, wrt.data(), tangents.data(), wrt.size(), values.data(), returned, found.data());
    for (const ir::node_id v : values) outputs.push_back(v);
    for (int i = 0; i < returned; ++i)
      if (f.inputs(b)[i]) outputs.push_back(found[i] != ir::none ? found[i] : body.zero_like(values[i]));
    const int before = all.size();
    both.bodies[b] = body.cut(inputs, outputs, all);
    both.captures[b] = all.size() - before;
    first_capture += c.captures[b];
  }
  const ir::node_id derived = g.add_construct(both, all);
  id_list results;
  for (int i = 0, at = c.carries; i < c.carries; ++i) results.push_back(f.results[i] ? g.result(derived, at++) : ir::none);
  return results;
}

}  // namespace tenure::passes

// reverse() and forward() go through constructs, and constructs through the nodes of their bodies: each header needs the other.
#include <tenure/passes/differentiate_construct.hpp>
