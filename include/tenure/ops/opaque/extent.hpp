// SPDX-License-Identifier: BSL-1.0
// Loops over the rows and columns of a sample. Where its extents are small constants, each iteration is code of its own, and the numbers of the sample stay in
// registers. Compilers do not do that by themselves: the bounds of a triangle are counters of other loops. One cholesky of 3 x 3 took 1.6 of the time of Eigen's
// with clang++, and takes 0.33.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tenure/ops/opaque/signature.hpp>

namespace TENURE_NAMESPACE::ops {

/// An extent or a counter that is a constant.
template <std::int64_t Value>
using constant_extent = std::integral_constant<std::int64_t, Value>;

/// The extents of a sample that are constants.
template <sample_sizes Sizes>
struct constant_sizes {
  static constexpr sample_sizes value = Sizes;
  TENURE_KERNEL_INLINE constexpr operator const sample_sizes&() const { return value; }
};

/// The extent of a letter of the signature.
template <int Letter>
TENURE_KERNEL_INLINE constexpr std::int64_t extent_of(const sample_sizes& n) { return n[Letter]; }
template <int Letter, sample_sizes Sizes>
TENURE_KERNEL_INLINE constexpr constant_extent<Sizes.at[Letter]> extent_of(constant_sizes<Sizes>) { return {}; }

/// The next counter.
TENURE_KERNEL_INLINE constexpr std::int64_t after(std::int64_t i) { return i + 1; }
template <std::int64_t I>
TENURE_KERNEL_INLINE constexpr constant_extent<I + 1> after(constant_extent<I>) { return {}; }

/// Calls f(i) for i = first ... end - 1.
template <class First, class End, class F>
TENURE_KERNEL_INLINE void for_each_in(First first, End end, const F& f) {
  if constexpr (std::is_integral_v<First> || std::is_integral_v<End>) {
    for (std::int64_t i = first; i < end; ++i) f(i);
  } else {
    constexpr std::int64_t count = End::value > First::value ? End::value - First::value : 0;
    [&]<std::int64_t... I>(std::integer_sequence<std::int64_t, I...>) __attribute__((always_inline)) { (f(constant_extent<First::value + I>{}), ...); }(std::make_integer_sequence<std::int64_t, count>{});
  }
}
inline constexpr constant_extent<0> first_row{};

}  // namespace tenure::ops
