// SPDX-License-Identifier: BSL-1.0
// Bodies of loops and branches in a builder: nodes are outlined into a body, a body is inlined, and control-flow operations are appended.
#pragma once

#include <tenure/ir/builder.hpp>

namespace TENURE_NAMESPACE::ir {

constexpr array<node_id> builder::put_before(node_id first, const array<char>& marks) {
  const int count = nodes_.size() - first;
  array<char> needed = marks;
  mark_needed(nodes_.data(), nodes_.size(), needed.data(), first);
  array<node> old;
  for (int i = 0; i < count; ++i) old.push_back(nodes_[first + i]);
  nodes_.resize(first);
  array<node_id> before(count, none), renamed(count, none);
  const auto put = [&](int i, const array<node_id>& operands) {
    node n = old[i];
    for (int k = 0; k < n.arity; ++k)
      if (n.in[k] >= first) n.in[k] = operands[n.in[k] - first];
    return append(n);
  };
  for (int i = 0; i < count; ++i)
    if (needed[i]) before[i] = put(i, before);
  for (int i = 0; i < count; ++i) renamed[i] = marks[i] ? before[i] : put(i, renamed);
  for (bound& b : bounds_)
    if (b.indices >= first) b.indices = renamed[b.indices - first];
  return renamed;
}

constexpr int builder::outline(node_id first, const array<node_id>& inputs, const array<node_id>& outputs, array<node_id>& captured, int bounds_of_branch, bool leaves_gone) {
  own_bodies();
  if (has_gone_) refuse_gone(outputs.data(), outputs.size());
  const node_id end = nodes_.size();
  const int count = end - first;
  array<node_id> local(count, none), copied, copy_of;
  body b{.first_node = body_nodes_.size(), .first_output = body_outputs_.size(), .first_bound = body_bounds_.size()};
  array<char> live(count, 0);
  // Pointers, because a call of operator[] takes as many steps of constant evaluation as the rest of these loops.
  node* const nodes = nodes_.data();
  node_id* const local_of = local.data();
  char* const is_live = live.data();
  const auto mark = [&](node_id id) {
    if (id >= first) is_live[id - first] = 1;
  };
  for (const node_id id : outputs) mark(id);
  for (const bound& x : bounds_)
    if (!x.is_checked && !x.if_read) mark(x.indices);
  mark_needed(nodes, end, is_live, first);
  const auto put = [&](node n) { return body_nodes_.push_back(n) - b.first_node; };
  const auto put_input = [&](node_id id, std::int64_t step = 1) {
    return put({.op = opcode::input, .type = nodes[id].type, .shape = nodes[id].shape, .attr = b.input_count++, .step = step});
  };
  for (const node_id id : inputs) local_of[id - first] = put_input(id, nodes[id].op == opcode::input ? nodes[id].step : 1);
  const int first_captured = captured.size(), own = b.input_count;
  const auto find = [&](node_id id) -> node_id {
    for (int i = first_captured; i < captured.size(); ++i)
      if (captured[i] == id) return own + i - first_captured;
    for (int i = 0; i < copied.size(); ++i)
      if (copied[i] == id) return copy_of[i];
    return none;
  };
  const auto look = [&](node_id id) {
    if (id >= first || find(id) != none) return;
    if (nodes[id].arity == 0 && nodes[id].op != opcode::input) {
      for (const node_id known : copied)
        if (known == id) return;
      copied.push_back(id);
      copy_of.push_back(none);
      return;
    }
    captured.push_back(id);
    put_input(id);
  };
  array<node> outside;  // results of control-flow operations that stand before `first`. A derivative appended these results in the body
  for (node_id i = first; i < end; ++i) {
    if (!is_live[i - first]) continue;
    const node& n = nodes[i];
    if (n.op == opcode::result && n.in[0] < first) {
      captured.push_back(none);
      outside.push_back(n);
      local_of[i - first] = put_input(i);
      continue;
    }
    for (int k = 0; k < n.arity; ++k)
      if (n.in[k] < first) look(n.in[k]);
  }
  for (const node_id id : outputs) look(id);
  for (int i = 0; i < copied.size(); ++i) copy_of[i] = put(nodes[copied[i]]);
  const auto renamed = [&](node_id id) { return id >= first ? local_of[id - first] : find(id); };
  for (node_id i = first; i < end; ++i) {
    if (i >= backward_from_ && backward_from_ > first && b.backward_from == 0) b.backward_from = body_nodes_.size() - b.first_node;
    if (local_of[i - first] != none || !is_live[i - first]) continue;
    node n = nodes[i];
    for (int k = 0; k < n.arity; ++k) n.in[k] = n.in[k] >= first ? local_of[n.in[k] - first] : find(n.in[k]);
    local_of[i - first] = put(n);
  }
  for (const node_id id : outputs) body_outputs_.push_back(renamed(id));
  for (int i = bounds_.size() - 1; i >= 0; --i)
    for (int k = 0; k < outside_input_.size() && i < bounds_of_branch; ++k)
      if (!bounds_[i].is_checked && bounds_[i].indices == outside_input_[k]) {
        keep_bound(bounds_[i], outside_operand_[k]);
        bounds_[i].is_checked = true;
      }
  while (outside_input_.size() > 0 && outside_input_.back() >= first) outside_input_.pop_back(), outside_operand_.pop_back();
  array<bound> kept;
  for (int i = 0; i < bounds_.size(); ++i) {
    const bound x = bounds_[i];
    const bool is_outside = x.indices < first && i < bounds_of_branch;
    if (is_outside) kept.push_back(x);
    const node_id here = renamed(x.indices);
    if (here == none) continue;
    bound& inside = body_bounds_[body_bounds_.push_back(x.of(here))];
    inside.is_checked = x.is_checked || is_outside;
    inside.if_read = false;  // the rest of the body reads these indices
  }
  bounds_ = kept;
  b.node_count = body_nodes_.size() - b.first_node;
  b.output_count = body_outputs_.size() - b.first_output;
  b.bound_count = body_bounds_.size() - b.first_bound;
  if (leaves_gone) {
    for (node_id i = first; i < end; ++i) nodes[i] = {.op = opcode::constant, .type = nodes[i].type, .shape = nodes[i].shape, .start = is_gone};
    has_gone_ = true;
  } else {
    nodes_.resize(first);
  }
  if (backward_from_ > first) backward_from_ = 0;
  int next = 0;
  for (int i = first_captured; i < captured.size(); ++i)
    if (captured[i] == none) captured[i] = append(outside[next++]);
  const int known = find_body(b);
  if (known < 0) return bodies_.push_back(b);
  body_nodes_.resize(b.first_node);
  body_outputs_.resize(b.first_output);
  return known;
}

constexpr array<node_id> builder::inline_body(int which, const array<node_id>& inputs, bounds how) {
  const bodies_view all = bodies();
  const body b = all.bodies[which];
  array<node_id> renamed(b.node_count, none);
  for (int i = 0; i < b.node_count; ++i) {
    node n = all.nodes[b.first_node + i];
    for (int k = 0; k < n.arity; ++k) n.in[k] = renamed[n.in[k]];
    renamed[i] = n.op == opcode::input ? inputs[static_cast<int>(n.attr)] : append(n);
  }
  for (int i = 0; i < b.bound_count; ++i) {
    bound x = all.bounds[b.first_bound + i];
    x.if_read = x.if_read || how == bounds::if_read;
    keep_bound(x, renamed[x.indices]);
  }
  return renamed;
}

constexpr int builder::extended(int which, const array<node_id>& more) {
  own_bodies();
  body b = bodies_[which];
  const int from = b.first_output;
  b.first_output = body_outputs_.size();
  for (int i = 0; i < b.output_count; ++i) {
    const node_id id = body_outputs_[from + i];  // a copy, because the array may grow
    body_outputs_.push_back(id);
  }
  for (const node_id id : more) body_outputs_.push_back(id);
  b.output_count += more.size();
  const int known = find_body(b);
  if (known < 0) return bodies_.push_back(b);
  body_outputs_.resize(b.first_output);
  return known;
}

constexpr node_id builder::add_control_flow(const control_flow& c, const array<node_id>& operands) {
  const std::int16_t scalar = intern({});
  node_id all = none;
  for (int i = 0; i < operands.size();) {
    node t{.op = opcode::tuple, .type = dtype::float32, .shape = scalar};
    if (all != none) t.in[t.arity++] = all;
    while (t.arity < 3 && i < operands.size()) t.in[t.arity++] = operands[i++];
    all = append(t);
  }
  if (all == none) all = append({.op = opcode::tuple, .type = dtype::float32, .shape = scalar});
  return append({.op = opcode::control_flow, .type = dtype::float32, .arity = 1, .shape = scalar, .in = {all, none, none}, .attr = record_of(c)});
}

constexpr node_id builder::result(node_id control_flow_id, int i) {
  const port_type made = type_of_result(view(), nodes_[control_flow_id], i);
  return append({.op = opcode::result, .type = made.type, .arity = 1, .shape = intern(made.shape), .in = {control_flow_id, none, none}, .attr = i});
}

constexpr void builder::own_bodies() {
  if (!shares_) return;
  const bodies_view b = shared_;
  shares_ = false;
  for (int i = 0; i < b.node_count; ++i) body_nodes_.push_back(b.nodes[i]);
  for (int i = 0; i < b.output_count; ++i) body_outputs_.push_back(b.outputs[i]);
  for (int i = 0; i < b.bound_count; ++i) body_bounds_.push_back(b.bounds[i]);
  for (int i = 0; i < b.count; ++i) bodies_.push_back(b.bodies[i]);
  for (int i = 0; i < b.control_flow_count; ++i) control_flows_.push_back(b.control_flows[i]);
}

constexpr int builder::find_body(const body& b) const {
  const body* const known = bodies_.data_;
  const node_id* const outputs = body_outputs_.data_;
  const node* const nodes = body_nodes_.data_;
  for (int which = 0; which < bodies_.size_; ++which) {
    const body& a = known[which];
    bool is_equal = a.node_count == b.node_count && a.output_count == b.output_count && a.input_count == b.input_count && a.bound_count + b.bound_count == 0;
    for (int i = 0; is_equal && i < b.output_count; ++i) is_equal = outputs[a.first_output + i] == outputs[b.first_output + i];
    for (int i = 0; is_equal && i < b.node_count; ++i) is_equal = nodes[a.first_node + i] == nodes[b.first_node + i];
    if (is_equal) return which;
  }
  return -1;
}

constexpr int builder::record_of(const control_flow& c) {
  own_bodies();
  const control_flow* const known = control_flows_.data_;
  const bool may_be_shared = c.runs_bodies();
  for (int i = 0; may_be_shared && i < control_flows_.size_; ++i)
    if (known[i].bodies[0] == c.bodies[0] && known[i] == c) return i;
  return control_flows_.push_back(c);
}

}  // namespace tenure::ir
