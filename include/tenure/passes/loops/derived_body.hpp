// SPDX-License-Identifier: BSL-1.0
// Writes the body of the derivative of a loop or a branch: first inputs, then the nodes of the primal body, then their derivatives. Chooses the
// residuals: the values that the primal loop stores in each iteration for its derivative.
#pragma once

#include <tenure/passes/loops/activity.hpp>
#include <tenure/passes/costs.hpp>

namespace TENURE_NAMESPACE::passes {

constexpr void reverse(ir::builder& g, const ir::node_id* outputs, const ir::node_id* cotangents, int output_count,
                       const ir::node_id* wrt, int wrt_count, ir::node_id* gradients, const char* marks = nullptr, bool of_rule = false);
constexpr void forward(ir::builder& g, const ir::node_id* wrt, const ir::node_id* tangents, int wrt_count,
                       const ir::node_id* outputs, int output_count, ir::node_id* results, const char* marks = nullptr, bool of_rule = false);

/// The node of input i in a body.
constexpr ir::node_id input_of_body(const ir::graph_view& body, int i) {
  ir::node_id at = 0;
  while (body[at].op != ir::opcode::input || body[at].attr != i) ++at;
  return at;
}

/// A sum of cotangents. The cotangent of a gather is added at its indices: an iteration of a loop then costs only the rows that it read, and not
/// the whole table.
constexpr ops::value sum_of_cotangents(ops::value sum, ops::value more) {
  const ir::node n = more.node();
  if (n.op != ir::opcode::scatter) return sum + more;
  return ops::added_at(sum, ops::operand_of(more, 1), ops::operand_of(more, 0), static_cast<int>(n.attr));
}

/// The inputs of the body that computes the tangents of a loop or a branch. The primal body is inlined into this body. `given` has the values of
/// the inputs of the primal body, and some of them have a tangent.
struct inputs_with_tangents {
  id_list inputs, given, wrt, tangents;  // wrt: the values of `given` that have a tangent
  mark_list marks;                       // the marks of these tangents
};

class derived_body {
 public:
  constexpr derived_body(ir::builder& g, int which) : g_(g), first_(g.count()), first_bound_(g.bound_count()), which_(which) {}

  constexpr ir::node_id input(dtype type, std::int16_t shape) { return g_.body_input(type, shape); }
  constexpr ir::node_id input_like(ir::node_id x) { return g_.body_input(g_[x].type, g_[x].shape); }
  /// An input with the type and the shape of input i of the primal body.
  constexpr ir::node_id input_of(int i) {
    const ir::graph_view written = g_.view().body_at(which_);
    const ir::node n = written[input_of_body(written, i)];
    return input(n.type, n.shape);
  }
  /// A copy of a value from outside the body, as a node of the body. A derivative with respect to this node stops at the node.
  constexpr ir::node_id variable(ir::node_id x) {
    return g_.append({.op = ir::opcode::cast, .type = g_[x].type, .arity = 1, .shape = g_[x].shape, .in = {x, ir::none, ir::none}});
  }
  constexpr ir::node_id zero_like(ir::node_id x) { return g_.constant(g_[x].type, g_[x].shape, 0); }

  /// Adds the inputs from ... to - 1 of the primal body, and then a tangent for each marked input.
  constexpr void take(inputs_with_tangents& all, int from, int to, const mark_list& marked) {
    const auto input = [&](int i) {
      all.inputs.push_back(input_of(i));
      return all.inputs.back();
    };
    for (int i = from; i < to; ++i) all.given.push_back(input(i));
    for (int i = from; i < to; ++i)
      if (marked[i]) all.wrt.push_back(all.given[i]), all.tangents.push_back(input(i)), all.marks.push_back(marked[i]);
  }
  /// Adds a capture, with its tangent or none, and the mark of the tangent.
  constexpr void take_capture(inputs_with_tangents& all, ir::node_id operand, ir::node_id tangent, char mark) {
    all.given.push_back(tangent != ir::none ? variable(operand) : operand);
    if (tangent != ir::none) all.wrt.push_back(all.given.back()), all.tangents.push_back(tangent), all.marks.push_back(mark);
  }

  /// Inlines the primal body, on these values of its inputs.
  constexpr void inline_body(const id_list& inputs) {
    first_inlined_ = g_.count();
    inlined_ = g_.inline_body(which_, inputs, ir::builder::bounds::if_read);
    end_inlined_ = g_.count();
  }
  constexpr ir::node_id output(int i) const {
    const ir::graph_view body = g_.view().body_at(which_);
    return inlined_[body.outputs[i]];
  }

  /// Chooses the residuals. Replaces each inlined node that is a residual by an input. Appends the id of the node in the primal body to
  /// `residuals`, and the input to `inputs`. Sets is_read[i] if the derivative reads before[i], a carry or a slice of the primal body.
  /// Products, sums and looked-up elements are always residuals if they are read. For other nodes there are two choices. Either none of them is a
  /// residual, and the derivative computes them again. Or all nodes that the derivative reads directly are residuals, if this takes no more memory:
  /// then their operands are not needed. An LSTM keeps its gates, and not the two products from which the gates are computed.
  constexpr void keep(const id_list& outputs, const id_list& before, ir::array<char>& is_read, id_list& residuals, id_list& inputs) {
    ir::array<char> of_fewest = needed(outputs, false), of_direct = needed(outputs, true);
    const bool keeps_direct = residual_size(of_direct, before, true) <= residual_size(of_fewest, before, false);
    const ir::array<char>& marks = keeps_direct ? of_direct : of_fewest;
    for (ir::node_id id = end_inlined_ - 1; id >= first_inlined_; --id) {
      if (!is_kept(marks, id, keeps_direct)) continue;
      residuals.push_back(local_of(id));
      inputs.push_back(id);
      g_.become_body_input(id);
    }
    for (int i = 0; i < before.size(); ++i) is_read[i] = before[i] >= first_ && marks[before[i] - first_] != 0;
  }

