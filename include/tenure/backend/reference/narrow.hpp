// SPDX-License-Identifier: BSL-1.0
// The reference's own conversion of element types that are only a format in memory. It follows from the digits and exponents that
// std::numeric_limits states for the type, by arithmetic in double, and shares no code with number::convert and the packets.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tenure/backend/reference/array.hpp>

namespace TENURE_NAMESPACE::reference {

template <class Narrow>
struct narrow_format {
  using limits = std::numeric_limits<Narrow>;
  using bits = std::conditional_t<sizeof(Narrow) == 1, std::uint8_t, std::uint16_t>;
  static constexpr int fraction = limits::digits - 1, exponents = 8 * static_cast<int>(sizeof(Narrow)) - limits::digits;
  static constexpr int bias = 2 - limits::min_exponent, infinite = (1 << exponents) - 1;

  static double value(Narrow x) {
    const int all = std::bit_cast<bits>(x), exponent = all >> fraction & infinite, rest = all & ((1 << fraction) - 1);
    const bool is_negative = all >> (fraction + exponents) != 0;
    double size = 0;
    if (exponent == infinite) size = rest != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    else if (exponent == 0) size = std::ldexp(rest, 1 - bias - fraction);
    else size = std::ldexp(rest + (1 << fraction), exponent - bias - fraction);
    return is_negative ? -size : size;
  }
  static Narrow nearest(double x) {
    const int sign = std::signbit(x) ? 1 << (fraction + exponents) : 0;
    const double size = std::fabs(x);
    int all = infinite << fraction | 1 << (fraction - 1);  // NaN
    if (size <= std::numeric_limits<double>::max()) {
      int exponent = size == 0 ? 1 - bias : std::ilogb(size);
      if (exponent < 1 - bias) exponent = 1 - bias;
      // In units of the last digit. Rounding up to the next power of two carries into the exponent.
      const double units = std::nearbyint(std::ldexp(size, fraction - exponent));
      const bool is_large = exponent + bias >= infinite;
      all = is_large ? infinite << fraction : ((exponent + bias - 1) << fraction) + static_cast<int>(units);
    } else if (size > std::numeric_limits<double>::max()) {
      all = infinite << fraction;
    }
    return std::bit_cast<Narrow>(static_cast<bits>(all | sign));
  }
};

/// Integers of a byte: those of their lanes are taken modulo 256.
template <class Narrow>
  requires std::is_integral_v<Narrow>
struct narrow_format<Narrow> {
  static double value(Narrow x) { return x; }
  static Narrow nearest(double x) {
    const double rest = x - 256 * std::floor(x / 256);
    return static_cast<Narrow>(rest > static_cast<double>(std::numeric_limits<Narrow>::max()) ? rest - 256 : rest);
  }
};

/// A copy of the array with the element type `to`, which is the lane of a narrow type, or a narrow type of which `from` is the lane.
inline array converted(const array& from, dtype to) {
  array y(to, from.shape);
  visit_dtype(from.type, [&]<class From>(element_tag<From>) {
    visit_dtype(to, [&]<class To>(element_tag<To>) {
      for (std::int64_t i = 0; i < y.size(); ++i) {
        if constexpr (number::is_narrow<From>) y.as<To>()[i] = static_cast<To>(narrow_format<From>::value(from.as<From>()[i]));
        else if constexpr (number::is_narrow<To>) y.as<To>()[i] = narrow_format<To>::nearest(static_cast<double>(from.as<From>()[i]));
      }
    });
  });
  return y;
}

}  // namespace tenure::reference
