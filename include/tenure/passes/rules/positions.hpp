// SPDX-License-Identifier: BSL-1.0
// The rules of masks that depend only on positions: one-hot selects, and comparisons in the lanes of the kernel.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/rules/values.hpp>

namespace TENURE_NAMESPACE::passes::rules {

// ---- one-hot selects -----------------------------------------------------------------------------------------------

/// Whether the mask is true at exactly one position along the axis. This holds if the mask compares the positions with one index for each row,
/// and the graph has a bound that checks that the index lies inside the axis.
constexpr bool is_one_hot(const value& mask, int axis) {
  if (mask.node().op != ops::code_of<ops::equal>()) return false;
  const value positions = operand_of(mask, 0), wanted = operand_of(mask, 1);
  if (positions.node().op != opcode::iota || positions.node().attr != axis || !constant_along(wanted, axis)) return false;
  value indices = repeated(wanted);
  while (indices.node().op == opcode::cast) indices = repeated(operand_of(indices, 0));
  const ir::graph_view g = mask.graph->view();
  for (int i = 0; i < g.bound_count; ++i)
    if (g.bounds[i].indices == indices.id && g.bounds[i].extent == mask.shape()[axis]) return true;
  return false;
}

/// The element that a one-hot mask selects from each row. A term that is constant along the row is used directly. In log_softmax only an element of
/// the logits is selected then, which needs no additional pass over the row.
constexpr value chosen(const value& mask, const value& from, int axis) {
  if (constant_along(from, axis)) return collapsed(from, axis);
  if (from.node().op == opcode::sub && constant_along(operand_of(from, 1), axis))
    return chosen(mask, operand_of(from, 0), axis) - collapsed(operand_of(from, 1), axis);
  const value zero = from.like(0);
  return {*from.graph, from.graph->append({.op = opcode::reduce, .type = from.type(), .arity = 1,
                                           .shape = from.graph->intern(ops::without_axes(from.shape(), std::int64_t{1} << axis)),
                                           .in = {ops::pointwise_value<ops::where>(mask, from, zero).id, none, none},
                                           .attr = std::int64_t{1} << axis, .start = static_cast<std::int64_t>(ir::reduction::sum)})};
}
constexpr bool sums_chosen(const value& x, int axis) {
  return x.node().op == ops::code_of<ops::where>() && is_constant(operand_of(x, 2), 0) && is_one_hot(operand_of(x, 0), axis);
}

// ---- masks of positions --------------------------------------------------------------------------------------------

/// The integers x, computed in `type`, if x is computed from positions and constants only and is at most `most`, so that it is exact. Otherwise a value
/// without a node. `left` limits the number of nodes that are visited.
constexpr value positions_in(dtype type, const value& x, std::int64_t most, int& left) {
  const auto nothing = value{*x.graph, none};
  if (--left < 0) return nothing;
  ir::builder& g = *x.graph;
  const ir::node n = x.node();
  switch (n.op) {
    case opcode::iota: {
      const std::int64_t extent = x.shape()[static_cast<int>(n.attr)];
      return is_static(extent) && extent <= most ? ops::counting(g, type, n.shape, static_cast<int>(n.attr)) : nothing;
    }
    case opcode::constant: {
      const double c = ir::value_of(n);
      return -static_cast<double>(most) <= c && c <= static_cast<double>(most) ? value{g, g.constant(type, n.shape, c)} : nothing;
    }
    case opcode::broadcast: {
      const value from = positions_in(type, operand_of(x, 0), most, left);
      return from.id == none ? nothing : ops::broadcast_along(from, n.shape, n.attr);
    }
    case opcode::add:
    case opcode::sub: {
      const value a = positions_in(type, operand_of(x, 0), most / 2, left);
      if (a.id == none) return nothing;
      const value b = positions_in(type, operand_of(x, 1), most / 2, left);
      return b.id == none ? nothing : ops::arithmetic(n.op, a, b);
    }
    default: return nothing;
  }
}

/// The mask with comparisons of positions in `type`, or a value without a node if nothing changes. `left` limits the number of nodes that are visited.
constexpr value mask_in(dtype type, const value& mask, int& left) {
  const auto nothing = value{*mask.graph, none};
  if (--left < 0) return nothing;
  ir::node n = mask.node();
  if (n.op == opcode::broadcast) {
    const value from = mask_in(type, operand_of(mask, 0), left);
    return from.id == none ? nothing : ops::broadcast_along(from, n.shape, n.attr);
  }
  if (!ops::is_pointwise(n.op) || n.arity == 0 || n.arity > 2) return nothing;
  const dtype compared = operand_of(mask, 0).type();
  const bool compares = n.arity == 2 && compared == dtype::int64;
  if (!compares && compared != dtype::boolean) return nothing;
  node_id in[2] = {none, none};
  bool changes = false;
  for (int i = 0; i < n.arity; ++i) {
    // The limit of float32 is used for float64 too.
    in[i] = compares ? positions_in(type, operand_of(mask, i), ops::exact_positions<float>, left).id : mask_in(type, operand_of(mask, i), left).id;
    if (compares && in[i] == none) return nothing;
    changes = changes || in[i] != none;
  }
  for (int i = 0; i < n.arity; ++i)
    if (in[i] != none) n.in[i] = in[i];
  return changes ? value{*mask.graph, mask.graph->emit(n)} : nothing;
}

/// The rule for a `where` or a cast of a mask: operand 0 is the mask. A mask of positions, such as index_along<1>(x) <= index_along<0>(x), is computed
/// in the type of the result. A kernel has lanes of one type, so a comparison of int64 would need a separate kernel that stores the mask in memory: a
/// causal softmax took 4 times as long.
constexpr node_id of_mask(ir::builder& g, ir::node n) {
  int left = costs::mask_operations;
  const value mask = is_floating(n.type) ? mask_in(n.type, {g, n.in[0]}, left) : value{g, none};
  if (mask.id != none) n.in[0] = mask.id;
  return g.append(n);
}

}  // namespace tenure::passes::rules
