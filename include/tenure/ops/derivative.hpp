// SPDX-License-Identifier: BSL-1.0
// The derivative of every node, as a pull (cotangent of the result to cotangent of an operand) and a push (tangents of
// the operands to tangent of the result). Pointwise operations bring theirs; the structural ones stand here, each
// beside its transpose.
#pragma once

#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::ops {

/// True where a gradient can flow from the node to its operand i.
constexpr bool flows_to(const ir::node& n, int i, const ir::node& operand) {
  if (!is_floating(n.type) || !is_floating(operand.type) || n.op == ir::opcode::stop_gradient) return false;
  if (n.op == ir::opcode::gather) return i == 0;
  return true;
}

/// An extremum's share: 1 at the winners divided by their number, along the reduced axes (PyTorch's amax, amin).
constexpr value share_of_extremum(value x, value y, std::int64_t axes) {
  const value wins = pointwise_value<where>(pointwise_value<equal>(x, stretched_like(y, x, axes)), x.like(1), x.like(0));
  return wins / stretched_like(reduced(wins, axes, ir::reduction::sum), x, axes);
}

/// The cotangent of operand i, given the cotangent g of node y.
constexpr value pull(value y, int i, value g) {
  using ir::opcode;
  const ir::node n = y.node();
  ir::builder& graph = *y.graph;
  if (is_pointwise(n.op)) {
    const value x[3] = {{graph, n.in[0]}, {graph, n.in[1]}, {graph, n.in[2]}};
    return record_of(n.op).derivative(i, g, x, y);
  }
  const value x{graph, n.in[i]};
  switch (n.op) {
    case opcode::cast: return cast_to(g, x.type());
    case opcode::broadcast: {
      const extents from = x.shape(), to = y.shape();
      std::int64_t mask = all_axes(to.rank);
      for (int a = 0; a < from.rank; ++a) {
        const int at = ir::unpack_axis(n.attr, a);
        const bool stretched = from[a] == 1 && to[at] != 1;  // a run-time extent never is
        if (!stretched) mask &= ~(std::int64_t{1} << at);
      }
      return reshape_to(reduced(g, mask, ir::reduction::sum), from);
    }
    case opcode::reshape: return reshape_to(g, extents(x.shape()));
    case opcode::permute: return permuted(g, inverse_axes(n.attr, x.shape().rank));
    case opcode::slice: return padded(g, static_cast<int>(n.attr), n.start, x.shape()[static_cast<int>(n.attr)], n.step);
    case opcode::pad: return sliced(g, static_cast<int>(n.attr), n.start, x.shape()[static_cast<int>(n.attr)], n.step);
    case opcode::concat: {
      const int axis = static_cast<int>(n.attr);
      const std::int64_t before = i == 0 ? 0 : graph.shape_of(n.in[0])[axis];
      return sliced(g, axis, before, x.shape()[axis], 1);
    }
    case opcode::reduce:
      if (n.start == static_cast<std::int64_t>(ir::reduction::sum)) return stretched_like(g, x, n.attr);
      return stretched_like(g, x, n.attr) * share_of_extremum(x, y, n.attr);
    case opcode::matmul:
      if (i == 0) return matrix_product(g, transposed({graph, n.in[1]}));
      return matrix_product(transposed({graph, n.in[0]}), g);
    case opcode::gather: return scattered({graph, n.in[1]}, g, static_cast<int>(n.attr), x.node().shape);
    case opcode::scatter: return gathered(g, {graph, n.in[0]}, static_cast<int>(n.attr));
    default: return g;
  }
}

/// The tangent of node y, given its operands' tangents (id none where an operand has none; at least one has).
constexpr value push(value y, const value* tangents) {
  using ir::opcode;
  const ir::node n = y.node();
  ir::builder& graph = *y.graph;
  const auto has = [&](int i) { return tangents[i].id != ir::none; };
  value sum;
  const auto accumulate = [&](value t) { sum = sum.id == ir::none ? t : sum + t; };
  if (is_pointwise(n.op)) {
    // Multiplication by a partial is its own transpose, so pushing is pulling.
    for (int i = 0; i < n.arity; ++i)
      if (has(i)) accumulate(pull(y, i, tangents[i]));
    return sum;
  }
  const auto same_on = [&](int i, value t) {
    ir::node m = n;
    m.in[i] = t.id;
    return value{graph, graph.emit(m)};
  };
  switch (n.op) {
    case opcode::matmul:
      for (int i = 0; i < 2; ++i)
        if (has(i)) accumulate(same_on(i, tangents[i]));
      return sum;
    case opcode::concat: {
      ir::node m = n;
      for (int i = 0; i < 2; ++i) m.in[i] = has(i) ? tangents[i].id : value{graph, n.in[i]}.like(0).id;
      return {graph, graph.emit(m)};
    }
    case opcode::reduce:
      if (n.start == static_cast<std::int64_t>(ir::reduction::sum)) return same_on(0, tangents[0]);
      return reduced(tangents[0] * share_of_extremum({graph, n.in[0]}, y, n.attr), n.attr, ir::reduction::sum);
    case opcode::scatter: return same_on(1, tangents[1]);
    default: return same_on(0, tangents[0]);
  }
}

}  // namespace tenure::ops
