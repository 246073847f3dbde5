// SPDX-License-Identifier: BSL-1.0
// Cotangents of a while_loop without a bound on its trip count. A reverse_while takes the iterations from the last to the first. It has memory for
// a fixed number of states, so it computes the states of the other iterations again (program/snapshots.hpp). The while_loop gets one more result for
// it, the trip count. The condition has no derivative: the gradient is the gradient of the iterations that ran.
// Cost: the memory of the trip count, the first state and the captured values, from the first loop to the second.
#pragma once

#include <tenure/passes/loops/derived_body.hpp>
#include <tenure/passes/loops/reach.hpp>

namespace TENURE_NAMESPACE::passes {

/// Marks the inputs that the marked outputs of a body need. Checks of indices need no input here, because the first loop made them.
constexpr mark_list inputs_read(const ir::graph_view& body, const mark_list& outputs) {
  mark_list live(body.count, 0), inputs(body.input_count, 0);
  for (int i = 0; i < outputs.size(); ++i)
    if (outputs[i]) live[body.outputs[i]] = 1;
  ir::mark_needed(body.nodes, body.count, live.data());
  for (ir::node_id id = 0; id < body.count; ++id)
    if (body[id].op == ir::opcode::input) inputs[static_cast<int>(body[id].attr)] = live[id];
  return inputs;
}

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

/// Calls accumulate(operand, cotangent) for the operands of a while_loop. `cotangents` are the cotangents of its results, or none, and `r` says what
/// they reach. The cotangents of captures are summed up over the iterations. Only the states that the pull needs are computed again. A counter that
/// only the condition reads is not needed, and the pull of a linear iteration may need no state.
template <class Accumulate>
constexpr void pull_while(ir::builder& g, ir::node_id id, const reach& r, const id_list& cotangents, Accumulate accumulate) {
  const ir::control_flow c = g.control_flow_at(id);
  const mark_list& reached = r.of_second;
  const id_list operands = g.operands_of(id);
  const int iteration = c.bodies[1], first_capture = c.carries + c.captures[0];
  ir::control_flow counted = c;
  counted.counts_iterations = true;
  g.replace_control_flow(id, counted);
  const ir::node_id trip_count = g.result(id, c.carries);

  id_list all, wanted;
  for (int i = 0; i < c.carries + c.captures[1]; ++i) {
    if (i < c.carries ? !r.outputs[i] : !reached[i]) continue;
    const ir::node_id operand = operands[i < c.carries ? i : first_capture + i - c.carries], arrives = i < c.carries ? cotangents[i] : ir::none;
    wanted.push_back(operand);
    all.push_back(arrives != ir::none ? arrives : g.constant(g[operand].type, g[operand].shape, 0));
  }

  derived_body pull(g, iteration);
  id_list inputs, given, wrt, values, arriving, outputs;
  mark_list marks;
  for (const ir::node_id operand : wanted) inputs.push_back(pull.input_like(operand));
  for (int i = 0; i < c.carries; ++i) given.push_back(pull.input_of(i));
  for (int j = 0; j < c.captures[1]; ++j) {
    const ir::node_id operand = operands[first_capture + j];
    given.push_back(reached[c.carries + j] ? pull.variable(operand) : operand);
  }
  pull.inline_body(given);
  for (int i = 0; i < given.size(); ++i)
    if (i < c.carries ? r.outputs[i] : reached[i]) wrt.push_back(given[i]);
  for (int i = 0; i < c.carries; ++i)
    if (r.outputs[i]) values.push_back(pull.output(i)), arriving.push_back(inputs[arriving.size()]), marks.push_back(r.outputs[i]);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data(), marks.data());
  for (int k = 0; k < wrt.size(); ++k) {
    const bool is_sum = k >= values.size(), is_zero = gradients[k] == ir::none;
    if (!is_sum) outputs.push_back(is_zero ? pull.zero_like(wrt[k]) : gradients[k]);
    else outputs.push_back(is_zero ? inputs[k] : sum_of_cotangents({g, inputs[k]}, {g, gradients[k]}).id);
  }

  mark_list needed(c.carries, 0), live = pull.live(outputs);
  bool all_needed = true;
  for (int i = 0; i < c.carries; ++i) needed[i] = char(live[given[i] - pull.first()]);
  live_over_iterations(needed, c.carries, c.carries, [&](const mark_list& states) { return inputs_read(g.view().body_at(iteration), states); });
  for (int i = 0; i < c.carries; ++i) all_needed = all_needed && needed[i];
  for (int i = 0; i < c.carries; ++i)
    if (needed[i]) inputs.push_back(given[i]), all.push_back(operands[i]);
  all.push_back(trip_count);
  ir::control_flow back = c.derived(ir::control_flow::kind::reverse_while, wanted.size(), all.size() - wanted.size());
  id_list captured;
  back.bodies[1] = pull.outline(inputs, outputs, captured);
  back.captures[1] = captured.size();

  const int before = all.size();
  back.bodies[0] = iteration;
  if (all_needed && g.view().body_at(iteration).bound_count == 0) {
    for (int j = 0; j < c.captures[1]; ++j) all.push_back(operands[first_capture + j]);
  } else {
    derived_body step(g, iteration);
    id_list states, in_iteration, next;
    for (int i = 0; i < c.carries; ++i) {
      in_iteration.push_back(needed[i] ? step.input_of(i) : step.zero_like(operands[i]));
      if (needed[i]) states.push_back(in_iteration.back());
    }
    for (int j = 0; j < c.captures[1]; ++j) in_iteration.push_back(operands[first_capture + j]);
    step.inline_body(in_iteration);
    for (int i = 0; i < c.carries; ++i)
      if (needed[i]) next.push_back(step.output(i));
    back.bodies[0] = step.outline(states, next, all);
  }
  back.captures[0] = all.size() - before;
  for (const ir::node_id x : captured) all.push_back(x);

  const ir::node_id loop = g.add_control_flow(back, all);
  for (int k = 0; k < wanted.size(); ++k) accumulate(wanted[k], g.result(loop, k));
}

}  // namespace tenure::passes
