// SPDX-License-Identifier: BSL-1.0
// Which random graph a seed is. Small, since each is a program to compile. One in eight has loops or branches, which take three times as long.
// One in eight has a checkpoint or a rule of its own, and its program is a gradient: custom derivatives say something only to derivatives.
#pragma once

#include <tenure/passes/differentiate.hpp>
#include <tenure/passes/simplify.hpp>

#include "../fuzz/judge.hpp"
#include "../fuzz/random_rules.hpp"

namespace fuzz {

constexpr bool is_gradient(std::uint64_t seed) { return seed % 8 == 5; }

/// A graph, with the cotangents of its floating arguments behind its outputs. The cotangent of each floating output is its tanh.
constexpr tenure::ir::builder with_cotangents(const tenure::ir::graph_view& of_values) {
  ir::builder g = tenure::passes::dead_code(of_values);
  ir::array<ir::node_id> y, given, x;
  const auto is_floating = [&](ir::node_id id) { return tenure::is_floating(g[id].type); };
  for (int i = 0; i < of_values.output_count; ++i)
    if (const ir::node_id id = g.view().outputs[i]; is_floating(id)) y.push_back(id), given.push_back(ops::pointwise_value<ops::tanh>(value(g, id)).id);
  for (ir::node_id id = 0; id < g.count(); ++id)
    if (g[id].op == ir::opcode::input && is_floating(id)) x.push_back(id);
  ir::array<ir::node_id> found(x.size(), ir::none);
  tenure::passes::reverse(g, y.data(), given.data(), y.size(), x.data(), x.size(), found.data());
  for (int i = 0; i < x.size(); ++i) g.output(found[i] != ir::none ? found[i] : value(g, x[i]).like(0).id);
  return g;
}

using kind = tenure::ir::control_flow::kind;
inline bool has_control_flow(const tenure::ir::graph_view& g, bool (*wanted)(kind)) {
  for (int i = 0; i < g.count; ++i) {
    if (g[i].op != tenure::ir::opcode::control_flow) continue;
    const ir::control_flow& c = g.control_flow_of(g[i]);
    if (wanted(c.what)) return true;
    for (const int body : c.bodies)
      if (body >= 0 && has_control_flow(g.body_at(body), wanted)) return true;
  }
  return false;
}

/// The graph of a gradient's function. A constant holds no function of C++.
inline sample function_of(std::uint64_t seed) {
  static constexpr bool (*annotations[])(kind) = {[](kind k) { return k == kind::custom_jvp; }, [](kind k) { return k == kind::custom_vjp; },
                                                  [](kind k) { return k == kind::checkpoint; }};
  for (std::uint64_t other = seed;; other += 1000000) {
    const options o{.nodes = 4 + static_cast<int>(seed % 5), .smooth = true, .floating = true, .symbols = seed % 3 == 0, .strided = false,
                    .control_flows = true, .rules = true, .no_forward = true};
    sample s = grown(rule_generator(other, o));
    const ir::builder live = passes::dead_code(s.graph.view());
    if (!has_control_flow(live.view(), annotations[seed / 8 % 3]) || has_control_flow(live.view(), [](kind k) { return k == kind::external; })) continue;
    ir::builder derived = with_cotangents(s.graph.view());
    if (derived.take_refused_derivative() == ir::diagnostic::kind::nothing) return s;
  }
}

/// A sample with the graph that is written, which a gradient's program derives.
inline sample written_of(std::uint64_t seed) {
  if (is_gradient(seed)) return function_of(seed);
  const bool loops = seed % 8 == 1;
  if (!loops)
    return grown(rule_generator(seed, {.nodes = 6 + static_cast<int>(seed % 23), .symbols = seed % 3 == 0, .strided = seed % 2 == 0, .long_rows = true, .seldom = static_cast<int>(seed / 2 % seldom_made), .narrow = seed % 4 == 3}));
  for (std::uint64_t other = seed;; other += 1000000) {
    const options o{.nodes = 4 + static_cast<int>(seed % 9), .symbols = seed % 3 == 0, .strided = seed % 16 == 1, .long_rows = true, .control_flows = true, .whiles = true};
    sample s = random_sample(other, o);
    if (has_control_flow(passes::dead_code(s.graph.view()).view(), [](kind) { return true; })) return s;
  }
}
/// The sample of the program that runs. Its bodies stay in the memory of the written graph.
inline sample program_of(std::uint64_t seed, const sample& written) {
  if (!is_gradient(seed)) return written;
  return {with_cotangents(written.graph.view()), written.arguments, written.strided};
}

}  // namespace fuzz
