// SPDX-License-Identifier: BSL-1.0
// Runs a large function for one sample after the other. vmap adds the axis of the samples to each operation. A function of many small arrays, such as the
// Jacobian of an arm, would then be many kernels over arrays whose rows are shorter than a register, and its intermediate values would go through memory.
// scalarize.hpp makes numbers of it if it is small. This pass makes a scan of it if it is large: the body is the function of one sample.
// Law: samples_in_turn keeps values up to rounding.
// Cost: a loop with one iteration for each sample. 4,096 Jacobians of an arm of seven joints: 1.5 ms, in place of 5.4 ms, and three quarters of the compile time.
#pragma once

#include <tenure/passes/legalize.hpp>
#include <tenure/passes/loops/hoist.hpp>
#include <tenure/passes/scalar_regions.hpp>

namespace TENURE_NAMESPACE::passes {

class samples_in_turn {
 public:
  /// A region is large if it has more than `most` operations for each sample.
  constexpr samples_in_turn(const ir::graph_view& g, std::int64_t samples, std::int64_t most = costs::max_scalar_operations)
      : g_(g), samples_(samples), most_(most), regions_(g, samples, {costs::max_elements_in_turn, costs::max_operations_in_turn}), is_inside_(g.count, 0),
        is_after_(g.count, 0) {}

  /// Finds a region that becomes a loop, and returns whether there is one.
  constexpr bool finds() {
    for (node_id id = 0; id < g_.count; ++id)
      if (regions_.region_of(id) == id && is_large(id) && is_closed(id)) return true;
    return false;
  }

  /// The graph with the loop in place of the region that finds() has found.
  constexpr ir::builder run() const {
    ir::builder out(g_);
    id_list renamed(g_.count, none);
    const auto append = [&](bool after) {
      for (node_id id = 0; id < g_.count; ++id)
        if (!is_inside_[id] && (is_after_[id] != 0) == after) renamed[id] = out.append(with_renamed_operands(g_[id], renamed.data()));
    };
    append(false);
    add_loop(out, renamed);
    append(true);
    finish(g_, renamed, out);
    return out;
  }

 private:
  constexpr bool is_large(int region) const {
    const std::int64_t work = regions_.work(region);
    return work > most_ && regions_.gains(region) && 2 * regions_.gain_of_region(region) >= work;
  }

  /// Calls f(node, whether all samples share it) for the nodes that a node reads. A product with a shared matrix reads the rows below its reshape.
  /// The type is `auto`, because clang 14 then instantiates the function where it is called, and a constant evaluation finds it.
  template <class F>
  constexpr auto for_each_read(node_id id, const F& f) const {
    const ir::node& n = g_[id];
    if (const auto p = regions_.shared_product_of(id); is_inside_[id] && p.rows != none) return f(p.rows, false), f(p.matrix, true);
    for (int k = 0; k < n.arity; ++k) f(n.in[k], n.op == ir::opcode::broadcast && is_inside_[id] && regions_.sample_axis(n) < 0);
  }

  /// Marks the nodes of the region and those that need it. A loop is possible if the region needs none of the latter.
  constexpr bool is_closed(int region) {
    for (node_id id = 0; id < g_.count; ++id) {
      is_inside_[id] = regions_.region_of(id) == region;
      is_after_[id] = 0;
      for_each_read(id, [&](node_id read, bool is_shared) {
        is_after_[id] = is_after_[id] || is_after_[read] || (is_inside_[read] && (!is_inside_[id] || is_shared));
      });
      if (is_inside_[id] && is_after_[id]) return false;
    }
    return true;
  }

