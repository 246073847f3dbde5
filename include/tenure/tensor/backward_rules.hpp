// SPDX-License-Identifier: BSL-1.0
// Compile-time checks of backward(): the value that it starts from and the cotangent that it takes.
#pragma once

#include "concepts.hpp"
#include "extents.hpp"

namespace TENURE_NAMESPACE::detail {

/// True if C can be the cotangent of a value of type Y: same element type, shape and device. Otherwise a static_assert says which
/// of them differs.
template <class C, class Y>
constexpr bool is_cotangent() {
  constexpr bool same_type = std::is_same_v<element_t<C>, element_t<Y>>;
  constexpr bool same_shape = may_be_same(shape_of_t<C>::value, shape_of_t<Y>::value);
  static_assert(std::is_same_v<element_t<C>, element_t<Y>>, "tenure: backward: the cotangent has another element type than the value");
  static_assert(same_shape, "tenure: backward: the cotangent has another shape than the value");
  constexpr bool same_device = std::is_same_v<device_of_t<C>, device_of_t<Y>>;
  static_assert(same_device, "tenure: backward: the cotangent is on another device than the value");
  return same_type && same_shape && same_device;
}

/// True if backward() of a value of type Y may be called without a cotangent, that is, if Y may have exactly one element.
/// Otherwise a static_assert fails.
template <class Y>
constexpr bool may_omit_cotangent() {
  constexpr bool is_single = !shape_of_t<Y>::is_static || shape_of_t<Y>::size == 1;
  static_assert(is_single, "tenure: backward: more than one element: give a cotangent of the same shape");
  return is_single;
}

}  // namespace tenure::detail
