// SPDX-License-Identifier: BSL-1.0
// Regions of a graph that compute each sample of a vmap separately, from arrays of few numbers. scalarize.hpp makes numbers of a small region, and
// loops/samples_in_turn.hpp makes a loop of a large one. A function without vmap has one sample, and its arrays have no axis of samples.
#pragma once

#include <limits>

#include <tenure/ops/registry.hpp>
#include <tenure/passes/costs.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// The most elements of an array of a region for each sample, and the most operations of a product.
struct limits_of_region {
  std::int64_t elements = costs::max_scalars, operations = costs::max_scalar_operations;
};
/// What scalar_regions knows of an array of a function without vmap.
enum class origin_of_elements : char {
  memory,   // an argument, or a step
  numbers,  // computed numbers, elements of a small result of a step and constants, which slices, pads and concats put in their places
  known,    // constants and positions: the compiler knows each element
};

class scalar_regions {
 public:
  using opcode = ir::opcode;

  /// In place of an extent: the whole function is one sample.
  static constexpr std::int64_t one_sample = std::numeric_limits<std::int64_t>::max();

  constexpr scalar_regions(const ir::graph_view& g, std::int64_t samples, limits_of_region most = {})
      : g_(g), samples_(samples), first_axis_(samples == one_sample ? 0 : 1), most_(most), region_(g.count, none), work_(g.count, 0), gains_(g.count, 0), losses_(g.count, 0) {
    for (int s = 0; s < g_.shape_count; ++s) scalars_.push_back(scalars(g_.shapes[s]));
    if (first_axis_ == 0) origins_ = ir::array<origin_of_elements>(g.count, origin_of_elements::memory), has_gaps_ = ir::array<char>(g.count, 0);
    for (node_id id = 0; id < g_.count; ++id) {
      if (first_axis_ == 0) has_gaps_[id] = gaps(id), origins_[id] = origin(id);
      if (!is_eligible(id)) continue;
      region_[id] = id;
      const auto join = [&](node_id operand) {
        if (region_[operand] == none) return;
        const int other = root_of(operand), own = root_of(id);
        if (other != own) region_[other] = own;
      };
      for (int k = 0; k < g_[id].arity; ++k) join(g_[id].in[k]);
      if (const shared_product p = shared_product_of(id); p.rows != none) join(p.rows);
    }
    first_axis_ == 0 ? weigh_one_sample() : weigh_samples();
  }

  /// The node that stands for the region of this node, or none.
  constexpr int region_of(node_id id) const {
    const int* const region = region_.data();
    int i = region[id];
    while (i != none && region[i] != i) i = region[i];
    return i;
  }
  /// The operations of a region for each sample, and those of them that numbers in registers save.
  constexpr std::int64_t work(int region) const { return work_[region]; }
  constexpr std::int64_t gain_of_region(int region) const { return gains_[region]; }
  /// Calls found(id) for each crossing of one sample: a node that reads from memory, as an array, what was computed as numbers, or takes one number of an
  /// array that was computed as an array. scalars[s] is the number of elements of shape s.
  template <class Found>
  static constexpr void for_each_crossing(const ir::graph_view& g, const std::int64_t* scalars, const Found& found) {
    ir::array<char> of_numbers(g.count, 0), of_array(g.count, 0);  // has an element that was computed as a number; was computed as an array, or has a part of one
    char *const numbers = of_numbers.data(), *const array = of_array.data();
    for (node_id id = 0; id < g.count; ++id) {
      const ir::node& n = g.nodes[id];
      bool reads_numbers = false, reads_array = false;
      for (int k = 0; k < n.arity; ++k) reads_numbers = reads_numbers || numbers[n.in[k]], reads_array = reads_array || array[n.in[k]];
      const bool combines = n.op == opcode::reduce || n.op == opcode::matmul, computes = combines || ops::is_pointwise(n.op), is_number = scalars[n.shape] == 1;
      numbers[id] = computes ? is_number && !combines : reads_numbers;
      array[id] = computes ? !numbers[id] : reads_array;
      if (computes ? reads_numbers && !numbers[id] : n.op == opcode::slice && is_number && reads_array) found(id);
    }
  }
  /// Whether more operations are saved on short rows than lost on whole rows.
  constexpr bool gains(int region) const { return gains_[region] > 0 && gains_[region] >= losses_[region]; }
  /// The number of elements for one sample, or 0 if the array has no axis of samples or an extent is not static.
  constexpr std::int64_t scalars(const extents& s) const {
    if (first_axis_ == 1 && (s.rank == 0 || s[0] != samples_)) return 0;
    std::int64_t n = 1;
    for (int a = first_axis_; a < s.rank; ++a) n = is_static(s[a]) ? n * s[a] : 0;
    return n;
  }
  constexpr std::int64_t scalars(node_id id) const { return scalars_.data()[g_.nodes[id].shape]; }
  constexpr bool is_small(node_id id) const {
    const std::int64_t n = scalars(id);
    return n > 0 && n <= most_.elements;
  }

