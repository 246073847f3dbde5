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
constexpr bool can_hoist(const ir::node& n) {
  return n.op != ir::opcode::input && n.op != ir::opcode::tuple && n.op != ir::opcode::control_flow && n.op != ir::opcode::result;
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
      differs = differs || !can_hoist(n);
      for (int k = 0; k < n.arity; ++k) differs = differs || (n.in[k] >= first && varies[n.in[k] - first]);
      is_hoisted[id - first] = !differs && is_worth_hoisting(g, n, first);
    }
  }
  return is_hoisted;
}

/// Whether nodes from `first` on, or bodies of their control-flow operations, check indices. A loop with checks must run, even if nothing reads its results.
constexpr bool has_checks(const ir::graph_view& g, node_id first = 0) {
  for (int i = 0; i < g.bound_count; ++i)
    if (!g.bounds[i].is_checked && g.bounds[i].indices >= first) return true;
  for (node_id id = first; id < g.count && g.inner.bound_count > 0; ++id) {
    if (g[id].op != ir::opcode::control_flow) continue;
    for (const int b : g.control_flow_of(g[id]).bodies)
      if (b >= 0 && has_checks(g.body_at(b))) return true;
  }
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

/// Finds out whether hoist() changes a graph.
class hoist_search {
  using kind = ir::control_flow::kind;

 public:
  static constexpr bool finds(const ir::graph_view& g, const mark_list& outputs) {
    const liveness d = liveness_of(g, outputs);
    for (node_id id = 0; id < g.count; ++id)
      if (d.nodes[id] && g[id].op == ir::opcode::control_flow && finds(g, id, d)) return true;
    return false;
  }

 private:
  static constexpr bool finds(const ir::graph_view& g, node_id id, const liveness& d) {
    const ir::control_flow& c = g.control_flow_of(g[id]);
    if (c.is_custom_derivative() || c.what == kind::external) return false;
    const liveness_of_bodies needed = liveness_of(g, c, d.results, d.first_result[id]);
    const bool loops = c.what != kind::cond;
    for (int b = 0; b < 2; ++b) {
      if (c.bodies[b] < 0) continue;
      const ir::graph_view body = g.body_at(c.bodies[b]);
      for (int i = 0; i < body.output_count; ++i)
        if (!needed.outputs(b)[i]) return true;
      for (int i = c.carries; c.what == kind::scan && i < c.own_inputs(b); ++i)
        if (!needed.inputs(b)[i]) return true;
      if (loops && (hoists(body, needed.outputs(b), c.own_inputs(b) + c.counts) || stays_the_same(g, id, b, body))) return true;
      if (finds(body, needed.outputs(b))) return true;
    }
    return false;
  }
  static constexpr bool hoists(const ir::graph_view& body, const mark_list& outputs, int own) {
    const mark_list is_hoisted = hoisted(body, 0, own);
    if (!any_of(is_hoisted, 0, body.count)) return false;
    const liveness d = liveness_of(body, outputs);
    for (node_id id = 0; id < body.count; ++id)
      if (is_hoisted[id] && d.nodes[id]) return true;
    return false;
  }
  /// Whether a carry, a stacked result or a scanned operand is the same in all iterations.
  static constexpr bool stays_the_same(const ir::graph_view& g, node_id id, int b, const ir::graph_view& body) {
    const ir::control_flow& c = g.control_flow_of(g[id]);
    const bool is_while = c.what == kind::while_loop;
    if (body.output_count == 0 || (is_while && b == 0) || c.what == kind::reverse_while) return false;
    id_list operands;
    ir::for_each_operand(g.nodes, g[id].in[0], [&](node_id operand) { operands.push_back(operand); });
    const bool runs_anyway = has_checks(body) || (is_while && has_checks(g.body_at(c.bodies[0])));
    int same = 0;
    for (int i = 0; i < body.output_count && !runs_anyway; ++i) {
      const node_id y = body.outputs[i];
      const bool is_input = body[y].op == ir::opcode::input;
      if (i < c.carries) same += is_input && body[y].attr == i && can_stand_for(body, g[operands[i]], y);
      else if (is_stack_of_one(body[y], is_input && body[y].attr >= c.own_inputs(0) + c.counts)) return true;
    }
    if (same > (is_while && same == c.carries)) return true;  // a while_loop keeps at least one carry
    if (c.what != kind::scan) return false;
    for (int i = c.carries; i < c.own_operands(); ++i)
      if (is_same_in_each_iteration(g, operands[i]) && !is_bounded(body, input_of_body(body, i))) return true;
    return false;
  }
};

class hoist_pass {
  using kind = ir::control_flow::kind;

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
        const bool is_made = n.op == ir::opcode::result || n.op == ir::opcode::control_flow;
        const ir::node& made_by = n.op == ir::opcode::result ? g[n.in[0]] : n;
        const bool is_rewritten = is_made && g.control_flow_of(made_by).what != kind::external;
        if (!is_rewritten) renamed[id] = out_.append(with_renamed_operands(n, renamed));
        else if (n.op == ir::opcode::control_flow) rewrite(g, id, d, renamed, results);
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
    const liveness_of_bodies needed = liveness_of(g, c, d.results, first);
    const bool counts_iterations = c.counts_iterations && d.results[first + c.carries];
    const id_list made = rewritten(g, c, needed, operands, counts_iterations);
    for (int i = 0; i < made.size(); ++i) results[first + i] = made[i];
  }
  constexpr id_list rewritten(const ir::graph_view& g, const ir::control_flow& c, const liveness_of_bodies& needed, const id_list& operands,
                              bool counts_iterations) {
    if (c.what == kind::scan) return scan(g, c, needed, operands);
    if (c.what == kind::while_loop) return while_loop(g, c, needed, operands, counts_iterations);
    if (c.what == kind::cond) return cond(g, c, needed, operands);
    return reverse_while(g, c, needed, operands);
  }

  constexpr id_list scan(const ir::graph_view& g, ir::control_flow c, const liveness_of_bodies& needed, const id_list& operands) {
    const ir::graph_view body = g.body_at(c.bodies[0]);
    const int carries = c.carries, own_operands = c.own_operands();
    id_list own(own_operands + c.counts, none), all, captured;
    for (int i = carries; i < own_operands; ++i) {
      if (!needed.inputs(0)[i]) continue;
      const node_id input = input_of_body(body, i);
      if (!is_bounded(body, input)) own[i] = same_in_each_iteration(out_, operands[i], body[input].shape);
    }
    const node_id first = out_.count();
    for (int i = 0; i < own.size(); ++i) {
      const bool is_needed = i < carries ? needed.outputs(0)[i] != 0 : i >= own_operands || needed.inputs(0)[i];
      if (is_needed && own[i] == none) own[i] = input_like(body, i);
    }
    written_body w = write(body, needed.outputs(0), own, part(operands, own_operands, c.captures[0]), first);
    id_list results(body.output_count, none);
    const bool runs_anyway = has_checks(out_.view(), w.first);
    for (int i = 0; i < carries; ++i)
      if (!runs_anyway && stays_the_same(w, i, operands[i])) capture(w, i, results[i] = operands[i]);
    hoist_from(w);

    ir::array<ir::node> same(body.output_count);  // for stacked results with equal slices: a constant or a broadcast of the slice
    for (int i = carries; i < body.output_count; ++i) {
      const node_id y = w.outputs[i];
      if (runs_anyway || y == none || !is_stack_of_one(out_[y], y < w.first)) continue;
      same[i] = y < w.first ? unary_node(ir::opcode::broadcast, y) : out_[y];
      w.outputs[i] = none;
      results[i] = 0;
    }
    c.carries = c.scanned = 0;
    for (int i = 0; i < own_operands; ++i) {
      if (w.own[i] < w.first) continue;
      all.push_back(operands[i]);
      ++(i < carries ? c.carries : c.scanned);
    }
    c.bodies[0] = outline(w, captured);
    c.captures[0] = add(all, captured);
    const node_id loop = has_outputs(w) ? out_.add_control_flow(c, all) : none;
    int position = 0;
    for (int i = 0; i < body.output_count; ++i)
      if (w.outputs[i] != none) results[i] = out_.result(loop, position++);
    for (int i = carries; i < body.output_count; ++i)
      if (w.outputs[i] == none && results[i] != none) results[i] = stacked(same[i], c.length);
    return results;
  }

  constexpr id_list while_loop(const ir::graph_view& g, ir::control_flow c, const liveness_of_bodies& needed, const id_list& operands,
                               bool counts_iterations) {
    const ir::graph_view condition = g.body_at(c.bodies[0]), iteration = g.body_at(c.bodies[1]);
    const int carries = c.carries;
    id_list own(carries, none), all, captured, of_condition;
    const node_id first = out_.count();
    for (int i = 0; i < carries; ++i)
      if (needed.outputs(1)[i]) own[i] = input_like(iteration, i);
    written_body w = write(iteration, needed.outputs(1), own, part(operands, carries + c.captures[0], c.captures[1]), first);
    id_list results(carries + c.counts_iterations, none);
    const bool runs_anyway = has_checks(out_.view(), w.first) || has_checks(condition);
    bool varies = false;
    for (int i = 0; i < carries; ++i) varies = varies || (w.own[i] != none && !stays_the_same(w, i, operands[i]));
    for (int i = 0; i < carries; ++i) {
      if (runs_anyway || !stays_the_same(w, i, operands[i])) continue;
      if (varies) capture(w, i, results[i] = operands[i]);  // a while_loop keeps at least one carry
      varies = true;
    }
    hoist_from(w);
    mark_list is_carry(carries, 0);
    c.carries = 0;
    for (int i = 0; i < carries; ++i) {
      is_carry[i] = w.own[i] != none;
      if (is_carry[i]) all.push_back(operands[i]), ++c.carries;
    }
    c.bodies[1] = outline(w, captured);

    const node_id first_of_condition = out_.count();
    for (int i = 0; i < carries; ++i) own[i] = is_carry[i] ? input_like(condition, i) : operands[i];
    written_body new_condition = write(condition, needed.outputs(0), own, part(operands, carries, c.captures[0]), first_of_condition);
    hoist_from(new_condition);
    c.bodies[0] = outline(new_condition, of_condition);
    c.captures[0] = add(all, of_condition);
    c.captures[1] = add(all, captured);
    c.counts_iterations = counts_iterations;
    const node_id loop = out_.add_control_flow(c, all);
    int position = 0;
    for (int i = 0; i < carries; ++i)
      if (is_carry[i]) results[i] = out_.result(loop, position++);
    if (counts_iterations) results[carries] = out_.result(loop, position);
    return results;
  }

  constexpr id_list reverse_while(const ir::graph_view& g, ir::control_flow c, const liveness_of_bodies& needed, const id_list& operands) {
    const ir::graph_view iteration = g.body_at(c.bodies[0]), pull = g.body_at(c.bodies[1]);
    const int carries = c.carries, states = c.states();
    id_list all, captured, of_pull, before, of_iteration;
    node_id first = out_.count();
    for (int i = 0; i < states; ++i) before.push_back(needed.outputs(0)[i] ? input_like(iteration, i) : none);
    written_body next = write(iteration, needed.outputs(0), before, part(operands, c.own_operands(), c.captures[0]), first);
    hoist_from(next);
    const int next_body = outline(next, captured);
    first = out_.count();
    for (int i = 0; i < carries + states; ++i) {
      const bool is_needed = i < carries ? needed.outputs(1)[i] != 0 : needed.outputs(0)[i - carries] != 0;
      of_iteration.push_back(is_needed ? input_like(pull, i) : none);
      if (is_needed) all.push_back(operands[i]);
    }
    written_body w = write(pull, needed.outputs(1), of_iteration, part(operands, c.own_operands() + c.captures[0], c.captures[1]), first);
    hoist_from(w);
    c.bodies[1] = outline(w, of_pull);
    c.bodies[0] = next_body;
    all.push_back(operands[carries + states]);
    c.carries = 0, c.scanned = 1;
    for (int i = 0; i < carries; ++i) c.carries += needed.outputs(1)[i];
    for (int i = 0; i < states; ++i) c.scanned += needed.outputs(0)[i];
    c.captures[0] = add(all, captured);
    c.captures[1] = add(all, of_pull);
    const node_id loop = out_.add_control_flow(c, all);
    id_list results(carries, none);
    for (int i = 0, position = 0; i < carries; ++i)
      if (needed.outputs(1)[i]) results[i] = out_.result(loop, position++);
    return results;
  }

  /// Nothing is hoisted out of a branch, because the branch may not be taken.
  constexpr id_list cond(const ir::graph_view& g, ir::control_flow c, const liveness_of_bodies& needed, const id_list& operands) {
    id_list all;
    all.push_back(operands[0]);
    int at = 1;
    for (int b = 0; b < 2; ++b) {
      id_list captured;
      const written_body w = write(g.body_at(c.bodies[b]), needed.outputs(b), {}, part(operands, at, c.captures[b]), out_.count());
      at += c.captures[b];
      c.bodies[b] = outline(w, captured);
      c.captures[b] = add(all, captured);
    }
    const node_id branch = out_.add_control_flow(c, all);
    id_list results(needed.outputs(0).size(), none);
    for (int i = 0, position = 0; i < results.size(); ++i)
      if (needed.outputs(0)[i]) results[i] = out_.result(branch, position++);
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
  static constexpr id_list part(const id_list& all, int first, int count) {
    id_list some;
    for (int i = 0; i < count; ++i) some.push_back(all[first + i]);
    return some;
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
