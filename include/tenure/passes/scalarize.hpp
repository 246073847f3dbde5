// SPDX-License-Identifier: BSL-1.0
// Rewrites small functions over many samples, and arrays of few numbers of one sample. vmap adds the axis of the samples to each operation. So a camera or a 3 x 3 matrix becomes many steps
// over arrays [samples, few numbers], whose rows are shorter than a register. This pass replaces such an array by one node [samples, 1] for each
// number of a sample. These nodes share one kernel, whose lanes are samples. The kernel reads and writes the arrays by strides, and intermediate
// values stay in registers. Slices, concats, permutations and the zeros of pads disappear.
// Law: scalarize keeps infinities and NaN in their places, and keeps values up to rounding.
// Cost: a node for each number. A region with more than max_scalar_operations stays as it is.
#pragma once

#include <tenure/passes/algebra.hpp>
#include <tenure/passes/costs.hpp>
#include <tenure/passes/layout.hpp>
#include <tenure/passes/order_of_scalars.hpp>
#include <tenure/passes/scalar_regions.hpp>

namespace TENURE_NAMESPACE::passes {

inline constexpr limits_of_region limits_of_one_sample{costs::max_numbers_of_one, costs::max_product_of_one};

namespace rules {
/// Whether x is a product with a negated factor. As an operand of a sum it is subtracted without the sign. Derivatives of differences and quotients
/// end with such products.
constexpr bool is_negative_product(const value& x) {
  return x.node().op == opcode::mul && (operand_of(x, 0).node().op == opcode::neg || operand_of(x, 1).node().op == opcode::neg);
}
constexpr value without_sign(const value& x) {
  const value a = operand_of(x, 0), b = operand_of(x, 1);
  return a.node().op == opcode::neg ? operand_of(a, 0) * b : a * operand_of(b, 0);
}
constexpr node_id simplest_number(ir::builder& g, const ir::node& n) {
  if (n.op == opcode::add || n.op == opcode::sub) {
    const value x{g, n.in[0]}, y{g, n.in[1]};
    if (is_negative_product(y)) return n.op == opcode::add ? (x - without_sign(y)).id : (x + without_sign(y)).id;
    if (n.op == opcode::add && is_negative_product(x)) return (y - without_sign(x)).id;
  }
  return simplest(g, n);
}
}  // namespace rules

class scalarizer : scalar_regions {
 public:
  constexpr scalarizer(const ir::graph_view& g, std::int64_t samples, limits_of_region most = {})
      : scalar_regions(g, samples, most), out_(g, rules::simplest_number), scalar_(out_.intern(first_axis_ == 0 ? extents{0, {}} : extents{2, {samples, 1}})), is_scalarized_(g.count, 0), whole_(g.count, none), first_(g.count, none), has_map_(g.count, 0) {}

  constexpr ir::builder run() {
    for (node_id id = 0; id < g_.count; ++id) {
      const int region = region_of(id);
      is_scalarized_[id] = region != none && gains(region) && work(region) <= costs::max_scalar_operations;
    }
    ir::array<char> is_bounded(g_.count, 0);
    for (int i = 0; i < g_.bound_count; ++i) is_bounded[g_.bounds[i].indices] = 1;
    for (node_id id = 0; id < g_.count; ++id) {
      if (is_scalarized_[id]) {
        scalarize(id);
      } else {
        ir::node n = g_[id];
        for (int k = 0; k < n.arity; ++k) n.in[k] = whole(n.in[k]);
        whole_[id] = out_.emit(n);
      }
      for (int k = 0; is_bounded[id] && k < g_.bound_count; ++k)
        if (g_.bounds[k].indices == id) out_.keep_bound(g_.bounds[k], whole(id));
    }
    for (int i = 0; i < g_.output_count; ++i) out_.output(whole(g_.outputs[i]));
    out_.keep_backward(g_, whole_);
    return static_cast<ir::builder&&>(out_);
  }

 private:
  // ---- arrays and their numbers --------------------------------------------------------------------------------------

  /// The position of an element in row-major order, given its indices. With first_axis_ it is the position within the sample.
  static constexpr std::int64_t position(const extents& s, const std::int64_t* index, int first) {
    std::int64_t at = 0;
    for (int a = first; a < s.rank; ++a) at = at * s[a] + index[a];
    return at;
  }
  static constexpr void indices(const extents& s, std::int64_t position, std::int64_t* index, int first) {
    for (int a = s.rank - 1; a >= first; --a) {
      index[a] = position % s[a];
      position /= s[a];
    }
  }

