// SPDX-License-Identifier: BSL-1.0
// A node while derivatives and rewrites are written down: untyped, with operators that append simplified nodes.
// Operands have equal shapes (a plain number takes the other's); broadcasting belongs to the typed layer above.
#pragma once

#include <tenure/expr/traced.hpp>
#include <tenure/ir/builder.hpp>

namespace tenure::ops {

struct value {
  ir::builder* graph = nullptr;
  ir::node_id id = ir::none;

  constexpr value() = default;
  constexpr value(ir::builder& g, ir::node_id n) : graph(&g), id(n) {}
  template <class T, class S>
  constexpr value(const traced<T, S>& t) : graph(t.graph), id(t.id) {}

  constexpr const ir::node& node() const { return (*graph)[id]; }
  constexpr const extents& shape() const { return graph->shape_of(id); }
  constexpr dtype type() const { return node().type; }
  /// A constant of this value's shape and type.
  constexpr value like(double c) const { return {*graph, graph->constant(type(), node().shape, c)}; }
};

/// Appends a node in its simplest form: what it means may turn out to be an existing node. Defined in rewrite.hpp.
constexpr ir::node_id emit(ir::builder& g, const ir::node& n);

template <class Op>
constexpr value pointwise_value(const value& a, const value& b = {}, const value& c = {});  // registry.hpp

constexpr value operator-(value a);
constexpr value operator+(value a, value b);
constexpr value operator-(value a, value b);
constexpr value operator*(value a, value b);
constexpr value operator/(value a, value b);
constexpr value operator+(value a, double b) { return a + a.like(b); }
constexpr value operator-(value a, double b) { return a - a.like(b); }
constexpr value operator-(double a, value b) { return b.like(a) - b; }
constexpr value operator*(value a, double b) { return a * a.like(b); }
constexpr value operator*(double a, value b) { return b.like(a) * b; }
constexpr value operator/(value a, double b) { return a / a.like(b); }
constexpr value operator/(double a, value b) { return b.like(a) / b; }

}  // namespace tenure::ops
