// SPDX-License-Identifier: BSL-1.0
// The members of tensor that copy elements to new memory: clone, contiguous, new_tensor, to.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../access.hpp"
#include "../copy.hpp"
#include "../later.hpp"
#include "../views.hpp"

namespace TENURE_NAMESPACE {

namespace detail {

/// Makes an owning constant with the values of x.
template <class Made, class X>
Made copied(const X& x, const char* call) {
  const auto* const from = tensor_access::read(x, call);
  Made made = tensor_access::allocate<Made>(x.extents());
  using to_device = device_of_t<Made>;
  using from_device = device_of_t<X>;
  constexpr bool are_bytes = !std::is_same_v<to_device, from_device> && ownership_of_v<X> == ownership::owning && std::is_same_v<element_t<Made>, element_t<X>>;
  if constexpr (are_bytes)  // most transfers take this branch; it instantiates no kernels that copy strided elements
    transfer_bytes<to_device, from_device>(tensor_access::fresh(made), from, static_cast<std::size_t>(made.size()) * sizeof(element_t<Made>));
  else transfer_elements<to_device, from_device>(tensor_access::fresh(made), made.strides(), from, x.strides(), x.extents());
  return made;
}

}  // namespace detail

template <class Tensor>
class tensor_copies {
  using T = element_t<Tensor>;
  using Shape = shape_of_t<Tensor>;
  using Device = device_of_t<Tensor>;
  static constexpr bool is_constant = !requires_grad_v<Tensor>;

 public:
  /// Copies the elements to new memory. The result is owning and contiguous. The gradient flows back to this tensor.
  auto clone() const {
    if constexpr (!is_constant) {
      return clone_tracked(detail::later_phase{}, self());
    } else {
      using copy = tensor<T, Shape, ownership::owning, role::constant, access::read_write, Device>;
      return detail::copied<copy>(self(), "clone");
    }
  }
  /// A view of the tensor if it is contiguous, else a view of a copy. The gradient flows back to this tensor.
  auto contiguous() { return self().is_contiguous() ? self().view() : detail::view_into<decltype(self().view())>(clone()); }
  auto contiguous() const { return self().is_contiguous() ? self().view() : detail::view_into<decltype(self().view())>(clone()); }

  /// Copies the values of x to new memory, with the element type and device of this tensor, or with element type U. No gradient
  /// flows.
  template <class U = T, any_tensor X>
  auto new_tensor(const X& x) const {
    using made = tensor<U, shape_of_t<X>, ownership::owning, role::constant, access::read_write, Device>;
    return detail::copied<made>(x, "new_tensor");
  }

  /// Converts the element type. The result has new memory; if U is T, it is a view. The gradient flows back through a conversion
  /// between floating-point types; a conversion to bool or to an integer type gives a constant.
  template <element U>
  auto to() { return converted<U>(self()); }
  template <element U>
  auto to() const { return converted<U>(self()); }
  /// Copies the elements to the memory of a device. If they are there already, the result is a view. A tracked tensor must be
  /// detached before it goes to another device.
  template <any_device D>
  auto to(D) { return moved<D>(self()); }
  template <any_device D>
  auto to(D) const { return moved<D>(self()); }
  template <class U>
    requires(!element<U>)
  auto to() const {
    static_assert(detail::never<U>, "tenure: to: the element type is not bool, uint8, int8, int32, int64, bfloat16, float16, float or double");
    return self().view();
  }
  template <class D>
    requires(!any_device<D>)
  auto to(const D&) const {
    static_assert(detail::never<D>, "tenure: to: the argument is not a device (tn::cpu, tn::cuda): an element type is written as to<double>()");
    return self().view();
  }

 private:
  Tensor& self() { return static_cast<Tensor&>(*this); }
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }

  template <class U, class X>
  static auto converted(X& x) {
    if constexpr (std::is_same_v<U, T>) return detail::whole_view(x);
    else if constexpr (!is_constant && is_floating(dtype_v<U>))
      return convert_tracked(detail::later_phase{}, element_tag<U>{}, x);
    else return x.template new_tensor<U>(x);
  }

  template <class D, class X>
  static auto moved(X& x) {
    static_assert(is_constant || std::is_same_v<D, Device>, "tenure: to: a tracked tensor stays on its device: detach() it first");
    if constexpr (std::is_same_v<D, Device> || !is_constant) return detail::whole_view(x);
    else return detail::copied<tensor<T, Shape, ownership::owning, role::constant, access::read_write, D>>(x, "to");
  }
};

}  // namespace tenure
