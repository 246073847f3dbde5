// SPDX-License-Identifier: BSL-1.0
// The places of the elements of a node in memory: a chain of views, down to the node that has memory, becomes one set of strides.
#pragma once

#include <tenure/passes/plan.hpp>
#include <tenure/passes/roles.hpp>

namespace TENURE_NAMESPACE::passes {

/// Element i of the node is at root + offset + sum of i[a] * stride[a]. For an iota or an extent this sum is the value of the element.
struct layout {
  ir::node_id root = ir::none;  // the node that has the memory
  symbolic_size offset{};
  strides stride{};
};

constexpr layout row_major(ir::node_id root, const extents& s) {
  layout l;
  l.root = root;
  symbolic_size step{1, 0};
  for (int a = s.rank - 1; a >= 0; --a) {
    l.stride[a] = step;
    step = step * symbolic_size_of(s[a]);
  }
  return l;
}

/// The run-time stride of axis a of a strided argument, as a symbol. The trace makes one stride symbol for each axis of such an argument.
constexpr symbolic_size argument_stride(const ir::graph_view& g, const ir::node& input, int a) {
  for (int i = 0; i < g.symbol_count; ++i)
    if (g.symbols[i].what == ir::symbol::kind::stride && g.symbols[i].a == input.attr && g.symbols[i].b == a) return symbolic_size_of(ir::extent_of_symbol(i));
  return {};
}

/// The layout of a node that is no view.
constexpr layout layout_of_root(const ir::graph_view& g, ir::node_id id) {
  const ir::node& n = g[id];
  const extents& s = g.shape_of(id);
  const bool strided = n.op == ir::opcode::input && n.start != 0;
  if (!strided && (n.op == ir::opcode::input || !is_source(n.op))) return row_major(id, s);
  layout l;
  l.root = id;
  for (int a = 0; strided && a < s.rank; ++a) l.stride[a] = argument_stride(g, n, a);
  if (n.op == ir::opcode::iota) l.stride[static_cast<int>(n.attr)] = {1, 0};
  if (n.op == ir::opcode::extent) l.offset = symbolic_size_of(n.attr);
  return l;
}

/// The layout of a view, given the layout of its operand.
constexpr layout layout_of_view(const ir::graph_view& g, const ir::node& n, const layout& from) {
  const extents &s = g.shapes[n.shape], &old = g.shape_of(n.in[0]);
  layout l;
  l.root = from.root;
  l.offset = from.offset;
  switch (n.op) {
    case ir::opcode::broadcast:
      for (int a = 0; a < old.rank; ++a) {
        const int at = ir::unpack_axis(n.attr, a);
        l.stride[at] = old[a] == 1 && s[at] != 1 ? symbolic_size{} : from.stride[a];
      }
      return l;
    case ir::opcode::permute:
      for (int a = 0; a < s.rank; ++a) l.stride[a] = from.stride[ir::unpack_axis(n.attr, a)];
      return l;
    case ir::opcode::slice: {
      for (int a = 0; a < s.rank; ++a) l.stride[a] = from.stride[a];
      symbolic_size& along = l.stride[static_cast<int>(n.attr)];
      const symbolic_size moved = along * symbolic_size{n.start, 0};
      // An offset is a product of a number and symbols. The sum of two products with different symbols has no such form: for it materialize() inserts a copy.
      l.offset = l.offset.factor == 0 ? moved : symbolic_size{l.offset.factor + moved.factor, moved.factor ? moved.symbols : l.offset.symbols};
      along = along * symbolic_size{n.step, 0};
      return l;
    }
    case ir::opcode::windows: {
      for (int a = 0; a < old.rank; ++a) l.stride[a] = from.stride[a];
      symbolic_size& along = l.stride[static_cast<int>(n.attr)];
      l.stride[old.rank] = along;
      along = along * symbolic_size{n.step, 0};
      return l;
    }
    default: break;  // reshape
  }
  if (!same_but_ones(old, s)) {
    l = row_major(from.root, s);
    l.offset = from.offset;
    return l;
  }
  for (int a = 0, i = 0; a < s.rank; ++a) {
    if (s[a] == 1) continue;
    while (old[i] == 1) ++i;
    l.stride[a] = from.stride[i++];
  }
  return l;
}

constexpr layout layout_of(const ir::graph_view& g, ir::node_id id) {
  return is_view(g[id].op) ? layout_of_view(g, g[id], layout_of(g, g[id].in[0])) : layout_of_root(g, id);
}

/// The layouts of the views of a graph. Each layout is computed once, from the layout of the operand. The graph may grow meanwhile.
class layouts {
 public:
  constexpr void enter(const ir::graph_view& g, ir::node_id view, const layout& from) {
    if (at_.size() <= view) at_.resize(2 * view + 16, 0);
    at_[view] = views_.push_back(layout_of_view(g, g.nodes[view], from));
  }
  constexpr const layout& of(ir::node_id view) const { return views_.data()[at_.data()[view]]; }

 private:
  ir::array<int> at_;  // for each node: its position in views_
  ir::array<layout> views_;
};

}  // namespace tenure::passes
