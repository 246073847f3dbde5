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
  bool condition = false;                  // the mark of the condition; of a reverse_while: of the number of iterations

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

template <class Kind>
constexpr char mark_of_output(const ir::graph_view& body, const mark_list& marks, int i) {
  return Kind::carries(body[body.outputs[i]].type) ? marks[body.outputs[i]] : char{is_never};
}

/// The first inputs of a body are its outputs of the previous iteration. Joins the mark of each output to the mark of its input, until nothing
/// changes. If `all`, each output counts as sometimes marked.
template <class Kind>
constexpr void spread_over_iterations(const ir::graph_view& body, mark_list& inputs, bool all) {
  for (bool again = true; again;) {
    again = false;
    const mark_list marks = marks_of_body<Kind>(body, inputs);
    for (int i = 0; i < body.output_count; ++i)
      if (const char mark = either(inputs[i], all ? char{is_sometimes} : mark_of_output<Kind>(body, marks, i)); mark != inputs[i]) inputs[i] = mark, again = true;
  }
}

/// The marks in a loop, a branch or an external function, given the marks of its operands.
template <class Kind>
constexpr flow flow_through(const ir::graph_view& g, const ir::control_flow& c, const mark_list& operands) {
  using kind = ir::control_flow::kind;
  const bool branches = c.what == kind::cond, is_while = c.what == kind::while_loop;
  flow f;
  f.results.resize(g.results_of(c), 0);
  const auto carries = [](const ir::graph_view& body, int i) { return Kind::carries(body[body.outputs[i]].type); };
  if (c.what == kind::external) {
    const ir::graph_view body = g.body_at(c.bodies[0]);
    const bool any = any_of(operands, 0, operands.size());
    for (int i = 0; i < f.results.size(); ++i) f.results[i] = any && carries(body, i);
    return f;
  }
  int captured = c.own_operands();
  for (int b = 0; b < 2; ++b) {
    for (int i = 0; i < c.own_inputs(b); ++i) f.inputs(b).push_back(char(operands[c.first_input(b) + i]));
    if (c.counts) f.inputs(b).push_back(0);
    for (int i = 0; i < c.captures[b]; ++i) f.inputs(b).push_back(char(operands[captured++]));
  }
  if (c.what == kind::reverse_while) {
    f.condition = Kind::by_condition && operands[c.own_operands() - 1];
    spread_over_iterations<Kind>(g.body_at(c.bodies[0]), f.of_first, f.condition);
    for (int i = 0; i < c.states(); ++i) f.of_second[c.carries + i] = char(f.of_first[i]);
    spread_over_iterations<Kind>(g.body_at(c.bodies[1]), f.of_second, f.condition);
    for (int i = 0; i < c.carries; ++i) f.results[i] = char(f.of_second[i]);
    return f;
  }
  if (Kind::by_condition && branches) f.condition = operands[0] != 0;
  const int first = is_while ? 1 : 0, last = branches || is_while ? 1 : 0;
  for (bool again = true; again;) {
    again = false;
    for (int b = first; b <= last; ++b) {
      const ir::graph_view body = g.body_at(c.bodies[b]);
      const mark_list marks = marks_of_body<Kind>(body, f.inputs(b));
      for (int i = 0; i < body.output_count; ++i) {
        const char mark = f.condition ? char{is_always} : mark_of_output<Kind>(body, marks, i);
        f.results[i] = b == first ? mark : either(f.results[i], mark);
      }
    }
    for (int i = 0; i < c.carries; ++i) {
      f.results[i] = either(f.inputs(first)[i], f.results[i]);
      if (f.results[i] == f.inputs(first)[i]) continue;
      f.of_first[i] = f.of_second[i] = f.results[i];
      again = true;
    }
    if (!Kind::by_condition || !is_while || f.condition) continue;
    const ir::graph_view condition = g.body_at(c.bodies[0]);
    f.condition = marks_of_body<Kind>(condition, f.of_first)[condition.outputs[0]] != 0;
    again = again || f.condition;
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
      for (ir::node_id r = id + 1; r < g.count; ++r) {
        const ir::node& result = g.nodes[r];
        if (result.op == ir::opcode::result && result.in[0] == id) marks[r] = Kind::carries(result.type) ? f.results[static_cast<int>(result.attr)] : char{is_never};
      }
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
    for (int k = c.first_argument(); k < c.first_argument() + c.scanned && !c.is_taken; ++k) any |= operands[k];
    const bool by_rule = any && c.what == ir::control_flow::kind::custom_jvp;
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
