// SPDX-License-Identifier: BSL-1.0
// Rewrites a body for a batch of samples. Each node that depends on a sample gets a new axis 0, by the rule `batch` of its operation. Other
// nodes are computed once, for all samples. Loops and branches become loops and branches over the batch:
// - loops: if the trip count depends on the sample, the loop takes as many iterations as any sample needs. A sample whose iterations are over keeps its values.
// - custom_jvp, custom_vjp, checkpoint: the same for the batch. The cotangent of an argument that all samples share is the sum of the
//   cotangents of all samples.
// - cond: if the flag depends on the sample, both branches are computed for all samples, and `where` chooses.
// - external functions: a scan calls the function for one sample after the other, unless the function takes a batch.
// Cost: one node for each node, plus views that move axes, and more nodes for a gather whose indices depend on the sample.
#pragma once

#include <tenure/passes/loops/activity.hpp>
#include <tenure/passes/loops/parts_of_samples.hpp>
#include <tenure/passes/roles.hpp>

namespace TENURE_NAMESPACE::passes {

class batching {
  using values = ir::array<batch_value>;
  using ids = ir::array<ir::node_id>;

 public:
  /// `mask` is a bool for each sample, or none. The results of a sample whose mask is false are not used, so its indices are not checked.
  constexpr batching(ir::builder& g, std::int64_t samples, ir::node_id mask = ir::none) : g_(g), samples_(samples), mask_(mask) {}

  /// Appends the nodes of a body and returns the values of its outputs. `inputs` are the values of its inputs.
  constexpr values outputs(int which, const values& inputs) {
    ids nodes_of_outputs;
    const ir::graph_view body = g_.view().body_at(which);
    for (int i = 0; i < body.output_count; ++i) nodes_of_outputs.push_back(body.outputs[i]);
    const values all = inline_body(which, inputs);
    values found;
    for (const ir::node_id id : nodes_of_outputs) found.push_back(parts().whole(all[id]));
    return found;
  }
  /// The value with the axis of the samples. A value that all samples share is repeated.
  constexpr ir::node_id over(batch_value x) const { return x.is_mapped ? x.id : call({}).over({g_, x.id}).id; }

 private:
  constexpr ops::batch_call call(const ir::node& n) const { return {g_, samples_, n}; }
  constexpr parts_of_samples parts() const { return {g_, samples_}; }

  constexpr values inline_body(int which, const values& inputs) {
    ir::array<ir::node> nodes;  // copies, because the arrays of the builder grow
    ir::array<ir::bound> bounds;
    const int backward_from = g_.view().inner.bodies[which].backward_from;
    {
      const ir::graph_view body = g_.view().body_at(which);
      for (int i = 0; i < body.count; ++i) nodes.push_back(body[i]);
      for (int i = 0; i < body.bound_count; ++i) bounds.push_back(body.bounds[i]);
    }
    values at(nodes.size());
    ir::array<int> first_result(nodes.size(), 0);  // for a control-flow operation: the position of its first result in `results`
    values results;
    for (int i = 0; i < nodes.size(); ++i) {
      const ir::node n = nodes[i];
#if TENURE_PROFILE_LINES
      const ir::builder::location_scope for_samples(g_, n.location);
#endif
      if (i == backward_from && i > 0) g_.begin_backward();
      if (n.op == ir::opcode::input) {
        at[i] = inputs[static_cast<int>(n.attr)];
      } else if (n.op == ir::opcode::control_flow) {
        first_result[i] = results.size();
        values operands;
        ir::for_each_operand(nodes, n.in[0], [&](ir::node_id id) { operands.push_back(parts().whole(at[id])); });
        for (const batch_value& r : control_flow(g_.view().control_flow_of(n), operands)) results.push_back(r);
      } else if (n.op == ir::opcode::result) {
        at[i] = results[first_result[n.in[0]] + static_cast<int>(n.attr)];
      } else if (n.op != ir::opcode::tuple) {
        at[i] = node(n, at);
      }
      for (const ir::bound& b : bounds) {
        if (b.indices != i) continue;
        at[i] = parts().whole(at[i]);
        if (mask_ != ir::none) at[i] = masked(at[i]);
        g_.keep_bound(b, at[i].id);
      }
    }
    return at;
  }

