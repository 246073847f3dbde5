// SPDX-License-Identifier: BSL-1.0
// Prints a plan. print(plan) lists the graph, the steps and the workspace. <tenure/picture.hpp> draws it.
#pragma once

#include <cstdio>
#include <iosfwd>
#include <string>

#include <tenure/passes/print.hpp>
#include <tenure/inspect/plan.hpp>

namespace TENURE_NAMESPACE {

/// Prints the graph, and then the steps with the nodes that each step computes.
template <class Program, class Device>
std::string to_text(plan<Program, Device>) {
  const ir::graph_view g = Program::value.view();
  passes::writer out;
  passes::print_graph(out, g);
  const passes::fusion_groups fused = passes::fuse(g);
  for (int p = fused.at.size() - 1, step = 0; p >= 0; --p, ++step) {
    out << "step " << step << ':';
    for (int id = 0; id < g.count; ++id)
      if (fused.of[id] == p) out << ' ' << passes::name_of(g[id]) << " %" << id;
    out << '\n';
  }
  if (g.backward_from > 0) {
    out << "kept for the gradient:";
    const ir::array<ir::node_id> kept = passes::residuals_of_backward(g, fused.view());
    for (const ir::node_id id : kept) {
      out << ' ' << passes::name_of(g[id]) << " %" << id;
      if constexpr (Program::is_static) out << " (" << plan<Program, Device>::bytes_of(g, id) << " bytes)";
    }
    out << (kept.size() == 0 ? " nothing\n" : "\n");
  }
  if constexpr (Program::is_static) out << "workspace: " << plan<Program, Device>::workspace_bytes() << " bytes\n";
  return out.text();
}

/// to_text(plan), to the standard output.
template <class Program, class Device>
void print(plan<Program, Device> p) {
  std::fputs(to_text(p).c_str(), stdout);
}

/// to_text(plan), to a stream: std::cout << f.plan(x).
template <class Program, class Device>
std::ostream& operator<<(std::ostream& out, plan<Program, Device> p) { return out << to_text(p); }

// Other libraries call this to_string; here it is to_text. It does not compile and gives a message.
template <class X>
  requires requires(const X& x) { to_text(x); }
std::string to_string(const X&) {
  static_assert(detail::never<X>, "tenure: to_string: the text of a plan and of a profile is to_text(x)");
  return {};
}

}  // namespace tenure
