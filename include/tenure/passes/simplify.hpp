// SPDX-License-Identifier: BSL-1.0
// Passes that rewrite a graph into a smaller graph of the same meaning. Each pass reads a view of a graph and fills a builder in one sweep, at
// compile time or at run time.
#pragma once

#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::passes {

using ir::none;
using ir::node_id;

template <class... Op>
constexpr bool is_any_of(ir::opcode op) { return ((op == ops::code_of<Op>()) || ...); }

/// Copies outputs and bounds to the new graph, with the new ids of their nodes.
constexpr void finish(const ir::graph_view& g, const ir::array<node_id>& renamed, ir::builder& out) {
  for (int i = 0; i < g.output_count; ++i) out.output(renamed[g.outputs[i]]);
  for (int i = 0; i < g.bound_count; ++i)
    if (renamed[g.bounds[i].indices] != none) out.keep_bound(g.bounds[i], renamed[g.bounds[i].indices]);
  out.keep_backward(g, renamed);
}

constexpr ir::node with_renamed_operands(const ir::node& n, const node_id* renamed) {
  ir::node m = n;
  for (int i = 0; i < n.arity; ++i) m.in[i] = renamed[n.in[i]];
  return m;
}

/// Removes nodes that no output and no bound needs. Inputs stay, because they are the signature.
// Law: dead_code keeps the meaning, is idempotent, and never adds nodes.
constexpr ir::builder dead_code(const ir::graph_view& g) {
  ir::array<char> live(g.count, 0);
  for (int i = 0; i < g.output_count; ++i) live[g.outputs[i]] = 1;
  for (int i = 0; i < g.bound_count; ++i)
    if (!g.bounds[i].if_read) live[g.bounds[i].indices] = 1;
  ir::mark_needed(g.nodes, g.count, live.data());
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  node_id* const to = renamed.data();  // pointers, because a call of operator[] takes as long as all else of an access
  const char* const is_live = live.data();
  for (int i = 0; i < g.count; ++i)
    if (is_live[i] || g.nodes[i].op == ir::opcode::input) to[i] = out.emit(with_renamed_operands(g.nodes[i], to));
  finish(g, renamed, out);
  return out;
}

/// x + y and y + x have the same bits, and so have x * y and y * x. Only the payload of a NaN can differ.
constexpr bool commutes(const ir::node& n) { return n.op == ir::opcode::add || n.op == ir::opcode::mul; }

constexpr std::uint64_t hash_of(const ir::node& n) {
  const bool swaps = commutes(n) && n.in[0] > n.in[1];
  std::uint64_t h = static_cast<std::uint64_t>(n.op) * 31 + static_cast<std::uint64_t>(n.type);
  h = (h * 1000003) ^ static_cast<std::uint64_t>(n.shape);
  h = (h * 1000003) ^ static_cast<std::uint64_t>(n.in[swaps] + 1);
  h = (h * 1000003) ^ static_cast<std::uint64_t>(n.in[!swaps] + 1);
  h = (h * 1000003) ^ static_cast<std::uint64_t>(n.in[2] + 1);
  h = (h * 1000003) ^ static_cast<std::uint64_t>(n.attr);
  h = (h * 1000003) ^ static_cast<std::uint64_t>(n.start);
  return h ^ (h >> 29) ^ static_cast<std::uint64_t>(n.step);
}

constexpr bool computes_as(const ir::node& a, const ir::node& b) {
  return a == b || (commutes(a) && a.op == b.op && a.in[0] == b.in[1] && a.in[1] == b.in[0] && a.type == b.type && a.shape == b.shape);
}

/// Common subexpression elimination: equal computations become one node.
// Law: cse keeps the meaning, is idempotent, and never adds nodes.
constexpr ir::builder cse(const ir::graph_view& g) {
  int slots = 16;
  while (slots < 2 * g.count) slots *= 2;
  ir::array<node_id> found(slots, none);
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  node_id *const table = found.data(), *const to = renamed.data();
  for (int i = 0; i < g.count; ++i) {
    const ir::node n = with_renamed_operands(g.nodes[i], to);
    int at = static_cast<int>(hash_of(n) & static_cast<std::uint64_t>(slots - 1));
    while (table[at] != none && !computes_as(out[table[at]], n)) at = (at + 1) & (slots - 1);
    if (table[at] == none) table[at] = out.emit(n);
    to[i] = table[at];
  }
  finish(g, renamed, out);
  return out;
}

}  // namespace tenure::passes
