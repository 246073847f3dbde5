// SPDX-License-Identifier: BSL-1.0
// Chooses the order of axes in which a chain is computed. A convolution whose channels come first is one with channels last between two permutes
// (ops/convolution_rule.hpp), and between convolutions are activations, normalizations, residuals, pads and pools. These take any order of axes. Those that
// are joined, through permutes too, are a region, which is computed in one order; permutes are left at its borders. The order is the one in which the fewest
// elements are read or written through a permute: a chain is permuted once at each end, and where a pool has made it small.
// Law: order_axes keeps the meaning. Only the order of sums may change.
// Cost: a sweep, and for each region its borders times its candidates, in programs with convolutions and permutes.
#pragma once

#include <tenure/passes/algebra.hpp>
#include <tenure/passes/roles.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

class axis_orderer {
 public:
  constexpr explicit axis_orderer(const ir::graph_view& g) : g_(g), joined_to_(g.count, none), axes_(g.count, 0), is_bounded_(g.count, 0) {
    for (int i = 0; i < g.bound_count; ++i) is_bounded_[g.bounds[i].indices] = 1;
  }

  constexpr ir::builder run() {
    find_regions();
    choose_orders();
    return rewritten();
  }

 private:
  using value = ops::value;

  // Orders of axes are packed: axis k of permute(x, a) is axis a[k] of x.
  static constexpr std::int64_t after(std::int64_t a, std::int64_t b, int rank) {
    std::int64_t both = 0;
    for (int k = 0; k < rank; ++k) both = ir::pack_axis(both, k, ir::unpack_axis(a, ir::unpack_axis(b, k)));
    return both;
  }
  static constexpr std::int64_t inverse(std::int64_t a, int rank) { return ops::inverse_axes(a, rank); }
  static constexpr std::int64_t unchanged(int rank) {
    std::int64_t a = 0;
    for (int k = 0; k < rank; ++k) a = ir::pack_axis(a, k, k);
    return a;
  }
  constexpr int rank_of(node_id id) const { return g_.shape_of(id).rank; }

  /// An operand as a permute sees it: x with its axes in the order `axes`.
  struct seen {
    node_id x;
    std::int64_t axes;
  };
  constexpr seen below_permute(node_id id) const {
    const ir::node& n = g_[id];
    return n.op == ir::opcode::permute ? seen{n.in[0], n.attr} : seen{id, unchanged(rank_of(id))};
  }
  /// Whether a node takes its operands in any order of axes.
  constexpr bool takes_any_order(node_id id) const {
    const ir::opcode op = g_[id].op;
    const bool is_one = op >= ir::opcode::pointwise || op == ir::opcode::cast || op == ir::opcode::slice || op == ir::opcode::pad || op == ir::opcode::concat;
    return is_one && g_[id].arity > 0 && rank_of(id) > 1 && !is_bounded_[id];
  }
  /// Whether a node is permuted at no cost.
  constexpr bool is_free(node_id id) const {
    const ir::opcode op = g_[id].op;
    return op == ir::opcode::broadcast || (is_source(op) && op != ir::opcode::input);
  }

  // ---- regions ----

  /// The root of a region, in whose order of axes each of its nodes is permute(the node in this order, axes).
  constexpr seen root_of(node_id id) {
    std::int64_t axes = unchanged(rank_of(id));
    node_id at = id;
    for (; joined_to_[at] != at; at = joined_to_[at]) axes = after(axes_[at], axes, rank_of(id));
    return {at, axes};
  }
  /// Node i reads permute(x, a).
  constexpr void unite(node_id i, node_id x, std::int64_t a) {
    const int rank = rank_of(i);
    const seen of_i = root_of(i), of_x = root_of(x);
    if (of_i.x == of_x.x) return;
    joined_to_[of_i.x] = of_x.x;
    axes_[of_i.x] = after(after(of_x.axes, a, rank), inverse(of_i.axes, rank), rank);
  }
  constexpr void find_regions() {
    for (node_id i = 0; i < g_.count; ++i) {
      if (!takes_any_order(i)) continue;
      joined_to_[i] = i;
      for (int k = 0; k < g_[i].arity; ++k)
        if (const seen s = below_permute(g_[i].in[k]); takes_any_order(s.x)) unite(i, s.x, s.axes);
    }
  }
  constexpr bool is_in_region(node_id id) const { return joined_to_[id] != none; }

