// SPDX-License-Identifier: BSL-1.0
// The order of the numbers that scalarize() makes of arrays. The order decides how many registers the kernel needs, and how long the processor
// waits for operands.
// Cost: a constant time for each node and operand.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// Whether the node is one number for each sample, computed by a pointwise operation.
constexpr bool is_number_of_sample(const ir::graph_view& g, node_id id, std::int64_t samples) {
  const extents& s = g.shape_of(id);
  return ops::is_pointwise(g[id].op) && s.rank == 2 && s[0] == samples && s[1] == 1;
}

/// Moves each number of a sample directly before the array or the number that reads it first. Otherwise the numbers are in the order of the arrays,
/// and all numbers of all rows of a Jacobian are alive at once, which needs too many registers. Other nodes keep their order.
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
        if (renamed[id] == none) renamed[id] = out.emit(with_renamed_operands(g[id], renamed.data()));
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

/// Moves numbers that wait for the result of a division or a function behind later numbers that need not wait. Of the numbers that need not wait,
/// the first is next, so that the order changes little and few numbers are alive. No number moves to the other half of a gradient.
/// Cost: a constant time for each operand, and for each of the few numbers whose operands are known. A search among all numbers that wait exceeded
/// clang's limit of constant evaluation, for the gradient of a model of five states.
// Law: in_order_of_latency keeps the meaning, and never adds nodes.
constexpr ir::builder in_order_of_latency(const ir::graph_view& g, std::int64_t samples) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  ir::array<int> known_at(g.count, 0), missing(g.count, 0);
  ir::array<char> waits(g.count, 0);
  // For each node the list of its uses. A use is max_operands * reader + the position of the operand. -1 ends a list.
  ir::array<int> first_use(g.count, -1), next_use(ir::max_operands * g.count, -1);
  for (node_id id = 0; id < g.count; ++id)
    for (int k = 0; k < g[id].arity; ++k) {
      ++missing[id];
      next_use[ir::max_operands * id + k] = first_use[g[id].in[k]];
      first_use[g[id].in[k]] = ir::max_operands * id + k;
    }
  struct candidate {
    node_id id;
    int at;  // the time at which its operands are known
  };
  ir::array<candidate> ready;  // in ascending order of ids
  int waiting = 0;
  const auto operands_known_at = [&](node_id id) {
    int at = 0;
    for (int k = 0; k < g[id].arity; ++k)
      if (known_at[g[id].in[k]] > at) at = known_at[g[id].in[k]];
    return at;
  };
  const auto is_ready = [&](node_id id) {
    ready.push_back({id, operands_known_at(id)});
    for (int i = ready.size() - 1; i > 0 && ready[i - 1].id > id; --i) {
      const candidate before = ready[i - 1];
      ready[i - 1] = ready[i];
      ready[i] = before;
    }
  };
  const auto emit = [&](node_id id) {
    renamed[id] = out.emit(with_renamed_operands(g[id], renamed.data()));
    for (int use = first_use[id]; use >= 0; use = next_use[use])
      if (--missing[use / ir::max_operands] == 0 && waits[use / ir::max_operands]) is_ready(use / ir::max_operands);
  };
  int now = 0;
  for (node_id next = 0; next < g.count || waiting > 0;) {
    for (; next < g.count && waiting < costs::looked_ahead; ++next) {
      const bool ends_forward_half = next == g.backward_from && waiting > 0;
      if (ends_forward_half) break;
      if (missing[next] == 0 && !is_number_of_sample(g, next, samples)) {
        known_at[next] = operands_known_at(next);
        emit(next);
        continue;
      }
      ++waiting;
      waits[next] = 1;
      if (missing[next] == 0) is_ready(next);
    }
    if (waiting == 0) break;
    int chosen = 0;
    for (int i = 0; i < ready.size() && ready[chosen].at > now; ++i)
      if (ready[i].at < ready[chosen].at) chosen = i;
    const auto [id, at] = ready[chosen];
    for (int i = chosen; i + 1 < ready.size(); ++i) ready[i] = ready[i + 1];
    ready.pop_back();
    --waiting;
    if (at > now) now = at;
    const bool computes = ops::is_pointwise(g[id].op);
    const ops::effort effort = computes ? ops::effort_of(g[id].op) : ops::effort::arithmetic;
    known_at[id] = now + (computes ? ops::latency_of(effort) : 0);
    if (is_number_of_sample(g, id, samples)) now += ops::instructions_of(effort);
    emit(id);
  }
  finish(g, renamed, out);
  return out;
}

}  // namespace tenure::passes
