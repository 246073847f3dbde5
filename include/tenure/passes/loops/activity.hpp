// SPDX-License-Identifier: BSL-1.0
// How marks spread through a graph, its loops, branches and rules: which nodes depend on marked nodes. A kind of marks is a type with
//   carries(type): whether a value of this type can be marked;
//   goes_through(g, n, k): whether a marked operand k marks node n;
//   by_condition: whether a marked condition marks the results of a loop or a branch;
//   custom(g, c, ids, operands): the marks of the results of a custom derivative, given its operands and their marks.
// A carry of a loop is marked if its start or its value after an iteration is marked. The sweep over an iteration repeats until no carry changes.
#pragma once

#include <tenure/ops/derivative.hpp>

namespace TENURE_NAMESPACE::passes {

using id_list = ir::array<ir::node_id>;
using mark_list = ir::array<char>;

constexpr bool any_of(const mark_list& marks, int first, int end) {
  for (int i = first; i < end; ++i)
    if (marks[i]) return true;
  return false;
}

/// A mark says when a value is marked: never, in some iterations or in one of two branches, or always. Code that asks only whether a value is
/// marked tests for any mark but is_never.
enum : char { is_never = 0, is_sometimes = 1, is_always = 3 };
/// The mark of a value that has mark a in some cases and mark b in the others.
constexpr char either(char a, char b) { return a == b ? a : char{is_sometimes}; }

/// The marks in a control-flow operation: of the inputs of each body, and of the results.
struct flow {
  mark_list of_first, of_second, results;  // Workaround for g++ 12: in constant evaluation it does not copy an array of arrays
  bool condition = false;                  // the mark of what decides: a flag, a condition or a trip count