  /// The position in the operand of the element of a view at `index`. Without its axis of samples if index[0] is 0.
  constexpr std::int64_t below(node_id view, const std::int64_t* index) {
    const ir::node& n = g_[view];
    if (!has_map_[view]) maps_.enter(g_, view, row_major(n.in[0], g_.shape_of(n.in[0])));
    has_map_[view] = 1;
    const layout& map = maps_.of(view);
    std::int64_t at = map.offset.factor;
    for (int a = 0; a < g_.shapes[n.shape].rank; ++a) at += index[a] * map.stride[a].factor;
    return at;
  }

  /// A slice of x with one element along each axis from `first` on. `position` is the position of the element in row-major order.
  constexpr ops::value element_of(ops::value x, int first, std::int64_t position) {
    const extents s = x.shape();
    for (int a = s.rank - 1; a >= first; --a) {
      if (s[a] == 1) continue;
      x = ops::sliced(x, a, position % s[a], 1, 1);
      position /= s[a];
    }
    return x;
  }

  /// Number `at` of each sample of a node: [samples, 1].
  constexpr node_id scalar_of(node_id id, std::int64_t at) {
    const ir::node& n = g_[id];
    if (n.op == opcode::constant) return out_.constant_bits(n.type, scalar_, n.attr);
    if (first_[id] == none) {
      first_[id] = scalars_.size();
      scalars_.resize(scalars_.size() + static_cast<int>(scalars(id)), none);
    }
    const int slot = first_[id] + static_cast<int>(at);
    if (scalars_[slot] == none) scalars_[slot] = ops::reshape_to(element_of({out_, whole_[id]}, first_axis_, at), extents(out_.shape(scalar_))).id;
    return scalars_[slot];
  }
  /// Element `at` of an array that all samples share, repeated for each sample.
  constexpr node_id shared_scalar(node_id id, std::int64_t at) {
    if (double known = 0; is_known(id, at, known)) return out_.constant(g_[id].type, scalar_, known);
    const ops::value one = ops::reshape_to(element_of({out_, whole(id)}, 0, at), {});
    return ops::broadcast_along(one, scalar_, 0).id;
  }
  /// Computes element `at` of an array if it is known at compile time, as in the unit vectors of a Jacobian. Then products with it are simplified.
  constexpr bool is_known(node_id id, std::int64_t at, double& found) {
    const ir::node& n = g_[id];
    const extents& s = g_.shapes[n.shape];
    if (n.op == opcode::constant) {
      found = ir::value_of(n);
      return is_floating(n.type) || tenure::number::is_exact_in_double(n.attr);
    }
    std::int64_t index[max_rank + 1] = {};
    indices(s, at, index, 0);
    const int axis = static_cast<int>(n.attr);
    if (is_view(n.op)) return all_static(g_.shape_of(n.in[0])) && is_known(n.in[0], below(id, index), found);
    switch (n.op) {
      case opcode::iota: found = static_cast<double>(index[axis]); return true;
      case opcode::pad:
        if (!all_static(g_.shape_of(n.in[0]))) return false;
        found = 0;
        return !padded_from(n, g_.shape_of(n.in[0])[axis], index[axis]) || is_known(n.in[0], position(g_.shape_of(n.in[0]), index, 0), found);
      case opcode::cast: {
        ir::node constant{.type = g_[n.in[0]].type};
        if (!is_known(n.in[0], at, found)) return false;
        constant.attr = ir::bits_of(constant.type, found);
        return rules::cast_constant(constant, n.type, found);
      }
      default: break;
    }
    if (n.op != ops::code_of<ops::equal>()) return false;
    double other = 0;
    if (!is_known(n.in[0], at, found) || !is_known(n.in[1], at, other)) return false;
    found = found == other;
    return true;
  }
  /// Whether position `at` of a padded axis is an element of the operand, which has `extent` elements. If so, `at` becomes the position in the operand.
  static constexpr bool padded_from(const ir::node& pad, std::int64_t extent, std::int64_t& at) {
    const std::int64_t behind = at - pad.start, from = behind / pad.step;
    if (behind % pad.step != 0 || from < 0 || from >= extent) return false;
    at = from;
    return true;
  }
  /// The node as an array.
  constexpr node_id whole(node_id id) {
    if (whole_[id] != none) return whole_[id];
    if (is_view_of_whole(id)) {
      ir::node n = g_[id];
      n.in[0] = whole(n.in[0]);
      return whole_[id] = out_.emit(n);
    }
    const auto row = [&](std::int64_t n) { return first_axis_ == 0 ? extents{1, {n}} : extents{2, {samples_, n}}; };
    // An element of another array is copied as a number, by the kernel that computes the others.
    const auto number = [&](std::int64_t i) {
      node_id x = scalar_of(id, i);
      const opcode op = out_[below_reshapes(out_, x)].op;
      if (first_axis_ == 0 && op != opcode::constant && !is_fused(op)) x = out_.emit({.op = opcode::copy, .type = g_[id].type, .arity = 1, .shape = scalar_, .in = {x, none, none}});
      return ops::reshape_to({out_, x}, row(1));
    };
    ops::value all = number(0);
    for (std::int64_t i = 1; i < scalars(id); ++i) {
      const std::int16_t longer = out_.intern(row(i + 1));
      const node_id next = number(i).id;
      all = {out_, out_.emit({.op = opcode::concat, .type = g_[id].type, .arity = 2, .shape = longer, .in = {all.id, next, none}, .attr = first_axis_})};
    }
    return whole_[id] = ops::reshape_to(all, extents(g_.shape_of(id))).id;
  }

