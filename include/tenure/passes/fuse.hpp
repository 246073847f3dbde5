// SPDX-License-Identifier: BSL-1.0
// Chooses the nodes that share a kernel, in one sweep from the last node to the first. If possible, a node joins the kernel of the consumer
// that runs first, so that the value stays in a register. Otherwise it joins a kernel with the same iteration space, or starts a new kernel.
// Positions count from the last step (0) to the first. No node runs after one of its consumers, so the order has no cycles.
// Cost: a constant time for each node.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/materialize.hpp>

namespace TENURE_NAMESPACE::passes {

/// The nodes of one kernel, before its instructions are written.
struct fusion_group {
  dtype lane = dtype::float32;
  std::int16_t space = 0;    // the shape that the loops walk
  std::int64_t inner = -1;   // mask of the inner axes, which are the row; -1 while it is not decided
  int position = 0;
  int nodes = 0;
  int loads = 0;  // views, constants and arguments that its nodes read
  int row_reductions = 0;
  int open = 0;  // number of values found so far that the kernel reads and does not compute
  ir::node_id alone = ir::none;  // the node of a step that is no kernel; such a fusion group has no other node

  constexpr bool decided() const { return inner >= 0; }
};

/// A reference to the fusion groups, and to the data of each node that follows from them.
struct fusion_groups_view {
  const fusion_group* at = nullptr;
  int count = 0;
  const std::int32_t* of = nullptr;    // position of the node's fusion group; -1 where nothing is computed
  const ir::node_id* root = nullptr;   // the node below the views
  const char* in_memory = nullptr;     // whether another step or the caller reads the node
  const ir::node_id* concats = nullptr;  // the used concats, users before operands
  int concat_count = 0;
};

struct fusion_groups {
  ir::array<fusion_group> at;
  ir::array<std::int32_t> of;
  ir::array<ir::node_id> root;
  ir::array<char> in_memory;
  ir::array<ir::node_id> concats;

  constexpr fusion_groups_view view() const { return {at.data(), at.size(), of.data(), root.data(), in_memory.data(), concats.data(), concats.size()}; }
};

constexpr std::int64_t whole(int rank) { return ops::all_axes(rank); }

/// The element type of the lanes in which a node is computed. The bool result of a comparison is a mask in the lanes of its operands.
constexpr dtype lane_of(const ir::graph_view& g, ir::node_id id) {
  const ir::node& n = g.nodes[id];
  if (n.type != dtype::boolean) return lane_of(n.type);
  const bool reads_values = n.op == ir::opcode::cast || (ops::is_pointwise(n.op) && ops::record_of(n.op).types == ops::typing::comparison);
  return reads_values ? lane_of(g.nodes[n.in[0]].type) : n.type;
}

/// The lanes of a new kernel whose last node is `id`. A logical operation takes those of the comparison that it reads, so that both are in one kernel.
constexpr dtype lane_of_kernel(const ir::graph_view& g, ir::node_id id) {
  dtype lane = lane_of(g, id);
  while (lane == dtype::boolean && ops::is_pointwise(g.nodes[id].op)) id = g.nodes[id].in[0], lane = lane_of(g, id);
  return lane;
}

/// Whether a node of a kernel must read its operand from memory. This holds for a cast between two types that are not bool and have different lanes,
/// because its operand is computed in other lanes. (Bool is a mask in lanes of any type.) It also holds for a copy, unless a pointwise operation computes its operand:
/// then the kernel of this operation stores the value twice.
constexpr bool reads_memory(const ir::graph_view& g, const ir::node& n) {
  return (n.op == ir::opcode::copy && g.nodes[n.in[0]].op < ir::opcode::pointwise) || (n.op == ir::opcode::cast && n.type != dtype::boolean && g.nodes[n.in[0]].type != dtype::boolean && lane_of(n.type) != lane_of(g.nodes[n.in[0]].type));
}

class fuser {
 public:
  constexpr explicit fuser(const ir::graph_view& g) : g_(g), all_notes_(g.count), notes_(all_notes_.data()), of_(g.count), root_(g.count), recent_(g.shape_count, -1) {
    std::int32_t* const of = of_.data();
    ir::node_id* const root = root_.data();
    for (ir::node_id id = 0; id < g.count; ++id)
      of[id] = -1, root[id] = g.nodes[id].op < ir::opcode::pointwise && is_view(g.nodes[id].op) ? root[g.nodes[id].in[0]] : id;
    for (int i = 0; i < g.output_count; ++i) notes_[root[g.outputs[i]]].is_output = true;
    for (int i = 0; i < g.bound_count; ++i)  // nothing reads the numbers of a bound on samples, and they are checked all the same
      if (g.bounds[i].refusal != nullptr) notes_[root[g.bounds[i].indices]].is_output = true;
  }

