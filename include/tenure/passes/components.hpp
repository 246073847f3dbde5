// SPDX-License-Identifier: BSL-1.0
// Arrays of points, colours and complex numbers have a last axis of a few elements, shorter than a register. A kernel would run a loop of a few elements for
// each row. This pass replaces such an array [..., 3] by its components, three arrays [...], where an operation sums over the short axis or spreads along it.
// The rows of the kernels are then long. Kernels load and store the components of an array in memory together (transposed.hpp).
// Law: components keeps infinities and NaN in their places, and keeps values up to rounding.
// Cost: a node for each component of each array of a region.
#pragma once

#include <tenure/passes/algebra.hpp>
#include <tenure/passes/costs.hpp>
#include <tenure/passes/layout.hpp>

namespace TENURE_NAMESPACE::passes {

class component_splitter {
 public:
  constexpr component_splitter(const ir::graph_view& g, std::int64_t least_rows)
      : g_(g), least_rows_(least_rows), out_(g, rules::simplest), is_split_(g.count, 0), whole_(g.count, none), first_(g.count, none) {}

  /// Whether any array has a short last axis and enough rows. Most programs have none, and this reads their shapes alone.
  static constexpr bool has_tables(const ir::graph_view& g, std::int64_t least_rows) {
    for (int s = 0; s < g.shape_count; ++s)
      if (length(g.shapes[s]) != 0 && has_many_rows(g.shapes[s], least_rows)) return true;
    return false;
  }

  /// Marks the arrays that become components. Returns whether there are any, or a sum over a short axis.
  constexpr bool choose() {
    ir::array<int> region(g_.count, none);  // union-find over eligible nodes; the root stands for the region
    const auto root = [&](int i) {
      while (region[i] != i) i = region[i] = region[region[i]];
      return i;
    };
    ir::array<char> gains(g_.count, 0);
    ir::array<std::int64_t> work(g_.count, 0);
    bool any = false;
    for (node_id id = 0; id < g_.count; ++id) {
      const ir::node& n = g_[id];
      if (is_sum_of_components(id) && keeps_rows(id)) {
        any = true;
        if (region[n.in[0]] != none) gains[root(n.in[0])] = 1;
      }
      if (!is_eligible(id)) continue;
      region[id] = id;
      for (int k = 0; k < n.arity; ++k) {
        if (region[n.in[k]] == none) continue;
        gains[id] = gains[id] || (!is_view(n.op) && is_gain(n.in[k]));
        const int other = root(n.in[k]);
        if (other == id) continue;
        gains[id] = gains[id] || gains[other];
        work[id] += work[other];
        region[other] = id;
      }
      work[id] += ops::is_pointwise(n.op) || n.op == opcode::reduce ? length(id) : 0;
    }
    for (node_id id = 0; id < g_.count; ++id)
      if (region[id] != none && gains[root(id)] && work[root(id)] <= costs::max_component_operations) is_split_[id] = any = true;
    return any;
  }

  constexpr ir::builder run() {
    ir::array<char> is_bounded(g_.count, 0);
    for (int i = 0; i < g_.bound_count; ++i) is_bounded[g_.bounds[i].indices] = 1;
    for (node_id id = 0; id < g_.count; ++id) {
      const ir::node& n = g_[id];
      if (is_split_[id]) {
        ir::array<node_id> found;
        for (std::int64_t k = 0; k < length(id); ++k) found.push_back(component(id, k));
        first_[id] = parts_.size();
        for (const node_id x : found) parts_.push_back(x);
      } else if (is_sum_of_components(id) && (is_split_[n.in[0]] || keeps_rows(id))) {
        whole_[id] = sum_of_components(n);
      } else if (is_component(id) && is_split_[n.in[0]]) {
        whole_[id] = ops::reshape_to({out_, number(n.in[0], n.start)}, extents(g_.shapes[n.shape])).id;
      } else {
        ir::node m = n;
        for (int k = 0; k < n.arity; ++k) m.in[k] = whole(n.in[k]);
        whole_[id] = out_.emit(m);
      }
      for (int k = 0; is_bounded[id] && k < g_.bound_count; ++k)
        if (g_.bounds[k].indices == id) out_.keep_bound(g_.bounds[k], whole(id));
    }
    for (int i = 0; i < g_.output_count; ++i) out_.output(whole(g_.outputs[i]));
    out_.keep_backward(g_, whole_);
    return static_cast<ir::builder&&>(out_);
  }

 private:
  using opcode = ir::opcode;

  // ---- the choice of nodes -------------------------------------------------------------------------------------------

