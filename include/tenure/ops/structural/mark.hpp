// SPDX-License-Identifier: BSL-1.0
// Operations that keep the place of each element. cast changes the element type. The others mark a value for derivatives or the plan.
#pragma once

#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr value cast_to(value x, dtype type) {
  if (x.type() == type) return x;
  return {*x.graph, x.graph->emit({.op = ir::opcode::cast, .type = type, .arity = 1, .shape = x.node().shape, .in = {x.id, ir::none, ir::none}})};
}

namespace nodes {
struct cast : structural<ir::opcode::cast, 1, lowering::kernel> {
  static constexpr const char* name = "cast";
  template <class V>
  static constexpr V pull(V y, int, V g) { return cast_to(g, operand_of(y, 0).type()); }
  static constexpr value batch(const auto& b) { return b.same_node(); }
  static constexpr void verify(rule_check& c) { c.same_shape(0); }
};
}  // namespace nodes

constexpr value stopped(value x) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::stop_gradient, .type = x.type(), .arity = 1, .shape = x.node().shape, .in = {x.id, ir::none, ir::none}})};
}

namespace nodes {
/// The value of its operand, marked for derivatives or for the plan.
template <ir::opcode Code, lowering Lowers>
struct marked : handing_on<Code, 1, Lowers> {
  static constexpr void verify(rule_check& c) {
    c.same_type(0);
    c.same_shape(0);
  }
};

/// The value of its operand. No gradient flows through it. The pass `algebra` removes it.
struct stop_gradient : marked<ir::opcode::stop_gradient, lowering::none> {
  static constexpr const char* name = "stop_gradient";
  static constexpr bool flows_to(int) { return false; }
};

}  // namespace nodes

/// The value of x with the derivatives of y. Both are the same number, computed in two ways. A program computes only the parts of y that derivatives
/// read.
constexpr value instead_of(value y, value x) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::instead, .type = x.type(), .arity = 2, .shape = x.node().shape, .in = {x.id, y.id, ir::none}})};
}

namespace nodes {
/// The value of its first operand, with the derivatives of the second. The pass `algebra` removes it.
struct instead : handing_on<ir::opcode::instead, 2, lowering::none> {
  static constexpr const char* name = "instead";
  static constexpr bool flows_to(int i) { return i == 1; }
  template <class V>
  static constexpr V push(V, const V* tangents) { return tangents[1]; }
  static constexpr void verify(rule_check& c) {
    for (int k = 0; k < 2; ++k) {
      c.same_type(k);
      c.same_shape(k);
    }
  }
};
}  // namespace nodes

/// The value of x as a node of its own. A computation that reads it is not merged with an equal computation that reads x.
constexpr value behind_barrier(value x) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::barrier, .type = x.type(), .arity = 1, .shape = x.node().shape, .in = {x.id, ir::none, ir::none}, .attr = x.graph->count()})};
}

namespace nodes {
/// The value of its operand. The pass `materialize` removes it, after cse.
struct barrier : marked<ir::opcode::barrier, lowering::none> {
  static constexpr const char* name = "barrier";
};

/// A copy in a buffer of its own, of a value that would be a view or an argument. Only the pass `materialize` makes it, after derivatives.
struct copy : marked<ir::opcode::copy, lowering::kernel> {
  static constexpr const char* name = "copy";
};

/// A copy of computed indices in a buffer of its own, made after all their bounds were checked. Only the pass `materialize` makes it.
struct check : marked<ir::opcode::check, lowering::step> {
  static constexpr const char* name = "check";
  static constexpr void verify(rule_check& c) {
    c.is_integer(0);
    marked::verify(c);
  }
};
}  // namespace nodes

}  // namespace tenure::ops
