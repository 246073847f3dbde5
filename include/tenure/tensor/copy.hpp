// SPDX-License-Identifier: BSL-1.0
// Copying and filling strided elements on the host, converting between element types (toward zero into integers, != 0
// into bool). Cost: one memcpy or one loop where both sides are contiguous, else one loop for each last axis.
#pragma once

#include <cstring>
#include <type_traits>

#include "access.hpp"
#include "overlap.hpp"

namespace tenure::detail {

/// Calls run(offset_a, offset_b, n, step_a, step_b) for each last axis of two layouts of one shape.
template <class Run>
void for_each_run(const extents& shape, const extents& a, const extents& b, Run run) {
  if (count(shape) == 0) return;
  const int last = shape.rank - 1;
  if (last < 0) return run(std::int64_t{0}, std::int64_t{0}, std::int64_t{1}, std::int64_t{1}, std::int64_t{1});
  std::int64_t index[max_rank] = {};
  std::int64_t at_a = 0;
  std::int64_t at_b = 0;
  for (;;) {
    run(at_a, at_b, shape[last], a[last], b[last]);
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      at_a += a[axis];
      at_b += b[axis];
      if (++index[axis] < shape[axis]) break;
      at_a -= a[axis] * shape[axis];
      at_b -= b[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

template <class T, class U>
void copy_elements(T* to, const extents& to_strides, const U* from, const extents& from_strides, const extents& shape) {
  const std::int64_t n = count(shape);
  if (n == 0) return;
  if (is_contiguous(shape, to_strides) && is_contiguous(shape, from_strides)) {
    if constexpr (std::is_same_v<T, U>) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    else
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
    return;
  }
  for_each_run(shape, to_strides, from_strides,
               [=](std::int64_t t, std::int64_t f, std::int64_t length, std::int64_t step_t, std::int64_t step_f) {
                 for (std::int64_t i = 0; i < length; ++i) to[t + i * step_t] = static_cast<T>(from[f + i * step_f]);
               });
}

template <class T>
void fill_elements(T* to, const extents& strides, const extents& shape, T value) {
  for_each_run(shape, strides, strides,
               [=](std::int64_t t, std::int64_t, std::int64_t length, std::int64_t step, std::int64_t) {
                 for (std::int64_t i = 0; i < length; ++i) to[t + i * step] = value;
               });
}

template <class Target, class Source>
constexpr void check_copy() {
  static_assert(may_broadcast(shape_of_t<Source>::value, shape_of_t<Target>::value),
                "tenure: copy_: the source's shape does not broadcast to the target's");
  static_assert(std::is_same_v<device_of_t<Source>, device_of_t<Target>>,
                "tenure: copy_: the tensors live on different devices");
}

/// Writes y, broadcast and converted, into the elements of x. Throws shape_error or overlap_error before it writes.
template <class X, class Y>
void copy_into(const X& x, const Y& y, const char* call) {
  check_copy<X, Y>();
  tensor_access::check_alive(x, call);
  const element_t<Y>* const from = tensor_access::read(y, call);
  const layout target = tensor_access::layout_of(x);
  const layout source = expand(tensor_access::layout_of(y), shape_of_t<Y>::value, target.shape, call);
  const overlap shared = overlap_of(tensor_access::fresh(x), target, from, source);
  if (shared == overlap::partial)
    throw overlap_error(std::string("tenure: ") + call +
                        ": source and target share elements, but not element by element: clone() the source");
  element_t<X>* const to = tensor_access::write(x, call);
  if (shared == overlap::none) copy_elements(to, target.strides, from, source.strides, target.shape);
}

}  // namespace tenure::detail