  constexpr fusion_groups run() {
    // Scalars that only the caller reads, such as the division of a mean, go last. At their original place, between the forward and the backward
    // half, they would split a kernel that both halves can share.
    for (ir::node_id id = g_.count - 1; id >= 0; --id) {
      const ir::node& n = g_.nodes[id];
      const bool is_number = g_.shapes[n.shape].rank == 0, computes = n.op >= ir::opcode::pointwise;
      notes_[id].goes_last = is_number && computes && !notes_[id].feeds_other;
      if (notes_[id].goes_last) visit(id);
      else if (is_number || !computes)  // the operands of other nodes are no scalars
        for (int k = 0; k < n.arity; ++k) notes_[n.in[k]].feeds_other = true;
    }
    find_added_products();
    for (ir::node_id id = g_.count - 1; id >= 0; --id) {
      note& n = notes_[id];
      n.waits = n.waits && n.lower < 0;  // a node with other readers has its place before these readers
      if (n.goes_last || n.waits) continue;
      if (n.added_by != ir::none && notes_[n.added_by].waits) place(n.added_by, true);
      visit(id);
    }
    for (fusion_group& c : at_)
      if (c.inner < 0 && c.alone == ir::none) {
        // The last axis with an extent above 1 is the row. Axes of extent 1 are removed later, and their removal must not change the row.
        const extents& space = g_.shapes[c.space];
        int last = space.rank - 1;
        while (last > 0 && space[last] == 1) --last;
        c.inner = last < 0 ? 0 : std::int64_t{1} << last;
      }
    for (ir::node_id id = 0; id < g_.count; ++id)
      if (is_result(g_.nodes[id].op)) of_[id] = of_[g_.nodes[id].in[0]];
    ir::array<char> in_memory(g_.count);
    for (ir::node_id id = 0; id < g_.count; ++id)
      in_memory.data()[id] = notes_[id].is_output || (notes_[id].reader != ir::none && notes_[id].reader != of_.data()[id]);
    delay_products();
    return {static_cast<ir::array<fusion_group>&&>(at_), static_cast<ir::array<std::int32_t>&&>(of_), static_cast<ir::array<ir::node_id>&&>(root_),
            static_cast<ir::array<char>&&>(in_memory), static_cast<ir::array<ir::node_id>&&>(concats_)};
  }

 private:
  /// The data that the sweep keeps for a node.
  struct note {
    // The lower bound of the place of the node. A use at position p that can share a kernel with the node gives 2 p. A use that reads the node from
    // memory gives 2 p + 1.
    std::int32_t lower = -1;
    std::int32_t needed_by = -1;  // the last kernel that counted the node in `open`
    std::int32_t loaded_by = -1;  // the last kernel that counted the node in `loads`
    std::int32_t reader = -1;     // the position that reads the node, also through views; `several` if more than one position does
    ir::node_id added_by = ir::none;  // for a large product: the output that adds the product to an argument
    bool is_output = false, feeds_other = false, goes_last = false;
    bool waits = false;  // for a sum: its place is directly after the product that it adds
  };

  /// Finds outputs that add a large product to an argument, if nothing else reads the product. Such an output is a sum of gradients of micro-batches.
  constexpr void find_added_products() {
    bool any = false;
    for (int i = 0; i < g_.output_count; ++i) {
      const ir::node_id sum = g_.outputs[i];
      const ir::node& n = g_.nodes[sum];
      if (n.op != ir::opcode::add) continue;
      for (int k = 0; k < 2; ++k) {
        const ir::node& product = g_.nodes[n.in[k]];
        const std::int64_t elements = all_static(g_.shapes[product.shape]) ? count(g_.shapes[product.shape]) : 0;
        const bool is_large = product.op == ir::opcode::matmul && elements * size_of(product.type) >= costs::added_product_bytes;
        if (is_large && g_.nodes[n.in[1 - k]].op == ir::opcode::input) notes_[n.in[k]].added_by = sum, notes_[sum].waits = any = true;
      }
    }
    for (ir::node_id id = 0; any && id < g_.count; ++id)  // only the sum may read the product
      for (int k = 0; k < g_.nodes[id].arity; ++k)
        ir::for_each_operand(g_.nodes, g_.nodes[id].in[k], [&](ir::node_id operand) {
          const ir::node_id sum = notes_[operand].added_by;
          if (sum != ir::none && sum != id) notes_[sum].waits = notes_[id].waits = false;
        });
    for (int i = 0; any && i < g_.output_count; ++i)
      if (const ir::node_id sum = notes_[g_.outputs[i]].added_by; sum != ir::none) notes_[sum].waits = false;
  }

