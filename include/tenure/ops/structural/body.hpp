// SPDX-License-Identifier: BSL-1.0
// Loops, branches and external functions: a control-flow operation, the tuple of its operands, and its results. passes/differentiate.hpp has
// their derivatives, because these write new bodies.
#pragma once

#include <tenure/ops/structural/view.hpp>

namespace TENURE_NAMESPACE::ops::nodes {

struct tuple : handing_on<ir::opcode::tuple, any_arity, lowering::operands> {
  static constexpr const char* name = "tuple";
  static constexpr void verify(rule_check& c) {
    for (int k = 1; k < c.self().arity; ++k) c.expect(c.operand(k).op != ir::opcode::tuple, "only the first operand of a tuple can be a tuple", k);
  }
};

struct control_flow : handing_on<ir::opcode::control_flow, 1, lowering::step, attributes::control_flow> {
  static constexpr const char* name = "control-flow operation";
  static constexpr void verify(rule_check& c) {
    using type = ir::port_group::type;
    const ir::graph_view& g = c.graph;
    c.expect(c.operand(0).op == ir::opcode::tuple, "the operand of a control-flow operation is no tuple");
    c.expect(c.self().attr >= 0 && c.self().attr < g.inner.control_flow_count, "no such control-flow operation", c.self().attr, g.inner.control_flow_count);
    if (!c.found.ok()) return;
    const ir::control_flow& x = g.control_flow_of(c.self());
    ir::array<ir::node_id> operands;
    ir::for_each_operand(g.nodes, c.self().in[0], [&](ir::node_id id) { operands.push_back(id); });
    c.expect(operands.size() == x.operands(), "another number of operands than the control-flow operation has", operands.size(), x.operands());
    for (int b = 0; b < 2; ++b) c.expect(x.bodies[b] < g.inner.count && (x.bodies[b] >= 0 || b >= x.body_count()), "no such body", x.bodies[b], g.inner.count);
    if (!c.found.ok()) return;
    const auto moving_axis = [&](const ir::port_group& p, int i) {
      const ir::graph_view body = g.body_at(x.bodies[0]);
      for (int k = 0; k < body.count; ++k)
        if (body[k].op == ir::opcode::input && body[k].attr == p.input[0] + i) return ir::moving_axis(body[k]);
      return -1;
    };
    const auto type_within = [&](const ir::port_group& p, int i) -> ir::port_type {
      if (p.what == type::flag || p.what == type::number) return {p.what == type::flag ? dtype::boolean : dtype::int64, {}};
      if (p.operand < 0) return ir::type_of_output(g.body_at(x.bodies[0]), p.output[0] + i);
      const extents s = g.shape_of(operands[p.operand + i]);
      const int axis = p.what == type::slice ? moving_axis(p, i) : -1;
      if (p.what == type::slice) c.extent_is(s[axis < 0 ? 0 : axis], x.length);
      if (axis >= 0) return {g[operands[p.operand + i]].type, s};
      return {g[operands[p.operand + i]].type, p.what == type::slice ? without_axes(s, 1) : s};
    };
    for (int i = x.carries; i < x.first_argument(); ++i) c.has_type(g, operands[i], {g[operands[i - x.carries]].type, g.shape_of(operands[i - x.carries])});
    for (int b = 0; b < x.body_count() && c.found.ok(); ++b) {
      const ir::graph_view body = g.body_at(x.bodies[b]);
      ir::array<ir::port_type> inputs, outputs;
      for (const ir::port_group& p : g.ports_of(x))
        for (int i = 0; i < p.count; ++i) {
          if (p.decides() && p.operand >= 0) c.has_type(g, operands[p.operand], type_within(p, i));
          if (p.what == type::tangent && !is_floating(g[operands[p.operand + i]].type)) continue;
          if (p.input[b] >= 0) inputs.push_back(type_within(p, i));
          if (p.output[b] >= 0) outputs.push_back(type_within(p, i));
        }
      c.expect(body.input_count == inputs.size(), "another number of inputs than the control-flow operation gives", body.input_count, inputs.size());
      c.expect(body.output_count == outputs.size(), "another number of outputs than the control-flow operation takes", body.output_count, outputs.size());
      for (int i = 0; i < body.count && c.found.ok(); ++i)
        if (body[i].op == ir::opcode::input) c.has_type(body, i, inputs[static_cast<int>(body[i].attr)]);
      for (int i = 0; i < outputs.size() && c.found.ok(); ++i) c.has_type(body, body.outputs[i], outputs[i]);
    }
  }
};

struct result : handing_on<ir::opcode::result, 1, lowering::result, attributes::position> {
  static constexpr const char* name = "result";
  static constexpr void verify(rule_check& c) {
    c.expect(c.operand(0).op == ir::opcode::control_flow, "a result of no control-flow operation", c.self().in[0]);
    if (!c.found.ok()) return;
    const ir::control_flow& x = c.graph.control_flow_of(c.operand(0));
    c.expect(c.self().attr >= 0 && c.self().attr < c.graph.results_of(x), "no such result", c.self().attr, c.graph.results_of(x));
    if (!c.found.ok()) return;
    c.has_type(c.graph, c.at, ir::type_of_result(c.graph, c.operand(0), static_cast<int>(c.self().attr)));
  }
};

}  // namespace tenure::ops::nodes
