// SPDX-License-Identifier: BSL-1.0
// Makes the iterations of loops smaller. A loop-invariant value is computed before the loop, if it is more than pointwise work: a product, a sum,
// attention, a solution, an order, looked-up elements. Dead carries and stacked results are removed, with the values that only they need.
// Law: hoist keeps the bits of all values, also after no iteration; is idempotent; leaves no product of captures in an iteration.
// Products in branches are not hoisted, nor products that depend on an index that an iteration checks.
// Cost: needs_hoist() is a few sweeps over a graph with loops or branches, and nothing for other graphs. The pass copies all bodies.
#pragma once

#include <tenure/passes/loops/liveness.hpp>
#include <tenure/passes/differentiate.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// Whether to hoist an invariant operation of a body whose first node is `first`: its result needs an array before the loop. An outer product is
/// pointwise work, and a sum of equal numbers is one product.
constexpr bool is_worth_hoisting(const ir::graph_view& g, const ir::node& n, node_id first) {
  if (n.op == ir::opcode::matmul) {
    const extents& left = g.shape_of(n.in[0]);
    return left[left.rank - 1] != 1;
  }
  if (n.op == ir::opcode::reduce) {
    const ir::opcode of = g[n.in[0]].op;
    return of != ir::opcode::constant && (n.in[0] < first || of != ir::opcode::broadcast);
  }
  return is_worth_an_array(n.op);
}
constexpr bool can_hoist(const ir::graph_view& g, node_id id) {
  return g[id].op != ir::opcode::input && g[id].op != ir::opcode::tuple && g[id].op != ir::opcode::result && g.find_control_flow(id) == nullptr;
}

/// Marks the nodes from `first` on that are hoisted: loop-invariant nodes that is_worth_hoisting() accepts. Inputs whose number is less than `own`
/// vary from iteration to iteration. Other inputs, and nodes before `first`, are invariant. (All inputs of a body that is being written have number
/// 0.) An index that the iteration checks is not hoisted, and neither are the nodes that read it: a loop of no iterations must not refuse an index.
constexpr mark_list hoisted(const ir::graph_view& g, node_id first, int own) {
  mark_list varies(g.count - first, 0), is_hoisted(g.count - first, 0);
  for (int i = 0; i < g.bound_count; ++i) {
    const ir::bound& b = g.bounds[i];
    if (b.indices >= first && !(b.is_checked && g[b.indices].op == ir::opcode::input)) varies[b.indices - first] = 1;
  }
  for (node_id id = first; id < g.count; ++id) {
    const ir::node& n = g[id];
    char& differs = varies[id - first];
    if (n.op == ir::opcode::input) {
      differs = differs || n.attr < own;
    } else if (n.op == ir::opcode::result && g.control_flow_of(g[n.in[0]]).is_custom_derivative()) {
      const node_id x = value_of_custom(g, n);
      differs = differs || (x >= first && varies[x - first]);
    } else {
      differs = differs || !can_hoist(g, id);
      for (int k = 0; k < n.arity; ++k) differs = differs || (n.in[k] >= first && varies[n.in[k] - first]);
      is_hoisted[id - first] = !differs && is_worth_hoisting(g, n, first);
    }
  }
  return is_hoisted;
}

/// Whether nodes from `first` on, or bodies of their control-flow operations, check indices. A loop with checks must run, even if nothing reads its results.
constexpr bool has_checks(const ir::graph_view& g, node_id first = 0);
constexpr bool has_checks_in_bodies(const ir::graph_view& g, const ir::control_flow& c) {
  for (const int b : c.bodies)
    if (b >= 0 && has_checks(g.body_at(b))) return true;
  return false;
}
constexpr bool has_checks(const ir::graph_view& g, node_id first) {
  for (int i = 0; i < g.bound_count; ++i)
    if (!g.bounds[i].is_checked && g.bounds[i].indices >= first) return true;
  for (node_id id = first; id < g.count && g.inner.bound_count > 0; ++id)
    if (const ir::found_control_flow c = g.find_control_flow(id); c != nullptr && has_checks_in_bodies(g, *c)) return true;
  return false;
}
constexpr bool is_bounded(const ir::graph_view& g, node_id id) {
  for (int i = 0; i < g.bound_count; ++i)
    if (g.bounds[i].indices == id) return true;
  return false;
}

