// SPDX-License-Identifier: BSL-1.0
// Prints a plan. print(plan) lists the graph, the steps and the workspace. <tenure/picture.hpp> draws it.
#pragma once

#include <cstdio>
#include <iosfwd>
#include <string>

#include <tenure/backend/backend.hpp>
#include <tenure/passes/print.hpp>
#include <tenure/inspect/plan.hpp>

namespace TENURE_NAMESPACE {

namespace detail {

/// Says which rows a step of a group reads (passes/groups.hpp), for a backend that runs steps of the group together: on a few rows at a time, or in one launch.
template <class Program, class Device>
void print_group(passes::writer& out, int s) {
  constexpr bool in_blocks = requires { backend<Device>::template runs_together<Program>(passes::row_group{}); };
  constexpr bool in_reader = requires { backend<Device>::template runs_in_reader<Program>(0); };
  std::string steps;
  std::int64_t rows = 0;
  for (int p = 0; p < s; ++p) {
    const passes::row_group& group = Program::groups.at[p];
    bool obeys = false;
    if constexpr (in_blocks) obeys = backend<Device>::template runs_together<Program>(group);
    if constexpr (in_reader) obeys = backend<Device>::template runs_in_reader<Program>(p);
    if (!obeys) continue;
    if (in_blocks && group.is_of_product() && group.kernel < s && s <= group.kernel + group.consumer_count) out << ", adds up the rows of step " << group.kernel;
    if (group.kernel != s) continue;
    steps += (steps.empty() ? "" : ", ") + std::to_string(p);
    rows = group.rows_at_once;
  }
  if (steps.empty()) return;
  if (in_reader) out << ", in one launch with step " << steps;
  else out << ", on " << (rows > 0 ? std::to_string(rows) : "a few") << " rows of step " << steps << " at a time" << (rows > 0 ? "" : ", if these are large");
}

}  // namespace detail

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
    detail::print_group<Program, Device>(out, step);
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
