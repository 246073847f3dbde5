// SPDX-License-Identifier: BSL-1.0
// Element types. Graphs store the element type as a value (dtype); user code and kernels use the C++ type. Memory holds elements
// of this type. A kernel computes in the type of a lane, which may be wider.
#pragma once

#include <tenure/core/bfloat16.hpp>
#include <tenure/core/float16.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace TENURE_NAMESPACE {

/// The element types, as values, in PyTorch's order of promotion: bool < uint8, int8 < int32 < int64 < bfloat16, float16 < float32 < float64. Floating types are the last ones.
enum class dtype : std::uint8_t { boolean, uint8, int8, int32, int64, bfloat16, float16, float32, float64 };

namespace detail {

/// The categories, in the order in which a scalar of one changes the type of a tensor of another.
enum class category : std::uint8_t { boolean, integer, floating };

/// What the library knows of an element type, but for its arithmetic: a row of `element_rows`.
struct element_row {
  dtype type;
  const char* name;  // NumPy's, in printed tensors and messages
  category of;
  std::int64_t bytes;
  const char* npy;          // in the header of a .npy file
  const char* safetensors;  // in the header of a .safetensors file
  std::uint8_t dlpack;      // DLPack's type code
  std::uint8_t nccl;        // NCCL's ncclDataType_t
  dtype lane;               // the type in which kernels compute
};
/// One row for each element type, in the order of dtype. The C++ types are `element_types`, in the same order.
inline constexpr element_row element_rows[] = {
    {dtype::boolean, "bool", category::boolean, 1, "|b1", "BOOL", 6, 1, dtype::boolean},
    {dtype::uint8, "uint8", category::integer, 1, "|u1", "U8", 1, 1, dtype::int32},
    {dtype::int8, "int8", category::integer, 1, "|i1", "I8", 0, 0, dtype::int32},
    {dtype::int32, "int32", category::integer, 4, "<i4", "I32", 0, 2, dtype::int32},
    {dtype::int64, "int64", category::integer, 8, "<i8", "I64", 0, 4, dtype::int64},
    {dtype::bfloat16, "bfloat16", category::floating, 2, "<V2", "BF16", 4, 9, dtype::float32},
    {dtype::float16, "float16", category::floating, 2, "<f2", "F16", 2, 6, dtype::float32},
    {dtype::float32, "float32", category::floating, 4, "<f4", "F32", 2, 7, dtype::float32},
    {dtype::float64, "float64", category::floating, 8, "<f8", "F64", 2, 8, dtype::float64},
};
constexpr const element_row& row_of(dtype d) { return element_rows[static_cast<int>(d)]; }
constexpr category category_of(dtype d) { return row_of(d).of; }

template <class... T>
struct type_list {
  static constexpr int count = sizeof...(T);
  template <class X>
  static constexpr int position_of() {
    int at = 0, found = -1;
    ((std::is_same_v<T, X> ? void(found = at++) : void(++at)), ...);
    return found;
  }
  template <int At, class First, class... Rest>
  static constexpr auto type_at() {
    if constexpr (At == 0) return std::type_identity<First>{};
    else return type_at<At - 1, Rest...>();
  }
  template <int At>
  using at = typename decltype(type_at<At, T...>())::type;
};
using element_types = type_list<bool, std::uint8_t, std::int8_t, std::int32_t, std::int64_t, bfloat16, float16, float, double>;
template <class... T>
constexpr bool fit_the_rows(type_list<T...> types) {
  constexpr std::int64_t bytes[] = {sizeof(T)...};
  constexpr int lanes[] = {types.template position_of<number::lane_t<T>>()...};
  bool fit = types.count == static_cast<int>(sizeof element_rows / sizeof element_rows[0]);
  for (int i = 0; fit && i < types.count; ++i)
    fit = static_cast<int>(element_rows[i].type) == i && element_rows[i].bytes == bytes[i] &&
          static_cast<int>(element_rows[i].lane) == lanes[i] && (i == 0 || element_rows[i - 1].of <= element_rows[i].of);
  return fit;
}
static_assert(fit_the_rows(element_types{}), "element_rows and element_types have other types or another order");
}  // namespace detail

