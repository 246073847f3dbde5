// SPDX-License-Identifier: BSL-1.0
// The algebra: rewrites of operations into simpler ones. A trace and its derivatives record the expression as written. This pass appends
// each node again in its simplest form. The operands of a node are simplified before the node.
// The algebra may change rounding and the sign of zero. Infinities and NaN appear in the same elements as before, and in no others.
// So x * 0 stays, because x may be NaN. And no factor moves out of a sum, because the factor may keep the terms in range.
// Cost: one sweep. Each rule looks at a few nodes.
#pragma once

#include <tenure/passes/rules/arithmetic.hpp>
#include <tenure/passes/rules/convolutions.hpp>
#include <tenure/passes/rules/movement.hpp>
#include <tenure/passes/rules/overlaps.hpp>
#include <tenure/passes/rules/reductions.hpp>

namespace TENURE_NAMESPACE::passes {
namespace rules {

/// Appends a node in its simplest form, or returns an existing node of the same value.
constexpr node_id simplest(ir::builder& g, const ir::node& n) {
  if (n.arity == 0) return g.append(n);
  if (n.op == ops::code_of<ops::where>()) return of_mask(g, n);
  switch (n.op) {
    case opcode::neg: return negation(g, n);
    case opcode::add:
    case opcode::sub:
    case opcode::mul:
    case opcode::div: return arithmetic(g, n);
    case opcode::reduce: return reduction(g, n);
    case opcode::matmul: return product(g, n);
    case opcode::concat: return joint(g, n);
    case opcode::index_add: {
      const ir::node& x = g[n.in[1]];
      const bool adds_to_zeros = x.op == opcode::constant && ir::is_zero(x);
      return adds_to_zeros ? ops::scattered({g, n.in[2]}, {g, n.in[0]}, static_cast<int>(n.attr), n.shape).id : g.append(n);
    }
    case opcode::stop_gradient:
    case opcode::instead: return n.in[0];        // these two matter only to derivatives, which were taken before this pass
    case opcode::result: {                       // custom derivatives matter only to derivatives too
      const ir::control_flow& c = g.control_flow_at(n.in[0]);
      return c.is_custom_derivative() ? ir::operand_at(g, g[n.in[0]].in[0], c.operand_of_result(static_cast<int>(n.attr))) : g.append(n);
    }
    case opcode::overlap_add: return overlap_added(g, n);
    default: return movement(g, n);
  }
}

/// One step of a reduction.
constexpr ops::value combined(ir::reduction kind, ops::value x, ops::value y) {
  if (kind == ir::reduction::sum) return x + y;
  return kind == ir::reduction::min ? ops::pointwise_value<ops::minimum>(x, y, {}) : ops::pointwise_value<ops::maximum>(x, y, {});
}

}  // namespace rules

/// Appends every node again in its simplest form.
// Law: algebra keeps infinities and NaN in their places, keeps values up to rounding, and is idempotent.
constexpr ir::builder algebra(const ir::graph_view& g) {
  ir::builder out(g, rules::simplest);
  ir::array<node_id> renamed(g.count, none);
  // Each bound is added directly after its node, because the rules for later nodes read bounds.
  ir::array<char> is_bounded(g.count, 0);
  for (int i = 0; i < g.bound_count; ++i) is_bounded[g.bounds[i].indices] = 1;
  ir::array<int> uses(g.count, 0);  // a product with other readers is not rewritten: it would be computed twice
  for (int i = 0; i < g.count; ++i)
    for (int k = 0; k < g.nodes[i].arity; ++k) ++uses[g.nodes[i].in[k]];
  for (int i = 0; i < g.output_count; ++i) ++uses[g.outputs[i]];
  for (int i = 0; i < g.count; ++i) {
    const ir::node n = with_renamed_operands(g[i], renamed.data());
    const bool moves_in = n.op == ir::opcode::permute && uses[g[i].in[0]] == 1 && rules::is_transposed_product(out, n);
    const bool shortens = n.op == ir::opcode::slice && uses[g[i].in[0]] == 1 && rules::is_part_of_convolution(out, n);
    renamed[i] = moves_in ? rules::product_of_transposed(out, n) : shortens ? rules::convolution_of_part(out, n) : out.emit(n);
    for (int k = 0; is_bounded[i] && k < g.bound_count; ++k)
      if (g.bounds[k].indices == i) out.keep_bound(g.bounds[k], renamed[i]);
  }
  for (int i = 0; i < g.output_count; ++i) out.output(renamed[g.outputs[i]]);
  out.keep_backward(g, renamed);
  return out;
}

}  // namespace tenure::passes