  // ---- orders ----

  /// A border of a region: so many elements are permuted there, unless the region has the order `free`; or, if `reader` is a node, unless the memory then
  /// suits its operand, which is permute(the node in the order of the root, view).
  struct border {
    node_id root = none;
    std::int64_t free = 0, elements = 0;
    node_id reader = none;
    int operand = 0, next = none;  // next: another border of the region
  };
  constexpr std::int64_t elements_of(node_id id) const {
    std::int64_t n = 64;
    for (int a = 0; a < rank_of(id); ++a) n *= is_static(g_.shape_of(id)[a]) ? g_.shape_of(id)[a] : 1;
    return n;
  }
  constexpr void add_border(border b) {
    b.next = first_border_[b.root];
    first_border_[b.root] = borders_.push_back(b);
  }
  constexpr std::int64_t cost_at(const border& b, std::int64_t order) const {
    if (b.reader == none) return b.free == order ? 0 : b.elements;
    const int rank = rank_of(b.root);
    const std::int64_t view = after(inverse(order, rank), b.free, rank);  // `free` is the order in which the view would be no permute
    int neighbours = 0;  // the axis of the operand along which neighbours lie
    while (ir::unpack_axis(view, neighbours) != rank - 1) ++neighbours;
    return ops::structural_record_of(g_[b.reader].op).takes_neighbours(g_, b.reader, b.operand, rank - 1 - neighbours) ? 0 : b.elements;
  }

  constexpr void find_borders() {
    ir::array<node_id> seen_by(g_.count, none);  // the region that read a node last
    for (node_id i = 0; i < g_.count; ++i) {
      const ir::node& n = g_[i];
      if (n.op == ir::opcode::permute || n.op == ir::opcode::reduce) continue;  // a reduction takes any order
      for (int k = 0; k < n.arity; ++k) {
        const seen s = below_permute(n.in[k]);
        const int rank = rank_of(s.x);
        if (is_in_region(i) && !is_in_region(s.x)) {
          const seen root = root_of(i);
          const bool is_part = n.op == ir::opcode::slice;
          if (is_free(s.x) || (seen_by[s.x] == root.x && !is_part)) continue;
          if (!is_part) seen_by[s.x] = root.x;
          add_border({root.x, after(root.axes, inverse(s.axes, rank), rank), elements_of(is_part ? i : s.x)});
        } else if (!is_in_region(i) && is_in_region(s.x)) {
          const seen root = root_of(s.x);
          const bool is_opaque = ops::is_opaque(n.op);
          if (n.op == ir::opcode::matmul) continue;
          add_border({root.x, after(root.axes, s.axes, rank), elements_of(s.x), is_opaque ? i : none, k});
        }
      }
    }
    for (int i = 0; i < g_.output_count; ++i) {
      const seen s = below_permute(g_.outputs[i]);
      if (!is_in_region(s.x)) continue;
      const seen root = root_of(s.x);
      // A little more than a read: where both cost the same, the last kernel reads through the permute and writes the result as it is.
      add_border({root.x, after(root.axes, s.axes, rank_of(s.x)), elements_of(s.x) / 64 * 65});
    }
  }
  constexpr void choose_orders() {
    first_border_.resize(g_.count, none);
    order_.resize(g_.count, 0);
    find_borders();
    for (node_id root = 0; root < g_.count; ++root) {
      if (joined_to_[root] != root) continue;
      const int rank = rank_of(root);
      std::int64_t least = -1, tried[max_candidates] = {};
      int count = 0;
      for (int b = first_border_[root]; b != none; b = borders_[b].next) {
        const std::int64_t order = borders_[b].free;
        bool is_new = count < max_candidates;
        for (int i = 0; i < count; ++i) is_new = is_new && tried[i] != order;
        if (!is_new) continue;
        tried[count++] = order;
        std::int64_t cost = 0;
        for (int c = first_border_[root]; c != none; c = borders_[c].next) cost += cost_at(borders_[c], order);
        if (least < 0 || cost < least) least = cost, order_[root] = order;
      }
      if (least < 0) order_[root] = unchanged(rank);
    }
  }

