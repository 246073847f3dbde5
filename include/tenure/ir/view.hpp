// SPDX-License-Identifier: BSL-1.0
// A read-only reference to a graph and its bodies, which passes read, and walks over its nodes.
#pragma once

#include <tenure/ir/control_flow.hpp>

namespace TENURE_NAMESPACE::ir {

/// The bodies and control-flow operations of a graph, by reference.
struct bodies_view {
  const node* nodes = nullptr;
  int node_count = 0;
  const node_id* outputs = nullptr;
  int output_count = 0;
  const bound* bounds = nullptr;
  int bound_count = 0;
  const body* bodies = nullptr;
  int count = 0;
  const control_flow* control_flows = nullptr;
  int control_flow_count = 0;
};

/// The extents of the axes of samples. vmap notes them, and scalarize() reads them. At most four different extents are noted.
struct sample_extents {
  std::int64_t at[4] = {};
  int count = 0;
  bool may_run_in_turn = false;  // whether a large function may run for one sample after the other: on a CPU, but not on a GPU

  constexpr void add(std::int64_t extent) {
    for (int i = 0; i < count; ++i)
      if (at[i] == extent) return;
    if (count < 4) at[count++] = extent;
  }
};

/// A read-only reference to a graph, for passes. A builder or a constexpr graph owns the arrays.
struct graph_view {
  const node* nodes = nullptr;
  int count = 0;
  const extents* shapes = nullptr;
  int shape_count = 0;
  const symbol* symbols = nullptr;
  int symbol_count = 0;
  const constraint* constraints = nullptr;
  int constraint_count = 0;
  const bound* bounds = nullptr;
  int bound_count = 0;
  const node_id* outputs = nullptr;
  int output_count = 0;
  int input_count = 0;
  diagnostic refused{};
  bodies_view inner{};
  bool is_body = false;
  sample_extents samples{};
  node_id backward_from = 0;  // the first node that reverse mode appended; 0: none

  constexpr const node& operator[](node_id id) const { return nodes[id]; }
  constexpr const extents& shape_of(node_id id) const { return shapes[nodes[id].shape]; }

  constexpr const control_flow& control_flow_of(const node& n) const { return inner.control_flows[n.attr]; }
  /// The control-flow operation of node `id`, or null for another node and for none.
  constexpr found_control_flow find_control_flow(node_id id) const {
    return id >= 0 && nodes[id].op == opcode::control_flow ? found_control_flow{inner.control_flows + nodes[id].attr, true} : found_control_flow{};
  }
  constexpr int results_of(const control_flow& c) const {
    return c.is_custom_derivative() ? c.carries : inner.bodies[c.body_of_results()].output_count + c.counts_iterations;
  }
  constexpr port_list ports_of(const control_flow& c) const { return c.ports(inner.bodies[c.body_of_results()].output_count); }
  /// A body as a separate graph. Constraints belong to the whole graph: they are checked when a call begins.
  constexpr graph_view body_at(int i) const {
    const body& b = inner.bodies[i];
    graph_view g = *this;
    g.nodes = inner.nodes + b.first_node, g.count = b.node_count;
    g.constraints = nullptr, g.constraint_count = 0;
    g.bounds = inner.bounds + b.first_bound, g.bound_count = b.bound_count;
    g.outputs = inner.outputs + b.first_output, g.output_count = b.output_count;
    g.input_count = b.input_count;
    g.refused = {};
    g.is_body = true;
    g.backward_from = 0;
    return g;
  }
};

/// The node below a chain of reshapes, which has the memory. `g` is a builder or the view of a graph.
template <class Graph>
constexpr node_id below_reshapes(const Graph& g, node_id id) {
  while (g[id].op == opcode::reshape) id = g[id].in[0];
  return id;
}

/// Marks the nodes that marked nodes need, directly or through other nodes, down to node `first`. marks[0] is the mark of node `first`.
constexpr void mark_needed(const node* nodes, int count, char* marks, node_id first = 0) {
  for (node_id id = count - 1; id >= first; --id)
    for (int k = 0; marks[id - first] && k < nodes[id].arity; ++k)
      if (const node_id operand = nodes[id].in[k]; operand >= first) marks[operand - first] = 1;
}

/// Calls f(operand) for the operands of a control-flow operation, in order. at[id] is the node of an id.
template <class Nodes, class F>
constexpr void for_each_operand(const Nodes& at, node_id tuple, F&& f) {
  const node& n = at[tuple];
  if (n.op != opcode::tuple) return f(tuple);
  for (int k = 0; k < n.arity; ++k) for_each_operand(at, n.in[k], f);
}

/// Operand i of the control-flow operation with this tuple.
template <class Nodes>
constexpr node_id operand_at(const Nodes& at, node_id tuple, int i) {
  node_id found = none;
  for_each_operand(at, tuple, [&](node_id id) {
    if (i-- == 0) found = id;
  });
  return found;
}

/// Calls f(r, i) for each node r up to `last` that is result i of control-flow operation `id`. f appends no nodes.
template <class F>
constexpr void for_each_result(const node* nodes, node_id id, node_id last, F&& f) {
  for (node_id r = id + 1; r <= last; ++r)
    if (nodes[r].op == opcode::result && nodes[r].in[0] == id) f(r, static_cast<int>(nodes[r].attr));
}

struct port_type {
  dtype type = dtype::float32;
  extents shape{};
};
constexpr port_type type_of_output(const graph_view& body, int i) { return {body[body.outputs[i]].type, body.shape_of(body.outputs[i])}; }

/// The type and the shape of result i of the control-flow operation of node `n`.
constexpr port_type type_of_result(const graph_view& g, const node& n, int i) {
  const control_flow& c = g.control_flow_of(n);
  for (const port_group& p : g.ports_of(c)) {
    if (p.result < 0 || i < p.result || i >= p.result + p.count) continue;
    const int b = p.output[0] >= 0 ? 0 : 1, k = i - p.result;
    if (p.what == port_group::type::number) return {dtype::int64, {}};
    if (p.output[b] < 0) {
      const node_id value = operand_at(g.nodes, n.in[0], p.operand + k);
      return {g[value].type, g.shape_of(value)};
    }
    const port_type output = type_of_output(g.body_at(c.bodies[b]), p.output[b] + k);
    if (p.what != port_group::type::slice) return output;
    extents stack{1, {c.length}};
    for (int a = 0; a < output.shape.rank; ++a) stack.push_back(output.shape[a]);
    return {output.type, stack};
  }
  return {};
}

}  // namespace tenure::ir
