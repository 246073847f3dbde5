// SPDX-License-Identifier: BSL-1.0
// to(model, tn::cuda): a model, tuple or array of tensors in the memory of a device, as x.to(tn::cuda) moves one tensor. Law: the
// result owns new memory, also where the elements lay there already, and carries no gradient.
#pragma once

#include <tenure/transform/compile.hpp>

namespace tenure {

template <class X, any_device D>
auto to(const X& x, D) {
  using namespace detail;
  constexpr bool are_apart = is_mixed(tree<X>::devices);
  static_assert(!are_apart, "tenure: to: the tensors live on different devices: move them one by one");
  using from_device = std::conditional_t<are_apart, D, device_of_tree<X>>;
  leaf_argument from[tree<X>::leaves + 1];
  leaf_argument* at = from;
  collect(x, at);
  at = from;
  auto make = [&]<class L>(element_tag<L>) {
    const leaf_argument& leaf = *at++;
    L made = tensor_access::allocate<L>(leaf.shape);
    const extents row = row_major(leaf.shape);
    transfer_elements<D, from_device>(tensor_access::fresh(made), row, static_cast<const element_t<L>*>(leaf.data), leaf.shape.rank > 0 ? leaf.strides : row, leaf.shape);
    return made;
  };
  return build_tree<rebind_kind_t<X, results_on<D>>>(make);
}

}  // namespace tenure
