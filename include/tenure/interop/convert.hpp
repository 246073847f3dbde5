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

/// The floating types from which load() converts, for which the loops are compiled.
template <class F>
bool visit_floating_file_type(std::string_view dtype, F&& f) {
  if (dtype == "<f4") return f(element_tag<float>{});
  if (dtype == "<f8") return f(element_tag<double>{});
  if (dtype == "<f2") return f(element_tag<float16>{});
  if (dtype == "<V2") return f(element_tag<bfloat16>{});
  return false;
}
/// The bytes of an integer of a file, or of a bool, and whether it has a sign. No bytes for other types.
struct integer_type {
  std::size_t bytes = 0;
  bool is_signed = false;
};
constexpr integer_type integer_of(std::string_view dtype) {
  const bool is_integer = dtype.size() == 3 && (dtype[1] == 'i' || dtype[1] == 'u' || dtype[1] == 'b');
  return is_integer ? integer_type{static_cast<std::size_t>(dtype[2] - '0'), dtype[1] == 'i'} : integer_type{};
}
/// Integer i of an array: its 64 bits, with the sign of the file.
inline std::uint64_t integer_at(const array_view& from, integer_type type, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from.bytes.data() + i * type.bytes, type.bytes);
  const std::size_t unused = 64 - 8 * type.bytes;
  return type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused) : bits;
}

template <class To>
bool is_convertible(std::string_view dtype) {
  if (integer_of(dtype).bytes > 0) return !std::is_same_v<To, bool>;
  return number::is_floating<To> && visit_floating_file_type(dtype, [](auto) { return true; });
}

/// Fails on an integer that To does not hold.
template <class To>
void check_conversion(const array_view& from, const place& where) {
  if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    const integer_type type = integer_of(from.dtype);
    for (std::size_t i = 0; i < from.bytes.size() / type.bytes; ++i) {
      const std::uint64_t x = integer_at(from, type, i);
      const auto with_sign = static_cast<std::int64_t>(x);
      const bool fits = type.is_signed ? std::in_range<To>(with_sign) : std::in_range<To>(x);
      if (!fits) where.fail("has the number " + (type.is_signed ? std::to_string(with_sign) : std::to_string(x)) + ", which " + tenure::name_of(dtype_v<To>) + " does not hold");
    }
  }
}

/// Converts all elements.
template <class To>
void convert_elements(const array_view& from, To* to) {
  if (const integer_type type = integer_of(from.dtype); type.bytes > 0) {
    for (std::size_t i = 0; i < from.bytes.size() / type.bytes; ++i) {
      const std::uint64_t x = integer_at(from, type, i);
      to[i] = type.is_signed ? static_cast<To>(static_cast<std::int64_t>(x)) : static_cast<To>(x);
    }
  } else if constexpr (number::is_floating<To>) {
    visit_floating_file_type(from.dtype, [&]<class From>(element_tag<From>) {
      for (std::size_t i = 0; i < from.bytes.size() / sizeof(From); ++i) {
        From x;
        std::memcpy(&x, from.bytes.data() + i * sizeof(From), sizeof(From));
        to[i] = static_cast<To>(static_cast<number::lane_t<From>>(x));
      }
      return true;
    });
  }
}

}  // namespace tenure::interop::detail