  constexpr batch_value node(ir::node n, const values& at) const {
    bool is_mapped = false;
    for (int k = 0; k < n.arity; ++k) is_mapped = is_mapped || at[n.in[k]].is_mapped;
    if (!is_mapped) {
      for (int k = 0; k < n.arity; ++k) n.in[k] = at[n.in[k]].id;
      return {g_.emit(n), false};
    }
    batch_value operands[ir::max_operands];
    for (int k = 0; k < n.arity; ++k) operands[k] = at[n.in[k]];
    if (parts().applies_to(n, operands)) return parts().node(n, operands);
    ops::batch_call of_samples = call(n);
    for (int k = 0; k < n.arity; ++k) of_samples.operand(k, {g_, parts().whole(operands[k]).id}, !operands[k].is_mapped);
    return {ops::batched(of_samples).id, true};
  }

  /// The indices, with 0 for the samples whose results are not used. Indices that all samples share stay shared, because flow_through() marked
  /// them so: they become 0 only if no result is used.
  constexpr batch_value masked(batch_value indices) const {
    const ops::value x(g_, indices.id);
    if (indices.is_mapped) return {chosen(mask_, x, x.like(0)).id, true};
    const ops::value is_used = ops::broadcast_to({g_, any(mask_)}, x.node().shape);
    return {ops::pointwise_value<ops::where>(is_used, x, x.like(0)).id, false};
  }
  /// x for the samples whose flag is true, else y.
  constexpr ops::value chosen(ir::node_id flags, ops::value x, ops::value y) const {
    const ops::value each = ops::broadcast_along({g_, flags}, x.node().shape, 0);
    return x.type() == dtype::boolean ? ops::on_bool<ops::where>(each, x, y) : ops::pointwise_value<ops::where>(each, x, y);
  }
  constexpr ir::node_id both(ir::node_id mask, ir::node_id flags) const {
    return mask == ir::none ? flags : ops::pointwise_value<ops::logical_and>({g_, mask}, {g_, flags}, {}).id;
  }

  // ---- loops and branches -------------------------------------------------------------------------------------------

  constexpr values control_flow(const ir::control_flow c, const values& operands) {  // c is a copy, because the records of the builder move
    mark_list mapped;
    for (const batch_value& o : operands) mapped.push_back(o.is_mapped);
    if (c.is_custom_derivative()) return custom_derivative(c, operands, mapped);
    const flow m = flow_through<by_sample>(g_.view(), c, mapped);
    if (c.is_loop()) return loop(c, operands, m);
    if (!c.runs_bodies()) return external(c, operands);
    return cond(c, operands, m);
  }

