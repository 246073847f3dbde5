// SPDX-License-Identifier: BSL-1.0
// Merges a loop and its tangent into one loop. Forward mode makes a derived loop over (values, tangents) beside the loop over the values. If both
// are needed, the values come from the derived loop, and the other loop does not run.
// Law: merge_loops keeps the meaning, and a loop that it replaces has no results left.
// Cost: a comparison of bodies for each pair of loops with equal starts. may_merge_loops() skips graphs with fewer than two control-flow operations.
#pragma once

#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

class merge_loops_pass {
 public:
  constexpr explicit merge_loops_pass(const ir::graph_view& g) : g_(g), derived_(g.count, none), position_(g.count, -1) {
    for (node_id id = 0; id < g.count; ++id)
      if (is_loop(id)) loops_.push_back(id);
    for (int i = loops_.size() - 1; i >= 0; --i)
      for (int k = i + 1; k < loops_.size() && derived_[loops_[i]] == none; ++k) {
        const bool stays = derived_[loops_[k]] == none;  // a loop that has a derived loop is removed, so it cannot replace another loop
        if (stays && contains(loops_[k], loops_[i]) && !needs(loops_[k], loops_[i])) derived_[loops_[i]] = loops_[k];
      }
  }
  constexpr ir::builder run() {
    ir::builder out(g_);
    ir::array<node_id> renamed(g_.count, none);
    for (node_id id = 0; id < g_.count; ++id) emit(id, renamed, out);
    finish(g_, renamed, out);
    return out;
  }

 private:
  constexpr bool is_loop(node_id id) const {
    const ir::found_control_flow c = g_.find_control_flow(id);
    return c != nullptr && c->is_loop() && !c->is_linear_in_carries() && !c->counts_iterations;
  }
  constexpr ir::array<char> ancestors(node_id of) const {
    ir::array<char> marks(of + 1, 0);
    marks[of] = 1;
    ir::mark_needed(g_.nodes, of + 1, marks.data());
    return marks;
  }
  constexpr bool needs(node_id of, node_id other) const { return ancestors(of)[other] != 0; }
  constexpr ir::array<node_id> operands_of(node_id id) const {
    ir::array<node_id> all;
    ir::for_each_operand(g_.nodes, g_[id].in[0], [&](node_id o) { all.push_back(o); });
    return all;
  }

  /// For each node of body b of `few`: the node of body b of `many` that computes the same value, or none.
  constexpr ir::array<node_id> found_in(const ir::control_flow& many, const ir::array<node_id>& of_many, const ir::control_flow& few,
                                        const ir::array<node_id>& of_few, int b) const {
    const ir::graph_view from = g_.body_at(few.bodies[b]), to = g_.body_at(many.bodies[b]);
    const int own = few.own_inputs(b) + few.counts, own_of_many = many.own_inputs(b) + many.counts;
    const int captures = few.own_operands() + (b == 1 ? few.captures[0] : 0), captures_of_many = many.own_operands() + (b == 1 ? many.captures[0] : 0);
    ir::index known;
    ir::array<node_id> inputs(to.input_count, none), at(from.count, none);
    for (node_id id = 0; id < to.count; ++id)
      if (to[id].op == ir::opcode::input) inputs[static_cast<int>(to[id].attr)] = id;
      else known.enter(hash_of(to[id]), id);
    for (node_id id = 0; id < from.count; ++id) {
      ir::node n = from[id];
      if (n.op == ir::opcode::input) {
        const int i = static_cast<int>(n.attr);
        int position = i < few.carries ? i : i - few.carries + many.carries;
        if (i >= own) {
          position = -1;
          for (int k = 0; k < many.captures[b]; ++k)
            if (of_many[captures_of_many + k] == of_few[captures + i - own]) position = own_of_many + k;
        } else if (few.counts && i == own - 1) {
          position = own_of_many - 1;
        }
        if (position >= 0) at[id] = inputs[position];
        continue;
      }
      bool has_all = true;
      for (int k = 0; k < n.arity; ++k) n.in[k] = at[n.in[k]], has_all = has_all && n.in[k] != none;
      if (has_all) at[id] = known.find(hash_of(n), [&](int k) { return to[k] == n; });
    }
    return at;
  }

  /// Whether the loop `many` computes all results of the loop `few` that have a node. Notes their positions in the results of `many`.
  constexpr bool contains(node_id many_id, node_id few_id) {
    const ir::control_flow &many = g_.control_flow_of(g_[many_id]), &few = g_.control_flow_of(g_[few_id]);
    if (!(many.derived(many.what) == few.derived(few.what)) || many.carries < few.carries || many.scanned < few.scanned) return false;
    const ir::array<node_id> of_many = operands_of(many_id), of_few = operands_of(few_id);
    for (int i = 0; i < few.own_operands(); ++i)
      if (of_few[i] != of_many[i < few.carries ? i : i - few.carries + many.carries]) return false;
    const int iteration = few.number_of_results_body();
    const ir::graph_view from = g_.body_at(few.bodies[iteration]), to = g_.body_at(many.bodies[iteration]);
    const ir::array<node_id> found = found_in(many, of_many, few, of_few, iteration);
    for (int i = 0; i < few.carries; ++i)
      if (found[from.outputs[i]] != to.outputs[i]) return false;
    if (iteration == 1) {
      const ir::graph_view condition = g_.body_at(few.bodies[0]), of_both = g_.body_at(many.bodies[0]);
      if (found_in(many, of_many, few, of_few, 0)[condition.outputs[0]] != of_both.outputs[0]) return false;
    }
    bool has_all = true;
    ir::for_each_result(g_.nodes, few_id, g_.count - 1, [&](node_id r, int i) {
      position_[r] = i < few.carries ? i : -1;
      for (int k = many.carries; i >= few.carries && k < to.output_count; ++k)
        if (to.outputs[k] == found[from.outputs[i]]) position_[r] = k;
      has_all = has_all && position_[r] >= 0;
    });
    return has_all;
  }

  /// Emits a node, whose operands are emitted already. Instead of a loop that has a derived loop, emits the derived loop and the nodes that it needs.
  constexpr void emit(node_id id, ir::array<node_id>& renamed, ir::builder& out) {
    if (renamed[id] != none) return;
    if (const node_id derived = derived_[id]; derived != none) {
      derived_[id] = none;  // two loops may need each other's derived loops: then this loop stays
      const ir::array<char> needed = ancestors(derived);
      for (node_id a = 0; a <= derived; ++a)
        if (needed[a]) emit(a, renamed, out);
      if (renamed[id] != none) return;
      derived_[id] = derived;
      renamed[id] = renamed[derived];
      return;
    }
    ir::node n = with_renamed_operands(g_[id], renamed.data());
    if (n.op == ir::opcode::result && derived_[g_[id].in[0]] != none) n.attr = position_[id];
    renamed[id] = out.append(n);
  }

  ir::graph_view g_;
  ir::array<node_id> loops_, derived_;
  ir::array<int> position_;  // for a result of a loop: its position in the results of the derived loop
};

/// Whether the graph has at least two control-flow operations.
constexpr bool may_merge_loops(const ir::graph_view& g) {
  int loops = 0;
  for (node_id id = 0; id < g.count && g.inner.control_flow_count > 1; ++id) loops += g.find_control_flow(id) != nullptr;
  return loops > 1;
}

/// Takes the values of a loop from its derived loop, if both are needed. dead_code() removes the loop later.
constexpr ir::builder merge_loops(const ir::graph_view& g) {
  merge_loops_pass pass(g);
  return pass.run();
}

}  // namespace tenure::passes
