// SPDX-License-Identifier: BSL-1.0
// Element types. A tensor holds one of five. Graphs store the element type as a value (dtype); user code and kernels use the C++ type.
#pragma once

#include <tenure/core/number.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace TENURE_NAMESPACE {

/// The element types, as values.
enum class dtype : std::uint8_t { boolean, int32, int64, float32, float64 };

namespace detail {
template <class T>
struct dtype_of {};
template <>
struct dtype_of<bool> : std::integral_constant<dtype, dtype::boolean> {};
template <>
struct dtype_of<std::int32_t> : std::integral_constant<dtype, dtype::int32> {};
template <>
struct dtype_of<std::int64_t> : std::integral_constant<dtype, dtype::int64> {};
template <>
struct dtype_of<float> : std::integral_constant<dtype, dtype::float32> {};
template <>
struct dtype_of<double> : std::integral_constant<dtype, dtype::float64> {};

template <dtype D>
struct element_of;
template <>
struct element_of<dtype::boolean> { using type = bool; };
template <>
struct element_of<dtype::int32> { using type = std::int32_t; };
template <>
struct element_of<dtype::int64> { using type = std::int64_t; };
template <>
struct element_of<dtype::float32> { using type = float; };
template <>
struct element_of<dtype::float64> { using type = double; };
}  // namespace detail

/// T is an element type of tensors: bool, std::int32_t, std::int64_t, float or double.
template <class T>
concept element = requires { detail::dtype_of<T>::value; };

/// The dtype of an element type: dtype_v<float> is dtype::float32.
template <element T>
inline constexpr dtype dtype_v = detail::dtype_of<T>::value;

template <dtype D>
using element_of_t = typename detail::element_of<D>::type;

constexpr bool is_floating(dtype d) { return d == dtype::float32 || d == dtype::float64; }

/// The element type of a floating result where no operand is floating, as in PyTorch.
inline constexpr dtype default_floating = dtype::float32;

/// The size of one element in bytes.
constexpr std::int64_t size_of(dtype d) {
  return d == dtype::boolean ? 1 : d == dtype::int32 || d == dtype::float32 ? 4 : 8;
}

/// The name of the type in printed tensors and in messages. It is NumPy's name.
constexpr const char* name_of(dtype d) {
  switch (d) {
    case dtype::boolean: return "bool";
    case dtype::int32: return "int32";
    case dtype::int64: return "int64";
    case dtype::float32: return "float32";
    case dtype::float64: return "float64";
  }
  return "?";
}

/// The element type in which an operation on both types computes: the later one in PyTorch's order bool < int32 < int64 < float32 <
/// float64. The order of the enumerators is this order.
constexpr dtype promote(dtype a, dtype b) { return a < b ? b : a; }

/// Calls f with element_tag<T>, where T is the C++ type of d, and returns its result. It turns a dtype known at run time into a type.
template <class T>
struct element_tag { using type = T; };
template <class F>
constexpr decltype(auto) visit_dtype(dtype d, F&& f) {
  switch (d) {
    case dtype::boolean: return f(element_tag<bool>{});
    case dtype::int32: return f(element_tag<std::int32_t>{});
    case dtype::int64: return f(element_tag<std::int64_t>{});
    case dtype::float32: return f(element_tag<float>{});
    default: return f(element_tag<double>{});
  }
}
/// The same for floating types: code is compiled for no other type, and f is not called for one.
template <class F>
constexpr void visit_floating(dtype d, F&& f) {
  if (d == dtype::float32) f(element_tag<float>{});
  else if (d == dtype::float64) f(element_tag<double>{});
}

}  // namespace tenure