  /// The number of components: the extent of a short last axis, or 0.
  static constexpr std::int64_t length(const extents& s) {
    if (s.rank == 0) return 0;
    const std::int64_t last = s[s.rank - 1];
    return is_static(last) && last > 1 && last <= costs::max_components ? last : 0;
  }
  constexpr std::int64_t length(node_id id) const { return length(g_.shape_of(id)); }
  static constexpr extents without_last(const extents& s) { return ops::without_axes(s, std::int64_t{1} << (s.rank - 1)); }
  constexpr int last_axis(node_id id) const { return g_.shape_of(id).rank - 1; }
  /// Whether there are enough rows. A run-time number of rows is enough.
  constexpr bool has_many_rows(node_id id) const { return has_many_rows(g_.shape_of(id), least_rows_); }
  static constexpr bool has_many_rows(const extents& s, std::int64_t least_rows) {
    const std::int64_t least = least_rows * length(s);
    std::int64_t rows = 1;
    for (int a = 0; a + 1 < s.rank; ++a) {
      if (!is_static(s[a])) return true;
      rows *= s[a];
    }
    return rows >= least;
  }

  /// A reduction of numbers along a short last axis, and possibly along others.
  constexpr bool is_sum_of_components(node_id id) const {
    const ir::node& n = g_[id];
    if (n.op != opcode::reduce || n.type == dtype::boolean || length(n.in[0]) == 0) return false;
    return ((n.attr >> last_axis(n.in[0])) & 1) != 0 && has_many_rows(n.in[0]);
  }
  /// Whether a reduction keeps the axis before the last one. Otherwise both are one long row.
  constexpr bool keeps_rows(node_id reduction) const {
    const ir::node& n = g_[reduction];
    int before = last_axis(n.in[0]) - 1;
    while (before >= 0 && g_.shape_of(n.in[0])[before] == 1) --before;
    return before >= 0 && ((n.attr >> before) & 1) == 0;
  }
  /// A slice with one element of a short last axis.
  constexpr bool is_component(node_id id) const {
    const ir::node& n = g_[id];
    return n.op == opcode::slice && length(n.in[0]) != 0 && n.attr == last_axis(n.in[0]) && g_.shapes[n.shape][static_cast<int>(n.attr)] == 1;
  }

  /// The axis of the operand of a broadcast that becomes the last axis, or -1 if the last axis is new.
  constexpr int axis_below_last(const ir::node& broadcast) const {
    for (int a = 0; a < g_.shape_of(broadcast.in[0]).rank; ++a)
      if (ir::unpack_axis(broadcast.attr, a) == g_.shapes[broadcast.shape].rank - 1) return a;
    return -1;
  }

  constexpr bool is_eligible(node_id id) const {
    const ir::node& n = g_[id];
    const int last = last_axis(id);
    if (length(id) == 0) return false;
    if (n.op == opcode::reduce) {
      // A kernel adds up the columns of an array [rows, 3] well. Sums of each component would need a step more that puts them together.
      const bool is_row = g_.shapes[n.shape].rank == 1;
      return !is_row && n.type != dtype::boolean && length(n.in[0]) == length(id) && ((n.attr >> last_axis(n.in[0])) & 1) == 0 && has_many_rows(n.in[0]);
    }
    if (!has_many_rows(id)) return false;
    switch (n.op) {
      case opcode::constant:
      case opcode::iota:
      case opcode::windows:
      case opcode::cast: return true;
      case opcode::slice:
      case opcode::pad:
      case opcode::concat: return is_static(g_.shape_of(n.in[0])[last]);
      case opcode::reshape: return length(n.in[0]) == length(id);
      case opcode::permute: return ir::unpack_axis(n.attr, last) == last;
      case opcode::broadcast: {
        const int from = axis_below_last(n);
        return from < 0 || g_.shape_of(n.in[0])[from] == 1 || (from == last_axis(n.in[0]) && length(n.in[0]) == length(id));
      }
      default: return ops::is_pointwise(n.op);
    }
  }
  /// Whether a kernel that reads the array has short rows: it repeats other axes than the last one. Where a short axis is only assembled from parts or cut into parts,
  /// kernels store and load the parts in place.
  constexpr bool is_gain(node_id id) const {
    const ir::node& n = g_[id];
    if (n.op != opcode::broadcast) return false;
    const int from = axis_below_last(n);
    const bool repeats_rows = from >= 0 && g_.shape_of(n.in[0])[from] != 1;
    return has_elements(n.in[0]) && (!repeats_rows || length(id) <= costs::max_components_of_shared_row);
  }
  /// Whether the node is an array, and not one number.
  constexpr bool has_elements(node_id id) const {
    const extents& s = g_.shape_of(id);
    for (int a = 0; a < s.rank; ++a)
      if (s[a] != 1) return g_[id].op != opcode::constant;
    return false;
  }

  // ---- arrays and their components -----------------------------------------------------------------------------------