  // ---- the new graph ----

  /// A node of the new graph, of which the old node is permute(id, axes).
  struct renamed {
    node_id id = none;
    std::int64_t axes = 0;
  };
  /// permute(the old node, axes), in the new graph.
  constexpr node_id in_order(ir::builder& out, const renamed& of, std::int64_t axes, int rank) const {
    const std::int64_t all = after(of.axes, axes, rank);
    return all == unchanged(rank) ? of.id : ops::permuted({out, of.id}, all).id;
  }
  constexpr ir::builder rewritten() {
    ir::builder out(g_, rules::simplest);
    ir::array<renamed> at(g_.count, {});
    ir::array<node_id> ids(g_.count, none);
    for (node_id i = 0; i < g_.count; ++i) {
      ir::node n = g_[i];
      const int rank = rank_of(i);
      if (n.op == ir::opcode::permute) {
        at[i] = {at[n.in[0]].id, after(at[n.in[0]].axes, n.attr, rank)};
      } else if (!is_in_region(i)) {
        for (int k = 0; k < n.arity; ++k) n.in[k] = in_order(out, at[n.in[k]], unchanged(rank_of(n.in[k])), rank_of(n.in[k]));
        at[i] = {out.emit(n), unchanged(rank)};
      } else {
        const seen root = root_of(i);
        const std::int64_t axes = after(inverse(order_[root.x], rank), root.axes, rank), back = inverse(axes, rank);
        for (int k = 0; k < n.arity; ++k) n.in[k] = in_order(out, at[n.in[k]], back, rank);
        extents to;
        for (int a = 0; a < rank; ++a) to.push_back(g_.shape_of(i)[ir::unpack_axis(back, a)]);
        n.shape = out.intern(to);
        if (n.op == ir::opcode::slice || n.op == ir::opcode::pad || n.op == ir::opcode::concat) n.attr = ir::unpack_axis(axes, static_cast<int>(n.attr));
        at[i] = {out.emit(n), axes};
      }
      ids[i] = at[i].id;
    }
    for (int i = 0; i < g_.output_count; ++i) {
      const node_id id = g_.outputs[i];
      out.output(in_order(out, at[id], unchanged(rank_of(id)), rank_of(id)));
    }
    for (int i = 0; i < g_.bound_count; ++i)
      if (ids[g_.bounds[i].indices] != none) out.keep_bound(g_.bounds[i], ids[g_.bounds[i].indices]);
    out.keep_backward(g_, ids);
    return out;
  }

  static constexpr int max_candidates = 8;

  ir::graph_view g_;
  ir::array<node_id> joined_to_;    // of a node in a region: another node of it, or itself if it is the root
  ir::array<std::int64_t> axes_;    // the node is permute(the node in the order of joined_to_, axes)
  ir::array<char> is_bounded_;
  ir::array<border> borders_;
  ir::array<int> first_border_;     // of a root
  ir::array<std::int64_t> order_;   // of a root: a region is computed as permute(the node in the order of the root, order)
};

/// Whether a graph has convolutions and permutes. Other graphs skip order_axes().
constexpr bool may_order_axes(const ir::graph_view& g) {
  bool any_permute = false, any_convolution = false;
  for (node_id i = 0; i < g.count; ++i) {
    any_permute = any_permute || g.nodes[i].op == ir::opcode::permute;
    any_convolution = any_convolution || (ops::is_opaque(g.nodes[i].op) && ops::structural_record_of(g.nodes[i].op).axes_of_piece > 0);
  }
  return any_permute && any_convolution;
}

constexpr ir::builder order_axes(const ir::graph_view& g) {
  const ir::builder found = axis_orderer(g).run();
  return dead_code(found.view());
}

}  // namespace tenure::passes
