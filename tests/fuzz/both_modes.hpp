// SPDX-License-Identifier: BSL-1.0
// A random graph with its derivatives, by forward and by reverse mode.
#pragma once

#include <vector>

#include <tenure/passes/differentiate.hpp>

#include "random_graph.hpp"

namespace fuzz {

namespace passes = tenure::passes;

/// A function y(x), with inputs v and w like x and y, tangents Jv and cotangents J'w; outputs y..., Jv..., J'w.... With no_forward Jv is zero.
template <class Generator>
struct both_modes_of {
  sample made;
  std::vector<int> x, v, w;  // argument numbers
  std::size_t y_count = 0;
  bool flows = false;
  bool is_refused = false;  // there is no such derivative
  made_parts parts_made;

  both_modes_of(std::uint64_t seed, const options& o) : both_modes_of(Generator(seed, o), o) {}
  both_modes_of(Generator&& gen, const options& o) {
    gen.grow();
    ir::builder& g = gen.graph();
    std::vector<ir::node_id> wrt, tangents, cotangents;
    const int count = g.count();
    for (ir::node_id id = 0; id < count; ++id)
      if (g[id].op == ir::opcode::input && tenure::is_floating(g[id].type)) wrt.push_back(id);
    const std::vector<ir::node_id> y = gen.floating_outputs();
    if (y.empty() || wrt.empty()) return;
    const auto argument = [&](ir::node_id id) { return static_cast<int>(g[id].attr); };
    for (const ir::node_id id : wrt) {
      x.push_back(argument(id));
      tangents.push_back(gen.input_like(g[id].type, extents(g.shape_of(id))).id);
      v.push_back(argument(tangents.back()));
    }
    for (const ir::node_id id : y) {
      cotangents.push_back(gen.input_like(g[id].type, extents(g.shape_of(id))).id);
      w.push_back(argument(cotangents.back()));
    }
    const int nx = static_cast<int>(wrt.size()), ny = static_cast<int>(y.size());
    std::vector<ir::node_id> pushed(y.size(), ir::none), pulled(wrt.size(), ir::none);
    if (!o.no_forward) passes::forward(g, wrt.data(), tangents.data(), nx, y.data(), ny, pushed.data());
    passes::reverse(g, y.data(), cotangents.data(), ny, wrt.data(), nx, pulled.data());
    y_count = y.size();
    for (const ir::node_id id : y) g.output(id);
    for (std::size_t i = 0; i < y.size(); ++i) g.output(or_zero(g, pushed[i], y[i]));
    for (std::size_t i = 0; i < wrt.size(); ++i) g.output(or_zero(g, pulled[i], wrt[i]));
    for (const ir::node_id id : pulled) flows = flows || id != ir::none;
    is_refused = g.take_refused_derivative() != ir::diagnostic::kind::nothing;
    flows = flows && !is_refused;
    parts_made = gen.made;
    made = gen.take();
  }

 private:
  static ir::node_id or_zero(ir::builder& g, ir::node_id id, ir::node_id like) { return id != ir::none ? id : value(g, like).like(0).id; }
};
using both_modes = both_modes_of<generator>;

}  // namespace fuzz
