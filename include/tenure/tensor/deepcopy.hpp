// SPDX-License-Identifier: BSL-1.0
// deepcopy: an independent copy with the same role. Law: a leaf gives a leaf and its gradient is copied too; no gradient flows
// between the two. A node does not compile, because its history cannot be copied.
#pragma once

#include "tensor.hpp"

namespace TENURE_NAMESPACE {

/// Returns an owning copy of a leaf or a constant. Throws ownership_error if x is empty, and std::bad_alloc.
template <any_tensor X>
auto deepcopy(const X& x) {
  static_assert(!is_node_v<X>,
                "tenure: deepcopy: a node has a history: only leaves and constants can be copied deeply");
  using door = detail::tensor_access;
  using copy = tensor<element_t<X>, shape_of_t<X>, ownership::owning, is_leaf_v<X> ? role::leaf : role::constant,
                      access::read_write, device_of_t<X>>;
  if constexpr (!is_node_v<X>) {
    copy made = detail::copied<copy>(x, "deepcopy");
    using memory = detail::device_memory<device_of_t<X>>;
    if constexpr (is_leaf_v<X>) {
      if (x.has_grad()) {
        const auto arrived = x.grad();
        detail::storage_handle kept = memory::allocate(detail::checked_bytes(x.extents(), sizeof(element_t<X>)));
        memory::copy(static_cast<element_t<X>*>(kept.data()), arrived.strides(), arrived.data(), arrived.strides(), x.extents());
        door::accumulator(made)->grad = std::move(kept);
      }
    }
    return made;
  }
}

template <expression E>
auto deepcopy(const E&) {
  static_assert(detail::never<E>, "tenure: deepcopy: a node has a history: evaluate the expression, and copy its detach()");
  return 0;
}

}  // namespace tenure
