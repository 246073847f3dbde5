// SPDX-License-Identifier: BSL-1.0
// What a compiled function costs, as constants a test can assert, and its picture: using plan = decltype(step.plan(w, x));
// static_assert(plan::kernels() == 3). print() lists graph, steps and workspace; to_dot() gives Graphviz a drawing.
#pragma once

#include <cstdio>
#include <string>

#include <tenure/backend/backend.hpp>
#include <tenure/passes/print.hpp>

namespace tenure {

template <class Program, class Device>
struct plan {
  using program_type = Program;

  /// Loops and products that a call runs, one after the other.
  static constexpr int kernels() { return Program::step_count; }

  /// Arithmetic operations of a call: one an element of a pointwise result or of what is reduced (a transcendental function
  /// counts as one), 2mnk a matrix product.
  static constexpr std::int64_t flops() {
    require_static();
    const ir::graph_view g = Program::value.view();
    std::int64_t total = 0;
    for (int i = 0; i < g.count; ++i) {
      const ir::node& n = g[i];
      if (ops::is_pointwise(n.op)) total += count(g.shape_of(i));
      else if (n.op == ir::opcode::reduce) total += count(g.shape_of(n.in[0]));
      else if (n.op == ir::opcode::matmul) total += 2 * count(g.shape_of(i)) * g.shape_of(n.in[0])[g.shape_of(n.in[0]).rank - 1];
    }
    return total;
  }

  /// Bytes that the steps of a call read and write, each buffer once a step.
  static constexpr std::int64_t bytes() {
    require_static();
    const passes::plan_view p = Program::plan.view(Program::value.view());
    std::int64_t total = 0;
    for (int s = 0; s < p.step_count; ++s) {
      const passes::step& step = p.steps[s];
      for (int a = step.first_access; a < step.first_access + step.access_count; ++a) {
        const int buffer = p.accesses[a].buffer;
        bool counted = buffer < 0;
        for (int b = step.first_access; b < a; ++b) counted = counted || p.accesses[b].buffer == buffer;
        if (counted) continue;
        std::int64_t elements = 0;  // of several parts of a buffer, together, no more than it has
        for (int b = a; b < step.first_access + step.access_count; ++b)
          if (p.accesses[b].buffer == buffer) elements += elements_of(p, step, b);
        const std::int64_t whole = p.buffers[buffer].elements.factor;
        total += (elements < whole ? elements : whole) * size_of(p.buffers[buffer].type);
      }
    }
    return total;
  }

  /// Memory for intermediate results, the peak of the call; buffers share bytes where their lives do not overlap.
  static constexpr std::int64_t workspace_bytes() {
    require_static();
    return backend<Device>::template workspace_bytes<Program>();
  }

 private:
  /// How many elements of its buffer an access meets.
  static constexpr std::int64_t elements_of(const passes::plan_view& p, const passes::step& step, int a) {
    const passes::access& x = p.accesses[a];
    const int at = a - step.first_access;
    const bool is_fused = step.what == passes::step::kind::fused;
    const ir::node_id node = is_fused ? ir::none : at < step.access_count - 1 ? p.graph[step.node].in[at] : step.node;
    std::int64_t n = 1;
    for (int d = 0; d < x.rank; ++d)
      if (p.stride(x, d).factor != 0) n *= is_fused ? p.kernels[step.kernel].extent[d].factor : p.graph.shape_of(node)[d];
    return n;
  }
  static constexpr void require_static() {
    static_assert(Program::is_static, "tenure: plan: the cost of a call with run-time extents is known only when it runs");
  }
};

/// The graph, then the steps with the nodes that each computes.
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
  if constexpr (Program::is_static) out << "workspace: " << plan<Program, Device>::workspace_bytes() << " bytes\n";
  return out.text();
}

/// The same, to the standard output.
template <class Program, class Device>
void print(plan<Program, Device> p) {
  std::fputs(to_text(p).c_str(), stdout);
}

/// Graphviz: a box a step, an ellipse a node; arguments and results stand outside.
template <class Program, class Device>
std::string to_dot(plan<Program, Device>) {
  const ir::graph_view g = Program::value.view();
  const passes::clusters fused = passes::fuse(g);
  passes::writer out;
  out << "digraph plan {\n  rankdir=TB; node [fontname=\"Helvetica\", fontsize=10, shape=box, style=\"rounded,filled\", fillcolor=white];\n";
  const auto label = [&](int id) {
    out << "    n" << id << " [label=\"" << passes::name_of(g[id]);
    if (g[id].op == ir::opcode::input) out << ' ' << g[id].attr;
    out << "\\n" << tenure::name_of(g[id].type);
    passes::print_shape(out, g, g.shape_of(id));
    out << "\"" << (g[id].op == ir::opcode::input ? ", fillcolor=\"#dbe9f6\"" : "") << "];\n";
  };
  const auto hidden = [&](int id) { return passes::is_source(g[id].op) && g[id].op != ir::opcode::input; };
  for (int p = fused.at.size() - 1, step = 0; p >= 0; --p, ++step) {
    const bool opaque = fused.at[p].opaque != ir::none;
    out << "  subgraph cluster_" << step << " {\n    label=\"step " << step << (opaque ? "" : ": one loop") << "\"; fontname=\"Helvetica\"; fontsize=10; style=\"rounded,filled\"; fillcolor=\""
        << (opaque ? "#fdebd3" : "#e6f2e6") << "\";\n";
    for (int id = 0; id < g.count; ++id)
      if (fused.of[id] == p) label(id);
    out << "  }\n";
  }
  for (int id = 0; id < g.count; ++id) {
    if (fused.of[id] < 0 && !hidden(id)) label(id);
    for (int k = 0; k < g[id].arity; ++k)
      if (!hidden(g[id].in[k])) out << "  n" << g[id].in[k] << " -> n" << id << ";\n";
  }
  for (int i = 0; i < g.output_count; ++i) out << "  r" << i << " [label=\"result " << i << "\", fillcolor=\"#f6dbdb\"];\n  n" << g.outputs[i] << " -> r" << i << ";\n";
  out << "}\n";
  return out.text();
}

}  // namespace tenure
