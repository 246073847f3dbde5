// SPDX-License-Identifier: BSL-1.0
// The list of structural operations, in the order of their opcodes (ir/node.hpp), and their records as tables.
#pragma once

#include <tenure/ops/opaque/registry.hpp>
#include <tenure/ops/structure.hpp>

namespace TENURE_NAMESPACE::ops {

template <class... Op>
struct structural_list {};
using fixed_operations = structural_list<nodes::input, nodes::constant, nodes::iota, nodes::extent, nodes::cast, nodes::broadcast, nodes::reshape, nodes::permute,
                                              nodes::slice, nodes::windows, nodes::overlap_add, nodes::pad, nodes::concat, nodes::reduce, nodes::matmul, nodes::gather, nodes::scatter, nodes::index_add, nodes::update,
                                              nodes::stop_gradient, nodes::instead, nodes::barrier, nodes::copy, nodes::check, nodes::tuple, nodes::control_flow, nodes::result>;

namespace detail {
template <class... Op, class... Opaque>
structural_list<Op..., Opaque...> with_opaque(structural_list<Op...>, opaque_list<Opaque...>);
}
using structural_operations = decltype(detail::with_opaque(fixed_operations{}, opaque_operations{}));

/// The data of a structural operation that passes read. Its derivatives are in the tables of ops/derivative.hpp.
struct structural_record {
  const char* name;
  int arity, results, axes_of_piece;
  lowering lowers;
  attributes shows;
  bool computes;
  int changes;
  bool (*flows_to)(int operand);
  bool (*takes_neighbours)(const ir::graph_view& g, ir::node_id id, int operand, int axis);
  std::int64_t (*flops)(const ir::graph_view& g, ir::node_id id);
  void (*verify)(rule_check& check);
};

template <class List>
struct structural_records;
template <class... Op>
struct structural_records<structural_list<Op...>> {
  static constexpr bool are_in_order = [] {
    int at = 0;
    return ((static_cast<int>(Op::code) == at++) && ...);
  }();
  static_assert(are_in_order, "the records are not in the order of their opcodes, or one is missing");
  static constexpr structural_record value[sizeof...(Op)] = {
      {Op::name, Op::arity, Op::results, Op::axes_of_piece, Op::lowers, Op::shows, Op::computes, Op::changes, &Op::flows_to, &Op::takes_neighbours, &Op::flops, &Op::verify}...};
};

constexpr const structural_record& structural_record_of(ir::opcode op) { return structural_records<structural_operations>::value[static_cast<int>(op)]; }
/// The number of results of an operation.
constexpr int result_count(ir::opcode op) { return is_opaque(op) ? structural_record_of(op).results : 1; }

}  // namespace tenure::ops
