// SPDX-License-Identifier: BSL-1.0
// A finished graph as a constexpr value. The sizes of its arrays are template arguments.
#pragma once

#include <tenure/ir/builder.hpp>

namespace TENURE_NAMESPACE::ir {

/// A fixed-size copy of a growing array. It has the first Capacity elements of a longer source.
template <class T, int Capacity>
struct frozen {
  // There is no `= {}` here: g++ 12 needs quadratic time and memory to fill an array that was value-initialised before.
  T at[Capacity + 1];

  constexpr frozen(const T* from, int count) {
    const int kept = count < Capacity ? count : Capacity;
    for (int i = 0; i < kept; ++i) at[i] = from[i];
    for (int i = kept; i <= Capacity; ++i) at[i] = T{};
  }
  constexpr operator const T*() const { return at; }
};

struct graph_sizes {
  int nodes = 0, shapes = 0, symbols = 0, constraints = 0, bounds = 0, outputs = 0;
  int body_nodes = 0, body_outputs = 0, body_bounds = 0, bodies = 0, control_flows = 0;

  friend constexpr bool operator==(const graph_sizes&, const graph_sizes&) = default;
  friend constexpr bool operator<=(const graph_sizes& a, const graph_sizes& b) {
    return a.nodes <= b.nodes && a.shapes <= b.shapes && a.symbols <= b.symbols && a.constraints <= b.constraints && a.bounds <= b.bounds && a.outputs <= b.outputs &&
           a.body_nodes <= b.body_nodes && a.body_outputs <= b.body_outputs && a.body_bounds <= b.body_bounds && a.bodies <= b.bodies && a.control_flows <= b.control_flows;
  }
};
constexpr graph_sizes sizes_of(const graph_view& g) {
  return {g.count, g.shape_count, g.symbol_count, g.constraint_count, g.bound_count, g.output_count,
          g.inner.node_count, g.inner.output_count, g.inner.bound_count, g.inner.count, g.inner.control_flow_count};
}

/// A graph whose arrays have the sizes Sizes::value, which is a graph_sizes. Its bodies are in the memory of another graph, which must live as long.
template <class Sizes>
struct graph {
  static constexpr graph_sizes room = Sizes::value;

  frozen<node, room.nodes> nodes;
  frozen<extents, room.shapes> shapes;
  frozen<symbol, room.symbols> symbols;
  frozen<constraint, room.constraints> constraints;
  frozen<bound, room.bounds> bounds;
  frozen<node_id, room.outputs> outputs;
  int count, shape_count, symbol_count, constraint_count, bound_count, output_count, input_count;
  graph_sizes sizes;
  diagnostic refused;
  bodies_view bodies;
  bool is_body;
  sample_extents samples;
  node_id backward_from;

  constexpr explicit graph(const graph_view& g) : graph(g, g.inner) {}

  constexpr graph_view view() const {
    return {nodes, count, shapes, shape_count, symbols, symbol_count, constraints, constraint_count, bounds, bound_count,
            outputs, output_count, input_count, refused, bodies, is_body, samples, backward_from};
  }

 protected:
  constexpr graph(const graph_view& g, const bodies_view& b)
      : nodes(g.nodes, g.count), shapes(g.shapes, g.shape_count), symbols(g.symbols, g.symbol_count),
        constraints(g.constraints, g.constraint_count), bounds(g.bounds, g.bound_count), outputs(g.outputs, g.output_count),
        count(g.count), shape_count(g.shape_count), symbol_count(g.symbol_count), constraint_count(g.constraint_count),
        bound_count(g.bound_count), output_count(g.output_count), input_count(g.input_count), sizes(sizes_of(g)), refused(g.refused), bodies(b), is_body(g.is_body), samples(g.samples),
        backward_from(g.backward_from) {}
};

template <class Sizes>
struct graph_with_bodies : graph<Sizes> {
  using graph<Sizes>::room;

  frozen<node, room.body_nodes> body_nodes;
  frozen<node_id, room.body_outputs> body_outputs;
  frozen<bound, room.body_bounds> body_bounds;
  frozen<body, room.bodies> each_body;
  frozen<control_flow, room.control_flows> control_flows;

  constexpr explicit graph_with_bodies(const graph_view& g)
      : graph<Sizes>(g, {}), body_nodes(g.inner.nodes, g.inner.node_count), body_outputs(g.inner.outputs, g.inner.output_count),
        body_bounds(g.inner.bounds, g.inner.bound_count), each_body(g.inner.bodies, g.inner.count), control_flows(g.inner.control_flows, g.inner.control_flow_count) {}

  constexpr graph_view view() const {
    graph_view g = graph<Sizes>::view();
    const graph_sizes& n = this->sizes;
    g.inner = {body_nodes, n.body_nodes, body_outputs, n.body_outputs, body_bounds, n.body_bounds, each_body, n.bodies, control_flows, n.control_flows};
    return g;
  }
};

}  // namespace tenure::ir
