// SPDX-License-Identifier: BSL-1.0
// Inserts copies of values that need a separate buffer:
// - an output that is an argument, a constant, a view, or the same value as an earlier output (a reshape of a computed value needs no copy);
// - a view below a reshape that strides cannot express, or below a slice whose offset is not one product of a number and symbols;
// - a constant, an iota or an extent that a step reads which is no kernel;
// - indices that need a check and are not an argument;
// - an operand of concat that cannot be computed in its part of the result;
// - an operand of a control-flow operation that is not row-major.
// Law: materialize keeps the meaning. Afterwards every reshape has an operand whose elements are adjacent, in order, and every output has its own memory. Every
// operand of a concat is computed by a kernel or a product or is a concat, or it is a reshape of such a node, and it is an operand of no other concat.
// Law: a check of an index that the numbers of a call decide stands before all other steps.
#pragma once

#include <tenure/passes/layout.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// Whether a node is row-major in memory in every call: the program computes it, or it is an argument that is not strided (a strided argument has start == 1).
constexpr bool is_row_major(const ir::builder& g, ir::node_id id) {
  id = below_reshapes(g, id);
  return is_fused(g[id].op) || is_step(g[id].op) || is_result(g[id].op) || g[id].op == ir::opcode::concat || (g[id].op == ir::opcode::input && g[id].start == 0);
}

/// Whether the elements of a view are adjacent in memory, in order: the node below is row-major, and slices take neighbours along the first axis of more than one
/// element. So the matrix of one layer, reshape(w[i]), is read in the place where it lies.
constexpr bool is_one_piece(const ir::builder& g, ir::node_id id) {
  for (; g[id].op == ir::opcode::reshape || g[id].op == ir::opcode::slice; id = g[id].in[0]) {
    if (g[id].op == ir::opcode::reshape) continue;
    const extents& s = g.shape_of(g[id].in[0]);
    for (int a = 0; a < static_cast<int>(g[id].attr); ++a)
      if (s[a] != 1) return false;
    if (g[id].step != 1) return false;
  }
  return is_row_major(g, id);
}

/// Whether the sum of the offset of a slice and the offset of its operand is one product of a number and symbols. 2 * d1 + 3 is not.
constexpr bool offsets_add(const layout& from, const ir::node& slice) {
  const symbolic_size moved = from.stride[static_cast<int>(slice.attr)] * symbolic_size{slice.start, 0};
  return moved.factor == 0 || from.offset.factor == 0 || moved.symbols == from.offset.symbols;
}

/// Chooses the operands of concats that are computed directly in their parts of the result. Other operands are copied:
/// - An operand must be the result of a kernel that stores by strides, or of a product. Reductions accumulate in separate memory.
/// - A product, an operand that a control-flow operation reads, or a reshape that strides cannot express, must be one row-major piece of the concat.
/// - An operand must begin at an offset that is a number. Other offsets can be sums of extents, and a symbolic_size is only a product. For the same
///   reason the strides of the concat must be numbers if a slice of the operand is read.
class parts_of_concats {
 public:
  constexpr explicit parts_of_concats(const ir::graph_view& g) : g_(g) {
    bool any = false;
    for (ir::node_id id = 0; id < g.count && !any; ++id) any = g.nodes[id].op == ir::opcode::concat;
    if (!any) return;
    is_taken_.resize(g.count, 0);
    stays_whole_.resize(g.count, 0);
    is_sliced_.resize(g.count, 0);
    for (ir::node_id id = 0; id < g.count; ++id)
      if (g.nodes[id].op == ir::opcode::reshape && !same_but_ones(g.shapes[g.nodes[id].shape], g.shape_of(g.nodes[id].in[0]))) stays_whole_[below_slices(id)] = 1;
    for (ir::node_id id = 0; id < g.count; ++id)
      for (int k = 0; g.nodes[id].op == ir::opcode::tuple && k < g.nodes[id].arity; ++k) stays_whole_[memory_of(g.nodes[id].in[k])] = 1;
    for (ir::node_id id = 0; id < g.count; ++id)
      if (g.nodes[id].op == ir::opcode::slice && g.nodes[id].start != 0) is_sliced_[below_views(g, id)] = 1;
    for (int i = 0; i < g.output_count; ++i) is_taken_[memory_of(g.outputs[i])] = 1;
  }

