// SPDX-License-Identifier: BSL-1.0
// fixed<T, shape<...>>: elements of static extents in the object itself, in row-major order. It is an argument and a target of compiled calls where there is
// no heap, and a leaf of models. Law: it has no state but its elements, so it is copied as they are, and lies in flash if it is a constant.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE {

/// An array of static extents. fixed<float, shape<2, 3>> x = {1, 2, 3, 4, 5, 6} lists the elements in row-major order; what is not listed is zero.
template <element T, any_shape S>
struct fixed {
  static_assert(S::is_static, "tenure: fixed: an extent is known only at run time: the elements are in the object, so its shape has numbers only");
  using value_type = T;
  using shape_type = S;
  static constexpr int rank = S::rank;

  T elements[S::size > 0 ? static_cast<std::size_t>(S::size) : 1];

  static constexpr tenure::extents extents() { return S::value; }
  static constexpr std::int64_t size() { return S::size; }
  constexpr T* data() { return elements; }
  constexpr const T* data() const { return elements; }
  constexpr T* begin() { return elements; }
  constexpr T* end() { return elements + static_cast<std::size_t>(S::size); }
  constexpr const T* begin() const { return elements; }
  constexpr const T* end() const { return elements + static_cast<std::size_t>(S::size); }

  /// The element at an index for each axis. The indices are not checked, as in an array of C.
  template <std::integral... I>
  constexpr T& operator()(I... index) { return elements[position(index...)]; }
  template <std::integral... I>
  constexpr const T& operator()(I... index) const { return elements[position(index...)]; }

 private:
  template <class... I>
  static constexpr std::size_t position(I... index) {
    static_assert(sizeof...(I) == S::rank, "tenure: operator(): one index is needed for each axis");
    std::size_t at = 0;
    int axis = 0;
    ((at = at * static_cast<std::size_t>(S::value[axis++]) + static_cast<std::size_t>(index)), ...);
    return at;
  }
};

/// The kind of models whose parameters are arrays in the object: policy<fixed_values>.
struct fixed_values : detail::arithmetic_of_models {
  template <class T, class S>
  using type = fixed<T, S>;
};

namespace detail {

template <class T, class S>
inline constexpr bool is_fixed<fixed<T, S>> = true;

template <class T, class S>
inline constexpr bool is_tree_leaf<fixed<T, S>> = true;
template <class T, class S>
struct leaf_type<fixed<T, S>> {
  using element_type = T;
  using shape_type = S;
};
template <class T, class S>
struct tree_properties<fixed<T, S>> {
  static constexpr bool is_tree = true, traces = false, lives = true, has_numbers = false, in_memory = true, has_elements = true;
  static constexpr bool has_floats = is_floating(dtype_v<T>), contiguous = true, row_major = true, tracked = false;
  static constexpr int leaves = 1;
  static constexpr std::int64_t copied_bytes = 0;
  static constexpr unsigned devices = device_bit<cpu_device>;
  static constexpr void describe(leaf_description*& at) { *at++ = {dtype_v<T>, S::value}; }
};

}  // namespace detail
}  // namespace tenure
