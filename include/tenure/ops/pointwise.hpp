// SPDX-License-Identifier: BSL-1.0
// What every pointwise operation shares: broadcasting, element types, and the node. An operation itself is one
// paragraph in a family file:
//   struct exp : pointwise<exp, 1, typing::floating> {
//     name; evaluate(packet or scalar); reference(scalar, by libm); derivative(operand, cotangent, operands..., result) };
// The derivative is the product of the cotangent with the partial: that one rule gives vjp and jvp both. It is a template
// so that it can name operations that are declared after it.
#pragma once

#include <tenure/core/config.hpp>
#include <tenure/expr/apply.hpp>
#include <tenure/ops/structure.hpp>
#include <tenure/ops/value.hpp>

namespace tenure::ops {

/// How element types combine: arithmetic promotes; floating promotes integers to float32 too; comparison gives bool;
/// selection takes (bool, T, T); logical takes and gives bool.
enum class typing { arithmetic, floating, comparison, selection, logical };

constexpr int category(dtype d) { return d == dtype::boolean ? 0 : is_floating(d) ? 2 : 1; }

/// A scalar (rank 0) beside a tensor with axes promotes it to another category, never within one: float32 + scalar float64 is
/// float32, as in PyTorch.
constexpr dtype common_dtype(typing rule, const dtype* types, const int* ranks, int n) {
  dtype with_axes = dtype::boolean, scalars = dtype::boolean;
  bool any_axes = false;
  for (int i = rule == typing::selection ? 1 : 0; i < n; ++i) {
    dtype& common = ranks[i] > 0 ? with_axes : scalars;
    common = promote(common, types[i]);
    any_axes = any_axes || ranks[i] > 0;
  }
  const bool scalars_yield = any_axes && category(scalars) <= category(with_axes);
  const dtype common = scalars_yield ? with_axes : promote(with_axes, scalars);
  return rule == typing::floating && !is_floating(common) ? dtype::float32 : common;
}

template <class Op>
constexpr ir::opcode code_of();  // registry.hpp
template <class Op>
constexpr value pointwise_value(const value& a, const value& b = {}, const value& c = {});  // registry.hpp

/// Arithmetic, comparison and selection of bool, spelled as logic: backends hold bool in masks, which know nothing else.
template <class Op>
constexpr value on_bool(const value& a, const value& b, const value& c);  // registry.hpp

template <class Op, int Arity, typing Typing>
struct pointwise {
  static constexpr int arity = Arity;
  static constexpr typing types = Typing;

  template <class... X>
  static constexpr auto trace(const X&... x) {
    static_assert(sizeof...(X) == Arity);
    constexpr dtype operand_types[] = {dtype_v<typename X::element_type>...};
    if constexpr (Typing == typing::selection)
      static_assert(operand_types[0] == dtype::boolean, "tenure: where: the condition must be bool");
    if constexpr (Typing == typing::logical)
      static_assert(((dtype_v<typename X::element_type> == dtype::boolean) && ...), "tenure: logical operation: operands must be bool");
    constexpr int ranks[] = {X::shape_type::rank...};
    constexpr dtype common = common_dtype(Typing, operand_types, ranks, Arity);
    constexpr dtype result = Typing == typing::comparison ? dtype::boolean : common;
    using result_shape = broadcast_shape_t<Op, typename X::shape_type...>;

    ir::builder* g = nullptr;
    ((g = x.graph), ...);
    const std::int16_t shapes[] = {(*g)[x.id].shape...};
    bool alike = true;
    for (int k = 1; k < Arity; ++k) alike = alike && shapes[k] == shapes[0];
    const std::int16_t to = alike ? shapes[0] : g->intern(broadcast_extents(*g, Op::name, x.shape()...));
    int i = 0;
    ir::node n{.op = code_of<Op>(), .type = result, .arity = Arity, .shape = to};
    ((n.in[i] = broadcast_to(cast_to({*g, x.id}, Typing == typing::selection && i == 0 ? dtype::boolean : common), to).id, ++i), ...);
    if constexpr (common == dtype::boolean && Typing != typing::logical)
      return traced<bool, result_shape>{g, on_bool<Op>({*g, n.in[0]}, {*g, n.in[1]}, {*g, n.in[2]}).id};
    else return traced<element_of_t<result>, result_shape>{g, emit(*g, n)};
  }
};

}  // namespace tenure::ops