  /// A body that is being written. `given` has the values of its inputs and then of the operands that it captures.
  struct writing {
    ir::node_id first;
    ids inputs;
    values given;
  };
  /// Starts a body with inputs like the first `own` inputs of body `which`. A marked input also gets the axis of the samples.
  constexpr writing start(int which, int own, const mark_list& mapped) {
    writing w{g_.count(), {}, {}};
    ids types, shapes;
    types.resize(own, 0), shapes.resize(own, 0);
    const ir::graph_view body = g_.view().body_at(which);
    for (int i = 0; i < body.count; ++i) {
      const ir::node& n = body[i];
      if (n.op != ir::opcode::input || n.attr >= own) continue;
      types[static_cast<int>(n.attr)] = static_cast<int>(n.type), shapes[static_cast<int>(n.attr)] = n.shape;
    }
    for (int i = 0; i < own; ++i) {
      const extents sample = g_.shape(static_cast<std::int16_t>(shapes[i]));
      const ir::node_id id = g_.body_input(static_cast<dtype>(types[i]), mapped[i] ? g_.intern(call({}).batch_of(sample)) : static_cast<std::int16_t>(shapes[i]));
      w.inputs.push_back(id);
      w.given.push_back({id, mapped[i] != 0});
    }
    return w;
  }
  /// If any operand has the axis of the samples, the results have it too, with their tangents and cotangents. The tangents and cotangents of the
  /// other operands have it if the operand has it.
  constexpr values custom_derivative(const ir::control_flow& c, const values& operands, mark_list mapped) {
    using kind = ir::control_flow::kind;
    bool any = false;
    for (const char m : mapped) any = any || m;
    const int first_of_results = c.what == kind::custom_jvp ? c.carries : c.first_result_residual();
    for (int i = 0; c.of_results && i < c.carries; ++i) mapped[first_of_results + i] = any;
    const int first_residual = c.first_argument() + c.scanned, own = c.own_operands();
    const int first_shared = c.what == kind::linear_solve ? 2 * c.carries : c.what == kind::checkpoint ? own : c.first_argument();
    const auto is_value = [&](int i) { return i < first_shared; };  // it has the axis of the samples if any operand has it
    const auto is_floating_at = [&](int i) { return is_floating(g_[operands[i].id].type); };
    ids all;
    for (int i = 0; i < own; ++i) all.push_back(any && (is_value(i) || mapped[i]) ? over(operands[i]) : operands[i].id);
    mark_list inputs;
    if (c.what == kind::custom_jvp) {
      for (int i = c.carries; i < own; ++i) inputs.push_back(mapped[i]);
      for (int i = c.carries; i < own; ++i)
        if (is_floating_at(i)) inputs.push_back(mapped[i]);
    } else if (c.what == kind::custom_vjp) {
      for (int i = first_residual; i < own; ++i) inputs.push_back(mapped[i]);
      for (int i = 0; i < c.carries; ++i)
        if (is_floating_at(i)) inputs.push_back(any);
    } else if (c.what == kind::linear_solve) {
      for (int i = 0; i < c.carries + c.right_sides(); ++i) inputs.push_back(any);
      for (int i = first_shared; i < own; ++i) inputs.push_back(mapped[i]);
    }
    writing w = start(c.bodies[0], inputs.size(), inputs);
    for (int j = own; j < operands.size(); ++j) w.given.push_back(operands[j]);
    const values found = outputs(c.bodies[0], w.given);
    ids out;
    if (c.what == kind::custom_vjp) {
      for (int i = c.first_argument(), at = 0; i < first_residual; ++i) {
        if (!is_floating_at(i)) continue;
        const batch_value x = found[at++];
        const bool is_shared = any && !mapped[i];
        out.push_back(is_shared ? ops::reduced({g_, over(x)}, 1, ir::reduction::sum).id : mapped[i] ? over(x) : x.id);
      }
    } else {
      for (const batch_value& x : found) out.push_back(any ? over(x) : x.id);
    }
    ir::control_flow custom = c;
    custom.bodies[0] = g_.outline(w.first, w.inputs, out, all);
    custom.captures[0] = all.size() - own;
    const ir::node_id node = g_.add_control_flow(custom, all);
    values results;
    for (int i = 0; i < c.carries; ++i) results.push_back({g_.result(node, i), any});
    return results;
  }