  /// Moves a product of arguments past kernels that do not read it, to the place directly before the kernel that reads it first. Then this kernel can
  /// run as the epilogue of the product. A product of computed values, whose operands are then alive for longer, moves past small kernels only: the factors of
  /// a normalization behind a convolution.
  constexpr void delay_products() {
    const int count = at_.size();
    ir::array<int> order(count), place(count);  // the fusion groups from the last step to the first
    bool any = false;
    for (int p = 0; p < count; ++p) order[p] = p;
    for (int p = 0; p < count; ++p) {
      const ir::node_id id = at_[p].alone;
      if (id == ir::none || notes_[id].lower < 0 || ops::structural_record_of(g_[id].op).axes_of_piece < 0) continue;
      const bool is_of_arguments = is_source(g_[root_[g_[id].in[0]]].op) && is_source(g_[root_[g_[id].in[1]]].op);
      const int reader = notes_[id].lower / 2;  // a position before any move. order[p] is still p, because moves shift only fused kernels
      int to = p - 1;
      while (to > 0 && p - to <= costs::passed_by_product && order[to] != reader && at_[order[to]].alone == ir::none && (is_of_arguments || is_small(at_[order[to]]))) --to;
      if (to < 0 || order[to] != reader || at_[reader].alone != ir::none || to == p - 1) continue;
      for (int i = p; i > to + 1; --i) order[i] = order[i - 1];
      order[to + 1] = p;
      any = true;
    }
    if (!any) return;
    ir::array<fusion_group> ordered(count);
    for (int p = 0; p < count; ++p) ordered[p] = at_[order[p]], ordered[p].position = p, place[order[p]] = p;
    at_ = static_cast<ir::array<fusion_group>&&>(ordered);
    for (ir::node_id id = 0; id < g_.count; ++id)
      if (of_[id] >= 0) of_[id] = place[of_[id]];
  }

  constexpr bool is_small(const fusion_group& c) const {
    const extents& s = g_.shapes[c.space];
    return all_static(s) && count(s) <= costs::passed_elements;
  }

  static constexpr std::int32_t several = INT32_MAX;
  constexpr void read(ir::node_id root, int position) { notes_[root].reader = notes_[root].reader < 0 || notes_[root].reader == position ? position : several; }

  constexpr void visit(ir::node_id id) {
    if (notes_[id].lower < 0 && !notes_[id].is_output) return;  // unused
    const ir::opcode op = g_.nodes[id].op;
    if (op >= ir::opcode::pointwise) place(id);
    else if (is_source(op)) return;
    else if (is_view(op)) pass_on(id);
    else if (op == ir::opcode::concat) collect(id);
    else if (op == ir::opcode::tuple) return;
    else if (is_result(op)) expect_result(id);
    else if (is_step(op)) place_alone(id, ops::result_count(op) > 1);
    else place(id);
  }

  constexpr void use(ir::node_id id, int position, bool in_registers) {
    const int bound = 2 * position + (in_registers ? 0 : 1);
    if (bound > notes_[id].lower) notes_[id].lower = bound;
  }

  /// Whether s is the shape of values with one element for each row of c.
  constexpr bool is_row_shape(const fusion_group& c, const extents& s) const {
    return c.decided() && same_but_ones(s, ops::without_axes(g_.shapes[c.space], c.inner));
  }

