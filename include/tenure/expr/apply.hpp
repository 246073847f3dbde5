// SPDX-License-Identifier: BSL-1.0
// apply<Operation>(x...) is the call that all operations share. If an operand is traced, it appends nodes to the graph. If the operands
// are live tensors, it makes an unevaluated expression. In both cases Operation::trace decides the result type, the shape and the errors.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include <tenure/expr/traced.hpp>
#include <tenure/tensor/concepts.hpp>

namespace TENURE_NAMESPACE {

namespace detail {
/// X is a traced_number (ops/traced_number.hpp).
template <class X>
concept is_traced_number = requires { typename std::remove_cvref_t<X>::number_tag; };
template <class Operation, class... X>
constexpr auto apply_to_numbers(const X&... x);  // ops/traced_number.hpp

/// A plain bool as the condition of where. Other plain numbers take the type of the operands beside them.
struct flag {
  bool value;
};
template <>
struct tensor_traits<flag> {
  static constexpr bool is_tensor = false;
  using element_type = bool;
  using shape_type = shape<>;
};
// The result of a failed call is an operand, so that the functions which take it are found. apply() gives it back without a second message.
template <class X>
inline constexpr bool is_operand = any_tensor<X> || expression<X> || traces<X> || is_traced_number<X> || is_after_error<X> || std::is_same_v<X, flag>;
/// E is the type of a temporary expression, and X that of a tensor, an expression or a number.
template <class E, class X>
concept joins_temporary = !std::is_reference_v<E> && !std::is_const_v<E> && expression<E> && (any_tensor<X> || expression<X> || scalar<X>);
template <class...>
struct types_of {};
// A std::array of numbers is a tree of scalars in a trace. The operators take it and print a message.
template <class X>
inline constexpr bool is_array_of_traced = false;
template <class X, std::size_t N>
inline constexpr bool is_array_of_traced<std::array<X, N>> = traces<X>;

template <class X>
void has_own_arithmetic(const X&) = delete;  // found by argument-dependent lookup alone
/// A class whose own operators take tensors: a model (transform/tree.hpp).
template <class X>
concept with_own_arithmetic = requires(const X& x) { has_own_arithmetic(x); };
}  // namespace detail

template <class X>
concept operand = detail::is_operand<std::remove_cvref_t<X>>;
/// An operand of an operation: a tensor, an expression, a traced value, or a plain number. Operators take part in overload resolution if at
/// least one argument is a tensor, an expression or a traced value. apply() reports other arguments in a message.
template <class X>
concept operand_or_scalar = operand<X> || scalar<X>;
template <class... X>
concept some_operand = ((operand<X> || detail::is_array_of_traced<std::remove_cvref_t<X>>) || ...);
/// The operands of + - * /.
template <class X, class Y>
concept summable = some_operand<X, Y> && (operand_or_scalar<X> || !detail::with_own_arithmetic<X>) && (operand_or_scalar<Y> || !detail::with_own_arithmetic<Y>);
/// The operands of comparison operators. Other classes can define their own comparisons with tensors, as test frameworks do.
template <class X, class Y>
concept comparable = some_operand<X, Y> && (operand_or_scalar<X> || detail::any_memory<X>) && (operand_or_scalar<Y> || detail::any_memory<Y>);
template <class X, class Y>
concept joinable = some_operand<X, Y> && operand_or_scalar<X> && operand_or_scalar<Y>;

namespace ops {
/// The base of an operation that computes with a plain number or a floating scalar as it is, although the other operands have a narrow type. Other operations
/// round the number to that type first. As in PyTorch, products and quotients keep the number, and sums, comparisons and powers round it.
struct keeps_numbers {};
/// The base of an operation that is composed of others and rounds only its result to a narrow type, as softmax in bfloat16.
struct rounds_once : keeps_numbers {};
}  // namespace ops

namespace detail {

template <class X>
constexpr dtype strong_dtype() {
  if constexpr (operand<X>) return dtype_v<element_t<X>>;
  else return dtype::boolean;
}

/// The element type of a plain number beside tensors: the type of the tensors. There are two exceptions (PyTorch's rule): a floating number
/// beside integers or bool is float32, and an integer beside bool is int64.
template <class Scalar, class... X>
constexpr dtype scalar_dtype() {
  dtype common = dtype::boolean;
  ((common = promote(common, strong_dtype<X>())), ...);
  if (number::is_floating<Scalar>) return is_floating(common) ? common : default_floating;
  if (std::is_same_v<Scalar, bool>) return common;
  return common == dtype::boolean ? dtype::int64 : common;
}

/// A plain number beside operands of a narrow type T, of an operation that keeps it: a scalar of the type of lanes. It promotes as a T, but is not rounded.
template <class T>
struct lane_number : traced<number::lane_t<T>, shape<>> {
  using promoted = traced<T, shape<>>;
  lane_number() = default;
  constexpr lane_number(const traced<number::lane_t<T>, shape<>>& x) : traced<number::lane_t<T>, shape<>>(x) {}
};
template <class X>
struct promotion { using type = X; };
template <class T>
struct promotion<lane_number<T>> { using type = typename lane_number<T>::promoted; };

template <class Operation>
inline constexpr bool rounds_once = std::is_base_of_v<ops::rounds_once, Operation>;
template <class Operation>
inline constexpr bool keeps_numbers = std::is_base_of_v<ops::keeps_numbers, Operation>;
template <class T>
inline constexpr bool is_wide_floating = number::is_floating<T> && !number::is_narrow<T>;
/// The element type of a plain number as an operand of Operation, and whether the number is a lane_number.
template <class Operation, class Scalar, class... X>
struct number_beside {
  using element_type = element_of_t<scalar_dtype<Scalar, X...>()>;
  static constexpr bool is_lane = number::is_narrow<element_type> && keeps_numbers<Operation>;
};

template <class X>
constexpr ir::builder* graph_of(const X& x) {
  if constexpr (is_traced_v<X>) return x.graph;
  else return nullptr;
}

/// Whether X has the type that a factory returns. In a trace a tensor of this type may be a constant.
template <class X>
inline constexpr bool may_be_constant = false;
template <class T, class S>
inline constexpr bool may_be_constant<tensor<T, S>> = true;
template <class X>
constexpr auto constant_of(ir::builder& g, const X& x);  // ops/like.hpp

/// Whether X is an expression of such tensors and of plain numbers. In a trace it may be a constant, too.
template <class X>
inline constexpr bool may_be_constant_expression = false;  // expr/lazy.hpp
template <class X>
constexpr auto constant_expression(ir::builder& g, const X& x);  // ops/like.hpp

template <class... All, class X>
constexpr auto lift([[maybe_unused]] ir::builder& g, [[maybe_unused]] const X& x) {
  if constexpr (is_traced_v<X>) {
    return x;
  } else if constexpr (std::is_same_v<X, flag>) {
    return lift<bool>(g, x.value);
  } else if constexpr (scalar<X> && number::is_narrow<X>) {
    return lift<All...>(g, static_cast<number::lane_t<X>>(x));
  } else if constexpr (scalar<X>) {
    constexpr dtype type = scalar_dtype<X, All...>();
    X known{};
    if (std::is_constant_evaluated() && !__builtin_constant_p(x)) g.refuse({ir::diagnostic::kind::capture});
    else known = x;
    if constexpr (std::is_integral_v<X> && !is_floating(type))
      if (!number::holds<element_of_t<type>>(known)) g.refuse({ir::diagnostic::kind::number, static_cast<std::int64_t>(known), static_cast<std::int64_t>(type)});
    // An integer keeps all its bits.
    if constexpr (std::is_integral_v<X> && !is_floating(type)) return traced<element_of_t<type>, shape<>>{&g, g.constant_bits(type, g.intern({}), static_cast<std::int64_t>(known))};
    else if constexpr (std::is_integral_v<X>) return traced<element_of_t<type>, shape<>>{&g, g.constant(type, g.intern({}), static_cast<double>(static_cast<element_of_t<type>>(known)))};
    else return traced<element_of_t<type>, shape<>>{&g, g.constant(type, g.intern({}), static_cast<double>(known))};
  } else if constexpr (may_be_constant<X>) {
    return constant_of(g, x);
  } else if constexpr (may_be_constant_expression<X>) {
    return constant_expression(g, x);
  } else {
    static_assert(never<X>,
                  "tenure: trace: a traced function captures nothing: pass the tensor as an argument instead");
    return traced<float, shape<>>{&g, g.constant(dtype::float32, g.intern({}), 0)};
  }
}

template <class Operation, class... X, std::size_t... I, class... Given>
constexpr auto make_lazy(types_of<X...>, std::index_sequence<I...>, Given&&... x);  // expr/lazy.hpp

/// Operation on a temporary expression, whose operands are moved, and on a tensor, an expression or a number.
template <class Operation, class X, class Y>
constexpr auto apply_moving(X&& x, Y&& y) {
  return make_lazy<Operation>(types_of<std::remove_cvref_t<X>, std::remove_cvref_t<Y>>{}, std::index_sequence<0, 1>{}, static_cast<X&&>(x), static_cast<Y&&>(y));
}

/// x, converted to T if that is another type.
template <class T, class From, class S>
constexpr traced<T, S> converted(const traced<From, S>& x) {
  if constexpr (std::is_same_v<T, From>) return x;
  else return {x.graph, x.graph->emit({.op = ir::opcode::cast, .type = dtype_v<T>, .arity = 1, .shape = (*x.graph)[x.id].shape, .in = {x.id, ir::none, ir::none}})};
}

/// A plain number in the type in which Operation computes with it; any other operand as lift() makes it.
template <class Operation, class... All, class X>
constexpr auto lift_operand(ir::builder& g, const X& x) {
  if constexpr (scalar<X>) {
    using beside = number_beside<Operation, X, All...>;
    using T = typename beside::element_type;
    if constexpr (beside::is_lane) return lane_number<T>(lift<traced<number::lane_t<T>, shape<>>>(g, x));
    else return lift<All...>(g, x);
  } else {
    return lift<All...>(g, x);
  }
}

/// Operation on operands of a narrow type: computed in lanes from its first operation to its last, and rounded once.
template <class Operation>
struct in_lanes {
  template <class... X>
  static constexpr auto trace(const X&... x) {
    using rounded = typename decltype(Operation::trace(std::declval<typename promotion<X>::type>()...))::element_type;
    const auto y = Operation::trace(converted<number::lane_t<typename X::element_type>>(x)...);
    if constexpr (number::is_narrow<rounded>) return converted<rounded>(y);
    else return y;
  }
};
/// Operation as it is traced. A floating operand of another type is a number or a scalar, which is not rounded to the narrow type, or the result is not narrow.
/// Integers of a byte need no such care: sums and products that wrap around often have the bits of those that wrap around once.
template <class Operation, class... X>
using called = std::conditional_t<((number::is_narrow<typename X::element_type> && number::is_floating<typename X::element_type>) || ...) &&
                                      (rounds_once<Operation> || (keeps_numbers<Operation> && (is_wide_floating<typename X::element_type> || ...))),
                                  in_lanes<Operation>, Operation>;

/// A value to return after a failed static_assert, so that no further errors follow.
template <class X, class... Rest>
constexpr auto stand_in(const X& x, const Rest&... rest) {
  if constexpr (is_traced_v<X>) return x;
  else if constexpr (sizeof...(Rest) > 0) return stand_in(rest...);
  else return after_error();
}

}  // namespace detail

template <class Operation, class... X>
constexpr auto apply(const X&... x) {
  constexpr bool are_known = (operand_or_scalar<X> && ...), are_operands = are_known && some_operand<X...>;
  static_assert(are_known, "tenure: operation: an operand is neither a tensor nor a number: tn::from(v) is a tensor over a vector, an array or a span");
  static_assert(!are_known || are_operands, "tenure: operation: a plain number has no axes: this function takes tensors and traced values");
  if constexpr ((detail::is_after_error<X> || ...)) {
    return after_error();
  } else if constexpr (!are_operands) {
    return detail::stand_in(x...);
  } else if constexpr ((detail::is_traced_number<X> || ...)) {
    return detail::apply_to_numbers<Operation>(x...);
  } else if constexpr ((is_traced_v<X> || ...)) {
    ir::builder* g = nullptr;
    ((g = g ? g : detail::graph_of(x)), ...);
    return detail::called<Operation, decltype(detail::lift_operand<Operation, X...>(*g, x))...>::trace(detail::lift_operand<Operation, X...>(*g, x)...);
  } else {
    return detail::make_lazy<Operation>(detail::types_of<X...>{}, std::index_sequence_for<X...>{}, x...);
  }
}

}  // namespace tenure