  /// The axis of samples of the operand of a broadcast, or -1 if all samples share the operand.
  constexpr int sample_axis(const ir::node& broadcast) const {
    if (first_axis_ == 0) return 0;
    const extents& from = g_.shape_of(broadcast.in[0]);
    for (int i = 0; i < from.rank; ++i)
      if (ir::unpack_axis(broadcast.attr, i) == 0 && from[i] != 1) return i;
    return -1;
  }

  /// A product of rows of samples with a matrix that all samples share: [samples, ..., k] x [k, n]. vmap makes one product of all rows, between
  /// reshapes of its left operand and of its result.
  struct shared_product {
    node_id rows = none, matrix = none;
  };
  constexpr shared_product shared_product_of(node_id id) const {
    if (first_axis_ == 0) return {};
    const ir::node& result = g_[id];
    const ir::node& n = result.op == opcode::reshape ? g_[result.in[0]] : result;
    if (n.op != opcode::matmul || g_.shapes[n.shape].rank != 2) return {};
    const node_id left = g_[n.in[0]].op == opcode::reshape && scalars(n.in[0]) == 0 ? g_[n.in[0]].in[0] : n.in[0];
    const extents& right = g_.shape_of(n.in[1]);
    if (!is_small(left) || !is_small(id) || !all_static(right)) return {};
    const bool has_whole_rows = scalars(left) % right[0] == 0 && scalars(left) * right[1] == scalars(id) * right[0];
    return has_whole_rows ? shared_product{left, n.in[1]} : shared_product{};
  }

  /// Whether the node puts elements of its operands, and zeros, into places.
  static constexpr bool is_movement(opcode op) {
    return op == opcode::slice || op == opcode::reshape || op == opcode::permute || op == opcode::pad || op == opcode::concat;
  }
  /// Whether an array has the zeros of a pad, or is a sum of two such arrays. So derivatives put their parts together.
  constexpr bool gaps(node_id id) const {
    const ir::node& n = g_[id];
    if (n.op == opcode::pad) return true;
    if (n.op == ops::code_of<ops::add>()) return has_gaps_[n.in[0]] && has_gaps_[n.in[1]];
    return is_movement(n.op) && (has_gaps_[n.in[0]] || (n.arity > 1 && has_gaps_[n.in[1]]));
  }
  constexpr bool is_sum_of_parts(node_id id) const { return first_axis_ == 0 && has_gaps_[id] && !is_movement(g_[id].op); }
  /// Where the elements of an array of one sample come from.
  constexpr origin_of_elements origin(node_id id) const {
    using enum origin_of_elements;
    const std::int64_t count = scalars(id);
    if (count <= 0 || count > costs::max_assembled_of_one) return memory;
    const ir::node& n = g_[id];
    if (n.op == opcode::constant || n.op == opcode::iota) return known;
    origin_of_elements from = known;
    for (int k = 0; k < n.arity; ++k)
      if (const origin_of_elements operand = origins_[n.in[k]]; operand < from) from = operand;
    if (is_movement(n.op) || is_sum_of_parts(id)) return from;
    if (from == known && (n.op == opcode::cast || n.op == ops::code_of<ops::equal>())) return known;
    const bool is_number = count == 1 || ops::is_opaque(n.op) || (ops::is_pointwise(n.op) && is_eligible(id));
    return is_small(id) && is_number ? numbers : memory;
  }
  /// Whether the node is an array of one sample that only has numbers in their places, or elements that the compiler knows.
  constexpr bool is_assembled(node_id id) const {
    if (first_axis_ == 1 || origins_[id] == origin_of_elements::memory) return false;
    return is_known_to_compiler(id) || is_movement(g_[id].op) || is_sum_of_parts(id);
  }
  constexpr bool is_known_to_compiler(node_id id) const { return first_axis_ == 0 && origins_[id] == origin_of_elements::known && g_[id].op != opcode::constant; }

