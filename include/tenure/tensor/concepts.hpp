// SPDX-License-Identifier: BSL-1.0
// The concepts that select overloads for tensors.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "extents.hpp"
#include "traits.hpp"

namespace TENURE_NAMESPACE {

// The operations that x.add_(y), x.masked_fill_(mask, y) and the others compute. eager/ and ops/ define them.
namespace ops {
struct add; struct sub; struct mul; struct div; struct replace; struct fill_where; struct keep_where;
}  // namespace ops

/// The result of a call that has printed its message. Functions that take a tensor also take it, and return it without a further message.
struct after_error {
  template <class X>
  operator X() const;
  template <class... A> after_error operator()(const A&...) const;
  template <class A> after_error operator[](const A&) const;
  template <class A> after_error operator+=(const A&) const;
  template <class A> after_error operator-=(const A&) const;
  template <class A> after_error operator*=(const A&) const;
  template <class A> after_error operator/=(const A&) const;
  template <auto...> after_error transpose() const;
  template <auto...> after_error permute() const;
  template <auto...> after_error squeeze() const;
  template <auto...> after_error unsqueeze() const;
  template <auto..., class... A> after_error reshape(const A&...) const;
  template <auto..., class... A> after_error expand(const A&...) const;
  template <auto...> after_error requires_grad_() const;
  template <auto...> after_error diagonal() const;
  template <class... T> after_error to(const T&...) const;
  template <class... A> after_error at(const A&...) const;
  template <class... A> after_error backward(const A&...) const;
  template <class A> after_error add_(const A&) const;
  template <class A> after_error sub_(const A&) const;
  template <class A> after_error mul_(const A&) const;
  template <class A> after_error div_(const A&) const;
  template <class A> after_error copy_(const A&) const;
  template <class A> after_error fill_(const A&) const;
  template <class M, class A> after_error masked_fill_(const M&, const A&) const;
  template <class M, class A> after_error where_(const M&, const A&) const;
  template <auto..., class... A> after_error view(const A&...) const;
  template <class... A> after_error sum(const A&...) const;
  template <class... A> after_error mean(const A&...) const;
  template <class... A> after_error max(const A&...) const;
  template <class... A> after_error min(const A&...) const;
  template <class... A> after_error amax(const A&...) const;
  template <class... A> after_error amin(const A&...) const;
  template <class... A> after_error argmax(const A&...) const;
  template <class... A> after_error argmin(const A&...) const;
  template <class... A> after_error prod(const A&...) const;
  template <auto..., class... A> after_error norm(const A&...) const;
  after_error t() const, item() const, clone() const, detach() const, detach_() const, contiguous() const, zero_() const, grad() const, retain_grad() const;
  void zero_grad() const;
  bool has_grad() const;
  tenure::extents extents() const, shape() const, strides() const;
  std::int64_t extent(int) const, size() const;
  template <class X> requires std::is_arithmetic_v<X> friend X& operator+=(X& x, const after_error&) { return x; }
  template <class X> requires std::is_arithmetic_v<X> friend X& operator-=(X& x, const after_error&) { return x; }
  template <class X> requires std::is_arithmetic_v<X> friend X& operator*=(X& x, const after_error&) { return x; }
  template <class X> requires std::is_arithmetic_v<X> friend X& operator/=(X& x, const after_error&) { return x; }
  template <class X> requires std::is_arithmetic_v<X> friend X& operator&=(X& x, const after_error&) { return x; }
  template <class Stream>
  friend Stream& operator<<(Stream& out, const after_error&) { return out; }
  template <std::size_t> after_error get() const;  // auto [a, b] = f(x), mostly of two: see std::tuple_size below
};
namespace detail {
template <class X>
inline constexpr bool is_after_error_type = std::is_same_v<X, after_error>;
template <class X>
inline constexpr bool is_after_error = is_after_error_type<std::remove_cvref_t<X>>;
template <>
struct tensor_traits<after_error> {
  static constexpr bool is_tensor = false;
  using element_type = bool;
  using shape_type = shape<>;
};
}

/// X is a tensor, of any ownership, role and device.
template <class X>
concept any_tensor = detail::traits_of<X>::is_tensor;

/// X is an unevaluated computation on tensors. X::tensor_type is the type of its value.
template <class X>
concept expression = requires { typename std::remove_cvref_t<X>::expression_tag; };

/// X is a C++ number. It may be an operand beside a tensor.
template <class X>
concept scalar = std::is_arithmetic_v<std::remove_cvref_t<X>> || element<std::remove_cvref_t<X>>;

/// X is a shape type: shape<...>.
template <class X>
concept any_shape = requires(const std::remove_cvref_t<X>& s) {
  { std::remove_cvref_t<X>::value } -> std::convertible_to<extents>;
  { std::remove_cvref_t<X>::is_static } -> std::convertible_to<bool>;
};

namespace detail {

template <class...>
inline constexpr bool never = false;

/// The return type of begin() and end() of types that are not ranges. A range-based for loop accepts it, so the loop shows our
/// message. std::ranges and std::span do not accept it.
template <class X>
struct no_iterator {
  constexpr const X& operator*() const { return *only; }
  constexpr void operator++() const {}
  constexpr bool operator!=(no_iterator) const { return false; }
  const X* only;
};

/// True if tensor(U...) of this shape has a meaning: one value for rank 0, the values for a static shape of rank 1, or the run-time
/// extents.
template <class Shape, class... U>
inline constexpr bool takes_numbers = Shape::rank == 0   ? sizeof...(U) == 1
                                      : Shape::is_static ? Shape::rank == 1
                                                         : (std::is_integral_v<U> && ...);
/// X is a pointer, an array, a container or a string.
template <class X>
concept any_memory = requires(const std::remove_cvref_t<X>& x) { *x; } || requires(const std::remove_cvref_t<X>& x) { *x.data(); };
/// X is a pointer to numbers, or an array or container of numbers. Strings do not count.
template <class X>
concept holds_numbers = requires(const std::remove_cvref_t<X>& x) { requires scalar<decltype(*x)> && sizeof(*x) > 1; } ||
                        requires(const std::remove_cvref_t<X>& x) { requires scalar<decltype(*x.data())> && sizeof(*x.data()) > 1; };
/// X is a traced value (expr/traced.hpp).
template <class X>
concept traces = requires { typename std::remove_cvref_t<X>::traced_tag; };
template <class T>
struct traced_element;  // see expr/traced.hpp
/// The element type of a tensor of numbers in parentheses, or in braces of one level, that has no element type and shape.
template <class... X>
using undeduced_of = std::conditional_t<(traces<X> || ...), traced_element<undeduced>, undeduced>;
/// X is a tuple, a pair or an array. The std::tuple_size of an expression or a traced value is not read, because that prints a message: see
/// is_one_value.
template <class X>
concept has_tuple_parts = !is_after_error<X> && !expression<X> && !traces<X> && requires { std::tuple_size<std::remove_cvref_t<X>>::value; };
template <class X, std::size_t N>
concept has_tuple_parts_of = has_tuple_parts<X> && std::tuple_size<std::remove_cvref_t<X>>::value == N;
/// X is neither a number, a tensor, an expression nor a traced value. Tuples are excluded, because std::tuple of one tensor asks whether a tensor
/// can be made from a tuple.
template <class X>
concept foreign = !scalar<X> && !is_after_error<X> && !any_tensor<X> && !expression<X> && !traces<X> && (holds_numbers<X> || !has_tuple_parts<X>);

/// Y is an owning temporary that differs from the constant X only in its shape type, and the extents may be equal.
template <class Y, class X>
concept retyped_owner = any_tensor<Y> && !std::is_reference_v<Y> && !std::is_const_v<Y> && !std::is_same_v<Y, X> && role_of_v<X> == role::constant &&
                        std::is_same_v<Y, tensor<element_t<X>, shape_of_t<Y>, ownership::owning, role::constant, access::read_write, device_of_t<X>>> &&
                        may_be_same(shape_of_t<X>::value, shape_of_t<Y>::value);

/// True if the elements of X can be written to a tensor. Otherwise a static_assert fails.
template <class X>
constexpr bool is_source() {
  constexpr bool holds = scalar<X> || any_tensor<X> || expression<X>;
  static_assert(holds || is_after_error<X>, "tenure: write: the source is neither a tensor nor a number: from(memory) makes a tensor over memory");
  return holds && !is_after_error<X>;
}

/// requires_grad_v<X>, but false for a number.
template <class X>
constexpr bool is_tracked_source() {
  if constexpr (any_tensor<X> || expression<X>) return requires_grad_v<X>;
  else return false;
}

}  // namespace detail
}  // namespace tenure

template <>
struct std::tuple_size<tenure::after_error> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, tenure::after_error> { using type = tenure::after_error; };
