// SPDX-License-Identifier: BSL-1.0
// The order of the numbers that scalarize() makes of arrays. It decides how many registers the kernel needs, and how long it waits.
// Cost: O(looked_ahead n) for n nodes.
#pragma once

#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// Whether the node is one number of each sample, by an operation on others.
constexpr bool is_number_of_sample(const ir::graph_view& g, node_id id, std::int64_t samples) {
  const extents& s = g.shape_of(id);
  return ops::is_pointwise(g[id].op) && s.rank == 2 && s[0] == samples && s[1] == 1;
}

/// The graph with each number of a sample directly before the array or the number that reads it first. The order decides how many registers the
/// kernel needs: in the order of the arrays, all numbers of all rows of a Jacobian are alive at once. Other nodes keep their order.
// Law: in_order_of_use keeps the meaning, and never adds nodes.
constexpr ir::builder in_order_of_use(const ir::graph_view& g, std::int64_t samples) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none), path;
  const auto emit = [&](node_id wanted) {
    path.push_back(wanted);
    while (path.size() > 0) {
      const node_id id = path.back();
      node_id missing = none;
      for (int k = g[id].arity - 1; k >= 0; --k)
        if (renamed[g[id].in[k]] == none) missing = g[id].in[k];
      if (missing != none) {
        path.push_back(missing);
      } else {
        if (renamed[id] == none) renamed[id] = out.emit(with_renamed_operands(g[id], renamed));
        path.pop_back();
      }
    }
  };
  ir::array<char> is_bounded(g.count, 0);
  for (int i = 0; i < g.bound_count; ++i) is_bounded[g.bounds[i].indices] = 1;
  for (node_id id = 0; id < g.count; ++id)
    if (!is_number_of_sample(g, id, samples) || is_bounded[id]) emit(id);
  for (int i = 0; i < g.output_count; ++i) emit(g.outputs[i]);
  finish(g, renamed, out);
  return out;
}

/// The numbers among which the next one is chosen. A processor looks ahead 200 to 500 instructions, which is not enough for a function of two
/// rows: the second begins too late. Measured on the Jacobian of 2 x 15: a window of 32 gains a tenth, 250 gains another tenth but compiles
/// longer. 96 is between.
inline constexpr int looked_ahead = 96;

/// The graph with numbers that wait for a division or a function after later numbers that do not wait. Of the numbers that need not wait, the
/// first one is next, so that the order changes little and few numbers are alive. No number goes into the other half of a gradient.
/// Cost: O(looked_ahead n) for n nodes.
// Law: in_order_of_latency keeps the meaning, and never adds nodes.
constexpr ir::builder in_order_of_latency(const ir::graph_view& g, std::int64_t samples) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none), waiting;
  ir::array<int> known_at(g.count, 0);
  const auto has_operands = [&](node_id id) {
    bool all = true;
    for (int k = 0; k < g[id].arity; ++k) all = all && renamed[g[id].in[k]] != none;
    return all;
  };
  const auto operands_known_at = [&](node_id id) {
    int at = 0;
    for (int k = 0; k < g[id].arity; ++k)
      if (known_at[g[id].in[k]] > at) at = known_at[g[id].in[k]];
    return at;
  };
  int now = 0;
  for (node_id next = 0; next < g.count || waiting.size() > 0;) {
    for (; next < g.count && waiting.size() < looked_ahead; ++next) {
      const bool ends_forward_half = next == g.backward_from && waiting.size() > 0;
      if (ends_forward_half) break;
      if (is_number_of_sample(g, next, samples) || !has_operands(next)) {
        waiting.push_back(next);
      } else {
        known_at[next] = operands_known_at(next);
        renamed[next] = out.emit(with_renamed_operands(g[next], renamed));
      }
    }
    if (waiting.size() == 0) break;
    int chosen = -1, soonest = 0;
    for (int i = 0; i < waiting.size() && (chosen < 0 || soonest > now); ++i) {
      if (!has_operands(waiting[i])) continue;
      const int at = operands_known_at(waiting[i]);
      if (chosen < 0 || at < soonest) chosen = i, soonest = at;
    }
    const node_id id = waiting[chosen];
    if (soonest > now) now = soonest;
    const bool computes = ops::is_pointwise(g[id].op);
    const ops::effort effort = computes ? ops::effort_of(g[id].op) : ops::effort::arithmetic;
    known_at[id] = now + (computes ? ops::latency_of(effort) : 0);
    if (is_number_of_sample(g, id, samples)) now += ops::instructions_of(effort);
    renamed[id] = out.emit(with_renamed_operands(g[id], renamed));
    for (int i = chosen; i + 1 < waiting.size(); ++i) waiting[i] = waiting[i + 1];
    waiting.pop_back();
  }
  finish(g, renamed, out);
  return out;
}

}  // namespace tenure::passes