/// Whether the start of a carry can replace the input of the body, given that each iteration returns this input unchanged.
constexpr bool can_stand_for(const ir::graph_view& g, const ir::node& start, node_id input) {
  return !is_bounded(g, input) && g[input].type == start.type && g[input].shape == start.shape;
}
/// Whether all slices of a stacked result are one value from before the loop. y is the output of the body that is stacked.
constexpr bool is_stack_of_one(const ir::node& y, bool is_captured) { return is_captured || y.op == ir::opcode::constant; }

/// Whether one carry stays even if all are the same in each iteration.
constexpr bool keeps_a_carry(const ir::control_flow& c) { return c.what == ir::control_flow::kind::while_loop; }

/// Finds out whether hoist() changes a graph.
class hoist_search {
 public:
  static constexpr bool finds(const ir::graph_view& g, const mark_list& outputs) {
    const liveness d = liveness_of(g, outputs);
    for (node_id id = 0; id < g.count; ++id)
      if (d.nodes[id] && g.find_control_flow(id) != nullptr && finds(g, id, d)) return true;
    return false;
  }

 private:
  static constexpr bool finds(const ir::graph_view& g, node_id id, const liveness& d) {
    const ir::control_flow& c = g.control_flow_of(g[id]);
    if (!c.runs_bodies()) return false;
    const liveness_of_bodies needed = liveness_of(g, c, d.results, d.first_result[id]);
    const ir::port_list ports = g.ports_of(c);
    for (const ir::port_group& p : ports)
      for (int i = 0; i < p.count && p.operand >= 0 && p.what != ir::port_group::type::capture; ++i)
        if (!needed.operands[p.operand + i]) return true;
    for (int b = 0; b < c.body_count(); ++b) {
      const ir::graph_view body = g.body_at(c.bodies[b]);
      for (int i = 0; i < body.output_count; ++i)
        if (!needed.outputs(b)[i]) return true;
      if (c.is_loop() && hoists(body, needed.outputs(b), first_capture(ports, b))) return true;
      if (finds(body, needed.outputs(b))) return true;
    }
    return c.is_loop() && stays_the_same(g, id, ports);
  }
  static constexpr bool hoists(const ir::graph_view& body, const mark_list& outputs, int own) {
    const mark_list is_hoisted = hoisted(body, 0, own);
    if (!any_of(is_hoisted, 0, body.count)) return false;
    const liveness d = liveness_of(body, outputs);
    for (node_id id = 0; id < body.count; ++id)
      if (is_hoisted[id] && d.nodes[id]) return true;
    return false;
  }
  /// The first input of body b that is a capture.
  static constexpr int first_capture(const ir::port_list& ports, int b) {
    int first = 0;
    for (const ir::port_group& p : ports)
      if (p.what == ir::port_group::type::capture && p.input[b] >= 0) first = p.input[b];
    return first;
  }
  /// Whether a carry, a stacked result or a scanned operand is the same in all iterations.
  static constexpr bool stays_the_same(const ir::graph_view& g, node_id id, const ir::port_list& ports) {
    const ir::control_flow& c = g.control_flow_of(g[id]);
    const int b = c.number_of_results_body();
    const ir::graph_view body = g.body_at(c.bodies[b]);
    id_list operands;
    ir::for_each_operand(g.nodes, g[id].in[0], [&](node_id operand) { operands.push_back(operand); });
    const bool runs_anyway = has_checks_in_bodies(g, c);
    int same = 0;
    for (const ir::port_group& p : ports)
      for (int i = 0; i < p.count; ++i) {
        if (p.what == ir::port_group::type::slice && p.operand >= 0 && is_same_in_each_iteration(g, operands[p.operand + i]) && !is_bounded(body, input_of_body(body, p.input[b] + i)))
          return true;
        if (p.output[b] < 0 || runs_anyway) continue;
        const node_id y = body.outputs[p.output[b] + i];
        const bool is_input = body[y].op == ir::opcode::input;
        if (p.operand >= 0) same += is_input && body[y].attr == p.input[b] + i && can_stand_for(body, g[operands[p.operand + i]], y);
        else if (is_stack_of_one(body[y], is_input && body[y].attr >= first_capture(ports, b))) return true;
      }
    return same > (keeps_a_carry(c) && same == c.carries);
  }
};

