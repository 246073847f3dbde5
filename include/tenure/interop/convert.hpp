// SPDX-License-Identifier: BSL-1.0
// Elements of files as elements of tensors of another type, when load() is asked to convert.
// Law: a conversion is that of a C++ cast, and a float16 is the float of the same value. An integer that the target does not hold is an error.
#pragma once

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include <tenure/interop/file_types.hpp>

namespace TENURE_NAMESPACE::interop::detail {

/// The types from which load() converts, in the order of their names below.
template <class F>
bool visit_convertible(std::string_view dtype, F&& f) {
  using tenure::element_tag;
  if (dtype == "<f4") return f(element_tag<float>{});
  if (dtype == "<f8") return f(element_tag<double>{});
  if (dtype == "<f2") return f(element_tag<float16>{});
  if (dtype == "<V2") return f(element_tag<bfloat16>{});
  if (dtype == "|b1" || dtype == "|u1") return f(element_tag<std::uint8_t>{});
  if (dtype == "|i1") return f(element_tag<std::int8_t>{});
  if (dtype == "<i2") return f(element_tag<std::int16_t>{});
  if (dtype == "<u2") return f(element_tag<std::uint16_t>{});
  if (dtype == "<i4") return f(element_tag<std::int32_t>{});
  if (dtype == "<u4") return f(element_tag<std::uint32_t>{});
  if (dtype == "<i8") return f(element_tag<std::int64_t>{});
  if (dtype == "<u8") return f(element_tag<std::uint64_t>{});
  return false;
}

/// Whether elements of type From may become elements of type To.
template <class From, class To>
inline constexpr bool converts = number::is_floating<To> || (std::is_integral_v<From> && !std::is_same_v<To, bool>);

template <class To>
bool is_convertible(std::string_view dtype) {
  return visit_convertible(dtype, []<class From>(element_tag<From>) { return converts<From, To>; });
}

template <class T>
T element_of(const array_view& from, std::size_t i) {
  T x;
  std::memcpy(&x, from.bytes.data() + i * sizeof(T), sizeof(T));
  return x;
}

/// Fails on an integer that To does not hold.
template <class To>
void check_conversion(const array_view& from, const place& where) {
  if constexpr (std::is_integral_v<To>)
    visit_convertible(from.dtype, [&]<class From>(element_tag<From>) {
      if constexpr (converts<From, To>)
        for (std::size_t i = 0; i < from.bytes.size() / sizeof(From); ++i)
          if (const From x = element_of<From>(from, i); !std::in_range<To>(x))
            where.fail("has the number " + std::to_string(x) + ", which " + name_of(dtype_v<To>) + " does not hold");
      return true;
    });
}

/// Converts all elements.
template <class To>
void convert_elements(const array_view& from, To* to) {
  visit_convertible(from.dtype, [&]<class From>(element_tag<From>) {
    if constexpr (converts<From, To>)
      for (std::size_t i = 0; i < from.bytes.size() / sizeof(From); ++i) {
        using read = std::conditional_t<std::is_integral_v<From>, From, number::lane_t<From>>;
        to[i] = static_cast<To>(static_cast<read>(element_of<From>(from, i)));
      }
    return true;
  });
}

}  // namespace tenure::interop::detail
