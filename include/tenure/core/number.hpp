// SPDX-License-Identifier: BSL-1.0
// Arithmetic of single numbers in which every result is defined, where C++ leaves an overflow undefined.
// Law: integers wrap around (two's complement), as in PyTorch and JAX. A floating number becomes an integer by dropping its fraction;
// one beyond the integers becomes the nearest of them, and NaN becomes 0, as in JAX. Every backend computes by these functions.
// Cost: wrapping is free. A conversion to integers is three or four selects more than the instruction.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::number {

/// The type in which numbers of type T are computed: T itself, or a wider one where the processor has no arithmetic for T.
template <class T>
struct computed_as { using type = T; };
template <>
struct computed_as<std::int8_t> { using type = std::int32_t; };
template <>
struct computed_as<std::uint8_t> { using type = std::int32_t; };
template <class T>
using lane_t = typename computed_as<T>::type;
/// Whether T is only a format in memory.
template <class T>
inline constexpr bool is_narrow = !std::is_same_v<lane_t<T>, T>;
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<lane_t<T>>;

template <class T>
inline constexpr bool wraps = std::is_integral_v<T> && std::is_signed_v<T>;

template <class T>
TENURE_KERNEL_INLINE constexpr T add(T a, T b) {
  if constexpr (wraps<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else return static_cast<T>(a + b);
}
template <class T>
TENURE_KERNEL_INLINE constexpr T sub(T a, T b) {
  if constexpr (wraps<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
  else return static_cast<T>(a - b);
}
template <class T>
TENURE_KERNEL_INLINE constexpr T mul(T a, T b) {
  if constexpr (wraps<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b));
  else return static_cast<T>(a * b);
}
/// The least integer is its own negative.
template <class T>
TENURE_KERNEL_INLINE constexpr T neg(T a) {
  if constexpr (wraps<T>) return sub(T(0), a);
  else return static_cast<T>(-a);
}

template <class T>
  requires wraps<T>
TENURE_KERNEL_INLINE constexpr T abs(T a) {
  // Not a < 0 ? -a : a, because g++ needs two more instructions for it if -a wraps.
  using word = std::make_unsigned_t<T>;
  const word sign = static_cast<word>(a < 0 ? -1 : 0);
  return static_cast<T>((static_cast<word>(a) ^ sign) - sign);
}

/// x - trunc(x / y) * y: the % of C++, with the sign of x. Where C++ leaves it undefined the result is 0: for y = 0, and for y = -1 and the
/// least integer.
template <class T>
  requires std::is_integral_v<T>
TENURE_KERNEL_INLINE constexpr T fmod(T x, T y) {
  const bool divides_all = y == T(0) || (std::is_signed_v<T> && y == static_cast<T>(-1));
  return static_cast<T>(x % (divides_all ? T(1) : y));
}
/// x - floor(x / y) * y: the % of Python, with the sign of y, and 0 for y = 0.
template <class T>
  requires std::is_integral_v<T>
TENURE_KERNEL_INLINE constexpr T remainder(T x, T y) {
  const T r = fmod(x, y);
  return r != T(0) && (r < T(0)) != (y < T(0)) ? static_cast<T>(r + y) : r;
}
/// Whether a double represents n and its neighbours exactly. (2^53 + 1 would be rounded to 2^53.)
constexpr bool is_exact_in_double(std::int64_t n) { return -(std::int64_t{1} << 53) < n && n < std::int64_t{1} << 53; }
/// 1, or 1/2 if b - a is beyond the range of T. The difference of the scaled numbers is in range. Constant evaluation of this meets no overflow.
template <class T>
constexpr T scale_of_difference(T a, T b) {
  const auto half = b / 2 - a / 2;
  constexpr auto most = std::numeric_limits<T>::max() / 2;
  return half > most || half < -most ? T(0.5) : T(1);
}
/// floor(x / y), and 0 for y = 0 as in NumPy. The least integer over -1 is itself.
template <class T>
  requires std::is_integral_v<T>
TENURE_KERNEL_INLINE constexpr T floor_divide(T x, T y) {
  if (y == T(0)) return T(0);
  if (std::is_signed_v<T> && y == static_cast<T>(-1)) return neg(x);
  const T q = static_cast<T>(x / y), r = static_cast<T>(x % y);
  return r != T(0) && (r < T(0)) != (y < T(0)) ? static_cast<T>(q - T(1)) : q;
}

/// Whether To represents the whole number x.
template <class To, class From>
constexpr bool holds(From x) { return static_cast<From>(static_cast<To>(x)) == x && (static_cast<To>(x) < To(0)) == (x < From(0)); }
/// Whether To represents all numbers of the type From.
template <class To, class From>
inline constexpr bool holds_all = holds<To>(std::numeric_limits<From>::min()) && holds<To>(std::numeric_limits<From>::max());

template <class To, class From>
TENURE_KERNEL_INLINE constexpr To convert(From x) {
  if constexpr (is_narrow<From>) {
    return convert<To>(static_cast<lane_t<From>>(x));
  } else if constexpr (is_narrow<To>) {
    const lane_t<To> lane = convert<lane_t<To>>(x);
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {  // as other integers, the nearest one
      constexpr lane_t<To> least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();
      return static_cast<To>(lane < least ? least : lane > most ? most : lane);
    } else {
      return To(lane);
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    using limits = std::numeric_limits<To>;
    constexpr From least = static_cast<From>(limits::min()), past = static_cast<From>(limits::max() / 2 + 1) * From(2);
    // Few processors have packets of 64-bit integers. A branch that is nearly always predicted is cheapest there.
    if constexpr (sizeof(To) == 8) {
      if (__builtin_expect(x >= least && x < past, 1)) return static_cast<To>(x);
      return x >= past ? limits::max() : x < least ? limits::min() : To(0);
    }
    // x is clamped first, without branches, so that compilers vectorize this.
    constexpr bool is_exact = std::numeric_limits<From>::digits >= limits::digits;
    constexpr From last = is_exact ? static_cast<From>(limits::max()) : past - past * (std::numeric_limits<From>::epsilon() / 2);
    const From known = x == x ? x : From(0);
    const From from_least = known < least ? least : known;
    const To inside = static_cast<To>(from_least > last ? last : from_least);
    if constexpr (is_exact) return inside;
    else return known >= past ? limits::max() : inside;
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace TENURE_NAMESPACE::number
