// SPDX-License-Identifier: BSL-1.0
// The concepts on which overloads of tensors branch, and the hooks: free functions in tenure::detail, defined by later
// layers (expr/), that members of tensor call by argument-dependent lookup. Their first argument is hook{}, which is
// what makes the lookup find them:
//   construct_from(hook, empty, e)   assign_from(hook, target, e)   copy_from(hook, target, e)
//   update_from(hook, op, x, e)      update_view(hook, op, base&&, layout, e)   copy_tracked(hook, target&&, x)
//   clone_tracked(hook, x)   convert_tracked(hook, element_tag<U>, x)   view_history(hook, base, layout) -> sink_handle
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "extents.hpp"
#include "traits.hpp"

namespace TENURE_NAMESPACE {

template <class X>
concept any_tensor = detail::traits_of<X>::is_tensor;

/// An unevaluated computation over tensors; Expr::tensor_type is what it evaluates to.
template <class X>
concept expression = requires { typename std::remove_cvref_t<X>::expression_tag; };

/// A host number that may stand beside a tensor.
template <class X>
concept scalar = std::is_arithmetic_v<std::remove_cvref_t<X>>;

template <class X>
concept any_shape = requires(const std::remove_cvref_t<X>& s) {
  { std::remove_cvref_t<X>::value } -> std::convertible_to<extents>;
  { std::remove_cvref_t<X>::is_static } -> std::convertible_to<bool>;
};

namespace detail {

struct hook {};

struct add_in_place {};
struct subtract_in_place {};
struct multiply_in_place {};
struct divide_in_place {};
struct replace_in_place {};

template <class...>
inline constexpr bool never = false;

/// What begin() of what is no range gives: enough for a loop to ask for it, too little for std::ranges or std::span.
template <class X>
struct no_iterator {
  constexpr const X& operator*() const { return *only; }
  constexpr void operator++() const {}
  constexpr bool operator!=(no_iterator) const { return false; }
  const X* only;
};

/// Whether tensor(U...) of this shape has a meaning: the value, the values, or the run-time extents.
template <class Shape, class... U>
inline constexpr bool takes_numbers = Shape::rank == 0   ? sizeof...(U) == 1
                                      : Shape::is_static ? Shape::rank == 1
                                                         : (std::is_integral_v<U> && ...);
/// A pointer, an array, a container, a string.
template <class X>
concept any_memory = requires(const std::remove_cvref_t<X>& x) { *x; } || requires(const std::remove_cvref_t<X>& x) { *x.data(); };
/// A pointer to numbers, an array or a container of them; strings are none.
template <class X>
concept holds_numbers = requires(const std::remove_cvref_t<X>& x) { requires scalar<decltype(*x)> && sizeof(*x) > 1; } ||
                        requires(const std::remove_cvref_t<X>& x) { requires scalar<decltype(*x.data())> && sizeof(*x.data()) > 1; };
/// What is neither a number, a tensor nor an expression. (A tuple of one tensor asks whether it can be made from a tuple.)
template <class X>
concept foreign = !scalar<X> && !any_tensor<X> && !expression<X> && (holds_numbers<X> || !requires { std::tuple_size<std::remove_cvref_t<X>>::value; });

/// A temporary that owns what X, a constant of another shape type, could own.
template <class Y, class X>
concept retyped_owner = any_tensor<Y> && !std::is_reference_v<Y> && !std::is_const_v<Y> && !std::is_same_v<Y, X> && role_of_v<X> == role::constant &&
                        std::is_same_v<Y, tensor<element_t<X>, shape_of_t<Y>, ownership::owning, role::constant, access::read_write, device_of_t<X>>> &&
                        may_be_same(shape_of_t<X>::value, shape_of_t<Y>::value);

/// Whether X may be written into a tensor; says why not.
template <class X>
constexpr bool is_source() {
  constexpr bool holds = scalar<X> || any_tensor<X> || expression<X>;
  static_assert(holds, "tenure: write: the source is neither a tensor nor a number: from(memory) makes a tensor of memory");
  return holds;
}

/// Whether a gradient flows to what X was made from, where X may be a number.
template <class X>
constexpr bool is_tracked_source() {
  if constexpr (scalar<X>) return false;
  else return requires_grad_v<X>;
}

}  // namespace detail
}  // namespace tenure
