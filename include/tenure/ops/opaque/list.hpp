// SPDX-License-Identifier: BSL-1.0
// The list of opaque operations: those that are neither a loop over elements nor a view. Each is one header of this folder, and no other place names it,
// except attention, the convolutions and order, for which the backends have steps of their own.
// To add one, declare its record here, put it at the end of the list, and include its header in registry.hpp.
#pragma once

#include <tenure/ir/node.hpp>

namespace TENURE_NAMESPACE::ops {

namespace nodes {
struct solve;
struct solve_triangular;
struct cholesky;
struct qr;
struct attention;
struct attention_gradient;
struct order;
struct inverse;
struct det;
struct slogdet;
struct eigh;
struct eigvalsh;
struct svd;
struct pinv;
struct matrix_exp;
struct lu;
struct convolution;
struct inverse_of_factor;
struct definite_inverse;
struct definite_solve;
struct definite_log_det;
struct attention_until;
struct attention_until_gradient;
struct depthwise;
struct depthwise_of_image;
struct depthwise_of_taps;
struct convolution_of_planes;
struct planes_of_taps;
struct lu_factor;
struct lu_solve;
}  // namespace nodes

template <class... Record>
struct opaque_list : tenure::detail::type_list<Record...> {
  static_assert(sizeof...(Record) <= static_cast<int>(ir::opcode::pointwise) - static_cast<int>(ir::opcode::opaque), "more opaque operations than there are codes");

  /// Calls f.template operator()<Record>() with the record of this code.
  template <class F>
  static constexpr void visit(ir::opcode op, const F& f) {
    int at = static_cast<int>(op) - static_cast<int>(ir::opcode::opaque);
    ((at-- == 0 ? void(f.template operator()<Record>()) : void()), ...);
  }
};
using opaque_operations = opaque_list<nodes::solve, nodes::solve_triangular, nodes::cholesky, nodes::qr, nodes::attention, nodes::attention_gradient, nodes::order, nodes::inverse,
                                     nodes::det, nodes::slogdet, nodes::eigh, nodes::eigvalsh, nodes::svd, nodes::pinv, nodes::matrix_exp, nodes::lu, nodes::inverse_of_factor, nodes::definite_inverse,
                                     nodes::definite_solve, nodes::definite_log_det, nodes::convolution, nodes::attention_until, nodes::attention_until_gradient,
                                     nodes::depthwise, nodes::depthwise_of_image, nodes::depthwise_of_taps, nodes::convolution_of_planes, nodes::planes_of_taps, nodes::lu_factor,
                                     nodes::lu_solve>;

constexpr bool is_opaque(ir::opcode op) { return op >= ir::opcode::opaque && op < ir::opcode::pointwise; }
template <class Record>
constexpr ir::opcode opaque_code() {
  static_assert(opaque_operations::position_of<Record>() >= 0, "the record is not in the list of ops/opaque/list.hpp");
  return static_cast<ir::opcode>(static_cast<int>(ir::opcode::opaque) + opaque_operations::position_of<Record>());
}
template <ir::opcode Op>
using opaque_record_of = opaque_operations::at<static_cast<int>(Op) - static_cast<int>(ir::opcode::opaque)>;

/// Whether two nodes of opaque operations are results of one step, or the same result.
constexpr bool are_of_one_step(const ir::node& a, const ir::node& b) {
  return a.op == b.op && a.type == b.type && a.in[0] == b.in[0] && a.in[1] == b.in[1] && a.in[2] == b.in[2] && (a.arity < 4 || a.in[3] == b.in[3]) && a.attr == b.attr;
}
/// The first node of the step to which node `id` belongs. Such nodes lie behind their operands.
template <class Nodes>
constexpr ir::node_id first_of_step(const Nodes& at, ir::node_id id) {
  const ir::node& n = at[id];
  ir::node_id first = id;
  for (ir::node_id other = id - 1; other > n.in[0] && other > n.in[1] && other > n.in[2] && (n.arity < 4 || other > n.in[3]); --other)
    if (are_of_one_step(at[other], n)) first = other;
  return first;
}

}  // namespace tenure::ops