class hoist_pass {
  using type = ir::port_group::type;

 public:
  constexpr explicit hoist_pass(const ir::graph_view& g) : g_(g), out_(g) {}

  constexpr ir::builder run() {
    id_list renamed(g_.count, none);
    liveness d = liveness_of(g_, mark_list(g_.output_count, 1));
    for (node_id id = 0; id < g_.count; ++id)
      if (g_[id].op == ir::opcode::input) d.nodes[id] = 1;
    emit(g_, d, renamed, 0);
    for (int i = 0; i < g_.output_count; ++i) out_.output(renamed[g_.outputs[i]]);
    out_.keep_backward(g_, renamed);
    return static_cast<ir::builder&&>(out_);
  }

 private:
  /// A body that is being written. `own` are its inputs before the captures. An input or output that is not needed is none.
  struct written_body {
    node_id first = 0;
    id_list own, outputs;
  };

  /// Appends the needed nodes of a graph. The nodes of a body come from node `first` on. A value that is hoisted out of an inner body stands directly
  /// before the inner loop, so it can be hoisted out of the outer body too.
  constexpr void emit(const ir::graph_view& g, const liveness& d, id_list& renamed, node_id first) {
    id_list results(d.results.size(), none);
    for (node_id id = 0; id < g.count; ++id) {
      if (!d.nodes[id]) continue;
      const ir::node& n = g[id];
      if (renamed[id] == none) {
        const bool is_made = n.op == ir::opcode::result || g.find_control_flow(id) != nullptr;
        const ir::node& made_by = n.op == ir::opcode::result ? g[n.in[0]] : n;
        const bool is_rewritten = is_made && (g.control_flow_of(made_by).runs_bodies() || g.control_flow_of(made_by).is_custom_derivative());
        if (!is_rewritten) renamed[id] = out_.append(with_renamed_operands(n, renamed.data()));
        else if (n.op != ir::opcode::result) rewrite(g, id, d, renamed, results);
        else if (g.control_flow_of(made_by).is_custom_derivative()) renamed[id] = renamed[value_of_custom(g, n)];
        else renamed[id] = results[d.first_result[n.in[0]] + static_cast<int>(n.attr)];
      }
      for (int i = 0; i < g.bound_count; ++i) {
        const ir::bound b = g.bounds[i];
        if (b.indices != id) continue;
        // The body checks these indices, but the value now stands before the body: the cast makes it a node of the body again.
        if (renamed[id] < first && !b.is_checked) renamed[id] = out_.append(unary_node(ir::opcode::cast, renamed[id]));
        if (renamed[id] >= first) out_.keep_bound(b, renamed[id]);
      }
    }
  }

  constexpr void rewrite(const ir::graph_view& g, node_id id, const liveness& d, const id_list& renamed, id_list& results) {
    const ir::control_flow c = g.control_flow_of(g[id]);
    const int first = d.first_result[id];
    id_list operands;
    ir::for_each_operand(g.nodes, g[id].in[0], [&](node_id operand) { operands.push_back(renamed[operand]); });
    const id_list made = rewritten(g, c, liveness_of(g, c, d.results, first), operands, c.counts_iterations && d.results[first + c.carries]);
    for (int i = 0; i < made.size(); ++i) results[first + i] = made[i];
  }