  /// One call of the function for the whole batch. Operands that all samples share are repeated.
  constexpr values external_of_batch(const ir::control_flow& c, const values& operands) {
    ids all, out, types, shapes;
    mark_list mapped;
    for (const batch_value& o : operands) all.push_back(over(o)), mapped.push_back(1);
    const writing w = start(c.bodies[0], operands.size(), mapped);
    const ir::graph_view body = g_.view().body_at(c.bodies[0]);
    for (int i = 0; i < body.output_count; ++i) types.push_back(static_cast<int>(body[body.outputs[i]].type)), shapes.push_back(body[body.outputs[i]].shape);
    for (int i = 0; i < types.size(); ++i) {
      const extents sample = g_.shape(static_cast<std::int16_t>(shapes[i]));
      out.push_back(g_.constant(static_cast<dtype>(types[i]), g_.intern(call({}).batch_of(sample)), 0));
    }
    ir::control_flow called = c;
    called.function = *c.function.of_batch;
    called.bodies[0] = g_.outline(w.first, w.inputs, out, all);
    const ir::node_id node = g_.add_control_flow(called, all);
    values found;
    for (int i = 0; i < types.size(); ++i) found.push_back({g_.result(node, i), true});
    return found;
  }

  /// A scan that calls the function for one sample after the other, unless the function takes the whole batch. Shared operands are captures.
  constexpr values external(const ir::control_flow& c, const values& operands) {
    ids all, given, inputs;
    const int results = g_.view().results_of(c);
    for (const batch_value& o : operands)
      if (o.is_mapped) all.push_back(o.id);
    const bool is_mapped = all.size() > 0;
    if (is_mapped && c.function.of_batch != nullptr) return external_of_batch(c, operands);
    ir::control_flow loop{.what = ir::control_flow::kind::scan, .scanned = all.size(), .length = samples_};
    const ir::node_id first = g_.count();
    for (const batch_value& o : operands) {
      given.push_back(o.is_mapped ? g_.body_input(g_[o.id].type, g_.intern(ops::without_axes(g_.shape_of(o.id), 1))) : o.id);
      if (o.is_mapped) inputs.push_back(given.back());
    }
    ir::node_id node = g_.add_control_flow(c, given);
    if (is_mapped) {
      ids out;
      for (int i = 0; i < results; ++i) out.push_back(g_.result(node, i));
      loop.bodies[0] = g_.outline(first, inputs, out, all);
      loop.captures[0] = all.size() - loop.scanned;
      node = g_.add_control_flow(loop, all);
    }
    values found;
    for (int i = 0; i < results; ++i) found.push_back({g_.result(node, i), is_mapped});
    return found;
  }

