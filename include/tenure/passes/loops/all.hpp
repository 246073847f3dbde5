// SPDX-License-Identifier: BSL-1.0
// The list of the passes over loops, in order. There is one round: a second one would change one random program in 7,000 (tests/fuzz), and costs each
// program with loops a copy of its graph.
#pragma once

#include <tenure/passes/loops/hoist.hpp>
#include <tenure/passes/loops/merge_loops.hpp>
#include <tenure/passes/loops/samples_in_turn.hpp>
#include <tenure/passes/loops/strided_slices.hpp>
#include <tenure/passes/loops/trip_count_one.hpp>

namespace TENURE_NAMESPACE::passes {

/// Inlines scans of one iteration, and merges each loop with the loop of its tangents. The bodies stay those of `g`.
constexpr ir::builder fewer_loops(const ir::graph_view& g) {
  ir::builder live = dead_code(g);
  if (has_trip_count_one(live.view())) live = trip_count_one(live.view());
  if (may_merge_loops(live.view())) {
    const ir::builder merged = merge_loops(live.view());
    live = dead_code(merged.view());
  }
  return live;
}
/// fewer_loops(), and then smaller bodies, which read slices in place.
constexpr ir::builder smaller_loops(const ir::graph_view& g) {
  const ir::builder live = fewer_loops(g);
  ir::builder hoisted = hoist(live.view());
  const ir::builder needed = dead_code(hoisted.view());
  if (!strided_slices::finds(needed.view())) return hoisted;  // a builder without new bodies would share those of `needed`
  return strided_slices(needed.view()).run();
}
constexpr bool has_smaller_loops(const ir::graph_view& g) { return needs_hoist(g) || strided_slices::finds(g); }

}  // namespace tenure::passes