  constexpr void pass_on(ir::node_id view) {
    const ir::node& n = g_[view];
    const int bound = notes_[view].lower, position = bound / 2;
    bool shares = false;
    if (bound >= 0 && bound % 2 == 0) {
      fusion_group& c = at_[position];
      if (c.alone == ir::none) {
        if (n.op == ir::opcode::broadcast && n.shape == c.space) shares = row_broadcast(c, n);
        else if (n.op == ir::opcode::reshape)
          shares = is_row_shape(c, g_.shapes[n.shape]) && same_but_ones(g_.shapes[n.shape], g_.shape_of(n.in[0]));
      }
    }
    use(n.in[0], position, shares);
  }

  /// Whether n broadcasts a value with one element for each row of c. Then the element stays in a register. Decides the row of c if it is undecided.
  constexpr bool row_broadcast(fusion_group& c, const ir::node& n) {
    const extents& from = g_.shape_of(n.in[0]);
    const extents& space = g_.shapes[c.space];
    std::int64_t stretched = whole(space.rank);
    for (int a = 0; a < from.rank; ++a)
      if (from[a] != 1) stretched &= ~(std::int64_t{1} << ir::unpack_axis(n.attr, a));
    for (int a = 0; a < space.rank; ++a)
      if (space[a] == 1) stretched &= ~(std::int64_t{1} << a);
    if (stretched == 0) return false;
    if (c.decided()) return without_ones(c.inner, space) == stretched;
    if (!is_fused(g_[root_[n.in[0]]].op) || !ends_row(stretched, space)) return false;
    c.inner = stretched;
    return true;
  }

  static constexpr std::int64_t without_ones(std::int64_t mask, const extents& s) {
    for (int a = 0; a < s.rank; ++a)
      if (s[a] == 1) mask &= ~(std::int64_t{1} << a);
    return mask;
  }
  /// Whether the mask contains the last axis with an extent above 1. Then a loop over a row reads contiguous memory.
  static constexpr bool ends_row(std::int64_t mask, const extents& s) {
    for (int a = s.rank - 1; a >= 0; --a)
      if (s[a] != 1) return (mask >> a) & 1;
    return false;
  }

  /// A concat is only memory, in which its operands are computed. So its operands must run before its readers.
  constexpr void collect(ir::node_id id) {
    concats_.push_back(id);
    for (int k = 0; k < 2; ++k) {
      const ir::node_id part = root_[g_[id].in[k]];
      notes_[part].reader = several;
      notes_[part].is_output = notes_[part].is_output || notes_[id].is_output;
      if (notes_[id].lower >= 0) use(part, notes_[id].lower / 2, false);
    }
  }

  /// Marks the control-flow operation of a used result as used. It is a separate step, so it runs before all nodes that the sweep has placed.
  constexpr void expect_result(ir::node_id id) { notes_[g_[id].in[0]].is_output = true; }

  /// All results of an operation are one step. It runs before the readers of each of them, so its first node decides the place.
  constexpr void place_alone(ir::node_id id, bool has_results) {
    if (has_results)
      if (const ir::node_id first = ops::first_of_step(g_.nodes, id); first != id) return use(first, notes_[id].lower < 0 ? 0 : notes_[id].lower / 2, false);
    const int position = at_.push_back({.lane = g_[id].type, .space = g_[id].shape, .position = at_.size(), .alone = id});
    of_[id] = position;
    for (ir::node_id r = id + 1; has_results && r < g_.count; ++r)
      if (ops::are_of_one_step(g_.nodes[r], g_.nodes[id])) of_[r] = position;
    const auto take = [&](ir::node_id operand) {
      use(operand, position, false);
      read(root_[operand], position);
    };
    for (int k = 0; k < g_[id].arity; ++k) ir::for_each_operand(g_.nodes, g_[id].in[k], take);
  }