  /// If the trip count depends on the sample, the loop takes as many iterations as any sample needs. A sample whose iterations are over keeps its values.
  /// Then a counter is one more carry or state: the trip counts of the samples, or the number of the iteration if the iterations go back. The last carry of a
  /// while_loop is a flag for each sample, whether its iterations go on: an iteration computes the condition once, and a backend can run a few samples until
  /// they are done, and then the next ones (until_done.hpp). An iteration ends with the condition for its results. If the condition is
  /// much of the work of an iteration, both are likely to compute the same values, so an iteration begins with it, and the last one of a sample changes nothing.
  constexpr values loop(const ir::control_flow& c, const values& operands, const flow& m) {
    using type = ir::port_group::type;
    const ir::port_list ports = g_.view().ports_of(c);
    const int own = c.own_operands();
    const bool goes_back = c.is_linear_in_carries(), has_counter = m.condition && (goes_back || c.counts_iterations), has_flags = m.condition && !goes_back;
    const bool begins_with_condition = has_flags && 4 * slow_work(c.bodies[0]) >= slow_work(c.bodies[1]) && slow_work(c.bodies[0]) > 0;
    ids all;
    const auto add_operands = [&](bool of_values) {
      for (const ir::port_group& p : ports)
        for (int i = 0; i < p.count && p.operand >= 0 && p.what != type::capture && (p.what == type::value) == of_values; ++i) {
          const batch_value x = operands[p.operand + i];
          const int b = p.input[0] >= 0 ? 0 : 1;
          if (p.what == type::slice) all.push_back(x.is_mapped ? ops::moved_axis({g_, x.id}, 1, 0).id : x.id);
          else if (p.what == type::number) all.push_back(m.condition ? largest(x.id).id : x.id);
          else all.push_back(m.inputs(b)[p.input[b] + i] ? over(x) : x.id);
        }
    };
    add_operands(true);
    const std::int16_t counter_shape = has_counter ? g_.intern(goes_back ? extents{} : call({}).batch_of({})) : std::int16_t{0};
    if (has_counter) all.push_back(g_.constant(dtype::int64, counter_shape, 0));
    if (has_flags) all.push_back(begins_with_condition ? first_flags() : both(mask_, goes_on_after(c, operands, operands, m)));
    add_operands(false);
    ir::control_flow made = c;
    made.counts_iterations = c.counts_iterations && !has_counter;
    (goes_back ? made.scanned : made.carries) += has_counter;
    made.carries += has_flags;
    for (int b = 0, first_capture = own; b < c.body_count(); first_capture += c.captures[b++]) {
      const int before = all.size();
      writing w = start(c.bodies[b], c.own_inputs(b) + c.counts, m.inputs(b));
      if (has_counter) w.inputs.push_back(g_.body_input(dtype::int64, counter_shape));
      ir::node_id goes_on = ir::none;
      if (has_flags) {
        w.inputs.push_back(goes_on = g_.body_input(dtype::boolean, g_.intern(call({}).batch_of({}))));
      } else if (m.condition && goes_back) {
        goes_on = ops::pointwise_value<ops::less>({g_, over({w.inputs.back(), false})}, {g_, operands[own - 1].id}, {}).id;
      }
      for (int j = 0; j < c.captures[b]; ++j) w.given.push_back(operands[first_capture + j]);
      ids out;
      if (has_flags && b == 0) {
        out.push_back(any(goes_on));
      } else {
        values next;
        if (begins_with_condition) goes_on = both(goes_on_after(c, w.given, operands, m), goes_on);
        const ir::node_id mask = goes_on == ir::none ? mask_ : has_flags ? goes_on : both(mask_, goes_on);
        const values found = batching(g_, samples_, mask).outputs(c.bodies[b], w.given);
        for (const ir::port_group& p : ports)
          for (int i = 0; i < p.count && p.output[b] >= 0; ++i) {
            const batch_value y = found[p.output[b] + i];
            const bool is_mapped = !p.decides() && (p.result >= 0 ? m.results[p.result + i] : m.inputs(b)[p.input[b] + i]);
            const ir::node_id all_samples = is_mapped ? over(y) : p.decides() && y.is_mapped ? any(y.id) : y.id;
            out.push_back(goes_on != ir::none ? chosen(goes_on, {g_, all_samples}, {g_, w.inputs[p.input[b] + i]}).id : all_samples);
            next.push_back({out.back(), is_mapped});
          }
        if (has_counter && b == (goes_back ? 0 : 1)) {
          const ops::value counter(g_, w.inputs[c.own_inputs(b) + c.counts]);
          out.push_back((counter + (goes_back ? counter.like(1) : ops::cast_to({g_, goes_on}, dtype::int64))).id);
        }
        if (has_flags) out.push_back(begins_with_condition ? goes_on : both(goes_on_after(c, next, operands, m), goes_on));
      }
      made.bodies[b] = g_.outline(w.first, w.inputs, out, all);
      made.captures[b] = all.size() - before;
    }
    const ir::node_id node = g_.add_control_flow(made, all);
    values results;
    for (const ir::port_group& p : ports)
      for (int i = 0; i < p.count && p.result >= 0; ++i) {
        const ir::node_id r = g_.result(node, p.result + i);
        const bool is_mapped = m.results[p.result + i] != 0;
        results.push_back({p.what == type::slice && is_mapped ? ops::moved_axis({g_, r}, 1, 0).id : r, is_mapped});
      }
    return results;
  }
  /// True for each sample whose results are used.
  constexpr ir::node_id first_flags() const {
    return mask_ != ir::none ? mask_ : g_.constant(dtype::boolean, g_.intern(call({}).batch_of({})), 1);
  }
  /// The cycles of the slow operations of a body, for one element of each.
  constexpr int slow_work(int which) const {
    const ir::graph_view body = g_.view().body_at(which);
    int cycles = 0;
    for (int i = 0; i < body.count; ++i) {
      const ir::opcode op = body[i].op;
      const ops::effort e = ops::is_pointwise(op) ? ops::effort_of(op) : ops::effort::function;
      if (e != ops::effort::arithmetic && !is_source(op) && !is_view(op) && op != ir::opcode::tuple && op != ir::opcode::result && op != ir::opcode::cast) cycles += ops::latency_of(e);
    }
    return cycles;
  }
  /// The flags of the samples whose iterations of a while_loop go on, by its condition for these carries.
  constexpr ir::node_id goes_on_after(const ir::control_flow& c, const values& carries, const values& operands, const flow& m) {
    values given;
    for (int i = 0; i < c.carries; ++i) given.push_back(m.inputs(0)[i] ? batch_value{over(carries[i]), true} : carries[i]);
    for (int j = 0; j < c.captures[0]; ++j) given.push_back(operands[c.own_operands() + j]);
    return over(outputs(c.bodies[0], given)[0]);
  }
  /// The maximum trip count of all samples. It is 0 for no samples, although the maximum of no elements is the smallest integer.
  constexpr ops::value largest(ir::node_id trip_count) const {
    const ops::value found = ops::reduced({g_, trip_count}, 1, ir::reduction::max);
    return ops::pointwise_value<ops::maximum>(found, found.like(0));
  }
  /// Whether any flag is true. For no samples the result is false.
  constexpr ir::node_id any(ir::node_id flags) const {
    const ops::value count = ops::reduced(ops::cast_to({g_, flags}, dtype::int64), 1, ir::reduction::sum);
    return ops::pointwise_value<ops::greater>(count, count.like(0), {}).id;
  }

