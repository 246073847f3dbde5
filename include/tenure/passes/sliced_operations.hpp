// SPDX-License-Identifier: BSL-1.0
// Rewrites a slice of a few cheap operations on values in memory as the same operations on slices of these values. Then a kernel computes the slice
// directly in its place in a concat, without a copy. The elements may be computed twice, if other nodes read the whole result.
// Law: sliced_operations::of keeps the meaning, bit by bit.
// Cost: at most costs::sliced_operations nodes for each slice.
#pragma once

#include <tenure/passes/algebra.hpp>
#include <tenure/passes/costs.hpp>
#include <tenure/passes/roles.hpp>

namespace TENURE_NAMESPACE::passes {

class sliced_operations {
 public:
  using value = ops::value;

  /// Returns x in this form, or x itself if x is no such slice.
  static constexpr value of(const value& x) {
    const ir::node n = x.node();
    if (n.op != ir::opcode::slice || !is_cheap(ops::operand_of(x, 0).node().op)) return x;
    int left = costs::sliced_operations;
    return is_possible(ops::operand_of(x, 0), n, left) ? slice_of(ops::operand_of(x, 0), n) : x;
  }

 private:
  static constexpr bool is_cheap(ir::opcode op) {
    return op == ir::opcode::neg || op == ir::opcode::add || op == ir::opcode::sub || op == ir::opcode::mul;
  }
  static constexpr bool is_in_memory(const value& x) { return !is_fused((*x.graph)[below_views(*x.graph, x.id)].op); }
  /// Whether x has equal elements along the axis.
  static constexpr bool repeats_along(const value& x, int axis) {
    if (x.node().op != ir::opcode::broadcast) return false;
    for (int i = 0; i < ops::operand_of(x, 0).shape().rank; ++i)
      if (ir::unpack_axis(x.node().attr, i) == axis) return false;
    return true;
  }

  static constexpr bool is_possible(const value& x, const ir::node& slice, int& left) {
    if (repeats_along(x, static_cast<int>(slice.attr)) || is_in_memory(x)) return true;
    const ir::node n = x.node();
    if (--left < 0 || !is_cheap(n.op)) return false;
    for (int k = 0; k < n.arity; ++k)
      if (!is_possible(ops::operand_of(x, k), slice, left)) return false;
    return true;
  }
  static constexpr value slice_of(const value& x, const ir::node& slice) {
    ir::builder& g = *x.graph;
    const int axis = static_cast<int>(slice.attr);
    const std::int64_t length = g.shape(slice.shape)[axis];
    ir::node n = x.node();
    if (repeats_along(x, axis)) {
      extents s = x.shape();
      s[axis] = length;
      return ops::broadcast_along(ops::operand_of(x, 0), g.intern(s), n.attr);
    }
    if (!is_cheap(n.op)) return ops::sliced(x, axis, slice.start, length, slice.step);
    for (int k = 0; k < n.arity; ++k) {
      const node_id part = slice_of(ops::operand_of(x, k), slice).id;
      n.in[k] = part;
    }
    n.shape = g[n.in[0]].shape;
    return {g, g.emit(n)};
  }
};

}  // namespace tenure::passes