  /// Whether the operand is computed in place. Call this function once for each operand of each concat, in order. `op`: the opcode of the node that
  /// now computes the operand, below reshapes.
  constexpr bool take(ir::node_id concat, ir::node_id operand, ir::opcode op) {
    const ir::node_id part = memory_of(operand);
    const bool is_product = op == ir::opcode::matmul;
    if (is_taken_.size() == 0 || is_taken_[part] || !(is_product || stores_by_strides(op))) return false;
    const int k = operand == g_[concat].in[0] ? 0 : 1;
    if (op == ir::opcode::concat ? !has_known_offsets(concat) || !has_known_offsets(part) : !has_known_offset(concat, k)) return false;
    if (is_sliced_[part] && !has_known_strides(concat)) return false;
    bool in_one_piece = true;
    for (int a = 0; a < g_[concat].attr; ++a) in_one_piece = in_one_piece && g_.shape_of(concat)[a] == 1;
    const bool stays_whole = is_product || stays_whole_[part];
    if (stays_whole && !in_one_piece) return false;
    if (stays_whole) stays_whole_[concat] = 1;
    is_taken_[part] = 1;
    return true;
  }

 private:
  /// Whether the parts of a concat, and their parts if they are concats, begin at offsets that are numbers.
  constexpr bool has_known_offsets(ir::node_id concat) const { return is_static_from(concat, static_cast<int>(g_[concat].attr)); }
  /// Whether part k of a concat begins at an offset that is a number.
  constexpr bool has_known_offset(ir::node_id concat, int k) const {
    const int axis = static_cast<int>(g_[concat].attr);
    return k == 0 || (is_static(g_.shape_of(g_[concat].in[0])[axis]) && is_static_from(concat, axis + 1));
  }
  /// Whether the offset of a slice of a part is a number.
  constexpr bool has_known_strides(ir::node_id concat) const { return is_static_from(concat, 1); }
  constexpr bool is_static_from(ir::node_id concat, int axis) const {
    const extents& s = g_.shape_of(concat);
    for (int a = axis; a < s.rank; ++a)
      if (!is_static(s[a])) return false;
    return true;
  }
  constexpr ir::node_id memory_of(ir::node_id id) const { return below_reshapes(g_, id); }
  /// The node that a reshape of slices reads in place, if they are one piece of it.
  constexpr ir::node_id below_slices(ir::node_id id) const {
    while (g_[id].op == ir::opcode::reshape || g_[id].op == ir::opcode::slice) id = g_[id].in[0];
    return id;
  }

  ir::graph_view g_;
  ir::array<char> is_taken_, stays_whole_, is_sliced_;  // for each node; empty if the graph has no concat
};

/// The graph without barriers. cse ran before, so no later pass merges the nodes that barriers kept apart.
constexpr ir::builder without_barriers(const ir::graph_view& g) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  for (int i = 0; i < g.count; ++i) renamed[i] = g[i].op == ir::opcode::barrier ? renamed[g[i].in[0]] : out.emit(with_renamed_operands(g[i], renamed.data()));
  finish(g, renamed, out);
  return out;
}

/// Marks the inputs, the indices that must be checked, if they are single numbers, and the single numbers from which they are computed. An index that an element of
/// an array decides is not marked. A result that is written before the last check is copied, because a call that is refused writes none: a ring buffer would be
/// copied for `position + 1`.
constexpr ir::array<char> numbers_of_checks(const ir::graph_view& g, const ir::array<char>& is_bounded) {
  ir::array<char> marks(g.count, 0), is_number(g.count, 0);
  for (int i = 0; i < g.count; ++i) {
    const ir::node& n = g.nodes[i];
    bool number = g.shapes[n.shape].rank == 0 && (is_source(n.op) || n.op >= ir::opcode::pointwise);
    for (int k = 0; k < n.arity; ++k) number = number && is_number[n.in[k]];
    is_number[i] = number;
  }
  for (int i = g.count - 1; i >= 0; --i) {
    if (is_number[i] && is_bounded[i]) marks[i] = 1;
    if (g.nodes[i].op == ir::opcode::input) marks[i] = 1;
    for (int k = 0; marks[i] && k < g.nodes[i].arity; ++k) marks[g.nodes[i].in[k]] = 1;
  }
  return marks;
}

/// Whether a graph joins computed numbers, as the functions of one sample do whose arrays are numbers in registers.
constexpr bool joins_numbers(const ir::graph_view& g) {
  for (int i = 0; i < g.count; ++i)
    for (int k = 0; g[i].op == ir::opcode::concat && k < 2; ++k) {
      const node_id part = below_reshapes(g, g[i].in[k]);
      if (is_fused(g[part].op) && g.shape_of(part).rank == 0) return true;
    }
  return false;
}

