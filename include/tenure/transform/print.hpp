// SPDX-License-Identifier: BSL-1.0
// Prints a plan. print(plan) lists the graph, the steps and the workspace. to_dot(plan) writes a drawing for Graphviz.
#pragma once

#include <cstdio>
#include <string>

#include <tenure/passes/print.hpp>
#include <tenure/transform/plan.hpp>

namespace TENURE_NAMESPACE {

/// Prints the graph, and then the steps with the nodes that each step computes.
template <class Program, class Device>
std::string to_text(plan<Program, Device>) {
  const ir::graph_view g = Program::value.view();
  passes::writer out;
  passes::print_graph(out, g);
  const passes::clusters fused = passes::fuse(g);
  for (int p = fused.at.size() - 1, step = 0; p >= 0; --p, ++step) {
    out << "step " << step << ':';
    for (int id = 0; id < g.count; ++id)
      if (fused.of[id] == p) out << ' ' << passes::name_of(g[id]) << " %" << id;
    out << '\n';
  }
  if (g.backward_from > 0) {
    out << "kept for the gradient:";
    const ir::array<ir::node_id> kept = passes::kept_for_backward(g, fused.view());
    for (const ir::node_id id : kept) {
      out << ' ' << passes::name_of(g[id]) << " %" << id;
      if constexpr (Program::is_static) out << " (" << plan<Program, Device>::bytes_of(g, id) << " bytes)";
    }
    out << (kept.size() == 0 ? " nothing\n" : "\n");
  }
  if constexpr (Program::is_static) out << "workspace: " << plan<Program, Device>::workspace_bytes() << " bytes\n";
  return out.text();
}

/// The same, to the standard output.
template <class Program, class Device>
void print(plan<Program, Device> p) {
  std::fputs(to_text(p).c_str(), stdout);
}

namespace detail {

/// Draws nodes of a graph. `prefix` makes the names of the nodes different from those of other graphs.
struct drawing {
  passes::writer& out;
  ir::graph_view g;
  std::string prefix;

  bool hidden(int id) const { return passes::is_source(g[id].op) && g[id].op != ir::opcode::input; }
  passes::writer& name(int id) const { return out << prefix.c_str() << id; }

  void box(int id) const {
    out << "    ";
    name(id) << " [label=\"" << passes::name_of(g[id]);
    if (g[id].op == ir::opcode::input) out << ' ' << g[id].attr;
    if (g[id].op == ir::opcode::construct) {
      passes::print_construct(out, g, g.construct_of(g[id]));
    } else if (g[id].op != ir::opcode::tuple) {
      out << "\\n" << tenure::name_of(g[id].type);
      passes::print_shape(out, g, g.shape_of(id));
    }
    out << "\"" << (g[id].op == ir::opcode::input ? ", fillcolor=\"#dbe9f6\"" : "") << "];\n";
    if (g[id].op == ir::opcode::construct) bodies(id);
  }
  void arrows(int id) const {
    for (int k = 0; k < g[id].arity; ++k) {
      if (hidden(g[id].in[k])) continue;
      out << "  ";
      name(g[id].in[k]) << " -> ";
      name(id) << ";\n";
    }
  }

 private:
  /// A frame for each body of a construct, as it was written.
  void bodies(int id) const {
    const ir::construct& c = g.construct_of(g[id]);
    for (int b = 0; b < passes::printed_bodies(c); ++b) {
      const drawing body{out, g.body_at(c.bodies[b]), prefix + std::to_string(id) + (b == 0 ? "a" : "b")};
      out << "    subgraph cluster_" << body.prefix.c_str() << " {\n    label=\"" << passes::name_of_body(c, b) << "\"; fontname=\"Helvetica\"; fontsize=10; style=\"rounded,filled\"; fillcolor=\"#f4f4f4\";\n";
      for (int i = 0; i < body.g.count; ++i)
        if (!body.hidden(i)) body.box(i);
      for (int i = 0; i < body.g.count; ++i) body.arrows(i);
      out << "    }\n";
    }
  }
};

}  // namespace detail

/// Writes the plan for Graphviz: a frame for each step, a box for each node, and within the frame of a loop or a branch a frame for each of its
/// bodies. Arguments and results are outside the frames.
template <class Program, class Device>
std::string to_dot(plan<Program, Device>) {
  const ir::graph_view g = Program::value.view();
  const passes::clusters fused = passes::fuse(g);
  passes::writer out;
  const detail::drawing nodes{out, g, "n"};
  out << "digraph plan {\n  rankdir=TB; node [fontname=\"Helvetica\", fontsize=10, shape=box, style=\"rounded,filled\", fillcolor=white];\n";
  for (int p = fused.at.size() - 1, step = 0; p >= 0; --p, ++step) {
    const bool opaque = fused.at[p].opaque != ir::none;
    out << "  subgraph cluster_" << step << " {\n    label=\"step " << step << (opaque ? "" : ": one loop") << "\"; fontname=\"Helvetica\"; fontsize=10; style=\"rounded,filled\"; fillcolor=\""
        << (opaque ? "#fdebd3" : "#e6f2e6") << "\";\n";
    for (int id = 0; id < g.count; ++id)
      if (fused.of[id] == p) nodes.box(id);
    out << "  }\n";
  }
  for (int id = 0; id < g.count; ++id) {
    if (fused.of[id] < 0 && !nodes.hidden(id)) nodes.box(id);
    nodes.arrows(id);
  }
  for (int i = 0; i < g.output_count; ++i) out << "  r" << i << " [label=\"result " << i << "\", fillcolor=\"#f6dbdb\"];\n  n" << g.outputs[i] << " -> r" << i << ";\n";
  out << "}\n";
  return out.text();
}

}  // namespace tenure