  /// `alone`: starts a new kernel. Nodes that are visited later may join this kernel.
  constexpr void place(ir::node_id id, bool alone = false) {
    const ir::node& n = g_.nodes[id];
    const bool reduces = n.op == ir::opcode::reduce;
    const std::int16_t walked = reduces ? g_.nodes[n.in[0]].shape : n.shape;
    const int bound = notes_[id].lower, candidate = recent_.data()[walked];
    const dtype lane = lane_of(g_, id);
    int position = -1;
    const bool shares = bound >= 0 && bound % 2 == 0;
    const auto joins_at = [&](int p, bool consumed_here) {
      if (!joins(at_.data()[p], n, lane, consumed_here)) return false;
      position = p;
      return true;
    };
    // If the newest kernel walks rows and the node has one value for each row, the node joins this kernel. A separate kernel would cost more.
    const int last = at_.size() - 1;
    const bool is_later = last >= 0 && (bound < 0 || last > bound / 2);
    const bool per_row = is_later && at_.data()[last].space != walked && is_row_shape(at_.data()[last], g_.shapes[walked]);
    const bool would_lift = per_row && shares && reduces && at_.data()[bound / 2].space != walked;
    const bool joined = !alone && ((would_lift && joins_at(last, false)) || (shares && joins_at(bound / 2, true)) ||
                                   (candidate >= 0 && (bound < 0 || candidate > bound / 2) && joins_at(candidate, false)) || (per_row && joins_at(last, false)));
    if (!joined) {
      fusion_group fresh{.lane = lane_of_kernel(g_, id), .space = walked, .position = at_.size()};
      joins(fresh, n, lane, false);
      position = at_.push_back(fresh);
      recent_.data()[walked] = position;
    }
    fusion_group& c = at_.data()[position];
    ++c.nodes;
    if (notes_[id].needed_by == position) --c.open;
    of_.data()[id] = position;
    if (reduces) {
      recent_.data()[c.space] = position;
      ++c.row_reductions;
    }
    const int least = 2 * position + (reads_memory(g_, n) ? 1 : 0);
    for (int k = 0; k < n.arity; ++k) {
      const ir::node_id below = root_.data()[n.in[k]];
      note &operand = notes_[n.in[k]], &root = notes_[below];
      if (least > operand.lower) operand.lower = least;
      if (root.reader != position) read(below, position);
      const ir::opcode op = g_.nodes[n.in[k]].op;
      if (operand.loaded_by != position && (is_source(op) || is_view(op))) operand.loaded_by = position, ++c.loads;
      if (root.needed_by == position || g_.nodes[below].op == ir::opcode::constant) continue;
      root.needed_by = position;
      ++c.open;
    }
  }

  /// Whether the loops walk samples, so that each node is one number of a sample.
  constexpr bool walks_samples(const fusion_group& c) const {
    const extents& s = g_.shapes[c.space];
    bool noted = false;
    for (int i = 0; i < g_.samples.count; ++i) noted = noted || (s.rank == 2 && s[1] == 1 && s[0] == g_.samples.at[i]);
    return noted;
  }

  /// Whether the node can be computed in c. If so, sets the space and the row of c as the node needs them. `consumed_here`: a consumer in c reads
  /// the value from a register.
  constexpr bool joins(fusion_group& c, const ir::node& n, dtype lane, bool consumed_here) {
    const bool many = g_.samples.count > 0 && walks_samples(c);
    const bool holds = many ? c.nodes < costs::numbers_per_kernel && c.loads < costs::loads_per_kernel : c.nodes < costs::nodes_per_kernel;
    const bool has_room = c.alone == ir::none && holds && (c.open < (many ? costs::more_reads_of_numbers : 1) * costs::reads_per_kernel || (n.arity <= 1 && consumed_here));
    const bool is_logic = n.type == dtype::boolean && n.op >= ir::opcode::pointwise && lane == dtype::boolean;
    if (!has_room || (lane != c.lane && !is_logic)) return false;
    const bool fresh = c.nodes == 0;
    const extents& space = g_.shapes[c.space];
    if (n.op != ir::opcode::reduce) return n.shape == c.space || is_row_shape(c, g_.shapes[n.shape]);

    if (c.row_reductions >= costs::row_reductions_per_kernel) return false;
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
    // A kernel over the results of the reduction, one for each row, becomes a kernel over the elements of the rows.
    const bool lifts = consumed_here && !fresh && !c.decided() && c.space == n.shape && ends_row(axes, g_.shapes[walked]);
    if (!lifts) return false;
    c.space = walked;
    c.inner = axes;
    return true;
  }

  ir::graph_view g_;
  ir::array<note> all_notes_;
  note* notes_;
  ir::array<std::int32_t> of_;
  ir::array<ir::node_id> root_;
  ir::array<std::int32_t> recent_;  // for each shape: the newest kernel that walks it
  ir::array<fusion_group> at_;
  ir::array<ir::node_id> concats_;
};

constexpr fusion_groups fuse(const ir::graph_view& g) { return fuser(g).run(); }

}  // namespace tenure::passes