constexpr ir::builder materialize(const ir::graph_view& g) {
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].op == ir::opcode::barrier) return materialize(without_barriers(g).view());
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  layouts views;
  const bool adds_run_time_offsets = g.symbol_count > 0;
  const auto copy = [&](node_id of) {
    return out.emit({.op = ir::opcode::copy, .type = out[of].type, .arity = 1, .shape = out[of].shape, .in = {of, none, none}});
  };
  const auto root_of = [&](node_id id) -> const ir::node& { return out[below_views(out, id)]; };
  // The copy of a constant or a number has the shape below the reshapes: that of the kernel that computes the neighbouring parts, so this kernel stores it too.
  // Beside computed numbers one constant is a number.
  const bool has_numbers = joins_numbers(g);
  const auto copy_of_part = [&](node_id id) {
    node_id below = below_reshapes(out, id);
    const bool is_one = all_static(out.shape_of(id)) && count(out.shape_of(id)) == 1;
    const bool is_constant = out[below].op == ir::opcode::constant && same_but_ones(out.shape_of(below), out.shape_of(id));
    if (is_constant && is_one && has_numbers) below = out.constant_bits(out[below].type, out.intern({}), out[below].attr);
    const bool moves = is_constant || (is_one && out.shape_of(below).rank == 0 && is_fused(out[below].op));
    return moves ? ops::reshape_to({out, copy(below)}, extents(out.shape_of(id))).id : copy(id);
  };
  const auto rootless = [&](node_id id) { return is_source(root_of(id).op) && root_of(id).op != ir::opcode::input; };
  parts_of_concats parts(g);
  ir::array<char> is_bounded(g.count, 0), has_bound(g.count, 0);
  for (int i = 0; i < g.bound_count; ++i) {
    if (!g.bounds[i].is_checked) is_bounded[g.bounds[i].indices] = 1;
    has_bound[g.bounds[i].indices] = 1;
  }
  const auto check_if_bounded = [&](int i) {
    if (!is_bounded[i] || (!g.is_body && root_of(renamed[i]).op == ir::opcode::input)) return;
    if (rootless(renamed[i])) renamed[i] = copy(renamed[i]);
    renamed[i] = out.emit({.op = ir::opcode::check, .type = g[i].type, .arity = 1, .shape = g[i].shape, .in = {renamed[i], none, none}});
  };
  const ir::array<char> is_first = numbers_of_checks(g, is_bounded);
  for (int i = 0; i < g.count; ++i)
    if (is_first[i]) renamed[i] = out.emit(with_renamed_operands(g[i], renamed.data()));
  for (int i = 0; i < g.count; ++i)  // afterwards, so that one kernel computes all of these numbers
    if (is_first[i]) check_if_bounded(i);
  for (int i = 0; i < g.count; ++i) {
    if (is_first[i]) continue;
    ir::node n = with_renamed_operands(g[i], renamed.data());
    if (n.op == ir::opcode::reshape && !is_one_piece(out, n.in[0]) && !same_but_ones(out.shape(n.shape), out.shape_of(n.in[0])))
      n.in[0] = copy(n.in[0]);
    if (n.op == ir::opcode::slice && adds_run_time_offsets && is_view(out[n.in[0]].op) && !offsets_add(views.of(n.in[0]), n)) n.in[0] = copy(n.in[0]);
    if (is_step(n.op))
      for (int k = 0; k < n.arity; ++k)
        if (rootless(n.in[k])) {
          n.in[k] = copy(n.in[k]);
          if (has_bound[g[i].in[k]]) renamed[g[i].in[k]] = n.in[k];  // an extent as a start: the bound speaks of what the step reads
        }
    if (n.op == ir::opcode::tuple)
      for (int k = 0; k < n.arity; ++k)
        if (out[n.in[k]].op != ir::opcode::tuple && !is_row_major(out, n.in[k])) n.in[k] = copy(n.in[k]);
    if (n.op == ir::opcode::concat)
      for (int k = 0; k < 2; ++k)
        if (!parts.take(i, g[i].in[k], out[below_reshapes(out, n.in[k])].op)) n.in[k] = copy_of_part(n.in[k]);
    renamed[i] = out.emit(n);
    if (adds_run_time_offsets && is_view(n.op)) views.enter(out.view(), renamed[i], is_view(out[n.in[0]].op) ? views.of(n.in[0]) : layout_of_root(out.view(), n.in[0]));
    check_if_bounded(i);
  }
  ir::array<char> taken(out.count() + g.output_count, 0);
  for (int i = 0; i < g.output_count; ++i) {
    node_id id = renamed[g.outputs[i]], memory = below_reshapes(out, id);
    if (taken[memory] || is_source(out[memory].op) || is_view(out[memory].op)) id = memory = copy(id);
    taken[memory] = 1;
    out.output(id);
  }
  for (int i = 0; i < g.bound_count; ++i) out.keep_bound(g.bounds[i], renamed[g.bounds[i].indices]);
  out.keep_backward(g, renamed);
  return out;
}

}  // namespace tenure::passes