  /// Appends the smaller loop or branch. Returns its results, or none for a result that is not needed. Nothing is hoisted out of a branch, because the
  /// branch may not be taken.
  constexpr id_list rewritten(const ir::graph_view& g, const ir::control_flow& from, const liveness_of_bodies& needed, const id_list& operands, bool counts_iterations) {
    const ir::port_list ports = g.ports_of(from);
    const int of_results = from.number_of_results_body();
    ir::control_flow c = from;
    mark_list is_left = needed.operands;
    id_list given = operands, results(g.results_of(c), none), captured[2];
    ir::array<ir::node> same(results.size());  // for stacked results with equal slices: a constant or a broadcast of the slice
    written_body w;
    for (const ir::port_group& p : ports)
      for (int i = 0; i < p.count && p.what == type::slice && p.operand >= 0; ++i) {
        const ir::graph_view body = g.body_at(c.bodies[0]);
        const node_id input = input_of_body(body, p.input[0] + i);
        if (!is_left[p.operand + i] || is_bounded(body, input)) continue;
        const node_id slice = same_in_each_iteration(out_, operands[p.operand + i], body[input].shape);
        if (slice != none) given[p.operand + i] = slice, is_left[p.operand + i] = 0;
      }
    for (int k = 0; k < c.body_count(); ++k) {
      const int b = keeps_a_carry(from) ? 1 - k : k;  // a condition comes last, because it reads the carries that are left
      const ir::graph_view body = g.body_at(from.bodies[b]);
      const node_id first = out_.count();
      id_list own, captures;
      for (const ir::port_group& p : ports)
        for (int i = 0; i < p.count && p.input[b] >= 0; ++i)
          if (p.what == type::capture) captures.push_back(operands[p.operand + i]);
          else own.push_back(p.operand < 0 || is_left[p.operand + i] ? input_like(body, p.input[b] + i) : given[p.operand + i]);
      written_body now = write(body, needed.outputs(b), own, captures, first);
      const bool runs_anyway = has_checks(out_.view(), first) || (c.body_count() == 2 && has_checks(g.body_at(from.bodies[1 - b])));
      bool varies = !keeps_a_carry(c);
      const auto for_each_carry = [&](auto f) {
        for (const ir::port_group& p : ports)
          for (int i = 0; i < p.count && p.operand >= 0 && p.output[b] >= 0 && p.result >= 0; ++i) f(p.operand + i, p.input[b] + i, p.result + i);
      };
      for_each_carry([&](int operand, int input, int) { varies = varies || (is_left[operand] && !stays_the_same(now, input, operands[operand])); });
      for_each_carry([&](int operand, int input, int result) {
        if (runs_anyway || !stays_the_same(now, input, operands[operand])) return;
        if (varies) capture(now, input, results[result] = operands[operand]), is_left[operand] = 0;
        varies = true;
      });
      if (c.is_loop()) hoist_from(now);
      for (const ir::port_group& p : ports)
        for (int i = 0; i < p.count && p.what == type::slice && p.result >= 0; ++i) {
          const node_id y = now.outputs[p.output[b] + i];
          if (runs_anyway || y == none || !is_stack_of_one(out_[y], y < now.first)) continue;
          same[p.result + i] = y < now.first ? unary_node(ir::opcode::broadcast, y) : out_[y];
          now.outputs[p.output[b] + i] = none;
          results[p.result + i] = 0;
        }
      c.bodies[b] = outline(now, captured[b]);
      if (b == of_results) w = now;
    }
    id_list all;
    c.carries = c.scanned = 0;
    for (const ir::port_group& p : ports)
      for (int i = 0; i < p.count && p.operand >= 0 && p.what != type::capture; ++i) {
        if (!is_left[p.operand + i]) continue;
        all.push_back(operands[p.operand + i]);
        if (c.is_loop()) ++(p.result >= 0 ? c.carries : c.scanned);
      }
    for (int b = 0; b < c.body_count(); ++b) c.captures[b] = add(all, captured[b]);
    c.counts_iterations = counts_iterations;
    const node_id loop = has_outputs(w) ? out_.add_control_flow(c, all) : none;
    int position = 0;
    for (const ir::port_group& p : ports)
      for (int i = 0; i < p.count && p.result >= 0; ++i) {
        const bool is_there = p.output[of_results] < 0 ? counts_iterations : w.outputs[p.output[of_results] + i] != none;
        if (is_there) results[p.result + i] = out_.result(loop, position++);
      }
    for (const ir::port_group& p : ports)
      for (int i = 0; i < p.count && p.what == type::slice && p.result >= 0; ++i)
        if (w.outputs[p.output[0] + i] == none && results[p.result + i] != none) results[p.result + i] = stacked(same[p.result + i], c.length);
    return results;
  }

