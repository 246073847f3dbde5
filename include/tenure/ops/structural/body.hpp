// SPDX-License-Identifier: BSL-1.0
// Loops, branches and external functions: a control-flow operation, the tuple of its operands, and its results. passes/differentiate.hpp has
// their derivatives, because these write new bodies.
#pragma once

#include <tenure/ops/structural/view.hpp>

namespace TENURE_NAMESPACE::ops::nodes {

struct tuple : structural<ir::opcode::tuple, any_arity, lowering::operands> {
  static constexpr const char* name = "tuple";
  template <class V>
  static constexpr V pull(V, int, V g) { return g; }
  template <class B>
  static constexpr value batch(const B& b) { return b.same_node(); }
  static constexpr void verify(rule_check& c) {
    for (int k = 1; k < c.self().arity; ++k) c.expect(c.operand(k).op != ir::opcode::tuple, "only the first operand of a tuple can be a tuple", k);
  }
};

struct control_flow : structural<ir::opcode::control_flow, 1, lowering::step, attributes::control_flow> {
  static constexpr const char* name = "control-flow operation";
  template <class V>
  static constexpr V pull(V, int, V g) { return g; }
  template <class B>
  static constexpr value batch(const B& b) { return b.same_node(); }
  static constexpr void verify(rule_check& c) {
    using kind = ir::control_flow::kind;
    const ir::graph_view& g = c.graph;
    c.expect(c.operand(0).op == ir::opcode::tuple, "the operand of a control-flow operation is no tuple");
    c.expect(c.self().attr >= 0 && c.self().attr < g.inner.control_flow_count, "no such control-flow operation", c.self().attr, g.inner.control_flow_count);
    if (!c.found.ok()) return;
    const ir::control_flow& x = g.control_flow_of(c.self());
    ir::array<ir::node_id> operands;
    ir::for_each_operand(g.nodes, c.self().in[0], [&](ir::node_id id) { operands.push_back(id); });
    c.expect(operands.size() == x.operands(), "another number of operands than the control-flow operation has", operands.size(), x.operands());
    if (x.is_custom_derivative()) return custom_derivative(c, x, operands);
    int captured = x.own_operands();
    for (int b = 0; b < (x.what == kind::scan || x.what == kind::external ? 1 : 2) && c.found.ok(); ++b) {
      c.expect(x.bodies[b] >= 0 && x.bodies[b] < g.inner.count, "no such body", x.bodies[b], g.inner.count);
      if (!c.found.ok()) return;
      const ir::graph_view body = g.body_at(x.bodies[b]);
      const int own = x.own_inputs(b) + x.counts, first = x.first_input(b);
      c.expect(body.input_count == own + x.captures[b], "another number of inputs than the control-flow operation gives", body.input_count, own + x.captures[b]);
      for (int i = 0; i < body.count && c.found.ok(); ++i) {
        const ir::node& in = body[i];
        if (in.op != ir::opcode::input) continue;
        const int at = static_cast<int>(in.attr);
        const bool is_iteration_number = x.counts && at == x.own_operands();
        c.is_type(in, is_iteration_number ? dtype::int64 : g[operands[at < own ? first + at : captured + at - own]].type);
        extents given = is_iteration_number ? extents{} : g.shape_of(operands[at < own ? first + at : captured + at - own]);
        const bool is_slice = x.what == kind::scan && at >= x.carries && at < x.own_operands();
        if (is_slice) {
          c.extent_is(given[0], x.length);
          given = without_axes(given, 1);
        }
        c.extents_are(body.shape_of(i), given);
      }
      captured += x.captures[b];
      const bool is_condition = x.what == kind::while_loop && b == 0;
      if (is_condition) c.expect(body.output_count == 1 && body[body.outputs[0]].type == dtype::boolean, "a condition is no single bool", body.output_count, 1);
      const bool steps = x.what == kind::reverse_while && b == 0;
      const int returned = is_condition ? 0 : steps ? x.states() : x.carries;
      c.expect(body.output_count >= returned, "a loop that does not return its carries", body.output_count, returned);
      for (int i = 0; i < returned && c.found.ok(); ++i) {
        c.is_type(body[body.outputs[i]], g[operands[first + i]].type);
        c.extents_are(body.shape_of(body.outputs[i]), g.shape_of(operands[first + i]));
      }
    }
    if (x.what == kind::reverse_while && c.found.ok()) c.is_type(g[operands[x.own_operands() - 1]], dtype::int64);
    if (x.what != kind::cond || !c.found.ok()) return;
    const ir::graph_view first = g.body_at(x.bodies[0]), second = g.body_at(x.bodies[1]);
    c.is_type(g[operands[0]], dtype::boolean);
    c.expect(first.output_count == second.output_count, "branches of different results", first.output_count, second.output_count);
    for (int i = 0; i < first.output_count && c.found.ok(); ++i) {
      c.is_type(first[first.outputs[i]], second[second.outputs[i]].type);
      c.extents_are(first.shape_of(first.outputs[i]), second.shape_of(second.outputs[i]));
    }
  }