  constexpr mark_list& inputs(int body) { return body == 0 ? of_first : of_second; }
  constexpr const mark_list& inputs(int body) const { return body == 0 ? of_first : of_second; }
};

template <class Kind>
constexpr void spread(const ir::graph_view& g, char* marks, ir::node_id first = 0);

/// The marks of all nodes of a body, given the marks of its inputs.
template <class Kind>
constexpr mark_list marks_of_body(const ir::graph_view& body, const mark_list& inputs) {
  mark_list marks(body.count + 1, 0);
  for (ir::node_id i = 0; i < body.count; ++i)
    if (const ir::node& n = body.nodes[i]; n.op == ir::opcode::input) marks[i] = inputs[static_cast<int>(n.attr)];
  spread<Kind>(body, marks.data());
  return marks;
}

/// The marks in a loop, a branch or an external function, given the marks of its operands.
template <class Kind>
constexpr flow flow_through(const ir::graph_view& g, const ir::control_flow& c, const mark_list& operands) {
  flow f;
  const ir::port_list ports = g.ports_of(c);
  const int bodies = c.body_count();
  const bool calls = !c.runs_bodies() && any_of(operands, 0, operands.size());
  f.results.resize(g.results_of(c), 0);
  for (int b = 0; b < bodies; ++b) f.inputs(b).resize(g.inner.bodies[c.bodies[b]].input_count, 0);
  char* const inputs[2] = {f.of_first.data(), f.of_second.data()};  // pointers, because a call of operator[] is a step of constant evaluation
  char* const results = f.results.data();
  for (const ir::port_group& p : ports) {
    if (p.operand < 0) continue;
    const char* const given = operands.data() + p.operand;
    if (Kind::by_condition && p.decides()) f.condition = *given != 0;
    for (int b = 0; b < bodies; ++b)
      for (int i = 0; i < p.count && p.input[b] >= 0; ++i) inputs[b][p.input[b] + i] = given[i];
  }
  bool is_swept[2] = {false, bodies == 1};
  for (int b = 0; !is_swept[0] || !is_swept[1]; b = 1 - b)
    while (!is_swept[b]) {
      is_swept[b] = true;
      const ir::graph_view body = g.body_at(c.bodies[b]);
      mark_list marks;
      for (const ir::port_group& p : ports) {
        if (p.output[b] < 0 || (p.decides() && (!Kind::by_condition || f.condition))) continue;
        if (marks.size() == 0) marks = marks_of_body<Kind>(body, f.inputs(b));
        for (int i = 0; i < p.count; ++i) {
          const ir::node_id output = body.outputs[p.output[b] + i];
          char mark = !Kind::carries(body.nodes[output].type) ? char{is_never} : calls ? char{is_sometimes} : marks[output];
          if (f.condition) mark = is_always;
          if (p.decides() && mark) f.condition = true, is_swept[0] = is_swept[1] = false;
          for (int other = 0; other < bodies && p.operand >= 0; ++other) {
            if (p.input[other] < 0) continue;
            char& carried = inputs[other][p.input[other] + i];
            mark = either(carried, mark);
            if (mark != carried) is_swept[other] = false;
            carried = mark;
          }
          if (p.result >= 0) results[p.result + i] = b == 1 && p.output[0] >= 0 ? either(results[p.result + i], mark) : mark;
        }
      }
    }
  if (c.counts_iterations) f.results[c.carries] = f.condition;
  return f;
}

/// The marks in the control-flow operation of node `id`, given the marks of the graph.
template <class Kind>
constexpr flow flow_through(const ir::graph_view& g, ir::node_id id, const char* marks) {
  const ir::control_flow& c = g.control_flow_of(g[id]);
  mark_list operands;
  id_list ids;
  ir::for_each_operand(g.nodes, g[id].in[0], [&](ir::node_id o) { operands.push_back(Kind::carries(g[o].type) ? marks[o] : char{is_never}), ids.push_back(o); });
  if (!c.is_custom_derivative()) return flow_through<Kind>(g, c, operands);
  flow f;
  f.results = Kind::custom(g, c, ids, operands);
  return f;
}

/// Marks the nodes from `first` on that depend on marked nodes.
template <class Kind>
constexpr void spread(const ir::graph_view& g, char* marks, ir::node_id first) {
  for (ir::node_id id = first; id < g.count; ++id) {
    const ir::node& n = g.nodes[id];
    if (n.op == ir::opcode::result) continue;  // its control-flow operation marks it
    if (n.op == ir::opcode::control_flow) {
      if (!marks[n.in[0]]) continue;
      const flow f = flow_through<Kind>(g, id, marks);
      ir::for_each_result(g.nodes, id, g.count - 1, [&](ir::node_id r, int i) { marks[r] = Kind::carries(g.nodes[r].type) ? f.results[i] : char{is_never}; });
    } else {
      for (int k = 0; k < n.arity; ++k)
        if (marks[n.in[k]] && Kind::goes_through(g, n, k)) marks[id] |= marks[n.in[k]];
    }
  }
}

/// Marks the nodes whose value depends on the sample of a batch.
struct by_sample {
  static constexpr bool by_condition = true;
  static constexpr bool carries(dtype) { return true; }
  static constexpr bool goes_through(const ir::graph_view&, const ir::node&, int) { return true; }
  static constexpr mark_list custom(const ir::graph_view&, const ir::control_flow& c, const id_list&, const mark_list& operands) {
    return mark_list(c.carries, any_of(operands, 0, operands.size()));
  }
};

/// The nodes through which a derivative flows.
struct by_derivative {
  static constexpr bool by_condition = false;
  static constexpr bool carries(dtype type) { return is_floating(type); }
  static constexpr bool goes_through(const ir::graph_view& g, const ir::node& n, int k) { return ops::flows_to(n, k, g.nodes[n.in[k]]); }
  static constexpr mark_list custom(const ir::graph_view& g, const ir::control_flow& c, const id_list& ids, const mark_list& operands) {
    mark_list results, tangents;
    char any = is_never;
    for (int k = c.first_argument(); k < c.end_of_arguments() && !c.is_taken; ++k) any |= operands[k];
    const bool by_rule = any && c.what == ir::control_flow::kind::custom_jvp && c.refused == ir::diagnostic::kind::nothing;
    if (by_rule) tangents = of_rule(g, c, ids, operands);
    for (int i = 0, at = 0; i < c.carries; ++i) {
      const char by_rule_of_result = !by_rule ? any : is_floating(g[ids[i]].type) ? tangents[at++] : char{is_never};
      results.push_back(char(operands[c.operand_of_result(i)] | by_rule_of_result));
    }
    return results;
  }

 private:
  /// The marks of the outputs of the rule of a custom_jvp. It takes the arguments and then the tangents of those that are floating.
  static constexpr mark_list of_rule(const ir::graph_view& g, const ir::control_flow& c, const id_list& ids, const mark_list& operands) {
    const ir::graph_view rule = g.body_at(c.bodies[0]);
    mark_list inputs(rule.input_count, 0), outputs;
    int input = c.scanned;
    for (int k = c.carries; k < c.carries + c.scanned; ++k)
      if (is_floating(g[ids[k]].type)) inputs[input++] = operands[k];
    const mark_list marks = marks_of_body<by_sample>(rule, inputs);  // what a tangent meets in a rule may be no derivative
    for (int i = 0; i < rule.output_count; ++i) outputs.push_back(marks[rule.outputs[i]]);
    return outputs;
  }
};
constexpr void mark_active(const ir::graph_view& g, char* active, ir::node_id first = 0) { spread<by_derivative>(g, active, first); }

}  // namespace tenure::passes
