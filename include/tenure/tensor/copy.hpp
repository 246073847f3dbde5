// SPDX-License-Identifier: BSL-1.0
// Copies the elements of one tensor into another. It broadcasts, converts the element type, and copies between devices.
#pragma once

#include "access.hpp"
#include "overlap.hpp"

namespace TENURE_NAMESPACE::detail {

/// Writes y into the elements of x. y broadcasts to the shape of x and converts to its element type. Throws shape_error,
/// overlap_error or ownership_error before it writes.
template <class X, class Y>
void copy_into(const X& x, const Y& y, const char* call) {
  static_assert(may_broadcast(shape_of_t<Y>::value, shape_of_t<X>::value), "tenure: copy_: the source's shape does not broadcast to the target's");
  tensor_access::check_alive(x, call);
  const element_t<Y>* const from = tensor_access::read(y, call);
  const layout target = tensor_access::layout_of(x);
  const layout source = expand(tensor_access::layout_of(y), shape_of_t<Y>::value, target.shape, call);
  constexpr bool may_share = std::is_same_v<device_of_t<X>, device_of_t<Y>>;
  const overlap shared = may_share ? overlap_of(tensor_access::fresh(x), target, from, source) : overlap::none;
  if (shared == overlap::partial)
    TENURE_THROW(overlap_error(message(call) << "source and target share elements, but not element by element: clone() the source"));
  tensor_access::write(x, call);  // the version rises first: a device that fails may have written some elements
  if (shared == overlap::none)
    transfer_elements<device_of_t<X>, device_of_t<Y>>(tensor_access::fresh(x), target.strides, from, source.strides, target.shape);
}

}  // namespace tenure::detail
