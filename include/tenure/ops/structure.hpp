// SPDX-License-Identifier: BSL-1.0
// Operations on untyped values of a graph. Traces, derivatives and rewrites are written with them. Arithmetic is here. The other
// functions are in structural/, next to the records of their operations.
#pragma once

#include <tenure/ops/structural/assembly.hpp>
#include <tenure/ops/structural/body.hpp>
#include <tenure/ops/structural/indexing.hpp>
#include <tenure/ops/structural/mark.hpp>
#include <tenure/ops/structural/product.hpp>
#include <tenure/ops/structural/reduction.hpp>
#include <tenure/ops/structural/source.hpp>
#include <tenure/ops/structural/view.hpp>
#include <tenure/ops/structural/windows.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr bool is_pointwise(ir::opcode op) { return op >= ir::opcode::pointwise; }

// ---- arithmetic on nodes of equal shape; a plain number becomes a constant of that shape ---------------------------------

/// Whether the extents of two values are equal: static ones by their numbers, and run-time ones where the graph says so (builder::unify).
constexpr bool have_equal_extents(const value& a, const value& b) {
  if (a.node().shape == b.node().shape) return true;
  const extents &x = a.shape(), &y = b.shape();
  bool are_equal = x.rank == y.rank;
  for (int i = 0; are_equal && i < x.rank; ++i) are_equal = a.graph->canonical(x[i]) == a.graph->canonical(y[i]);
  return are_equal;
}
// With operands of other extents a trace does not compile: a kernel would read the second operand by wrong strides.
constexpr value arithmetic(ir::opcode op, value a, value b) {
  if (!have_equal_extents(a, b)) TENURE_THROW("the operands of arithmetic have different extents");
  return {*a.graph, a.graph->emit({.op = op, .type = a.type(), .arity = 2, .shape = a.node().shape, .in = {a.id, b.id, ir::none}})};
}
constexpr value operator-(value a) {
  return {*a.graph, a.graph->emit({.op = ir::opcode::neg, .type = a.type(), .arity = 1, .shape = a.node().shape, .in = {a.id, ir::none, ir::none}})};
}
constexpr value operator+(value a, value b) { return arithmetic(ir::opcode::add, a, b); }
constexpr value operator-(value a, value b) { return arithmetic(ir::opcode::sub, a, b); }
constexpr value operator*(value a, value b) { return arithmetic(ir::opcode::mul, a, b); }
constexpr value operator/(value a, value b) { return arithmetic(ir::opcode::div, a, b); }
constexpr value operator+(value a, double b) { return a + a.like(b); }
constexpr value operator+(double a, value b) { return b.like(a) + b; }
constexpr value operator-(value a, double b) { return a - a.like(b); }
constexpr value operator-(double a, value b) { return b.like(a) - b; }
constexpr value operator*(value a, double b) { return a * a.like(b); }
constexpr value operator*(double a, value b) { return b.like(a) * b; }
constexpr value operator/(value a, double b) { return a / a.like(b); }
constexpr value operator/(double a, value b) { return b.like(a) / b; }

}  // namespace tenure::ops
