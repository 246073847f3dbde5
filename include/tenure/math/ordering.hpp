// SPDX-License-Identifier: BSL-1.0
// The order of numbers in sort and topk: a NaN stands above every number, as in PyTorch, and two NaN are equal.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::math {

template <class T>
TENURE_KERNEL constexpr bool is_below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (b != b && a == a);
  else return a < b;
}

/// Whether element i of a row stands before element j in the order. Among equal elements the first one does.
template <class T>
TENURE_KERNEL constexpr bool stands_before(const T* row, std::int64_t stride, bool descending, std::int64_t i, std::int64_t j) {
  const T a = row[i * stride], b = row[j * stride];
  const bool below = is_below(a, b), above = is_below(b, a);
  return below || above ? (descending ? above : below) : i < j;
}

/// A number of 32 bits or less as an unsigned integer in the same order. For a float: the bits with the sign bit inverted, or all inverted if it is
/// negative.
template <class T>
constexpr std::uint32_t sort_key(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return 0xffffffffu;
    const auto bits = std::bit_cast<std::uint32_t>(x == 0 ? T(0) : x);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
  } else {
    return static_cast<std::uint32_t>(x) ^ (std::is_signed_v<T> ? 0x80000000u : 0u);
  }
}

}  // namespace tenure::math