  /// Whether the node computes each sample separately, from few numbers.
  constexpr bool is_eligible(node_id id) const {
    if (is_assembled(id)) return true;
    if (!is_small(id)) return false;
    const ir::node& n = g_[id];
    if (ops::is_pointwise(n.op)) return first_axis_ == 1 || scalars(id) == 1 || is_cheap(id);
    const bool after_samples = n.attr >= first_axis_;
    switch (n.op) {
      case opcode::cast: return true;
      case opcode::slice:
      case opcode::windows:
      case opcode::pad: return after_samples && scalars(n.in[0]) > 0;
      case opcode::concat: return after_samples && scalars(n.in[0]) > 0 && scalars(n.in[1]) > 0;
      case opcode::reshape: return shared_product_of(id).rows != none ? is_shared_product(id) : is_small(n.in[0]);
      case opcode::permute: return first_axis_ == 0 || ir::unpack_axis(n.attr, 0) == 0;
      case opcode::reduce: return (first_axis_ == 0 || (n.attr & 1) == 0) && n.type != dtype::boolean && is_small(n.in[0]);
      case opcode::broadcast: return sample_axis(n) < 0 ? all_static(g_.shape_of(n.in[0])) : sample_axis(n) == 0 && is_small(n.in[0]);
      case opcode::matmul:
        if (first_axis_ == 1 && g_.shapes[n.shape].rank == 2) return is_shared_product(id);
        return is_small(n.in[0]) && is_small(n.in[1]) && operations(id) <= most_.operations;
      default: return false;
    }
  }

  /// An operation that takes a processor as long for a number as for a packet, or less; or a few divisions, which take less than a step.
  constexpr bool is_cheap(node_id id) const {
    const ops::effort e = ops::effort_of(g_[id].op);
    return e == ops::effort::arithmetic || (e != ops::effort::function && scalars(id) <= costs::max_divisions_of_one);
  }
  /// Whether an array needs a step of its own as an array: a pad, or a concat with a part that was moved before.
  static constexpr bool is_separate_step(const ir::graph_view& g, const std::int64_t* scalars, node_id id) {
    const ir::node& n = g.nodes[id];
    if (n.op == opcode::pad) return true;
    const auto is_moved = [&](node_id part) {
      const ir::node& m = g.nodes[part];
      return scalars[m.shape] > 1 && is_movement(m.op) && m.op != opcode::concat;
    };
    return n.op == opcode::concat && (is_moved(n.in[0]) || is_moved(n.in[1]));
  }
  constexpr bool is_shared_product(node_id id) const { return shared_product_of(id).rows != none && operations(id) <= costs::max_shared_operations; }

  /// The number of arithmetic operations for each sample.
  constexpr std::int64_t operations(node_id id) const {
    const ir::node& n = g_[id];
    if (const shared_product p = shared_product_of(id); p.rows != none) return 2 * scalars(id) * g_.shape_of(p.matrix)[0];
    if (n.op == opcode::reduce) return scalars(n.in[0]);
    if (n.op != opcode::matmul) return ops::is_pointwise(n.op) ? scalars(id) : 0;
    const extents& left = g_.shape_of(n.in[0]);
    return 2 * scalars(id) * left[left.rank - 1];
  }
  /// The extent of the last axis whose extent is not 1, without the axis of samples; 1 if there is no such axis.
  constexpr std::int64_t row(node_id id) const {
    const extents& s = g_.shape_of(id);
    for (int a = s.rank - 1; a >= first_axis_; --a)
      if (s[a] != 1) return s[a];
    return 1;
  }
  constexpr bool is_wide(node_id id) const { return row(id) >= costs::wide_row; }