  /// Whether an array is the same elements as one that is put together anyway, in another order or shape. A result gets its own array.
  constexpr bool is_view_of_whole(node_id id) const {
    const ir::node& n = g_[id];
    if (!is_assembled(id) || (n.op != opcode::reshape && n.op != opcode::permute) || scalars(n.in[0]) == 1) return false;
    for (int i = 0; i < g_.output_count; ++i)
      if (g_.outputs[i] == id) return whole_[n.in[0]] != none;
    return true;
  }

  // ---- the numbers of a node -----------------------------------------------------------------------------------------

  constexpr void scalarize(node_id id) {
    ir::array<node_id> found;
    for (std::int64_t i = 0; i < scalars(id); ++i) found.push_back(scalar(id, i));
    first_[id] = scalars_.size();
    for (const node_id x : found) scalars_.push_back(x);
  }

  constexpr ops::value at(node_id id, std::int64_t i) { return {out_, scalar_of(id, i)}; }
  constexpr ops::value at(node_id id, const std::int64_t* index) { return at(id, position(g_.shape_of(id), index, first_axis_)); }

  constexpr node_id scalar(node_id id, std::int64_t i) {
    if (const shared_product p = shared_product_of(id); p.rows != none) return product(p, i);
    ir::node n = g_[id];
    if (double known = 0; is_known_to_compiler(id) && is_known(id, i, known)) return out_.constant(n.type, scalar_, known);
    std::int64_t index[max_rank + 1] = {};
    const extents& s = g_.shapes[n.shape];
    indices(s, i, index, first_axis_);
    const int axis = static_cast<int>(n.attr);
    if (is_view(n.op)) {
      const bool is_shared = n.op == opcode::broadcast && sample_axis(n) < 0;
      return is_shared ? shared_scalar(n.in[0], below(id, index)) : scalar_of(n.in[0], below(id, index));
    }
    switch (n.op) {
      case opcode::pad: return padded_from(n, g_.shape_of(n.in[0])[axis], index[axis]) ? at(n.in[0], index).id : out_.constant(n.type, scalar_, 0);
      case opcode::concat: {
        const std::int64_t first = g_.shape_of(n.in[0])[axis];
        if (index[axis] < first) return at(n.in[0], index).id;
        index[axis] -= first;
        return at(n.in[1], index).id;
      }
      case opcode::reduce: return reduced(n, index);
      case opcode::matmul: return product(n, index);
      default: break;
    }
    n.shape = scalar_;
    for (int k = 0; k < n.arity; ++k) n.in[k] = scalar_of(n.in[k], i);
    return out_.emit(n);
  }

