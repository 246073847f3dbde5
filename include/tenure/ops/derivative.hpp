// SPDX-License-Identifier: BSL-1.0
// The derivative of a node, and the node for a batch. `pull` computes the cotangent of an operand from the cotangent of the result. `push` computes
// the tangent of the result from the tangents of the operands. A pointwise operation states its partial derivatives. A structural operation states
// its pull, push and batch in structural/.
#pragma once

#include <tenure/ops/attention_rules.hpp>
#include <tenure/ops/registry.hpp>
#include <tenure/ops/structural/registry.hpp>

namespace TENURE_NAMESPACE::ops {

/// Whether a gradient can flow from the node to its operand i.
constexpr bool flows_to(const ir::node& n, int i, const ir::node& operand) {
  if (!is_floating(n.type) || !is_floating(operand.type)) return false;
  return is_pointwise(n.op) || structural_record_of(n.op).flows_to(i);
}

/// The share of the cotangent that each element gets in a max or min: 1 / n for each of the n elements that are equal to the
/// extremum, 0 for the others. n is counted along the reduced axes (PyTorch's amax, amin).
constexpr value share_of_extremum(value x, value y, std::int64_t axes) {
  const value wins = pointwise_value<where>(pointwise_value<equal>(x, stretched_like(y, x, axes)), x.like(1), x.like(0));
  return wins / stretched_like(reduced(wins, axes, ir::reduction::sum), x, axes);
}

namespace detail {
template <class List>
struct structural_derivatives;
template <class... Op>
struct structural_derivatives<structural_list<Op...>> {
  template <class One>
  static constexpr value pull(value result, int operand, const value* cotangents) {
    if constexpr (One::results == 1) return One::pull(result, operand, *cotangents);
    else return One::pull(result, operand, cotangents);
  }
  static constexpr value (*pulls[sizeof...(Op)])(value result, int operand, const value* cotangents) = {&pull<Op>...};
  static constexpr value (*pushes[sizeof...(Op)])(value result, const value* tangents) = {&Op::template push<value>...};
  static constexpr value (*batches[sizeof...(Op)])(const batch_call& samples) = {&Op::template batch<batch_call>...};
};
using structural_tables = structural_derivatives<structural_operations>;
}  // namespace detail

/// The cotangent of operand i, given the cotangents g of all results of the operation; a result without one has the id none. y is one of its nodes.
constexpr value pull_of_results(value y, int i, const value* g) { return detail::structural_tables::pulls[static_cast<int>(y.node().op)](y, i, g); }
/// The cotangent of operand i, given the cotangent g of node y, which is the only result of its operation.
constexpr value pull(value y, int i, value g) {
  const ir::node n = y.node();
  if (!is_pointwise(n.op)) return pull_of_results(y, i, &g);
  ir::builder& graph = *y.graph;
  const value x[3] = {{graph, n.in[0]}, {graph, n.in[1]}, {graph, n.in[2]}};
  return record_of(n.op).derivative(i, g, x, y);
}

/// The node for a batch of samples. A pointwise operation computes each element alone.
constexpr value batched(const batch_call& samples) {
  const ir::opcode op = samples.node().op;
  return is_pointwise(op) ? samples.same_node() : detail::structural_tables::batches[static_cast<int>(op)](samples);
}

/// The tangent of node y, given the tangents of its operands. An operand without a tangent has the id none. At least one operand has a tangent.
constexpr value push(value y, const value* tangents) {
  const ir::node n = y.node();
  if (!is_pointwise(n.op)) return detail::structural_tables::pushes[static_cast<int>(n.op)](y, tangents);
  // A pointwise derivative multiplies by the partial derivative. This product is its own transpose, so push can call pull.
  value sum;
  for (int i = 0; i < n.arity; ++i)
    if (tangents[i].id != ir::none) {
      const value part = pull(y, i, tangents[i]);
      sum = sum.id == ir::none ? part : sum + part;
    }
  return sum;
}

}  // namespace tenure::ops
