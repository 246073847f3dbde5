// SPDX-License-Identifier: BSL-1.0
// Where a derivative flows: which nodes of a graph depend on marked nodes by a derivative, through loops, branches and rules too.
#pragma once

#include <tenure/ops/derivative.hpp>

namespace TENURE_NAMESPACE::passes {

using id_list = ir::array<ir::node_id>;

/// Which results of an annotation depend on marked nodes by a derivative.
constexpr ir::array<char> flow_through_annotation(const ir::graph_view& g, ir::node_id id, const char* active) {
  const ir::construct& c = g.construct_of(g[id]);
  id_list operands;
  ir::for_each_operand(g.nodes, g[id].in[0], [&](ir::node_id o) { operands.push_back(o); });
  bool by_rule = false;
  for (int i = c.first_argument(); i < c.first_argument() + c.scanned && !c.is_taken; ++i)
    by_rule = by_rule || (active[operands[i]] && is_floating(g[operands[i]].type));
  ir::array<char> results(c.carries, 0);
  for (int i = 0; i < c.carries; ++i) {
    const ir::node_id value = operands[c.operand_of_result(i)];
    results[i] = is_floating(g[value].type) && (by_rule || active[value]);
  }
  return results;
}

/// Where a derivative flows through a construct: whether it reaches each input of a body, and each result.
struct flow {
  ir::array<char> of_first, of_second, results;

  constexpr ir::array<char>& inputs(int body) { return body == 0 ? of_first : of_second; }
  constexpr const ir::array<char>& inputs(int body) const { return body == 0 ? of_first : of_second; }
};

constexpr void mark_active(const ir::graph_view& g, char* active, ir::node_id first = 0);

/// Marks the inputs of a body, and returns the marks of all its nodes.
constexpr ir::array<char> marks_of_body(const ir::graph_view& body, const ir::array<char>& inputs) {
  ir::array<char> active(body.count + 1, 0);
  for (ir::node_id i = 0; i < body.count; ++i)
    if (body[i].op == ir::opcode::input) active[i] = inputs[static_cast<int>(body[i].attr)];
  mark_active(body, active.data());
  return active;
}

constexpr flow flow_through(const ir::graph_view& g, ir::node_id id, const char* active) {
  const ir::construct c = g.construct_of(g[id]);
  const bool branches = c.what == ir::construct::kind::cond, is_while = c.what == ir::construct::kind::while_loop;
  flow f;
  if (c.annotates()) {
    f.results = flow_through_annotation(g, id, active);
    return f;
  }
  f.results.resize(g.results_of(c), 0);
  id_list operands;
  ir::for_each_operand(g.nodes, g[id].in[0], [&](ir::node_id o) { operands.push_back(o); });
  const auto flows = [&](int i) { return static_cast<char>(active[operands[i]] != 0 && is_floating(g[operands[i]].type)); };
  if (c.what == ir::construct::kind::external) {
    bool any = false;
    for (int i = 0; i < operands.size(); ++i) any = any || flows(i);
    const ir::graph_view body = g.body_at(c.bodies[0]);
    for (int i = 0; i < f.results.size(); ++i) f.results[i] = any && is_floating(body[body.outputs[i]].type);
    return f;
  }
  int captured = c.own_operands();
  for (int b = 0; b < 2; ++b) {
    if (!branches)
      for (int i = 0; i < c.own_operands(); ++i) f.inputs(b).push_back(flows(i));
    if (c.counts) f.inputs(b).push_back(0);
    for (int i = 0; i < c.captures[b]; ++i) f.inputs(b).push_back(flows(captured++));
  }
  for (int b = is_while ? 1 : 0; b < (branches || is_while ? 2 : 1); ++b) {
    const ir::graph_view body = g.body_at(c.bodies[b]);
    for (bool again = true; again;) {
      again = false;
      const ir::array<char> marks = marks_of_body(body, f.inputs(b));
      for (int i = 0; i < f.results.size(); ++i) {
        if (!marks[body.outputs[i]] || !is_floating(body[body.outputs[i]].type)) continue;
        f.results[i] = 1;
        if (i < c.carries && !f.inputs(b)[i]) f.inputs(b)[i] = again = true;
      }
    }
    for (int i = 0; i < c.carries; ++i) f.results[i] = f.results[i] || f.inputs(b)[i];
  }
  return f;
}

/// Marks the nodes from `first` on that depend on marked nodes by a derivative.
constexpr void mark_active(const ir::graph_view& g, char* active, ir::node_id first) {
  for (ir::node_id id = first; id < g.count; ++id) {
    const ir::node& n = g.nodes[id];
    if (n.op == ir::opcode::result) {
      continue;  // its construct marks it
    } else if (n.op == ir::opcode::construct) {
      if (!active[n.in[0]]) continue;
      const flow f = flow_through(g, id, active);
      for (ir::node_id r = id + 1; r < g.count; ++r)
        if (g.nodes[r].op == ir::opcode::result && g.nodes[r].in[0] == id) active[r] = f.results[static_cast<int>(g.nodes[r].attr)];
    } else {
      for (int k = 0; k < n.arity; ++k)
        if (active[n.in[k]] && ops::flows_to(n, k, g.nodes[n.in[k]])) active[id] = 1;
    }
  }
}

}  // namespace tenure::passes