  /// Element `at` of the last axis of an array, for all rows.
  constexpr node_id number(node_id id, std::int64_t at) {
    if (is_split_[id]) return parts_[first_[id] + static_cast<int>(at)];
    const ir::node& n = g_[id];
    const extents rows = without_last(g_.shapes[n.shape]);
    if (n.op == opcode::constant) return out_.constant_bits(n.type, out_.intern(rows), n.attr);
    const ops::value all{out_, whole(id)};
    const int last = rows.rank;
    return ops::reshape_to(all.shape()[last] == 1 ? all : ops::sliced(all, last, at, 1, 1), rows).id;
  }
  /// The node as an array.
  constexpr node_id whole(node_id id) {
    if (whole_[id] != none) return whole_[id];
    if (is_view(g_[id].op) || g_[id].arity == 0) {  // needs no memory
      ir::node n = g_[id];
      for (int k = 0; k < n.arity; ++k) n.in[k] = whole(g_[id].in[k]);
      return whole_[id] = out_.emit(n);
    }
    const int last = last_axis(id);
    extents one = g_.shape_of(id);
    one[last] = 1;
    ops::value all;
    for (std::int64_t k = 0; k < length(id); ++k) {
      const ops::value next = ops::reshape_to({out_, number(id, k)}, one);
      all = k == 0 ? next : ops::concatenated(all, next, last);
    }
    return whole_[id] = all.id;
  }

  /// Component k of a node that becomes components.
  constexpr node_id component(node_id id, std::int64_t k) {
    ir::node n = g_[id];
    const int last = last_axis(id), axis = static_cast<int>(n.attr);
    const extents rows = without_last(g_.shapes[n.shape]);
    const std::int16_t shape = out_.intern(rows);
    const bool along_last = axis == last;
    switch (n.op) {
      case opcode::constant: return out_.constant_bits(n.type, shape, n.attr);
      case opcode::iota: return along_last ? out_.constant(n.type, shape, static_cast<double>(k)) : ops::counting(out_, n.type, shape, axis).id;
      case opcode::reshape: return ops::reshape_to({out_, number(n.in[0], k)}, rows).id;
      case opcode::broadcast: return spread(n, shape, k);
      case opcode::windows: return ops::sliced({out_, whole(n.in[0])}, axis, k, rows[axis], n.step).id;
      case opcode::slice:
        if (along_last) return number(n.in[0], n.start + k * n.step);
        break;
      case opcode::pad:
        if (along_last) {
          const std::int64_t behind = k - n.start, from = behind / n.step;
          const bool is_zero = behind % n.step != 0 || from < 0 || from >= g_.shape_of(n.in[0])[last];
          return is_zero ? out_.constant(n.type, shape, 0) : number(n.in[0], from);
        }
        break;
      case opcode::concat:
        if (along_last) {
          const std::int64_t before = g_.shape_of(n.in[0])[last];
          return k < before ? number(n.in[0], k) : number(n.in[1], k - before);
        }
        break;
      default: break;
    }
    // The last axis stays last, so the other axes keep their numbers.
    n.shape = shape;
    if (n.op == opcode::permute) n.attr &= (std::int64_t{1} << (4 * last)) - 1;
    for (int i = 0; i < n.arity; ++i) {
      const node_id part = number(g_[id].in[i], k);
      n.in[i] = part;
    }
    return out_.emit(n);
  }
  constexpr node_id spread(const ir::node& n, std::int16_t shape, std::int64_t k) {
    const int from = axis_below_last(n);
    if (from < 0) return ops::broadcast_along({out_, whole(n.in[0])}, shape, n.attr).id;
    const extents& old = g_.shape_of(n.in[0]);
    std::int64_t axes = 0;
    extents rest;
    for (int a = 0; a < old.rank; ++a) {
      if (a == from) continue;
      axes = ir::pack_axis(axes, rest.rank, ir::unpack_axis(n.attr, a));
      rest.push_back(old[a]);
    }
    const ops::value part = old[from] == 1 ? ops::reshape_to({out_, whole(n.in[0])}, rest) : ops::value{out_, number(n.in[0], k)};
    return ops::broadcast_along(part, shape, axes).id;
  }

  constexpr node_id sum_of_components(const ir::node& n) {
    const auto kind = static_cast<ir::reduction>(n.start);
    ops::value all{out_, number(n.in[0], 0)};
    for (std::int64_t k = 1; k < length(n.in[0]); ++k) all = rules::combined(kind, all, {out_, number(n.in[0], k)});
    return ops::reduced(all, n.attr & ~(std::int64_t{1} << last_axis(n.in[0])), kind).id;
  }

  ir::graph_view g_;
  std::int64_t least_rows_;
  ir::builder out_;
  ir::array<char> is_split_;
  ir::array<node_id> whole_;  // for each node: the array in the new graph, or none
  ir::array<int> first_;      // for each node that becomes components: the position of the first one in parts_
  ir::array<node_id> parts_;
};

/// Whether components() changes the graph.
constexpr bool may_have_components(const ir::graph_view& g) {
  return component_splitter::has_tables(g, costs::min_rows_of_component) && component_splitter(g, costs::min_rows_of_component).choose();
}

/// Replaces arrays with a short last axis, and at least `least_rows` rows for each of its elements, by their components.
constexpr ir::builder components(const ir::graph_view& g, std::int64_t least_rows = costs::min_rows_of_component) {
  component_splitter split(g, least_rows);
  split.choose();
  const ir::builder found = split.run();
  return dead_code(found.view());
}

}  // namespace tenure::passes
