// SPDX-License-Identifier: BSL-1.0
// Evaluates expressions over live tensors into new memory. The result is a constant, or a node with the history of the expression.
#pragma once

#include <tenure/ops/movement.hpp>
#include <tenure/tensor/later.hpp>
#include <tenure/eager/history.hpp>
#include <tenure/eager/view_history.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Computes e in row-major order into memory: `make(shape, memory)` sets `memory` and is called after all other checks. Returns what it returned. The caller
/// checks the versions of the operands. The type is not deduced: g++ would compile the program before messages about shapes are due.
template <class Result, class E, class Make, class BeforeWriting = program_detail::no_commit>
Result compute_into(const E& e, const Make& make, const BeforeWriting& before_writing = {}) {
  if constexpr (is_evaluable<E>()) {
    using program_type = program<value_source<E>>;
    constexpr int n = operand_count<E>;
    leaf_argument arguments[n];
    const void* pointers[n];
    leaf_argument* at = arguments;
    copies_of_views<bytes_of_operands<E>> copies;
    collect_operands(e, at, copies);
    [[maybe_unused]] const auto numbers = place_operand_numbers<device_of_t<E>>(e, arguments);
    return call_bound<program_type, device_of_t<E>>(arguments, n, pointers, [&](void** results, const std::int64_t* symbols) {
      return make(output_extents<program_type>(0, symbols), results[0]);
    }, before_writing);
  } else {
    return Result();
  }
}

template <class E>
kept_element<typename E::element_type, device_of_t<E>> evaluate_item(later_phase, const E& e) {
  kept_element<typename E::element_type, device_of_t<E>> value;
  if constexpr (is_evaluable<E>()) check_versions(e, "eval");
  compute_into<int>(e, [&]([[maybe_unused]] const extents& s, void*& to) {
    if constexpr (!E::shape_type::is_static)
      if (count(s) != 1) throw shape_error(message("item") << "an expression of shape " << s << " does not have exactly one element");
    to = value.begin();
    return 0;
  });
  return value;
}

/// The extents of the value of e, computed from the extents of its operands.
template <class E>
extents extents_of(later_phase, const E& e) {
  using program_type = program<value_source<E>>;
  leaf_argument arguments[operand_count<E>];
  leaf_argument* at = arguments;
  collect_operands(e, at);
  std::int64_t symbols[program_type::symbol_count + 1] = {};
  bind_symbols(program_type::value.view(), arguments, symbols);
  return output_extents<program_type>(0, symbols);
}

/// An owning constant with the value of e. The caller checks the versions.
template <class E>
auto compute_constant(const E& e) {
  using result = tensor<typename E::element_type, typename E::shape_type, ownership::owning, role::constant, access::read_write, device_of_t<E>>;
  if constexpr (!is_evaluable<E>()) return tensor_access::make<result>({}, nullptr, {}, {});
  else
    return compute_into<result>(e, [](const extents& s, void*& to) {
      result made = tensor_access::allocate<result>(s);
      to = tensor_access::fresh(made);
      return made;
    });
}
/// Checks the versions, then returns compute_constant(e).
template <class E>
auto evaluate_constant(const E& e) {
  if constexpr (is_evaluable<E>()) check_versions(e, "eval");
  return compute_constant(e);
}

/// An owning tensor of type X, with this history, over the memory of the owning tensor `value`.
template <class X, class Y>
X with_history(const Y& value, accumulator_handle accumulator) {
  return tensor_access::make<X>(tensor_access::storage(value), tensor_access::fresh(value), value.extents(), value.strides(), std::move(accumulator));
}

/// The tensor with the value of e: a constant, or a node with the history of e.
template <class E>
auto evaluate(const E& e) {
  if constexpr (!E::is_tracked) {
    return evaluate_constant(e);
  } else {
    const auto value = evaluate_constant(e);
    if (!is_recording()) return with_history<typename E::tensor_type>(value, unrecorded<E>(value.extents()));
    auto* const history = new expression_history<E>(e);
    accumulator_handle accumulator(history);
    history->save_result(0, value);
    return with_history<typename E::tensor_type>(value, std::move(accumulator));
  }
}

/// Whether E contains a product of elements for which an operand gets more axes, as that of a matrix and a vector.
template <class E>
inline constexpr bool stretches_factor = false;
template <class Operation, class... X>
inline constexpr bool stretches_factor<lazy<Operation, X...>> = (stretches_factor<X> || ...);
template <class X, class Y>
inline constexpr bool stretches_factor<lazy<ops::mul, X, Y>> =
    (traced_operand<X>::shape_type::rank != traced_operand<Y>::shape_type::rank && traced_operand<X>::shape_type::rank * traced_operand<Y>::shape_type::rank != 0) ||
    stretches_factor<X> || stretches_factor<Y>;
