// SPDX-License-Identifier: BSL-1.0
// The meeting point of the two front doors: one call, apply<Operation>(x...), appends to a graph when an operand is
// traced and makes an unevaluated expression when the operands are live tensors. Either way Operation::trace decides
// result type, shape and errors.
#pragma once

#include <type_traits>
#include <utility>

#include <tenure/expr/traced.hpp>
#include <tenure/tensor/concepts.hpp>

namespace TENURE_NAMESPACE {

/// What an operand contributes: specialised for traced values here, for tensors and expressions in expr/lazy.hpp.
template <class X>
struct operand_traits {
  static constexpr bool is_operand = false;
};
template <class T, class S>
struct operand_traits<traced<T, S>> {
  static constexpr bool is_operand = true;
  static constexpr bool is_live = false;
  using element_type = T;
  using shape_type = S;
};

template <class X>
concept operand = operand_traits<std::remove_cvref_t<X>>::is_operand;
/// What an operation accepts: something tensor-like, or a plain number beside it. apply() says so where it gets anything else.
template <class X>
concept operand_or_scalar = operand<X> || scalar<X>;
template <class... X>
concept some_operand = (operand<X> || ...);
/// What is compared: other classes may bring comparisons with tensors of their own, as frameworks for tests do; memory does not.
template <class X, class Y>
concept comparable = some_operand<X, Y> && (operand_or_scalar<X> || detail::any_memory<X>) && (operand_or_scalar<Y> || detail::any_memory<Y>);
template <class X, class Y>
concept joinable = some_operand<X, Y> && operand_or_scalar<X> && operand_or_scalar<Y>;

namespace detail {

template <class X>
constexpr dtype strong_dtype() {
  if constexpr (operand<X>) return dtype_v<typename operand_traits<std::remove_cvref_t<X>>::element_type>;
  else return dtype::boolean;
}

/// A plain number takes the type of the tensors beside it, unless it has a fraction and they do not (PyTorch's rule).
template <class Scalar, class... X>
constexpr dtype scalar_dtype() {
  dtype common = dtype::boolean;
  ((common = promote(common, strong_dtype<X>())), ...);
  if (std::is_floating_point_v<Scalar>) return is_floating(common) ? common : dtype::float32;
  if (std::is_same_v<Scalar, bool>) return common;
  return common == dtype::boolean ? dtype::int64 : common;
}

template <class X>
constexpr ir::builder* graph_of(const X& x) {
  if constexpr (is_traced_v<X>) return x.graph;
  else return nullptr;
}

template <class... All, class X>
constexpr auto lift([[maybe_unused]] ir::builder& g, [[maybe_unused]] const X& x) {
  if constexpr (is_traced_v<X>) {
    return x;
  } else if constexpr (scalar<X>) {
    constexpr dtype type = scalar_dtype<X, All...>();
    X known{};
    if (std::is_constant_evaluated() && !__builtin_constant_p(x)) g.refuse({ir::refusal::kind::capture});
    else known = x;
    // An integer keeps all its bits.
    if constexpr (std::is_integral_v<X> && !is_floating(type)) return traced<element_of_t<type>, shape<>>{&g, g.constant_bits(type, g.intern({}), static_cast<std::int64_t>(known))};
    else return traced<element_of_t<type>, shape<>>{&g, g.constant(type, g.intern({}), static_cast<double>(known))};
  } else {
    static_assert(always_false<X>,
                  "tenure: trace: a traced function captures nothing: pass the tensor as an argument instead");
    return traced<float, shape<>>{&g, g.constant(dtype::float32, g.intern({}), 0)};
  }
}

template <class Operation, std::size_t... I, class... X>
constexpr auto make_lazy(std::index_sequence<I...>, const X&... x);  // expr/lazy.hpp

/// Something to go on with after a message.
template <class X, class... Rest>
constexpr auto stand_in(const X& x, const Rest&... rest) {
  if constexpr (is_traced_v<X>) return x;
  else if constexpr (sizeof...(Rest) > 0) return stand_in(rest...);
  else return std::enable_if_t<sizeof(X) != 0, tensor<float, shape<>>>();  // of X, since clang looks into it here, and it is incomplete
}

}  // namespace detail

template <class Operation, class... X>
constexpr auto apply(const X&... x) {
  constexpr bool are_operands = (operand_or_scalar<X> && ...);
  static_assert(are_operands, "tenure: operation: an operand is neither a tensor nor a number");
  if constexpr (!are_operands) {
    return detail::stand_in(x...);
  } else if constexpr ((is_traced_v<X> || ...)) {
    ir::builder* g = nullptr;
    ((g = g ? g : detail::graph_of(x)), ...);
    return Operation::trace(detail::lift<X...>(*g, x)...);
  } else {
    return detail::make_lazy<Operation>(std::index_sequence_for<X...>{}, x...);
  }
}

}  // namespace tenure