 private:
  /// Calls f(indices) for the bounds whose indices outline() keeps even if no output needs them. The rule of a custom_jvp or custom_vjp adds such
  /// bounds. This function stands before its callers, because clang 19 does not evaluate a member template that is defined after its callers.
  template <class F>
  constexpr void for_each_checked_index(F f) const {
    const ir::graph_view g = g_.view();
    for (int i = 0; i < g.bound_count; ++i)
      if (!g.bounds[i].is_checked && !g.bounds[i].if_read && g.bounds[i].indices >= first_) f(g.bounds[i].indices);
  }

 public:
  /// Marks the nodes of the body that the outputs or the checked indices need.
  constexpr ir::array<char> live(const id_list& outputs) const {
    ir::array<char> marks(g_.count() - first_, 0);
    const auto mark = [&](ir::node_id id) {
      if (id >= first_) marks[id - first_] = 1;
    };
    for (const ir::node_id id : outputs) mark(id);
    for_each_checked_index(mark);
    ir::mark_needed(g_.view().nodes, g_.count(), marks.data(), first_);
    return marks;
  }
  constexpr ir::node_id first() const { return first_; }
  constexpr int written() const { return which_; }
  /// The id in the primal body of an inlined node, if keep() makes the node a residual whenever something reads it. Otherwise -1.
  constexpr int residual_node(ir::node_id id) const {
    return id >= first_inlined_ && id < end_inlined_ && is_kept(g_[id].op) ? local_of(id) : -1;
  }

  constexpr int outline(const id_list& inputs, const id_list& outputs, id_list& captured) { return g_.outline(first_, inputs, outputs, captured); }
  constexpr int outline_branch(const id_list& outputs, id_list& captured) { return g_.outline(first_, {}, outputs, captured, first_bound_); }

 private:
  /// Whether a node is always a residual: a result of more than pointwise work.
  static constexpr bool is_kept(ir::opcode op) { return is_worth_an_array(op) || op == ir::opcode::result; }

  enum : char { is_needed = 1, is_direct = 2 };  // is_direct: a node of the derivative reads the inlined node

  constexpr bool is_kept(const ir::array<char>& marks, ir::node_id id, bool keeps_direct) const {
    const char m = marks[id - first_];
    return m != 0 && (is_kept(g_[id].op) || (keeps_direct && (m & is_direct) && ops::is_pointwise(g_[id].op)));
  }
  /// Marks the nodes of the body that the outputs need. A residual does not need its operands.
  constexpr ir::array<char> needed(const id_list& outputs, bool keeps_direct) const {
    const int count = g_.count();
    ir::array<char> marks(count - first_, 0);
    const auto need = [&](ir::node_id id, char how) {
      if (id >= first_) marks[id - first_] = static_cast<char>(marks[id - first_] | how);
    };
    for (const ir::node_id id : outputs) need(id, is_needed | is_direct);
    for_each_checked_index([&](ir::node_id id) { need(id, is_needed | is_direct); });
    for (ir::node_id id = count - 1; id >= first_; --id) {
      const bool is_inlined = id >= first_inlined_ && id < end_inlined_;
      if (!marks[id - first_] || (is_inlined && is_kept(marks, id, keeps_direct))) continue;
      for (int k = 0; k < g_[id].arity; ++k) need(g_[id].in[k], is_inlined ? is_needed : is_needed | is_direct);
    }
    return marks;
  }
  /// The bytes of the residuals of an iteration, if each run-time extent were costs::assumed_extent. `before` has the carries and slices. Slices need no memory, but
  /// they count too, because the nodes that read them are computed again.
  constexpr double residual_size(const ir::array<char>& marks, const id_list& before, bool keeps_direct) const {
    double size = 0;
    const auto add = [&](ir::node_id id) {
      double elements = static_cast<double>(size_of(g_[id].type));
      for (int a = 0; a < g_.shape_of(id).rank; ++a) elements *= is_static(g_.shape_of(id)[a]) ? static_cast<double>(g_.shape_of(id)[a]) : costs::assumed_extent;
      size += elements;
    };
    for (ir::node_id id = first_inlined_; id < end_inlined_; ++id)
      if (is_kept(marks, id, keeps_direct)) add(id);
    for (const ir::node_id id : before)
      if (id >= first_ && marks[id - first_]) add(id);
    return size;
  }
  constexpr int local_of(ir::node_id id) const {
    int local = 0;
    while (inlined_[local] != id) ++local;
    return local;
  }

  ir::builder& g_;
  ir::node_id first_;
  int first_bound_;
  ir::node_id first_inlined_ = 0, end_inlined_ = 0;
  int which_;
  id_list inlined_;
};

}  // namespace tenure::passes