/// The message for an expression that has too large a shape. If it multiplies a matrix by a vector, that is the reason.
template <class E>
constexpr bool has_no_stretched_factor() {
  constexpr bool multiplies_elements = stretches_factor<E>;
  static_assert(!multiplies_elements, "tenure: operator*: it multiplies elements: the product of a matrix and a vector is matmul(a, x)");
  return !multiplies_elements;
}

/// Whether a tensor X can be made from E. If not, a static_assert gives the reason.
template <class X, class E>
constexpr bool is_constructible() {
  constexpr bool keeps_gradient = requires_grad_v<X> || !E::is_tracked;
  static_assert(keeps_gradient, "tenure: tensor: a constant cannot take a tracked expression: detach() it first");
  static_assert(!is_leaf_v<X>, "tenure: tensor: a leaf cannot be made from an expression: evaluate it, detach() it and call requires_grad_()");
  constexpr bool same_type = std::is_same_v<element_t<X>, typename E::element_type>;
  // The types are written out, because compilers print them.
  static_assert(std::is_same_v<element_t<X>, typename E::element_type>, "tenure: tensor: the expression has another element type: cast it");
  constexpr bool same_shape = may_be_same(shape_of_t<X>::value, E::shape_type::value);
  if constexpr (!same_shape)
    if constexpr (has_no_stretched_factor<E>()) static_assert(same_shape, "tenure: tensor: the expression has another shape");
  return keeps_gradient && !is_leaf_v<X> && same_type && same_shape;
}

/// x becomes `made`, which owns its memory. If x is a node, it takes the history of `made`, or starts a new one.
template <class X, class Made>
void take_over(X& x, Made made) {
  if constexpr (std::is_same_v<X, Made>) {
    tensor_access::rebind(x, std::move(made));
  } else {
    check_extents<shape_of_t<X>>(made.extents());
    accumulator_handle accumulator;
    if constexpr (requires_grad_v<Made>) accumulator = tensor_access::accumulator(made);
    else if constexpr (requires_grad_v<X>) accumulator = accumulator_handle(new ended_history(dtype_v<element_t<X>>, made.extents(), device_operations_of<device_of_t<X>>()));
    if constexpr (role_of_v<X> == role::retained_node) accumulator->retains = true;
    tensor_access::rebind(x, with_history<X>(made, std::move(accumulator)));
  }
}

template <class X, class E>
X constructed_from(later_phase, element_tag<X>, const E& e) {
  constexpr bool fits = is_constructible<X, E>();
  if constexpr (fits && std::is_same_v<X, typename E::tensor_type>) {
    return evaluate(e);
  } else {
    X x = tensor_access::make<X>({}, nullptr, {}, {});
    if constexpr (fits) take_over(x, evaluate(e));
    return x;
  }
}

template <class X>
auto clone_tracked(later_phase, const X& x) {
  check_current(x, "clone");
  const auto value = x.detach().clone();
  using node = tensor<element_t<X>, shape_of_t<X>, ownership::owning, role::node, access::read_write, device_of_t<X>>;
  return with_history<node>(value, is_recording() ? accumulator_handle(new clone_history(tensor_access::accumulator(x))) : unrecorded<X>(value.extents()));
}

template <class U, class X>
auto convert_tracked(later_phase, element_tag<U>, const X& x) { return evaluate(apply<ops::cast<U>>(x)); }

/// The value of an expression as a constant or a node. A tensor is returned as it is.
template <class X>
decltype(auto) evaluated(const X& x) {
  if constexpr (any_tensor<X>) return (x);
  else return evaluate_constant(x);
}

/// backward() of an expression, given its cotangent. Returns whether the derivative reads the value of a tensor.
template <class E, class C>
bool backward_with(later_phase, const E& e, const C& cotangent, bool retain) {
  require_recording();
  const auto y = evaluate(e);
  const bool saves = static_cast<const expression_history<E>&>(*tensor_access::accumulator(y)).saves();
  const auto& c = evaluated(cotangent);
  backward_from(y, c, retain);
  return saves;
}

/// backward() of a node, given its cotangent.
template <class X, class C>
  requires any_tensor<X>
void backward_with(later_phase, const X& y, const C& cotangent, bool retain) {
  const auto& c = evaluated(cotangent);
  backward_from(y, c, retain);
}

template <class E>
auto tensor_of(later_phase, const E& e) { return evaluate(e); }

}  // namespace detail

/// Computes an expression. The result is a constant, or a node if an operand is tracked. A tensor, a traced value and a number are returned as they
/// are: an lvalue by reference, without a copy. So a loop can assign to h after auto h = eval(f(x)), with tensors and in a trace.
template <expression E>
auto eval(const E& e) { return detail::evaluate(e); }
template <class X>
  requires(!expression<X>)
constexpr X eval(X&& x) {
  constexpr bool has_value = any_tensor<X> || operand_or_scalar<X>;
  static_assert(has_value, "tenure: eval: the argument is neither an expression, a tensor, a traced value nor a number");
  return std::forward<X>(x);
}

}  // namespace tenure
