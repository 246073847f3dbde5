// SPDX-License-Identifier: BSL-1.0
// Writes the value of an expression into an existing tensor. Law: the result is as if the right side were computed completely before
// the first write. If the expression reads memory of the target, and not element by element, its value is computed into a temporary first.
// So x = transpose(x) + x is right. Types tell which operands may share memory with the target, and addresses at run time decide.
// If the call throws, nothing was written.
#pragma once

#include <tenure/tensor/later.hpp>
#include <tenure/eager/evaluate.hpp>

namespace TENURE_NAMESPACE {
namespace ops {

/// y, broadcast to the shape of x and converted to its type. x.copy_(y) writes this value into x. The value of x is not read.
struct replace {
  static constexpr const char* name = "copy_";
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    ir::builder& g = *x.graph;
    const extents to = broadcast_extents(g, name, x.shape(), y.shape());
    return X{&g, broadcast_to(cast_to(y, dtype_v<typename X::element_type>), g.intern(to)).id};
  }
};

}  // namespace ops

namespace detail {

/// Whether some operand of e shares memory with x in a way that forbids writing x while e is computed.
template <class X, class E>
bool needs_temporary(const X& x, const E& e) {
  constexpr auto& overwrites = program_detail::overwrites_of<program<value_source<E>>, operand_count<E>>;
  bool shares = false;
  int i = 0;
  for_each_operand(e, [&](const auto& operand) {
    if constexpr (is_captured<std::remove_cvref_t<decltype(operand)>>) {
      const overlap o = overlap_of_operands(tensor_access::fresh(x), x, operand.data, operand);
      if (o == overlap::partial || (o == overlap::same && !overwrites.may(i, 0))) shares = true;
    }
    ++i;
  });
  return shares;
}

/// A second handle to the memory of x, with the type of a contiguous owning tensor. x must be contiguous at run time.
template <class X>
auto as_contiguous(const X& x) {
  using owner = tensor<element_t<X>, shape_of_t<X>, ownership::owning, role::constant, access::read_write, device_of_t<X>>;
  return tensor_access::make<owner>(tensor_access::storage(x), tensor_access::fresh(x), x.extents(), x.strides());
}

/// Writes the value of e into the memory of x. The operands of e must not have changed since e was made. The extents of e must equal the extents of
/// x or broadcast to them. If x is empty (without memory) and `may_become` is true, x takes new memory with the value of e.
template <class X, class E>
void write_current_value(X& x, const E& e, const char* call, bool may_become = false) {
  constexpr bool fits = std::is_same_v<element_t<X>, typename E::element_type> && may_be_same(shape_of_t<X>::value, E::shape_type::value);
  constexpr bool is_fitting_owner = fits && ownership_of_v<X> == ownership::owning && role_of_v<X> == role::constant;
  const bool becomes = is_fitting_owner && may_become && !tensor_access::storage(x);
  if (!becomes) tensor_access::check_alive(x, call);
  if constexpr (fits) {
    if (becomes || (x.is_contiguous() && !needs_temporary(x, e))) {
      using temporary = tensor<element_t<X>, typename E::shape_type, ownership::owning, role::constant, access::read_write, device_of_t<X>>;
      constexpr bool is_same = std::is_same_v<shape_of_t<X>, typename E::shape_type> && shape_of_t<X>::is_static;
      temporary other = tensor_access::make<temporary>({}, nullptr, {}, {});
      compute_into<int>(e, [&](const extents& s, void*& to) {
        to = tensor_access::fresh(x);
        if (!becomes && (is_same || s == x.extents())) return 0;
        tensor_access::rebind(other, tensor_access::allocate<temporary>(s));
        to = tensor_access::fresh(other);
        return 0;
      }, [&] {
        if (!becomes && (is_same || tensor_access::fresh(other) == nullptr)) tensor_access::write(x, call);
      });
      if constexpr (is_fitting_owner)
        if (becomes) return tensor_access::rebind(x, X(std::move(other)));
      if constexpr (!is_same)
        if (tensor_access::fresh(other) != nullptr) copy_into(x, other, call);
      return;
    }
  }
  copy_into(x, compute_constant(e), call);
}

template <class X, class E>
void write_value(X& x, const E& e, const char* call, bool may_become = false) {
  if constexpr (is_evaluable<E>()) check_versions(e, "eval");
  write_current_value(x, e, call, may_become);
}

/// Whether the value of E can be assigned to X. If not, a static_assert gives the reason.
template <class X, class E>
constexpr bool is_assignable() {
  constexpr bool keeps_gradient = requires_grad_v<X> || !requires_grad_v<E>;
  static_assert(keeps_gradient, "tenure: operator=: a constant cannot take a tracked expression: detach() it, or begin the variable with a tracked one");
  constexpr bool fits = may_broadcast(shape_of_t<E>::value, shape_of_t<X>::value);
  if constexpr (!fits)
    if constexpr (has_no_stretched_factor<E>()) static_assert(fits, "tenure: operator=: the expression's shape does not broadcast to the target's");
  return keeps_gradient && fits;
}

/// Assigns to a node. The value and the history of a node belong together, so the node takes new memory and the history of the new value.
template <class X, class E>
void assign_node(X& x, const E& e) {
  constexpr bool same_type = std::is_same_v<element_t<X>, element_t<E>>;
  constexpr bool same_shape = may_be_same(shape_of_t<X>::value, shape_of_t<E>::value);
  static_assert(std::is_same_v<element_t<X>, element_t<E>>, "tenure: operator=: the value has another element type than the node: cast it");
  static_assert(same_shape, "tenure: operator=: the value has another shape than the node");
  if constexpr (same_type && same_shape) {
    if constexpr (any_tensor<E>) take_over(x, e.clone());
    else take_over(x, evaluate(e));
  }
}

template <class X, class E>
void assign_from(later_phase, X& x, const E& e) {
  if constexpr (requires_grad_v<X> && scalar<E>) assign_node(x, apply<ops::replace>(x.detach(), e));
  else if constexpr (requires_grad_v<X>) assign_node(x, e);
  else if constexpr (is_assignable<X, E>()) write_value(x, e, "operator=", true);
}

template <class X, class E>
void copy_from(later_phase, X& x, const E& e) {
  constexpr bool fits = may_broadcast(shape_of_t<E>::value, shape_of_t<X>::value);
  static_assert(fits, "tenure: copy_: the source's shape does not broadcast to the target's");
  if constexpr (fits) write_value(x, e, "copy_");
}

}  // namespace detail
}  // namespace tenure
