// SPDX-License-Identifier: BSL-1.0
// The members of tensor that make a tensor of another role over the same memory: detach, requires_grad_, retain_grad, unsafe_data.
#pragma once

#include <type_traits>
#include <utility>

#include "../../storage/foreign.hpp"
#include "../access.hpp"
#include "../views.hpp"

namespace TENURE_NAMESPACE {

template <class Tensor>
class tensor_roles {
  using T = element_t<Tensor>;
  using Device = device_of_t<Tensor>;
  static constexpr ownership O = ownership_of_v<Tensor>;
  static constexpr role R = role_of_v<Tensor>;
  static constexpr bool owns = O == ownership::owning;
  static constexpr bool is_constant = !requires_grad_v<Tensor>;
  static constexpr bool is_leaf = is_leaf_v<Tensor>;
  static constexpr bool is_node = is_node_v<Tensor>;
  template <role R2>
  using with_role = tensor<T, shape_of_t<Tensor>, O, R2, access_of_v<Tensor>, Device>;

 public:
  /// The same memory and version counter without a gradient. An owning temporary hands over its memory, so that clone().detach()
  /// gives an owning constant with one copy, as detach().clone() does.
  auto detach() & { return detail::make_detached(self(), "detach"); }
  auto detach() const& { return detail::make_detached(self(), "detach"); }
  auto detach() && {
    if constexpr (owns) return with_role_now<role::constant>(std::move(self()), {});
    else return detail::make_detached(self(), "detach");
  }
  /// detach() in place. It consumes its operand, because the type changes: auto y = std::move(x).detach_().
  auto detach_() && {
    static_assert(owns, "tenure: detach_: a view cannot be detached in place: call detach()");
    if constexpr (owns) return with_role_now<role::constant>(std::move(self()), {});
  }
  template <class X = T>
  void detach_() const& {
    static_assert(detail::never<X>, "tenure: detach_: it consumes its operand: write std::move(x).detach_()");
  }

  /// Makes a leaf over the same memory: gradients end here. It consumes its operand, because the type changes. On a detached
  /// alias it makes a new, independent leaf and does not consume. requires_grad_<false>() makes a leaf a constant again. The
  /// element type must be float or double.
  template <bool Wanted = true>
  auto requires_grad_() && {
    check_requires_grad<Wanted>();
    constexpr role wanted = Wanted ? role::leaf : role::constant;
    if constexpr (O == ownership::detached && Wanted) return new_leaf(self());
    else if constexpr (R == wanted || is_node) return Tensor(std::move(self()));
    else if constexpr (Wanted && is_floating(dtype_v<T>))
      return with_role_now<role::leaf>(std::move(self()), detail::make_leaf_accumulator(dtype_v<T>, self().extents(), detail::device_operations_of<Device>()));
    else return with_role_now<role::constant>(std::move(self()), {});
  }
  template <bool Wanted = true>
  decltype(auto) requires_grad_() & { return requires_grad_here<Wanted>(self()); }
  template <bool Wanted = true>
  decltype(auto) requires_grad_() const& { return requires_grad_here<Wanted>(self()); }

  /// The same memory, but writes through the result raise no version. If a graph has saved this storage, such a write gives a wrong
  /// gradient without an error. It corresponds to PyTorch's .data.
  auto unsafe_data() { return unguarded(self()); }
  auto unsafe_data() const { return unguarded(self()); }

  /// Makes a node that keeps its gradient, so that grad() works on it. It consumes its operand, because the type changes.
  auto retain_grad() && {
    static_assert(!is_constant, "tenure: retain_grad: a constant has no gradient");
    if constexpr (is_node) {
      detail::tensor_access::check_alive(self(), "retain_grad");
      const detail::accumulator_handle accumulator = detail::tensor_access::accumulator(self());
      accumulator->retains = true;
      return with_role_now<role::retained_node>(std::move(self()), accumulator);
    } else {
      return Tensor(std::move(self()));
    }
  }
  decltype(auto) retain_grad() & { return retain_grad_here(self()); }
  decltype(auto) retain_grad() const& { return retain_grad_here(self()); }

 private:
  Tensor& self() { return static_cast<Tensor&>(*this); }
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }

  template <role R2>
  static with_role<R2> with_role_now(Tensor&& x, detail::stored_accumulator<R2> accumulator) {
    detail::tensor_access::check_alive(x, "detach");
    return detail::tensor_access::hand_over<with_role<R2>>(x, std::move(accumulator));
  }

  template <bool Wanted>
  static constexpr void check_requires_grad() {
    static_assert(!Wanted || is_floating(dtype_v<T>),
                  "tenure: requires_grad_: only floating-point elements have a gradient");
    static_assert(Wanted || !is_node, "tenure: requires_grad_: a node cannot drop its gradient: call detach()");
  }
  template <bool Wanted, class X>
  static decltype(auto) requires_grad_here(X& x) {
    check_requires_grad<Wanted>();
    constexpr bool stays = Wanted != is_constant;
    constexpr bool consumes = !stays && O != ownership::detached;
    static_assert(!consumes, "tenure: requires_grad_: it consumes its operand: write std::move(x).requires_grad_()");
    if constexpr (stays || consumes || !is_floating(dtype_v<T>)) return (x);
    else return new_leaf(x);
  }
  // Makes a leaf over the memory of a detached alias. Gradients end in this leaf and do not flow to the origin of the alias.
  template <class X>
  static auto new_leaf(X& x) {
    constexpr access allowed = std::is_const_v<X> ? access::read_only : access_of_v<Tensor>;
    using leaf = tensor<T, shape_of_t<Tensor>, ownership::aliasing, role::leaf, allowed, Device>;
    detail::tensor_access::check_alive(x, "requires_grad_");
    return detail::tensor_access::make<leaf>(detail::tensor_access::storage(x), detail::tensor_access::fresh(x), x.extents(), x.strides(),
                                   detail::make_leaf_accumulator(dtype_v<T>, x.extents(), detail::device_operations_of<Device>()));
  }

  static auto unguarded(auto& x) {
    const auto counted = detail::make_detached(x, "unsafe_data");
    return detail::tensor_access::make<std::remove_const_t<decltype(counted)>>(
        detail::uncounted_storage(detail::tensor_access::storage(x)), detail::tensor_access::fresh(x), x.extents(), x.strides());
  }

  template <class X>
  static X& retain_grad_here(X& x) {
    static_assert(!is_constant, "tenure: retain_grad: a constant has no gradient");
    static_assert(is_constant || is_leaf || R == role::retained_node,
                  "tenure: retain_grad: it consumes its operand: write std::move(x).retain_grad()");
    return x;
  }
};

}  // namespace tenure
