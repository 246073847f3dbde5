// SPDX-License-Identifier: BSL-1.0
// Which nodes share a kernel. One sweep from the outputs up: a node joins the earliest kernel among its consumers where
// it can, so that a value is made where it is used; else it joins a kernel of the same iteration space, or begins one.
// Positions count from the last step (0) to the first, and a node never stands later than a consumer, so the order has
// no cycles. Cost: a constant number of looks a node.
#pragma once

#include <tenure/passes/materialize.hpp>

namespace tenure::passes {

/// The kernels' nodes before instructions are written.
struct cluster {
  dtype lane = dtype::float32;
  std::int16_t space = 0;    // the shape walked
  std::int64_t inner = -1;   // mask of the inner axes; -1 while nothing decided it
  int position = 0;
  int nodes = 0;
  int row_reductions = 0;
  int open = 0;  // values that it reads and does not make, as far as is known
  ir::node_id opaque = ir::none;  // the node of an opaque step, which is alone

  constexpr bool decided() const { return inner >= 0; }
};

/// Clusters by reference: by position, and node -> position (-1 where nothing is computed).
struct clusters_view {
  const cluster* at = nullptr;
  int count = 0;
  const std::int32_t* of = nullptr;
};

struct clusters {
  ir::array<cluster> at;
  ir::array<std::int32_t> of;

  constexpr clusters_view view() const { return {at.data(), at.size(), of.data()}; }
};

/// A kernel may hold 256 nodes (a limit that keeps registers and compile time sane); loads and stores need the rest.
inline constexpr int nodes_per_kernel = 160;
/// Streams that one loop reads; a sum of hundreds of arrays is cut into several loops.
inline constexpr int reads_per_kernel = 24;
/// Row reductions of one kernel, each of which may cost a pass over the row (an instruction's code has 16 bits for passes).
inline constexpr int row_reductions_per_kernel = 8;

constexpr std::int64_t whole(int rank) { return ops::all_axes(rank); }
constexpr bool has_last_axis(std::int64_t mask, int rank) { return rank > 0 && ((mask >> (rank - 1)) & 1); }

/// The element type that a node is computed in; bool results of comparisons are masks in their operands' lanes.
constexpr dtype lane_of(const ir::graph_view& g, ir::node_id id) {
  const ir::node& n = g[id];
  const bool reads_values = ops::is_pointwise(n.op) && ops::record_of(n.op).types == ops::typing::comparison;
  return reads_values || (n.op == ir::opcode::cast && n.type == dtype::boolean) ? g[n.in[0]].type : n.type;
}

class fuser {
 public:
  constexpr explicit fuser(const ir::graph_view& g)
      : g_(g), lower_(g.count, -1), of_(g.count, -1), needed_by_(g.count, -1), recent_(g.shape_count, -1), is_output_(g.count, 0) {
    for (int i = 0; i < g.output_count; ++i) is_output_[root_of(g.outputs[i])] = 1;
  }

  constexpr clusters run() {
    // Numbers that only the caller reads (a mean's division, after the sum) go last: where they stand, between the forward
    // and the backward half, they would cut the kernel that both halves can share.
    ir::array<char> feeds_other(g_.count, 0), goes_last(g_.count, 0);
    for (ir::node_id id = g_.count - 1; id >= 0; --id) {
      const ir::node& n = g_[id];
      goes_last[id] = ops::is_pointwise(n.op) && g_.shape_of(id).rank == 0 && feeds_other[id] == 0;
      if (goes_last[id]) visit(id);
      else for (int k = 0; k < n.arity; ++k) feeds_other[n.in[k]] = 1;
    }
    for (ir::node_id id = g_.count - 1; id >= 0; --id)
      if (!goes_last[id]) visit(id);
    for (cluster& c : at_)
      if (!c.decided() && c.opaque == ir::none) {
        // The last axis longer than 1: dimensions of 1 vanish, and what is per row must still be so then.
        const extents& space = g_.shapes[c.space];
        int last = space.rank - 1;
        while (last > 0 && space[last] == 1) --last;
        c.inner = last < 0 ? 0 : std::int64_t{1} << last;
      }
    return {static_cast<ir::array<cluster>&&>(at_), static_cast<ir::array<std::int32_t>&&>(of_)};
  }

