// SPDX-License-Identifier: BSL-1.0
// Factories: owning constants from a shape, zeros<float>(shape<3, 3>{}), and one integer for each run-time extent,
// zeros<float>(shape<dyn, 3>{}, n). Law: nothing is shared and no version is raised.
#pragma once

#include <cstdint>

#include "tensor.hpp"

namespace TENURE_NAMESPACE {

namespace detail {
// A factory's arguments without a shape before them, or an element type that no tensor holds.
template <class T, class... N>
inline constexpr bool makes_none = true;
template <element T, any_shape Shape, class... N>
inline constexpr bool makes_none<T, Shape, N...> = false;
template <class T, class... N>
tensor<float, shape<>> refused_factory() {
  constexpr bool holds = element<T>;
  static_assert(holds, "tenure: tensor: the element type is none of bool, int32, int64, float and double");
  static_assert(!holds || never<T>, "tenure: shape: the shape is a type and comes first: zeros<float>(shape<2, 3>{})");
  return {};
}
}  // namespace detail

/// Elements without a value.
template <element T = float, any_shape Shape, std::integral... N>
tensor<T, Shape> empty(Shape, N... n) { return tensor<T, Shape>(uninitialized, n...); }

template <element T = float, any_shape Shape, scalar U, std::integral... N>
tensor<T, Shape> full(Shape, U value, N... n) {
  tensor<T, Shape> made(uninitialized, n...);
  detail::fill_elements(detail::tensor_access::fresh(made), made.strides(), made.extents(), static_cast<T>(value));
  return made;
}
template <element T = float, any_shape Shape, std::integral... N>
tensor<T, Shape> zeros(Shape s, N... n) { return full<T>(s, T(0), n...); }
template <element T = float, any_shape Shape, std::integral... N>
tensor<T, Shape> ones(Shape s, N... n) { return full<T>(s, T(1), n...); }

/// Ones where the row is the column.
template <element T = float, any_shape Shape, std::integral... N>
tensor<T, Shape> eye(Shape s, N... n) {
  static_assert(Shape::rank == 2, "tenure: eye: the shape does not have two axes");
  tensor<T, Shape> made = zeros<T>(s, n...);
  const layout d = detail::diagonal(detail::tensor_access::layout_of(made));
  detail::fill_elements(detail::tensor_access::fresh(made), d.strides, d.shape, T(1));
  return made;
}

/// 0, 1, 2, ... in the extent of a shape of rank 1.
template <element T = float, any_shape Shape, std::integral... N>
tensor<T, Shape> arange(Shape, N... n) {
  static_assert(Shape::rank == 1, "tenure: arange: the shape does not have one axis");
  tensor<T, Shape> made(uninitialized, n...);
  T* const to = detail::tensor_access::fresh(made);
  for (std::int64_t i = 0; i < made.size(); ++i) to[i] = static_cast<T>(i);
  return made;
}
/// first, first + step, ... before last. Throws shape_error where that has no end.
template <element T = float, scalar A, scalar B, scalar C = int>
tensor<T, shape<dyn>> arange(A first, B last, C step = 1) {
  const double steps = (static_cast<double>(last) - static_cast<double>(first)) / static_cast<double>(step);
  if (!(steps >= 0 && steps < 1e15))
    throw shape_error("tenure: arange: the steps do not lead from the first value to the last");
  std::int64_t n = static_cast<std::int64_t>(steps);
  n += static_cast<double>(n) < steps;
  tensor<T, shape<dyn>> made(uninitialized, n);
  T* const to = detail::tensor_access::fresh(made);
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(first + static_cast<T>(i) * step);
  return made;
}
/// 0, 1, ..., n - 1.
template <element T = float, std::integral N>
tensor<T, shape<dyn>> arange(N n) { return arange<T>(shape<dyn>{}, n); }

/// Evenly spaced values from first to last, both included.
template <element T = float, any_shape Shape, scalar A, scalar B, std::integral... N>
tensor<T, Shape> linspace(Shape, A first, B last, N... n) {
  static_assert(Shape::rank == 1, "tenure: linspace: the shape does not have one axis");
  tensor<T, Shape> made(uninitialized, n...);
  T* const to = detail::tensor_access::fresh(made);
  const std::int64_t steps = made.size() - 1;
  const auto a = static_cast<double>(first);
  const auto b = static_cast<double>(last);
  const double step = steps > 0 ? (b - a) / static_cast<double>(steps) : 0;
  for (std::int64_t i = 0; i <= steps; ++i) to[i] = static_cast<T>(a + static_cast<double>(i) * step);
  if (steps > 0) to[steps] = static_cast<T>(b);
  return made;
}

// The same, given numbers for a shape, or an element type that no tensor holds.
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto empty(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto full(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto zeros(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto ones(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto eye(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto linspace(const N&...) { return detail::refused_factory<T, N...>(); }

namespace detail {
template <class T, class X>
using like_t = tensor<T, shape_of_t<X>, ownership::owning, role::constant, access::read_write, device_of_t<X>>;
}  // namespace detail

/// Owning constants with the extents, and where T is not given the element type, of x.
template <class T = void, any_tensor X>
auto empty_like(const X& x) {
  return detail::tensor_access::allocate<detail::like_t<std::conditional_t<std::is_void_v<T>, element_t<X>, T>, X>>(
      x.extents());
}
template <class T = void, any_tensor X, scalar U>
auto full_like(const X& x, U value) {
  auto made = empty_like<T>(x);
  using made_element = element_t<decltype(made)>;
  detail::device_memory<device_of_t<X>>::fill(detail::tensor_access::fresh(made), made.strides(), made.extents(), static_cast<made_element>(value));
  return made;
}
template <class T = void, any_tensor X>
auto zeros_like(const X& x) { return full_like<T>(x, 0); }
template <class T = void, any_tensor X>
auto ones_like(const X& x) { return full_like<T>(x, 1); }

}  // namespace tenure