  /// The operations that scalars save. Kernels over arrays are slow if a node splits short rows or combines them.
  constexpr std::int64_t gain(node_id id) const {
    const ir::node& n = g_[id];
    bool is_short = false;
    switch (n.op) {
      case opcode::matmul: return operations(id);
      case opcode::reshape: return shared_product_of(id).rows != none ? operations(id) : 0;
      case opcode::slice: is_short = !is_wide(id); break;
      case opcode::concat: is_short = !is_wide(n.in[0]) || !is_wide(n.in[1]); break;
      case opcode::pad:
      case opcode::permute:
      case opcode::reduce: is_short = !is_wide(n.in[0]); break;
      default: break;
    }
    return is_short ? costs::short_rows : 0;
  }
  /// The operations on whole wide rows, for which a kernel over arrays is fast. A sum of pads does not count, because it only assembles parts.
  constexpr std::int64_t whole_rows(node_id id, const ir::array<char>& is_assembled) const {
    const ir::node& n = g_[id];
    const bool is_product = n.op == opcode::matmul || shared_product_of(id).rows != none;
    const bool is_row = is_wide(n.op == opcode::reduce ? n.in[0] : id) && !is_product && !is_assembled[id];
    return is_row ? operations(id) : 0;
  }

 protected:
  ir::graph_view g_;
  std::int64_t samples_;
  int first_axis_;  // behind the axis of samples

 private:
  constexpr void weigh_samples() {
    ir::array<char> is_assembled(g_.count, 0);
    for (node_id id = 0; id < g_.count; ++id) {
      const ir::node& n = g_[id];
      const bool moves = n.op == opcode::broadcast || n.op == opcode::reshape;
      const bool adds_assembled = n.op == opcode::add && (is_assembled[n.in[0]] || is_assembled[n.in[1]]);
      is_assembled[id] = n.op == opcode::pad || (moves && is_assembled[n.in[0]]) || adds_assembled;
      if (region_[id] == none) continue;
      work_[root_of(id)] += operations(id);
      gains_[root_of(id)] += gain(id);
      losses_[root_of(id)] += whole_rows(id, is_assembled);
    }
  }

  /// For one sample: a kernel over an array of few numbers is fast by itself, but it waits at a crossing. The operations on arrays are lost, because each of
  /// their elements becomes an operation.
  constexpr void weigh_one_sample() {
    for (node_id id = 0; id < g_.count; ++id) {
      if (region_[id] == none || is_sum_of_parts(id) || (scalars(id) == 1 && g_[id].op != opcode::reduce)) continue;
      const int root = root_of(id);
      work_[root] += operations(id), losses_[root] += operations(id);
    }
    for_each_crossing(g_, scalars_.data(), [&](node_id id) {
      if (region_[id] != none) gains_[root_of(id)] += costs::short_rows;
    });
    for (node_id id = 0; id < g_.count; ++id)
      if (is_assembled(id) && is_separate_step(g_, scalars_.data(), id)) gains_[root_of(id)] += costs::short_rows;
    // An array that a step or a result needs is stored number by number.
    ir::array<char> is_stored(g_.count, 0);
    const auto store = [&](node_id id) {
      if (!is_stored[id] && is_assembled(id) && !is_small(id)) losses_[root_of(id)] += scalars(id);
      is_stored[id] = 1;
    };
    for (node_id id = 0; id < g_.count; ++id)
      for (int k = 0; region_[id] == none && k < g_[id].arity; ++k) store(g_[id].in[k]);
    for (int i = 0; i < g_.output_count; ++i) store(g_.outputs[i]);
  }

  constexpr int root_of(int i) {
    int* const region = region_.data();
    while (region[i] != i) i = region[i] = region[region[i]];
    return i;
  }

  limits_of_region most_;
  ir::array<std::int64_t> scalars_;  // of each shape
  ir::array<int> region_;            // union-find over eligible nodes
  ir::array<origin_of_elements> origins_;  // of each node, in a function of one sample
  ir::array<char> has_gaps_;
  ir::array<std::int64_t> work_, gains_, losses_;
};

}  // namespace tenure::passes