 private:
  constexpr void visit(ir::node_id id) {
    const ir::node& n = g_[id];
    const bool unused = lower_[id] < 0 && !is_output_[id];
    if (unused || is_source(n.op)) return;
    if (is_view(n.op)) pass_on(id);
    else if (is_opaque(n.op)) place_alone(id);
    else place(id);
  }

  constexpr ir::node_id root_of(ir::node_id id) const {
    while (is_view(g_[id].op)) id = g_[id].in[0];
    return id;
  }

  // A use at position p that the node may share a kernel with is 2p, one that needs it in memory before is 2p + 1.
  constexpr void use(ir::node_id id, int position, bool in_registers) {
    const int bound = 2 * position + (in_registers ? 0 : 1);
    if (bound > lower_[id]) lower_[id] = bound;
  }

  /// Is s the shape of c's rows (one value a row)?
  constexpr bool is_row_shape(const cluster& c, const extents& s) const {
    return c.decided() && same_but_ones(s, ops::without_axes(g_.shapes[c.space], c.inner));
  }

  constexpr void pass_on(ir::node_id view) {
    const ir::node& n = g_[view];
    const int bound = lower_[view], position = bound / 2;
    bool shares = false;
    if (bound >= 0 && bound % 2 == 0) {
      cluster& c = at_[position];
      if (c.opaque == ir::none) {
        if (n.op == ir::opcode::broadcast && n.shape == c.space) shares = row_broadcast(c, n);
        else if (n.op == ir::opcode::reshape)
          shares = is_row_shape(c, g_.shapes[n.shape]) && same_but_ones(g_.shapes[n.shape], g_.shape_of(n.in[0]));
      }
    }
    use(n.in[0], position, shares);
  }

  /// Can a value per row stay in a register while it is stretched along the row? Decides what a row is, where open.
  constexpr bool row_broadcast(cluster& c, const ir::node& n) {
    const extents& from = g_.shape_of(n.in[0]);
    const extents& space = g_.shapes[c.space];
    std::int64_t stretched = whole(space.rank);
    for (int a = 0; a < from.rank; ++a)
      if (from[a] != 1) stretched &= ~(std::int64_t{1} << ir::unpack_axis(n.attr, a));
    for (int a = 0; a < space.rank; ++a)
      if (space[a] == 1) stretched &= ~(std::int64_t{1} << a);
    if (stretched == 0) return false;
    if (c.decided()) return without_ones(c.inner, space) == stretched;
    ir::node_id root = n.in[0];
    while (is_view(g_[root].op)) root = g_[root].in[0];
    if (!is_fused(g_[root].op) || !ends_row(stretched, space)) return false;
    c.inner = stretched;
    return true;
  }

  static constexpr std::int64_t without_ones(std::int64_t mask, const extents& s) {
    for (int a = 0; a < s.rank; ++a)
      if (s[a] == 1) mask &= ~(std::int64_t{1} << a);
    return mask;
  }
  /// Does the mask hold the last axis that is longer than 1, so that a row is walked along memory?
  static constexpr bool ends_row(std::int64_t mask, const extents& s) {
    for (int a = s.rank - 1; a >= 0; --a)
      if (s[a] != 1) return (mask >> a) & 1;
    return false;
  }

  constexpr void place_alone(ir::node_id id) {
    const int position = at_.push_back({.lane = g_[id].type, .space = g_[id].shape, .position = at_.size(), .opaque = id});
    of_[id] = position;
    for (int k = 0; k < g_[id].arity; ++k) use(g_[id].in[k], position, false);
  }