 private:
  /// The body of a custom derivative takes some of the operands, and values of the types and shapes of operands. Its outputs have such types and
  /// shapes too.
  static constexpr void custom_derivative(rule_check& c, const ir::control_flow& x, const ir::array<ir::node_id>& operands) {
    using kind = ir::control_flow::kind;
    const ir::graph_view& g = c.graph;
    c.expect(x.bodies[0] >= 0 && x.bodies[0] < g.inner.count, "no such body", x.bodies[0], g.inner.count);
    if (!c.found.ok()) return;
    const ir::graph_view body = g.body_at(x.bodies[0]);
    ir::array<ir::node_id> inputs, outputs;
    const auto take = [&](ir::array<ir::node_id>& to, int first, int count, bool only_floating) {
      for (int i = first; i < first + count; ++i)
        if (!only_floating || is_floating(g[operands[i]].type)) to.push_back(operands[i]);
    };
    const int first_residual = x.first_argument() + x.scanned;
    if (x.what == kind::custom_jvp) take(inputs, x.carries, x.scanned, false), take(inputs, x.carries, x.scanned, true), take(outputs, 0, x.carries, true);
    if (x.what == kind::custom_vjp) take(inputs, first_residual, x.residuals, false), take(inputs, 0, x.carries, true), take(outputs, 2 * x.carries, x.scanned, true);
    if (x.what == kind::checkpoint) take(outputs, 0, x.own_operands(), false);
    take(inputs, x.own_operands(), x.captures[0], false);
    c.expect(body.input_count == inputs.size(), "another number of inputs than the control-flow operation gives", body.input_count, inputs.size());
    c.expect(body.output_count == outputs.size(), "another number of outputs than the control-flow operation takes", body.output_count, outputs.size());
    for (int i = 0; i < body.count && c.found.ok(); ++i) {
      if (body[i].op != ir::opcode::input) continue;
      const ir::node_id given = inputs[static_cast<int>(body[i].attr)];
      c.is_type(body[i], g[given].type);
      c.extents_are(body.shape_of(i), g.shape_of(given));
    }
    for (int i = 0; i < outputs.size() && c.found.ok(); ++i) {
      c.is_type(body[body.outputs[i]], g[outputs[i]].type);
      c.extents_are(body.shape_of(body.outputs[i]), g.shape_of(outputs[i]));
    }
    for (int i = 0; x.what == kind::custom_vjp && i < x.carries && c.found.ok(); ++i) {
      c.is_type(g[operands[x.carries + i]], g[operands[i]].type);
      c.extents_are(g.shape_of(operands[x.carries + i]), g.shape_of(operands[i]));
    }
  }
};

struct result : structural<ir::opcode::result, 1, lowering::result, attributes::position> {
  static constexpr const char* name = "result";
  template <class V>
  static constexpr V pull(V, int, V g) { return g; }
  template <class B>
  static constexpr value batch(const B& b) { return b.same_node(); }
  static constexpr void verify(rule_check& c) {
    c.expect(c.operand(0).op == ir::opcode::control_flow, "a result of no control-flow operation", c.self().in[0]);
    if (!c.found.ok()) return;
    const ir::control_flow& x = c.graph.control_flow_of(c.operand(0));
    c.expect(c.self().attr >= 0 && c.self().attr < c.graph.results_of(x), "no such result", c.self().attr, c.graph.results_of(x));
    if (!c.found.ok()) return;
    if (x.is_custom_derivative()) {
      const ir::node_id value = ir::operand_at(c.graph.nodes, c.operand(0).in[0], x.operand_of_result(static_cast<int>(c.self().attr)));
      c.is_type(c.self(), c.graph[value].type);
      return c.extents_are(c.shape(), c.graph.shape_of(value));
    }
    if (x.counts_iterations && c.self().attr == x.carries) return c.is_type(c.self(), dtype::int64), c.extents_are(c.shape(), {});
    const ir::graph_view body = c.graph.body_at(x.body_of_results());
    const ir::node_id id = body.outputs[c.self().attr];
    c.is_type(c.self(), body[id].type);
    extents s;
    if (x.what == ir::control_flow::kind::scan && c.self().attr >= x.carries) s.push_back(x.length);
    for (int a = 0; a < body.shape_of(id).rank; ++a) s.push_back(body.shape_of(id)[a]);
    c.extents_are(c.shape(), s);
  }
};

}  // namespace tenure::ops::nodes
