// SPDX-License-Identifier: BSL-1.0
// The questions that the rules of the algebra ask about a value: whether it is a constant or a sum, and whether it repeats along an axis.
#pragma once

#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes::rules {

using ir::opcode;
using ops::operand_of;
using ops::value;

constexpr bool is_constant(const value& x) { return x.node().op == opcode::constant; }
constexpr bool is_constant(const value& x, double c) { return is_constant(x) && ir::value_of(x.node()) == c; }
constexpr bool is_sum(const ir::node& n) { return n.op == opcode::reduce && ops::nodes::reduce::is_sum(n); }
constexpr bool is_identity(std::int64_t axes, int rank) {
  for (int i = 0; i < rank; ++i)
    if (ir::unpack_axis(axes, i) != i) return false;
  return true;
}

// ---- values that are constant along an axis ------------------------------------------------------------------------

constexpr bool constant_along(const value& x, int axis) {
  if (is_constant(x)) return true;
  if (x.node().op != opcode::broadcast) return false;
  const value from = operand_of(x, 0);  // a named variable: g++ 13 warns of a dangling reference to the shape of a temporary
  for (int i = 0; i < from.shape().rank; ++i)
    if (ir::unpack_axis(x.node().attr, i) == axis) return from.shape()[i] == 1;
  return true;
}
constexpr bool constant_along_all(const value& x, std::int64_t axes) {
  for (int a = 0; a < x.shape().rank; ++a)
    if (((axes >> a) & 1) && !constant_along(x, a)) return false;
  return true;
}

/// x without the axis `axis`, along which x is constant.
constexpr value collapsed(const value& x, int axis) {
  extents to;
  for (int i = 0; i < x.shape().rank; ++i)
    if (i != axis) to.push_back(x.shape()[i]);
  const std::int16_t shape = x.graph->intern(to);
  if (is_constant(x)) return {*x.graph, x.graph->constant_bits(x.type(), shape, x.node().attr)};
  if (x.node().op != opcode::broadcast) return ops::reshape_to(x, to);  // collapsed_all() removed the broadcast before: the axis has extent 1
  value from = operand_of(x, 0);
  std::int64_t axes = 0, mask = 0;
  int kept = 0;
  for (int i = 0; i < from.shape().rank; ++i) {
    const int at = ir::unpack_axis(x.node().attr, i);
    if (at == axis) mask |= std::int64_t{1} << i;
    else axes = ir::pack_axis(axes, kept++, at > axis ? at - 1 : at);
  }
  if (mask != 0) from = ops::reshape_to(from, ops::without_axes(from.shape(), mask));
  return ops::broadcast_along(from, shape, axes);
}
constexpr value collapsed_all(value x, std::int64_t axes) {
  for (int a = x.shape().rank - 1; a >= 0; --a)
    if ((axes >> a) & 1) x = collapsed(x, a);
  return x;
}

/// The node whose elements x repeats: the node below all broadcasts and reshapes. The reshapes must only add or drop extents of 1.
constexpr value repeated(value x) {
  while (x.node().op == opcode::broadcast || x.node().op == opcode::reshape) x = operand_of(x, 0);
  return x;
}

}  // namespace tenure::passes::rules