  constexpr void place(ir::node_id id) {
    const ir::node& n = g_[id];
    const bool reduces = n.op == ir::opcode::reduce;
    const std::int16_t walked = reduces ? g_[n.in[0]].shape : n.shape;
    const int bound = lower_[id];
    int position = -1;
    if (bound >= 0 && bound % 2 == 0 && joins(at_[bound / 2], id, true)) position = bound / 2;
    if (position < 0) {
      const int candidate = recent_[walked];
      if (candidate > bound / 2 && (bound >= 0 || candidate >= 0) && joins(at_[candidate], id, false)) position = candidate;
      else if (bound < 0 && candidate >= 0 && joins(at_[candidate], id, false)) position = candidate;
    }
    if (position < 0) {
      cluster c{.lane = lane_of(g_, id), .space = walked, .position = at_.size()};
      joins(c, id, false);
      position = at_.push_back(c);
      recent_[walked] = position;
    }
    cluster& c = at_[position];
    ++c.nodes;
    if (needed_by_[id] == position) --c.open;
    for (int k = 0; k < n.arity; ++k)
      if (const ir::node_id root = root_of(n.in[k]); g_[root].op != ir::opcode::constant && needed_by_[root] != position) {
        needed_by_[root] = position;
        ++c.open;
      }
    of_[id] = position;
    if (reduces) {
      recent_[c.space] = position;
      ++c.row_reductions;
    }
    // What a cast reads was computed in another lane: it comes through memory. Bool is a mask in any lane.
    const bool converts = n.op == ir::opcode::cast && n.type != dtype::boolean && g_[n.in[0]].type != dtype::boolean;
    for (int k = 0; k < n.arity; ++k) use(n.in[k], position, !converts && n.op != ir::opcode::copy);
  }

  /// May the node be computed in c? Commits what that decides about c. `consumed_here`: a consumer in c wants the value in a
  /// register.
  constexpr bool joins(cluster& c, ir::node_id id, bool consumed_here) {
    const ir::node& n = g_[id];
    const bool fresh = c.nodes == 0;
    if (c.opaque != ir::none || c.nodes >= nodes_per_kernel) return false;
    if (c.open >= reads_per_kernel && !(n.arity <= 1 && consumed_here)) return false;
    if (lane_of(g_, id) != c.lane && !(n.type == dtype::boolean && ops::is_pointwise(n.op) && lane_of(g_, id) == dtype::boolean)) return false;
    const extents& space = g_.shapes[c.space];
    if (n.op != ir::opcode::reduce) return n.shape == c.space || is_row_shape(c, g_.shapes[n.shape]);

    if (c.row_reductions >= row_reductions_per_kernel) return false;
    const std::int16_t walked = g_[n.in[0]].shape;
    const std::int64_t axes = n.attr, all = whole(g_.shapes[walked].rank);
    if (walked == c.space) {
      const bool along_row = ends_row(axes, space);
      if (consumed_here) {
        if (c.decided() ? c.inner != axes : !along_row) return false;
        c.inner = axes;
        return true;
      }
      if (axes == all) return true;
      if (c.decided()) return c.inner == axes || c.inner == (all & ~axes);
      c.inner = along_row ? axes : all & ~axes;
      return true;
    }
    if (is_row_shape(c, g_.shapes[walked])) return !consumed_here && axes == all;
    // A kernel over rows' results becomes a kernel over the rows themselves.
    const bool lifts = consumed_here && !fresh && !c.decided() && c.space == n.shape && ends_row(axes, g_.shapes[walked]);
    if (!lifts) return false;
    c.space = walked;
    c.inner = axes;
    return true;
  }

  ir::graph_view g_;
  ir::array<std::int32_t> lower_;
  ir::array<std::int32_t> of_;
  ir::array<std::int32_t> needed_by_;  // node -> the last kernel that counted it as open
  ir::array<std::int32_t> recent_;  // shape -> the last kernel that walks it
  ir::array<char> is_output_;
  ir::array<cluster> at_;
};

constexpr clusters fuse(const ir::graph_view& g) { return fuser(g).run(); }

}  // namespace tenure::passes
