// SPDX-License-Identifier: BSL-1.0
// Which random graph a seed is. Small, since each is a program to compile. One in eight has loops or branches, which take three times as long.
#pragma once

#include <tenure/passes/simplify.hpp>

#include "../fuzz/judge.hpp"

namespace fuzz {

inline bool has_constructs(const tenure::ir::graph_view& g) {
  for (int i = 0; i < g.count; ++i)
    if (g[i].op == tenure::ir::opcode::construct) return true;
  return false;
}

inline sample sample_of(std::uint64_t seed) {
  const bool loops = seed % 8 == 1;
  if (!loops) return random_sample(seed, {.nodes = 6 + static_cast<int>(seed % 23), .symbols = seed % 3 == 0, .strided = seed % 2 == 0, .long_rows = true});
  for (std::uint64_t other = seed;; other += 1000000) {
    const options o{.nodes = 4 + static_cast<int>(seed % 9), .symbols = seed % 3 == 0, .strided = seed % 16 == 1, .long_rows = true, .constructs = true, .whiles = true};
    sample s = random_sample(other, o);
    if (has_constructs(tenure::passes::dead_code(s.graph.view()).view())) return s;
  }
}

}  // namespace fuzz