  constexpr values cond(const ir::control_flow& c, const values& operands, const flow& m) {
    values of_branch[2];
    for (int b = 0, at = 1; b < 2; ++b)
      for (int j = 0; j < c.captures[b]; ++j) of_branch[b].push_back(operands[at++]);
    values results;
    if (m.condition) {
      const ops::value flags(g_, operands[0].id);
      values found[2];
      for (int b = 0; b < 2; ++b) {
        const ir::node_id taken = b == 0 ? flags.id : ops::pointwise_value<ops::logical_not>(flags, {}, {}).id;
        found[b] = batching(g_, samples_, both(mask_, taken)).outputs(c.bodies[b], of_branch[b]);
      }
      for (int i = 0; i < found[0].size(); ++i) {
        const ir::node_id first = over(found[0][i]), second = over(found[1][i]);
        results.push_back({chosen(flags.id, {g_, first}, {g_, second}).id, true});
      }
      return results;
    }
    ids all;
    all.push_back(operands[0].id);
    ir::control_flow branch = c;
    for (int b = 0; b < 2; ++b) {
      const int before = all.size();
      const ir::node_id first = g_.count();
      const int first_bound = g_.bound_count();
      const values found = outputs(c.bodies[b], of_branch[b]);
      ids out;
      for (int i = 0; i < found.size(); ++i) out.push_back(m.results[i] ? over(found[i]) : found[i].id);
      branch.bodies[b] = g_.outline(first, {}, out, all, first_bound);
      branch.captures[b] = all.size() - before;
    }
    const ir::node_id node = g_.add_control_flow(branch, all);
    for (int i = 0; i < m.results.size(); ++i) results.push_back({g_.result(node, i), m.results[i] != 0});
    return results;
  }

  ir::builder& g_;
  std::int64_t samples_;
  ir::node_id mask_;
};

}  // namespace tenure::passes