  constexpr void add_loop(ir::builder& out, id_list& renamed) const {
    const node_id first = out.count();
    id_list operands, inputs, outputs, roots, captured, inside(g_.count, none);
    for (node_id id = 0; id < g_.count; ++id)
      if (is_inside_[id])
        for_each_read(id, [&](node_id read, bool is_shared) {
          if (is_shared || is_inside_[read] || inside[read] != none || g_[read].op == ir::opcode::constant) return;
          operands.push_back(renamed[read]);
          inputs.push_back(out.body_input(g_[read].type, out.intern(ops::without_axes(g_.shape_of(read), 1))));
          inside[read] = ops::reshape_to({out, inputs.back()}, sample_shape(read)).id;
        });
    for (node_id id = 0; id < g_.count; ++id)
      if (is_inside_[id]) inside[id] = of_sample(out, id, renamed, inside);
    ir::array<char> is_read(g_.count, 0);
    for (node_id id = 0; id < g_.count; ++id)
      if (!is_inside_[id]) for_each_read(id, [&](node_id read, bool) { is_read[read] = 1; });
    for (int i = 0; i < g_.output_count; ++i) is_read[g_.outputs[i]] = 1;
    for (int i = 0; i < g_.bound_count; ++i) is_read[g_.bounds[i].indices] = 1;
    for (node_id id = 0; id < g_.count; ++id)
      if (is_inside_[id] && is_read[id]) {
        roots.push_back(id);
        outputs.push_back(ops::reshape_to({out, inside[id]}, ops::without_axes(g_.shape_of(id), 1)).id);
      }
    ir::control_flow loop{.what = ir::control_flow::kind::scan, .scanned = operands.size(), .length = samples_};
    loop.bodies[0] = out.outline(first, inputs, outputs, captured);
    loop.captures[0] = captured.size();
    for (const node_id x : captured) operands.push_back(x);
    const node_id node = out.add_control_flow(loop, operands);
    for (int i = 0; i < roots.size(); ++i) renamed[roots[i]] = out.result(node, i);
  }

  constexpr extents sample_shape(node_id id) const {
    extents s = g_.shape_of(id);
    s[0] = 1;
    return s;
  }
  /// A node of the region for one sample.
  constexpr node_id of_sample(ir::builder& out, node_id id, const id_list& renamed, const id_list& inside) const {
    const auto operand = [&](node_id x) {
      return inside[x] != none ? inside[x] : out.constant_bits(g_[x].type, out.intern(sample_shape(x)), g_[x].attr);
    };
    if (const auto p = regions_.shared_product_of(id); p.rows != none) {
      const std::int64_t terms = g_.shape_of(p.matrix)[0];
      const ops::value rows = ops::reshape_to({out, operand(p.rows)}, {2, {regions_.scalars(p.rows) / terms, terms}});
      return ops::reshape_to(ops::matrix_product(rows, {out, renamed[p.matrix]}), sample_shape(id)).id;
    }
    ir::node n = g_[id];
    n.shape = out.intern(sample_shape(id));
    int k = 0;
    for_each_read(id, [&](node_id read, bool is_shared) { n.in[k++] = is_shared ? renamed[read] : operand(read); });
    return out.append(n);
  }

  ir::graph_view g_;
  std::int64_t samples_, most_;
  scalar_regions regions_;
  ir::array<char> is_inside_, is_after_;
};

/// Whether the graph may have a large function of a sample: a quick look before finds_samples_in_turn(). Only these nodes gain.
constexpr bool may_have_samples_in_turn(const ir::graph_view& g) {
  if (!g.samples.may_run_in_turn || g.samples.count == 0 || g.is_body || needs_legalize(g)) return false;  // algebra comes after legalize
  std::int64_t gain = 0;
  for (const ir::node* n = g.nodes; n != g.nodes + g.count; ++n) {
    if (n->op == ir::opcode::matmul) {
      const extents& left = g.shape_of(n->in[0]);
      const std::int64_t columns = g.shapes[n->shape][g.shapes[n->shape].rank - 1], rows = left[left.rank - 2], terms = left[left.rank - 1];
      gain += is_static(rows) && is_static(terms) && is_static(columns) ? 2 * rows * terms * columns : 0;
    } else if (n->op == ir::opcode::slice || n->op == ir::opcode::concat || n->op == ir::opcode::pad || n->op == ir::opcode::permute || n->op == ir::opcode::reduce) {
      gain += costs::short_rows;
    }
  }
  return 2 * gain > costs::max_scalar_operations;
}
constexpr bool finds_samples_in_turn(const ir::graph_view& g) {
  bool any = false;
  for (int i = 0; i < g.samples.count; ++i) any = any || samples_in_turn(g, g.samples.at[i]).finds();
  return any;
}
/// Makes loops of all large regions of samples.
constexpr ir::builder with_samples_in_turn(const ir::graph_view& g, std::int64_t most = costs::max_scalar_operations) {
  ir::builder now = cse(dead_code(g).view());
  for (int i = 0; i < g.samples.count; ++i)
    for (samples_in_turn next(now.view(), g.samples.at[i], most); next.finds(); next = samples_in_turn(now.view(), g.samples.at[i], most)) now = next.run();
  return now;
}

}  // namespace tenure::passes
