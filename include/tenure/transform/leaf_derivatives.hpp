// SPDX-License-Identifier: BSL-1.0
// Derivatives of trees of values, leaf by leaf: lists of nodes, new variables, gradients in the structure of an argument.
#pragma once

#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE::detail {

/// A list of node ids for the leaves of trees, in order: the ids of the leaves or of their gradients. It does not allocate. Workaround for nvcc 13:
/// in large functions nvcc does not free the memory of local variables during constant evaluation, and then rejects the program.
template <class... X>
struct node_ids {
  static constexpr int count = (0 + ... + tree<X>::leaves);
  ir::node_id at[count + 1];

  constexpr node_ids() {
    for (ir::node_id& id : at) id = ir::none;
  }
  constexpr explicit node_ids(const X&... x) requires(sizeof...(X) > 0) : node_ids() {
    int i = 0;
    (for_each_leaf(x, [&](const auto& leaf) { at[i++] = leaf.id; }), ...);
  }
};

/// x, with each leaf as a new node. The derivative stops at these nodes: it treats their operands as constants, and also an x that f captured.
template <class X>
constexpr X as_variable(const X& x) {
  const auto variable = []<class L>(element_tag<L>, const L& leaf) -> L {
    if (!is_floating(dtype_v<typename L::element_type>)) return leaf;
    ir::node n = (*leaf.graph)[leaf.id];
    return {leaf.graph, leaf.graph->emit({.op = ir::opcode::cast, .type = n.type, .arity = 1, .shape = n.shape, .in = {leaf.id, ir::none, ir::none}})};
  };
  return build_tree<X>(variable, x);
}

/// The gradient as a tree with the structure of x. If the output does not depend on a leaf, the gradient of the leaf is zero.
template <class X>
constexpr X gradient_like(const X& x, const ir::node_id* gradients, int& at) {
  const auto gradient = [&]<class L>(element_tag<L>, const L& leaf) {
    const ir::node_id found = gradients[at++];
    return L{leaf.graph, found != ir::none ? found : ops::value(leaf).like(0).id};
  };
  return build_tree<X>(gradient, x);
}

/// Whether a tangent or cotangent fits a value: all leaves have the same element types and shapes. Run-time extents are compared in the call.
template <class X, class Given>
constexpr void require_like(const char* call, const X& x, const Given& given) {
  const node_ids<X> wanted(x);
  const node_ids<Given> got(given);
  ir::builder* g = nullptr;
  for_each_leaf(x, [&](const auto& leaf) { g = leaf.graph; });
  for (int i = 0; i < wanted.count && i < got.count; ++i) {
    const extents a = g->shape_of(wanted.at[i]), b = g->shape_of(got.at[i]);
    for (int axis = 0; axis < a.rank; ++axis) g->unify(a[axis], b[axis], call, g->intern(a), g->intern(b));
  }
}
template <class X, class Given>
inline constexpr bool is_like = std::is_same_v<rebind_kind_t<X, tracing>, rebind_kind_t<Given, tracing>>;

}  // namespace tenure::detail