  // ---- bodies ----

  constexpr node_id input_like(const ir::graph_view& body, int i) {
    const ir::node n = body[input_of_body(body, i)];
    return out_.body_input(n.type, n.shape);
  }
  constexpr ir::node unary_node(ir::opcode op, node_id x) const {
    return {.op = op, .type = out_[x].type, .arity = 1, .shape = out_[x].shape, .in = {x, none, none}};
  }
  static constexpr int add(id_list& all, const id_list& more) {
    for (const node_id id : more) all.push_back(id);
    return more.size();
  }
  static constexpr bool has_outputs(const written_body& w) {
    for (const node_id id : w.outputs)
      if (id != none) return true;
    return false;
  }

  /// Appends the needed nodes of a body, on inputs that exist already.
  constexpr written_body write(const ir::graph_view& body, const mark_list& outputs, const id_list& own, const id_list& captures,
                               node_id first) {
    id_list renamed(body.count, none);
    for (node_id id = 0; id < body.count; ++id) {
      if (body[id].op != ir::opcode::input) continue;
      const int i = static_cast<int>(body[id].attr);
      renamed[id] = i < own.size() ? own[i] : captures[i - own.size()];
    }
    emit(body, liveness_of(body, outputs), renamed, first);
    written_body w{.first = first, .own = own, .outputs = {}};
    for (int i = 0; i < body.output_count; ++i) w.outputs.push_back(outputs[i] ? renamed[body.outputs[i]] : none);
    return w;
  }

  /// Whether an iteration returns carry i unchanged, and `start` can replace it.
  constexpr bool stays_the_same(const written_body& w, int i, node_id start) const {
    return w.own[i] != none && w.outputs[i] == w.own[i] && can_stand_for(out_.view(), out_[start], w.own[i]);
  }
  /// Removes carry i. Each iteration reads `value` instead, which stands before the loop.
  constexpr void capture(written_body& w, int i, node_id value) {
    const node_id input = w.own[i];
    out_.redirect(w.first, input, value);
    for (node_id& o : w.outputs)
      if (o == input) o = value;
    w.own[i] = w.outputs[i] = none;
  }
  constexpr void hoist_from(written_body& w) {
    const node_id first = w.first;
    const mark_list is_hoisted = hoisted(out_.view(), first, w.own.size());
    const int count = is_hoisted.size();
    int gone = 0;
    for (const char g : is_hoisted) gone += g;
    if (gone == 0) return;
    const id_list moved = out_.put_before(first, is_hoisted);
    w.first = out_.count() - count + gone;
    for (id_list* const list : {&w.own, &w.outputs})
      for (node_id& id : *list)
        if (id >= first) id = moved[id - first];
  }
  /// Outlines the body. Appends its captures to `captured`.
  constexpr int outline(const written_body& w, id_list& captured) {
    id_list inputs, outputs;
    for (const node_id id : w.own)
      if (id >= w.first) inputs.push_back(id);
    for (const node_id id : w.outputs)
      if (id != none) outputs.push_back(id);
    return out_.outline(w.first, inputs, outputs, captured);
  }

  /// The stack of equal slices. n is a constant, or a broadcast from the shape of a slice to the same shape.
  constexpr node_id stacked(ir::node n, std::int64_t trip_count) {
    const extents one = out_.shape(n.shape);
    extents all{1, {trip_count}};
    for (int a = 0; a < one.rank; ++a) {
      all.push_back(one[a]);
      if (n.op == ir::opcode::broadcast) n.attr = ir::pack_axis(n.attr, a, a + 1);
    }
    n.shape = out_.intern(all);
    return out_.append(n);
  }

  ir::graph_view g_;
  ir::builder out_;
};

constexpr bool needs_hoist(const ir::graph_view& g) {
  return g.inner.control_flow_count > 0 && hoist_search::finds(g, mark_list(g.output_count, 1));
}

/// The graph with smaller loops. The old loops may stay in the graph without a reader: dead_code() removes them.
constexpr ir::builder hoist(const ir::graph_view& g) {
  hoist_pass pass(g);
  return pass.run();
}

}  // namespace tenure::passes
