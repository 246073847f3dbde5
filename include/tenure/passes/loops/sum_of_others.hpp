// SPDX-License-Identifier: BSL-1.0
// Removes terms from a sum in a body that is being written. The other terms keep their order.
// Cost: linear in the additions. A value that the sum uses more than once is one term: otherwise v = v + v, repeated 24 times, would have 2^24 terms.
#pragma once

#include <tenure/ir/builder.hpp>
#include <tenure/ops/arithmetic.hpp>

namespace TENURE_NAMESPACE::passes {

/// The sum without the terms for which takes(term) is true, or none if no term is left. An addition before node `first` is one term.
/// takes() is called for the terms from left to right, and may append nodes.
template <class Takes>
constexpr ir::node_id sum_of_others(ir::builder& g, ir::node_id first, ir::node_id sum, Takes takes) {
  const auto is_addition = [&](ir::node_id id) { return id >= first && g[id].op == ir::opcode::add; };
  const ir::node_id end = sum + 1;
  ir::array<int> uses(end > first ? end - first : 0, 0);  // the number of uses of each node within the sum
  ir::array<ir::node_id> left;
  left.push_back(sum);
  while (left.size() > 0) {
    const ir::node_id id = left.back();
    left.pop_back();
    for (int k = 0; k < 2 && is_addition(id); ++k)
      if (const ir::node_id in = g[id].in[k]; in >= first && uses[in - first]++ == 0) left.push_back(in);
  }
  // An addition or a term. In `places` it comes after the addition `of`, whose operand it is.
  struct place {
    ir::node_id id;
    int of, operand;
    ir::node_id rest[2];
  };
  ir::array<place> places, open;
  ir::node_id rest = sum;
  const auto leave = [&](const place& p, ir::node_id found) { (p.of < 0 ? rest : places[p.of].rest[p.operand]) = found; };
  open.push_back({sum, -1, 0, {}});
  while (open.size() > 0) {
    const place p = open.back();
    open.pop_back();
    const bool continues = is_addition(p.id) && (p.of < 0 || uses[p.id - first] == 1);
    if (!continues) {
      leave(p, takes(p.id) ? ir::none : p.id);
      continue;
    }
    const int at = places.push_back(p);
    for (int k = 1; k >= 0; --k) open.push_back({g[p.id].in[k], at, k, {}});
  }
  for (int i = places.size() - 1; i >= 0; --i) {
    const place p = places[i];
    const ir::node_id a = p.rest[0], b = p.rest[1];
    const bool is_whole = a == g[p.id].in[0] && b == g[p.id].in[1];
    leave(p, is_whole ? p.id : a == ir::none ? b : b == ir::none ? a : (ops::value(g, a) + ops::value(g, b)).id);
  }
  return rest;
}

}  // namespace tenure::passes
