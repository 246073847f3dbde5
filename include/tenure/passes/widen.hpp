// SPDX-License-Identifier: BSL-1.0
// A function of each element of a short vector, written element by element, is computed for the whole vector: cos(x(0)), ..., cos(x(6)) become seven elements
// of cos(x). A packet computes as many elements at a time as it has lanes. Kinematics and filters of a few states are written so.
#pragma once

#include <tenure/passes/roles.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// The functions of the elements of a vector: equal operations of different elements.
struct functions_of_elements {
  ir::opcode op = ir::opcode::input;
  node_id vector = none, whole = none;  // below reshapes; the function of it, in the new graph
  std::uint64_t seen = 0;               // a bit for each position

  /// The longest vector.
  static constexpr std::int64_t most = 64;
};

/// The element of a vector that a node is, below reshapes: its slice, or none. A vector has one axis that is longer than 1.
constexpr node_id slice_of_element(const ir::graph_view& g, node_id id) {
  id = below_reshapes(g, id);
  const ir::node& slice = g[id];
  if (slice.op != ir::opcode::slice) return none;
  const extents& from = g.shape_of(slice.in[0]);
  const std::int64_t length = from[static_cast<int>(slice.attr)];
  if (!is_static(length) || length == 1 || length > functions_of_elements::most || g.shapes[slice.shape][static_cast<int>(slice.attr)] != 1) return none;
  for (int a = 0; a < from.rank; ++a)
    if (a != slice.attr && from[a] != 1) return none;
  return id;
}
/// The slice of which node `id` is a function, or none.
constexpr node_id argument_of_function(const ir::graph_view& g, node_id id) {
  const ir::node& n = g[id];
  if (n.arity != 1 || !ops::is_pointwise(n.op) || ops::effort_of(n.op) != ops::effort::function) return none;
  return slice_of_element(g, n.in[0]);
}

constexpr bool may_widen(const ir::graph_view& g) {
  for (int i = 0; i < g.count; ++i)
    if (argument_of_function(g, i) != none) return true;
  return false;
}

/// Only where each element of the vector is an argument: a function of another element could set the flags of floating-point exceptions.
// Law: widen keeps every value up to the rounding of a function.
constexpr ir::builder widen(const ir::graph_view& g) {
  ir::array<functions_of_elements> groups;
  ir::array<int> group(g.count, -1);
  for (int i = 0; i < g.count; ++i) {
    const node_id slice = argument_of_function(g, i);
    if (slice == none) continue;
    int& at = group[i] = 0;
    const node_id vector = below_reshapes(g, g[slice].in[0]);
    while (at < groups.size() && (groups[at].op != g[i].op || groups[at].vector != vector)) ++at;
    if (at == groups.size()) groups.push_back({g[i].op, vector});
    groups[at].seen |= std::uint64_t{1} << g[slice].start;
  }
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  for (int i = 0; i < g.count; ++i) {
    functions_of_elements* const all = group[i] < 0 ? nullptr : &groups[group[i]];
    const std::int64_t length = all == nullptr ? 0 : count(g.shape_of(all->vector));
    if (all == nullptr || all->seen != (length == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1)) {
      renamed[i] = out.emit(with_renamed_operands(g[i], renamed.data()));
      continue;
    }
    if (all->whole == none) {
      ir::node whole = g[i];
      whole.in[0] = renamed[all->vector], whole.shape = g[all->vector].shape;
      all->whole = out.emit(whole);
    }
    ir::node slice = g[argument_of_function(g, i)];
    slice.in[0] = ops::reshape_to({out, all->whole}, extents(g.shape_of(slice.in[0]))).id;
    renamed[i] = ops::reshape_to({out, out.emit(slice)}, extents(g.shape_of(i))).id;
  }
  finish(g, renamed, out);
  return out;
}

}  // namespace tenure::passes
