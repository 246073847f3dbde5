// SPDX-License-Identifier: BSL-1.0
// The members of tensor that compute, read and clear gradients.
#pragma once

#include <concepts>

#include "../access.hpp"
#include "../backward_rules.hpp"
#include "../later.hpp"

namespace TENURE_NAMESPACE {

template <class Tensor>
class tensor_gradients {
  using T = element_t<Tensor>;
  static constexpr ownership O = ownership_of_v<Tensor>;
  static constexpr role R = role_of_v<Tensor>;
  static constexpr bool is_constant = !requires_grad_v<Tensor>;
  static constexpr bool is_leaf = is_leaf_v<Tensor>;

 public:
  /// Adds the gradient of this tensor, which must have exactly one element, to grad() of every leaf that it was computed from. It
  /// frees the values that the graph saved, so a second call throws ownership_error; backward(true) retains them. It also throws
  /// ownership_error if a saved value was overwritten. If it throws, nothing has been written.
  template <std::same_as<bool> Flag = bool>
  void backward(Flag retain = false) const {
    if constexpr (check_has_history())
      if constexpr (detail::may_omit_cotangent<Tensor>()) backward_node(detail::later_phase{}, self(), retain);
  }
  /// backward() for a tensor of any shape. `cotangent` is the gradient with respect to this tensor; it has the shape, type and device of this tensor.
  template <class C>
    requires(any_tensor<C> || expression<C>)
  void backward(const C& cotangent, bool retain = false) const {
    if constexpr (check_has_history())
      if constexpr (detail::is_cotangent<C, Tensor>()) backward_with(detail::later_phase{}, self(), cotangent, retain);
  }

  template <class C>
    requires(!any_tensor<C> && !expression<C> && !std::same_as<C, bool>)
  void backward(const C&, bool = false) const {
    static_assert(detail::never<C>, "tenure: backward: the cotangent is a tensor or an expression of the value's shape");
  }
  /// The gradient that backward() has accumulated, as a detached alias. It is read-only on a const tensor. Throws ownership_error
  /// if no gradient has arrived yet.
  auto grad() { return accumulated<access::read_write>(); }
  auto grad() const { return accumulated<access::read_only>(); }
  /// True if a gradient has arrived, so that grad() does not throw.
  bool has_grad() const {
    check_has_accumulator();
    if constexpr (is_constant) {
      return false;
    } else {
      detail::tensor_access::check_alive(self(), "has_grad");
      return static_cast<bool>(detail::tensor_access::accumulator(self())->grad);
    }
  }
  /// Sets the gradient to zero in place, if there is one.
  void zero_grad() {
    static_assert(is_leaf || R == role::retained_node, "tenure: zero_grad: the tensor has no gradient of its own");
    if constexpr (!is_constant) {
      detail::tensor_access::check_alive(self(), "zero_grad");
      detail::gradient_accumulator& accumulator = *detail::tensor_access::accumulator(self());
      if (!accumulator.grad) return;
      accumulator.grad.bump();
      detail::device_memory<device_of_t<Tensor>>::clear(accumulator.grad.data(), accumulator.grad.bytes());
      accumulator.is_zeroed = true;
      accumulator.zeroed_at = accumulator.grad.version();
    }
  }
  template <class X = T>
  void zero_grad() const {
    static_assert(detail::never<X>, "tenure: zero_grad: the tensor is read-only");
  }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }

  static constexpr bool check_has_history() {
    static_assert(O != ownership::detached, "tenure: backward: the tensor is detached: no gradient flows through it");
    static_assert(!is_constant || O == ownership::detached, "tenure: backward: the tensor is a constant, so there is no gradient to compute");
    return !is_constant;
  }
  static constexpr void check_has_accumulator() {
    static_assert(!is_constant, "tenure: grad: a constant has no gradient");
    static_assert(is_constant || R != role::node, "tenure: grad: a node keeps its gradient only after retain_grad()");
  }
  template <access Allowed>
  auto accumulated() const {
    check_has_accumulator();
    using gradient = tensor<T, shape_of_t<Tensor>, ownership::detached, role::constant, Allowed, device_of_t<Tensor>>;
    if constexpr (is_constant) {
      return gradient();
    } else {
      detail::tensor_access::check_alive(self(), "grad");
      const detail::storage_handle& arrived = detail::tensor_access::accumulator(self())->grad;
      if (!arrived) TENURE_THROW(ownership_error("tenure: grad: no gradient has arrived yet: call backward() first"));
      return detail::tensor_access::make<gradient>(arrived, static_cast<T*>(arrived.data()), self().extents(), row_major(self().extents()));
    }
  }
};

}  // namespace tenure
