// SPDX-License-Identifier: BSL-1.0
// What backward() asks of the types: which value may have a gradient, and what its cotangent must look like.
#pragma once

#include "concepts.hpp"
#include "extents.hpp"

namespace TENURE_NAMESPACE::detail {

/// Whether backward() of a value like Y takes a C.
template <class C, class Y>
constexpr bool is_cotangent() {
  constexpr bool same_type = std::is_same_v<element_t<C>, element_t<Y>>;
  constexpr bool same_shape = may_be_same(shape_of_t<C>::value, shape_of_t<Y>::value);
  static_assert(same_type, "tenure: backward: the cotangent has another element type than the value");
  static_assert(same_shape, "tenure: backward: the cotangent has another shape than the value");
  constexpr bool same_device = std::is_same_v<device_of_t<C>, device_of_t<Y>>;
  static_assert(same_device, "tenure: backward: the cotangent lives on another device than the value");
  return same_type && same_shape && same_device;
}

/// Whether backward() of a value like Y needs no cotangent.
template <class Y>
constexpr bool may_omit_cotangent() {
  constexpr bool is_single = !shape_of_t<Y>::is_static || shape_of_t<Y>::size == 1;
  static_assert(is_single, "tenure: backward: more than one element: give a cotangent of the same shape");
  return is_single;
}

}  // namespace tenure::detail
