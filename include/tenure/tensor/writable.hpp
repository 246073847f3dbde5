// SPDX-License-Identifier: BSL-1.0
// Compile-time checks of tensors that are written, one function for each kind of write, because the text of a static_assert is a
// literal.
// Law: a leaf and every view of a tracked tensor are written only inside no_grad; read-only memory is never written.
#pragma once

#include "concepts.hpp"

namespace TENURE_NAMESPACE::detail {

// If one of these conditions is false, the later ones are true, so that only one message appears.
template <class X>
inline constexpr bool is_writable = access_of_v<X> == access::read_write && !std::is_const_v<X>;
template <class X>
inline constexpr bool is_free_of_leaf = !is_writable<X> || !is_leaf_v<X>;
// A view of a leaf and a view of a node have the same type, so neither may be written in place.
template <class X>
inline constexpr bool is_free_of_view = !is_writable<X> || !is_node_v<X> || ownership_of_v<X> == ownership::owning;

template <class X>
constexpr void check_fill() {
  static_assert(is_writable<X>, "tenure: fill_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: fill_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: fill_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_copy_target() {
  static_assert(is_writable<X>, "tenure: copy_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: copy_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: copy_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_assign() {
  static_assert(is_writable<X>, "tenure: operator=: the tensor is read-only");
  static_assert(is_free_of_leaf<X>,
                "tenure: operator=: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: operator=: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_update(element_tag<ops::add>) {
  static_assert(is_writable<X>, "tenure: add_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: add_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: add_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_update(element_tag<ops::sub>) {
  static_assert(is_writable<X>, "tenure: sub_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: sub_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: sub_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_update(element_tag<ops::mul>) {
  static_assert(is_writable<X>, "tenure: mul_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: mul_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: mul_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_update(element_tag<ops::div>) {
  static_assert(is_writable<X>, "tenure: div_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: div_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: div_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_zero() {
  static_assert(is_writable<X>, "tenure: zero_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: zero_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: zero_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_update(element_tag<ops::fill_where>) {
  static_assert(is_writable<X>, "tenure: masked_fill_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: masked_fill_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: masked_fill_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}
template <class X>
constexpr void check_update(element_tag<ops::keep_where>) {
  static_assert(is_writable<X>, "tenure: where_: the tensor is read-only");
  static_assert(is_free_of_leaf<X>, "tenure: where_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
  static_assert(is_free_of_view<X>, "tenure: where_: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
}

/// Whether M is a mask and E what a masked write takes. If not, a static_assert gives the reason.
template <class Op, class M, class E>
constexpr bool is_masked_source() {
  constexpr bool is_fill = std::is_same_v<Op, ops::fill_where>;
  constexpr bool is_mask = [] {
    if constexpr (any_tensor<M> || expression<M>) return std::is_same_v<element_t<M>, bool>;
    else return false;
  }();
  static_assert(is_mask || is_after_error<M>, "tenure: masked_fill_, where_: the mask is not a tensor or an expression of bool: write x > 0, or cast<bool>(mask)");
  constexpr bool fits = [] {
    if constexpr (is_fill && (any_tensor<E> || expression<E>)) return shape_of_t<E>::rank == 0;
    else return true;
  }();
  static_assert(fits, "tenure: masked_fill_: the value is not a number or a scalar: write x.where_(!mask, y) for a tensor y");
  return is_mask && fits && is_source<E>();
}

}  // namespace tenure::detail