  constexpr node_id reduced(const ir::node& n, const std::int64_t* index) {
    const extents& s = g_.shape_of(n.in[0]);
    std::int64_t from[max_rank + 1] = {};
    ops::value all;
    for (std::int64_t i = 0; i < scalars(n.in[0]); ++i) {
      indices(s, i, from, first_axis_);
      bool is_term = true;
      for (int a = first_axis_, kept = first_axis_; a < s.rank; ++a)
        if (!((n.attr >> a) & 1)) is_term = is_term && from[a] == index[kept++];
      if (!is_term) continue;
      const ops::value x = at(n.in[0], i);
      all = all.id == none ? x : rules::combined(static_cast<ir::reduction>(n.start), all, x);
    }
    return all.id;
  }
  constexpr node_id product(const ir::node& n, const std::int64_t* index) {
    const int last = g_.shape_of(n.in[0]).rank - 1;
    const std::int64_t terms = g_.shape_of(n.in[0])[last];
    std::int64_t of_left[max_rank + 1] = {}, of_right[max_rank + 1] = {};
    for (int a = first_axis_; a < last; ++a) of_left[a] = of_right[a] = index[a];
    of_right[last] = index[last];
    ops::value sum;
    for (std::int64_t k = 0; k < terms; ++k) {
      of_left[last] = of_right[last - 1] = k;
      sum = plus_product(sum, at(n.in[0], of_left), at(n.in[1], of_right));
    }
    return sum.id;
  }
  constexpr node_id product(const shared_product& p, std::int64_t i) {
    const std::int64_t terms = g_.shape_of(p.matrix)[0], columns = g_.shape_of(p.matrix)[1];
    ops::value sum;
    for (std::int64_t k = 0; k < terms; ++k)
      sum = plus_product(sum, at(p.rows, i / columns * terms + k), {out_, shared_scalar(p.matrix, k * columns + i % columns)});
    return sum.id;
  }
  static constexpr ops::value plus_product(ops::value sum, ops::value x, ops::value y) {
    const ops::value term = x * y;
    return sum.id == none ? term : sum + term;
  }

  ir::builder out_;
  std::int16_t scalar_;
  ir::array<char> is_scalarized_;
  ir::array<node_id> whole_;    // for each node: the array in the new graph, or none
  ir::array<int> first_;        // for each node: the position of its first number in scalars_, or none
  ir::array<node_id> scalars_;
  ir::array<char> has_map_;  // for each view: whether maps_ has its positions in its operand
  layouts maps_;
};

/// Whether a function without vmap has a region whose arrays should be numbers.
constexpr bool has_numbers_in_arrays(const ir::graph_view& g) {
  ir::array<std::int64_t> scalars;
  for (int s = 0; s < g.shape_count; ++s) scalars.push_back(all_static(g.shapes[s]) ? count(g.shapes[s]) : 0);
  bool is_possible = false;
  scalar_regions::for_each_crossing(g, scalars.data(), [&](node_id id) {
    const std::int64_t n = scalars[g[id].shape];
    is_possible = is_possible || (n > 0 && n <= costs::max_numbers_of_one);
  });
  for (node_id id = 0; id < g.count && !is_possible; ++id)
    is_possible = scalars[g[id].shape] > 0 && scalars[g[id].shape] <= costs::max_assembled_of_one && scalar_regions::is_separate_step(g, scalars.data(), id);
  if (!is_possible) return false;
  const scalar_regions regions(g, scalar_regions::one_sample, limits_of_one_sample);
  for (node_id id = 0; id < g.count; ++id)
    if (const int region = regions.region_of(id); region == id && regions.gains(region) && regions.work(region) <= costs::max_scalar_operations) return true;
  return false;
}

/// Whether a node has a sample axis of at least `least` samples. A run-time number of samples counts as enough. A body has the notes of the whole program.
constexpr bool may_scalarize(const ir::graph_view& g, std::int64_t least = costs::min_samples) {
  for (int i = 0; i < g.samples.count; ++i) {
    const std::int64_t samples = g.samples.at[i];
    for (node_id id = 0; id < g.count && (!is_static(samples) || samples >= least); ++id)
      if (const extents& s = g.shape_of(id); s.rank > 0 && s[0] == samples) return true;
  }
  return g.samples.count == 0 && has_numbers_in_arrays(g);
}

/// Replaces arrays of few numbers for each sample by nodes of one number for each sample, where a vmap has at least `least` >= 2 samples.
constexpr ir::builder scalarize(const ir::graph_view& g, std::int64_t least = costs::min_samples) {
  if (g.samples.count == 0) return dead_code(scalarizer(cse(g).view(), scalar_regions::one_sample, limits_of_one_sample).run().view());
  ir::builder now = cse(g);
  for (int i = 0; i < g.samples.count; ++i) {
    const bool has_many = !is_static(g.samples.at[i]) || g.samples.at[i] >= least;
    if (!has_many) continue;
    now = dead_code(scalarizer(now.view(), g.samples.at[i]).run().view());
    now = in_order_of_use(now.view(), g.samples.at[i]);
    now = in_order_of_latency(now.view(), g.samples.at[i]);
  }
  return now;
}

}  // namespace tenure::passes
