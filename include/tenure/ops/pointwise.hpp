// SPDX-License-Identifier: BSL-1.0
// The part that all pointwise operations share: broadcasting, element types, and the node that a call appends. Each operation is
// one paragraph in a file of its family:
//   struct exp : pointwise<exp, 1, typing::floating> {
//     name; evaluate(packet or scalar); reference(scalar, by libm); derivative(operand, cotangent, operands..., result) };
// An operation with several operands also has agree<Lhs, Rhs>(). It holds the static_assert for two extents that do not match, so that the message
// names the operation. `derivative` returns the cotangent times the partial derivative; the same rule serves vjp and jvp. `derivative` is a template,
// so that it can use operations that are declared later.
#pragma once

#include <tenure/core/config.hpp>
#include <tenure/expr/apply.hpp>
#include <tenure/ops/structure.hpp>
#include <tenure/ops/value.hpp>

namespace TENURE_NAMESPACE::ops {

/// How the element types of the operands give the element type of the result:
/// arithmetic: the promoted type. floating: the promoted type, and float32 where that is bool or an integer. comparison: bool.
/// selection: the operands are (bool, T, T) and the result is T. logical: operands and result are bool.
enum class typing { arithmetic, floating, comparison, selection, logical };

/// The element type in which the operands are combined. As in PyTorch, a scalar (rank 0) changes the type of a tensor with axes only
/// where the scalar has a higher category (bool < integer < floating): float32 + a float64 scalar is float32.
constexpr dtype common_dtype(typing rule, const dtype* types, const int* ranks, int n) {
  dtype with_axes = dtype::boolean, scalars = dtype::boolean;
  bool any_axes = false;
  for (int i = rule == typing::selection ? 1 : 0; i < n; ++i) {
    dtype& common = ranks[i] > 0 ? with_axes : scalars;
    common = promote(common, types[i]);
    any_axes = any_axes || ranks[i] > 0;
  }
  const bool scalars_yield = any_axes && tenure::detail::category_of(scalars) <= tenure::detail::category_of(with_axes);
  const dtype common = scalars_yield ? with_axes : promote(with_axes, scalars);
  return rule == typing::floating && !is_floating(common) ? default_floating : common;
}

template <class Op>
constexpr ir::opcode code_of();  // registry.hpp
template <class Op>
constexpr value pointwise_value(const value& a, const value& b = {}, const value& c = {});  // registry.hpp

/// Arithmetic, comparison and selection of bool operands, composed of and, or, not. Backends hold bool in masks, and masks have no other operations.
template <class Op>
constexpr value on_bool(const value& a, const value& b, const value& c);  // registry.hpp

/// The element types of one call. They are static members, because a compiler evaluates a constexpr local again at each call.
template <typing Typing, class... X>
struct pointwise_types {
  static constexpr dtype operand[sizeof...(X)] = {dtype_v<typename X::element_type>...};
  static constexpr int ranks[] = {X::shape_type::rank...};
  static constexpr dtype common = common_dtype(Typing, operand, ranks, static_cast<int>(sizeof...(X)));
  static constexpr dtype result = Typing == typing::comparison ? dtype::boolean : common;
};

/// Casts and broadcasts the operands n.in to one element type and one shape. Run-time extents that must be equal are unified.
constexpr void align_operands(ir::builder& g, const char* call, ir::node& n, dtype common, bool selects) {
  n.shape = g[n.in[0]].shape;
  bool alike = true;
  for (int k = 1; k < n.arity; ++k) alike = alike && g[n.in[k]].shape == n.shape;
  if (!alike) {
    extents to = g.shape(n.shape);
    for (int k = 1; k < n.arity; ++k) to = broadcast_extents(g, call, to, extents(g.shape_of(n.in[k])));
    n.shape = g.intern(to);
  }
  for (int k = 0; k < n.arity; ++k) {
    const dtype wanted = selects && k == 0 ? dtype::boolean : common;
    if (g[n.in[k]].type != wanted) n.in[k] = cast_to({g, n.in[k]}, wanted).id;
    if (!alike) n.in[k] = broadcast_to({g, n.in[k]}, n.shape).id;
  }
}

template <class Op, int Arity, typing Typing>
struct pointwise {
  static constexpr int arity = Arity;
  static constexpr typing types = Typing;

  template <class... X>
  static constexpr auto trace(const X&... x) {
    static_assert(sizeof...(X) == Arity);
    using types_of = pointwise_types<Typing, X...>;
    if constexpr (Typing == typing::selection)
      static_assert(types_of::operand[0] == dtype::boolean, "tenure: where: the condition must be bool: write x > 0, or cast<bool>(x)");
    if constexpr (Typing == typing::logical)
      static_assert(((dtype_v<typename X::element_type> == dtype::boolean) && ...), "tenure: logical operation: operands must be bool");
    using together = broadcast_of<typename X::shape_type...>;
    using result = traced<element_of_t<types_of::result>, typename together::type>;

    ir::builder* g = nullptr;
    ((g = x.graph), ...);
    int i = 0;
    ir::node n{.op = code_of<Op>(), .type = types_of::result, .arity = Arity};
    ((n.in[i++] = x.id), ...);
    if constexpr (!together::exists) {
      Op::template agree<together::lhs, together::rhs>();
      return result{g, n.in[0]};
    }
    align_operands(*g, Op::name, n, types_of::common, Typing == typing::selection);
    if constexpr (types_of::common == dtype::boolean && Typing != typing::logical)
      return result{g, on_bool<Op>({*g, n.in[0]}, {*g, n.in[1]}, {*g, n.in[2]}).id};
    else return result{g, g->emit(n)};
  }
};

/// The base of an operation whose derivative is 0 everywhere.
template <class Op, int Arity, typing Typing>
struct piecewise_constant : pointwise<Op, Arity, Typing> {
  template <class V> static constexpr V derivative(int, V g, auto...) { return g.like(0); }
};

/// The base of an operation that calls pointwise operations in `compose`. It checks first that the shapes broadcast, so that a message names the
/// operation that the user called and not one inside `compose`.
template <class Op>
struct composed {
  template <class X, class... Rest>
  static constexpr auto trace(const X& x, const Rest&... rest) {
    using together = broadcast_of<typename X::shape_type, typename Rest::shape_type...>;
    if constexpr (!together::exists) {
      Op::template agree<together::lhs, together::rhs>();
      return x;
    } else {
      extents to = value(x).shape();
      ((to = broadcast_extents(*x.graph, Op::name, to, value(rest).shape())), ...);
      return Op::compose(x, rest...);
    }
  }
};

}  // namespace tenure::ops