/// T is an element type of tensors: bool, std::uint8_t, std::int8_t, std::int32_t, std::int64_t, bfloat16, float16, float or double.
template <class T>
concept element = detail::element_types::position_of<T>() >= 0;

/// The dtype of an element type: dtype_v<float> is dtype::float32.
template <element T>
inline constexpr dtype dtype_v = static_cast<dtype>(detail::element_types::position_of<T>());

template <dtype D>
using element_of_t = detail::element_types::at<static_cast<int>(D)>;

// Without calls, because a call takes two steps of constant evaluation, and derivatives ask for every operand.
constexpr bool is_floating(dtype d) { return detail::element_rows[static_cast<int>(d)].of == detail::category::floating; }
/// The element type in which kernels compute: d itself, or a wider type if d is only a format in memory.
constexpr dtype lane_of(dtype d) { return detail::row_of(d).lane; }

/// The element type of a floating result where no operand is floating, as in PyTorch.
inline constexpr dtype default_floating = dtype::float32;

/// The size of one element in bytes.
constexpr std::int64_t size_of(dtype d) { return detail::row_of(d).bytes; }
/// The name of the type in printed tensors and in messages. It is NumPy's name.
constexpr const char* name_of(dtype d) { return detail::row_of(d).name; }

/// The element type in which an operation on both types computes. It is the later one of both in the order of the enumerators, as in PyTorch. Two
/// different types of equal rank have none that holds both: bfloat16 and float16 give float32, and uint8 and int8 give int32 (PyTorch: int16).
constexpr dtype promote(dtype a, dtype b) {
  const auto is_pair = [=](dtype x, dtype y) { return (a == x && b == y) || (a == y && b == x); };
  if (is_pair(dtype::bfloat16, dtype::float16)) return dtype::float32;
  if (is_pair(dtype::uint8, dtype::int8)) return dtype::int32;
  return a < b ? b : a;
}

/// Whether a load into lanes of one type may read elements of another: a narrow type of these lanes, or integers of a byte for floating lanes.
constexpr bool widens_to(dtype stored, dtype lane) {
  return lane_of(stored) != stored && (lane_of(stored) == lane || (is_floating(lane) && lane_of(lane) == lane && !is_floating(stored)));
}

/// Calls f with element_tag<T>, where T is the C++ type of d, and returns its result. It turns a dtype known at run time into a type.
template <class T>
struct element_tag { using type = T; };
template <int At = 0, class F>
constexpr decltype(auto) visit_dtype(dtype d, F&& f) {
  if constexpr (At + 1 == detail::element_types::count) {
    return f(element_tag<detail::element_types::at<At>>{});
  } else {
    if (static_cast<int>(d) == At) return f(element_tag<detail::element_types::at<At>>{});
    return visit_dtype<At + 1>(d, f);
  }
}
/// The same for floating types: code is compiled for no other type, and f is not called for one.
template <int At = 0, class F>
constexpr void visit_floating(dtype d, F&& f) {
  if constexpr (At < detail::element_types::count) {
    if constexpr (number::is_floating<detail::element_types::at<At>>)
      if (static_cast<int>(d) == At) return static_cast<void>(f(element_tag<detail::element_types::at<At>>{}));
    visit_floating<At + 1>(d, f);
  }
}
/// The same for T and the types that widen to it.
template <class T, int At = 0, class F>
constexpr void visit_stored(dtype d, F&& f) {
  if constexpr (At < detail::element_types::count) {
    if constexpr (dtype_v<T> == static_cast<dtype>(At) || widens_to(static_cast<dtype>(At), dtype_v<T>))
      if (static_cast<int>(d) == At) return static_cast<void>(f(element_tag<detail::element_types::at<At>>{}));
    visit_stored<T, At + 1>(d, f);
  }
}
/// The same as visit_dtype for a type in which kernels compute: code is compiled for no narrow type.
constexpr decltype(auto) visit_computed(dtype d, auto&& f) {
  return visit_dtype(d, [&]<class T>(element_tag<T>) -> decltype(auto) { return f(element_tag<number::lane_t<T>>{}); });
}
/// The same for the floating types in which kernels compute.
constexpr void visit_lane(dtype d, auto&& f) {
  if (d == dtype::float32) f(element_tag<float>{});
  else if (d == dtype::float64) f(element_tag<double>{});
}

}  // namespace tenure
