// SPDX-License-Identifier: BSL-1.0
// An untyped handle to a node of a graph. Derivatives and rewrites are written with it. Its operators are in structure.hpp.
#pragma once

#include <tenure/expr/traced.hpp>
#include <tenure/ir/builder.hpp>

namespace TENURE_NAMESPACE::ops {

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

constexpr value operand_of(const value& x, int i) { return {*x.graph, x.node().in[i]}; }

}  // namespace tenure::ops
