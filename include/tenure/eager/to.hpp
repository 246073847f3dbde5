// SPDX-License-Identifier: BSL-1.0
// to(model, tn::cuda): copies a model, tuple or array of tensors to a device, as x.to(tn::cuda) copies one tensor. Law: the result owns
// new memory, also if the elements were on this device before, and it carries no gradient.
#pragma once

#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE {

/// Copies a model, a tuple or an array of tensors to a device, as x.to(tn::cuda) copies one tensor. The result owns new memory and is
/// constant. Tensors on different devices do not compile. Throws ownership_error if a tensor is empty, and std::bad_alloc.
template <class X, any_device D>
auto to(const X& x, D) {
  using namespace detail;
  constexpr bool are_apart = is_mixed(tree<X>::devices);
  static_assert(!are_apart, "tenure: to: the tensors are on different devices: move them one by one");
  using from_device = std::conditional_t<are_apart, D, device_of_tree<X>>;
  const auto moved = []<class L>(element_tag<L>, const auto& leaf) {
    leaf_argument from, *at = &from;
    decltype(auto) held = as_argument(leaf);
    collect(held, at);
    L made = tensor_access::allocate<L>(from.shape);
    const extents row = row_major(from.shape);
    transfer_elements<D, from_device>(tensor_access::fresh(made), row, static_cast<const element_t<L>*>(from.data), from.shape.rank > 0 ? from.strides : row, from.shape);
    return made;
  };
  return build_tree<rebind_kind_t<X, results_on<D>>>(moved, x);
}

}  // namespace tenure
