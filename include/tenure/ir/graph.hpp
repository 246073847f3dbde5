// SPDX-License-Identifier: BSL-1.0
// A finished graph as a constexpr value: arrays of exactly the sizes that a builder came to.
#pragma once

#include <tenure/ir/builder.hpp>

namespace tenure::ir {

struct graph_sizes {
  int nodes = 0, shapes = 0, symbols = 0, constraints = 0, bounds = 0, outputs = 0;
};
constexpr graph_sizes sizes_of(const graph_view& g) {
  return {g.count, g.shape_count, g.symbol_count, g.constraint_count, g.bound_count, g.output_count};
}

template <int Nodes, int Shapes, int Symbols, int Constraints, int Bounds, int Outputs>
struct graph {
  // No `= {}`: g++ 12 takes quadratic time and memory to fill an array that was value-initialised first.
  node nodes[Nodes + 1];
  extents shapes[Shapes + 1];
  symbol symbols[Symbols + 1];
  constraint constraints[Constraints + 1];
  bound bounds[Bounds + 1];
  node_id outputs[Outputs + 1];
  int count = 0, shape_count = 0, symbol_count = 0, constraint_count = 0, bound_count = 0, output_count = 0, input_count = 0;

  /// Takes over what a view holds; every count must fit (a pass never makes more, so its input's sizes do).
  constexpr explicit graph(const graph_view& g)
      : count(g.count), shape_count(g.shape_count), symbol_count(g.symbol_count), constraint_count(g.constraint_count),
        bound_count(g.bound_count), output_count(g.output_count), input_count(g.input_count) {
    for (int i = 0; i < g.count; ++i) nodes[i] = g.nodes[i];
    for (int i = 0; i < g.shape_count; ++i) shapes[i] = g.shapes[i];
    for (int i = 0; i < g.symbol_count; ++i) symbols[i] = g.symbols[i];
    for (int i = 0; i < g.constraint_count; ++i) constraints[i] = g.constraints[i];
    for (int i = 0; i < g.bound_count; ++i) bounds[i] = g.bounds[i];
    for (int i = 0; i < g.output_count; ++i) outputs[i] = g.outputs[i];
    outputs[Outputs] = none;
  }

  constexpr graph_view view() const {
    return {nodes, count, shapes, shape_count, symbols, symbol_count, constraints, constraint_count, bounds, bound_count,
            outputs, output_count, input_count};
  }
};

}  // namespace tenure::ir
