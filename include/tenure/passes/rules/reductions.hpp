// SPDX-License-Identifier: BSL-1.0
// The rules of reductions and matrix products.
#pragma once

#include <tenure/passes/rules/positions.hpp>

namespace TENURE_NAMESPACE::passes::rules {

// ---- reductions ----------------------------------------------------------------------------------------------------

/// Whether a reduction of a permuted operand can reduce the axes of the unpermuted operand instead. The axes that remain must have the same order in both.
constexpr bool reduces_permuted(const ir::builder& g, const ir::node& n) {
  const ir::node& x = g[n.in[0]];
  if (x.op != opcode::permute) return false;
  for (int a = 0, last = -1; a < g.shape(x.shape).rank; ++a) {
    if ((n.attr >> a) & 1) continue;
    if (ir::unpack_axis(x.attr, a) < last) return false;
    last = ir::unpack_axis(x.attr, a);
  }
  return true;
}
constexpr value unpermuted(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  std::int64_t axes = 0;
  for (int a = 0; a < x.shape().rank; ++a)
    if ((n.attr >> a) & 1) axes |= std::int64_t{1} << ir::unpack_axis(x.node().attr, a);
  return ops::reduced(operand_of(x, 0), axes, static_cast<ir::reduction>(n.start));
}

constexpr node_id reduction(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  std::int64_t elements = 1;
  bool counted = true;
  for (int a = 0; a < x.shape().rank; ++a)
    if ((n.attr >> a) & 1) {
      counted = counted && is_static(x.shape()[a]);
      elements *= x.shape()[a];
    }
  if (counted && elements == 1) return ops::reshape_to(x, g.shape(n.shape)).id;
  if (counted && elements > 0 && is_floating(n.type) && constant_along_all(x, n.attr)) {
    const value once = collapsed_all(x, n.attr);
    return is_sum(n) ? (once * static_cast<double>(elements)).id : once.id;
  }
  if (reduces_permuted(g, n)) return unpermuted(g, n).id;
  if (is_sum(n) && x.node().op == opcode::neg) return (-ops::reduced(operand_of(x, 0), n.attr, ir::reduction::sum)).id;
  const int last = x.shape().rank - 1;
  const bool sums_rows = is_sum(n) && is_floating(n.type) && n.attr == std::int64_t{1} << last;
  if (sums_rows && sums_chosen(x, last)) return chosen(operand_of(x, 0), operand_of(x, 1), last).id;
  return g.append(n);
}

// ---- products ------------------------------------------------------------------------------------------------------

constexpr node_id product(ir::builder& g, const ir::node& n) {
  {
    const ir::node &l = g[n.in[0]], &r = g[n.in[1]];
    const bool has_structure = l.op == opcode::constant || l.op == opcode::broadcast || r.op == opcode::constant || r.op == opcode::broadcast;
    const extents& lhs = g.shape(l.shape);
    if (!has_structure && lhs.extent[lhs.rank - 1] != 1) return g.append(n);
  }
  const value a{g, n.in[0]}, b{g, n.in[1]};
  const int rank = a.shape().rank;
  if (a.shape()[rank - 1] == 1) {  // an outer product
    const value left = ops::broadcast_to(a, n.shape), right = ops::broadcast_to(b, n.shape);
    return (left * right).id;
  }
  if (rank != 2 || !is_floating(n.type)) return g.append(n);
  const std::int64_t rows = ir::pack_axis(0, 0, 0), columns = ir::pack_axis(0, 0, 1);
  // If all elements of an operand are one number, all rows (or columns) of the product are equal. So one of them is computed and broadcast.
  if (constant_along_all(a, 3)) {
    const value scaled = ops::broadcast_along(collapsed_all(a, 3), b.node().shape, 0) * b;
    return ops::broadcast_along(ops::reduced(scaled, 1, ir::reduction::sum), n.shape, columns).id;
  }
  if (constant_along_all(b, 3)) {
    const value scaled = a * ops::broadcast_along(collapsed_all(b, 3), a.node().shape, 0);
    return ops::broadcast_along(ops::reduced(scaled, 2, ir::reduction::sum), n.shape, rows).id;
  }
  const std::int64_t m = a.shape()[0], k = a.shape()[1], width = b.shape()[1];
  if (m != 1 && constant_along(a, 0)) return ops::broadcast_to(ops::matrix_product(ops::reshape_to(collapsed(a, 0), {2, {1, k}}), b), n.shape).id;
  if (width != 1 && constant_along(b, 1)) return ops::broadcast_to(ops::matrix_product(a, ops::reshape_to(collapsed(b, 1), {2, {k, 1}})), n.shape).id;
  return g.append(n);
}

/// Whether n is (A B)^T.
constexpr bool is_transposed_product(const ir::builder& g, const ir::node& n) {
  const ir::node& product = g[n.in[0]];
  if (n.op != opcode::permute || product.op != opcode::matmul) return false;
  const int rank = g.shape(n.shape).rank;
  return n.attr == ops::swapped_last_axes(rank) && g.shape_of(product.in[0]).rank == rank && g.shape_of(product.in[1]).rank == rank;
}
/// (A B)^T as B^T A^T. A step reads transposed operands in place, but a transposed result would be copied. The gradient of a weight of shape
/// (out, in) is such a result, and it is larger than both operands.
constexpr node_id product_of_transposed(ir::builder& g, const ir::node& n) {
  const value product{g, n.in[0]};
  const value left = ops::transposed(operand_of(product, 1));  // a variable, because compilers evaluate arguments in different orders
  return ops::matrix_product(left, ops::transposed(operand_of(product, 0))).id;
}

}  // namespace tenure::passes::rules
