// SPDX-License-Identifier: BSL-1.0
// Random numbers from a key and a position: Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, 2011). It is a function without a
// state, so an element can be computed again, alone, and on any processor. The numbers are those of jax.random.
// Law: the bits, and the numbers of random_unit, are the same with packets of every width, because no operation rounds. The relative error
//      of random_normal is below 3 epsilon (double: 5).
// Cost: random_bits takes 120 operations on integers for a packet of float, and 200 for one of double. random_normal takes a logarithm, a
//       root and two polynomials (double: six polynomials and a division).
#pragma once

#include <cstdint>

#include <tenure/math/logarithm.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

  namespace detail {

  // Lanes that hold words of 32 bits: as integers, as the bits of a float, or as the lower half of the bits of a double.
  template <class P>
  inline constexpr bool is_integer_lane = std::is_integral_v<P>;
  template <class P>
  inline constexpr bool is_wide_lane = sizeof(scalar_of<P>) == 8;

  template <class P>
  TENURE_KERNEL_INLINE P word(std::uint32_t w) {
    if constexpr (is_integer_lane<P>) return static_cast<P>(w);
    else return set1_bits<P>(static_cast<bits_of<P>>(w));
  }
  template <class P>
  TENURE_KERNEL_INLINE P lower_word(P a) {
    if constexpr (!is_wide_lane<P>) return a;
    else if constexpr (is_integer_lane<P>) return static_cast<P>(static_cast<std::uint32_t>(a));
    else return and_bits(a, word<P>(0xffffffffu));
  }
  template <class P>
  TENURE_KERNEL_INLINE P word_sum(P a, P b) {
    if constexpr (is_integer_lane<P>) return lower_word(number::add(a, b));
    else return lower_word(add_bits(a, b));
  }
  template <class P>
  TENURE_KERNEL_INLINE P word_xor(P a, P b) {
    if constexpr (is_integer_lane<P>) return static_cast<P>(a ^ b);
    else return xor_bits(a, b);
  }
  template <int N, class P>
  TENURE_KERNEL_INLINE P rotated(P a) {
    if constexpr (is_integer_lane<P>) return static_cast<P>(std::rotl(static_cast<std::uint32_t>(a), N));
    else return lower_word(or_bits(shift_left<N>(a), shift_right<32 - N>(a)));
  }

  template <class P>
  struct two_words {
    P first, second;
  };

  template <int N, class P>
  TENURE_KERNEL_INLINE void threefry_round(two_words<P>& x) {
    x.first = word_sum(x.first, x.second);
    x.second = word_xor(rotated<N>(x.second), x.first);
  }
  /// Four rounds, and the next words of the key.
  template <int A, int B, int C, int D, class P>
  TENURE_KERNEL_INLINE void threefry_rounds(two_words<P>& x, P key, P next, std::uint32_t i) {
    threefry_round<A>(x);
    threefry_round<B>(x);
    threefry_round<C>(x);
    threefry_round<D>(x);
    x.first = word_sum(x.first, key);
    x.second = word_sum(x.second, word_sum(next, word<P>(i)));
  }

  template <class P>
  TENURE_KERNEL_LAYER two_words<P> threefry(two_words<P> key, two_words<P> counter) {
    const P third = word_xor(word_xor(key.first, key.second), word<P>(0x1bd11bdau));
    two_words<P> x{word_sum(counter.first, key.first), word_sum(counter.second, key.second)};
    threefry_rounds<13, 15, 26, 6>(x, key.second, third, 1);
    threefry_rounds<17, 29, 16, 24>(x, third, key.first, 2);
    threefry_rounds<13, 15, 26, 6>(x, key.first, key.second, 3);
    threefry_rounds<17, 29, 16, 24>(x, key.second, third, 4);
    threefry_rounds<13, 15, 26, 6>(x, third, key.first, 5);
    return x;
  }

  }  // namespace detail

  /// The largest number of positions that lanes of T hold exactly.
  template <class T>
  inline constexpr std::int64_t random_positions = sizeof(T) == 8          ? std::int64_t{1} << 52
                                                   : std::is_integral_v<T> ? std::int64_t{1} << 31
                                                                           : std::int64_t{1} << 23;

  /// The word of 32 bits that has the two halves high, -2^15 ... 2^15 - 1, and low, 0 ... 2^16 - 1, in the bits of each lane.
  template <class P>
  TENURE_KERNEL_LAYER P random_word(P high, P low) {
    if constexpr (detail::is_integer_lane<P>) {
      return detail::lower_word(static_cast<P>(static_cast<std::uint32_t>(high) << 16 | (static_cast<std::uint32_t>(low) & 0xffffu)));
    } else {
      const P shifter = set1<P>(detail::layout<P>::shifter);  // the low bits of a sum with it are an integer
      return or_bits(detail::lower_word(shift_left<16>(add(high, shifter))), and_bits(add(low, shifter), detail::word<P>(0xffffu)));
    }
  }

  /// As many random bits as a lane has, for a key of two words and a position, which is a number and not bits.
  template <class P>
  TENURE_KERNEL_LAYER P random_bits(P position, P first, P second) {
    using namespace detail;
    if constexpr (is_integer_lane<P>) {
      P upper = 0;
      if constexpr (sizeof(P) == 8) upper = static_cast<P>(static_cast<std::uint64_t>(position) >> 32);
      const two_words<P> x = threefry<P>({lower_word(first), lower_word(second)}, {upper, lower_word(position)});
      if constexpr (sizeof(P) == 8) return static_cast<P>(static_cast<std::uint64_t>(x.first) << 32 | static_cast<std::uint64_t>(x.second));
      else return word_xor(x.first, x.second);
    } else {
      constexpr int mantissa = layout<P>::mantissa;
      constexpr scalar_of<P> unit = is_wide_lane<P> ? scalar_of<P>(0x1p52) : scalar_of<P>(0x1p23f);
      const P place = and_bits(add(position, set1<P>(unit)), set1_bits<P>((bits_of<P>(1) << mantissa) - 1));
      if constexpr (is_wide_lane<P>) {
        const two_words<P> x = threefry<P>({first, second}, {shift_right<32>(place), lower_word(place)});
        return or_bits(shift_left<32>(x.first), x.second);
      } else {
        const two_words<P> x = threefry<P>({first, second}, {word<P>(0), place});
        return xor_bits(x.first, x.second);
      }
    }
  }

  /// A number in [0, 1) from the upper 23 bits (double: 52) of a lane.
  template <class P>
  TENURE_KERNEL_LAYER P random_unit(P bits) {
    using L = detail::layout<P>;
    constexpr int unused = static_cast<int>(8 * sizeof(scalar_of<P>)) - L::mantissa;
    return sub(or_bits(shift_right<unused>(bits), set1_bits<P>(L::one)), set1<P>(scalar_of<P>(1)));
  }

  namespace detail {
  /// The quantile of the standard normal distribution at (1 + x) / 2, for |x| < 1. float: Giles, Approximating the erfinv function, GPU
  /// Computing Gems Jade Edition (2011); double: Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988).
  template <class P>
  TENURE_KERNEL_LAYER P normal_quantile(P x) {
    using T = scalar_of<P>;
    const P zero = set1<P>(T(0));
    if constexpr (is_wide_lane<P>) {
      const P q = mul(x, set1<P>(T(0.5))), s = sub(set1<P>(T(0.180625)), mul(q, q));
      const P middle =
          mul(q, horner<P>(s, {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                               4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3}));
      const P of_middle =
          horner<P>(s, {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
                        3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3});
      const mask_of<P> is_middle = le(abs(q), set1<P>(T(0.425)));
      const P p = select(is_middle, set1<P>(T(0.05)), sub(set1<P>(T(0.5)), abs(q)));
      const P r = sqrt(neg(log(p))), n = sub(r, set1<P>(T(1.6))), f = sub(r, set1<P>(T(5)));
      const P near =
          horner<P>(n, {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
                        1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4});
      const P of_near =
          horner<P>(n, {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
                        1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9});
      const P far =
          horner<P>(f, {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
                        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7});
      const P of_far =
          horner<P>(f, {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
                        1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15});
      const mask_of<P> is_near = le(r, set1<P>(T(5)));
      const P above = select(is_near, near, far), below = select(is_near, of_near, of_far);
      return div(select(is_middle, middle, select(lt(x, zero), neg(above), above)), select(is_middle, of_middle, below));
    } else {
      const P one = set1<P>(T(1)), w = neg(log(mul(sub(one, x), add(one, x))));  // 1 - x * x would be rounded where it is small
      const P n = sub(w, set1<P>(T(2.5f))), f = sub(sqrt(w), set1<P>(T(3)));
      const P near = horner<P>(n, {1.50140941f, 0.246640727f, -0.00417768164f, -0.00125372503f, 0.00021858087f, -4.39150654e-06f,
                                   -3.5233877e-06f, 3.43273939e-07f, 2.81022636e-08f});
      const P far = horner<P>(f, {2.83297682f, 1.00167406f, 0.00943887047f, -0.0076224613f, 0.00573950773f, -0.00367342844f, 0.00134934322f,
                                  0.000100950558f, -0.000200214257f});
      return mul(mul(select(lt(w, set1<P>(T(5))), near, far), x), set1<P>(T(1.41421356237f)));
    }
  }
  }  // namespace detail

  /// A number with the standard normal distribution from the same bits as random_unit: the quantile at the value of random_unit plus a quarter of the
  /// distance of two values, so that the argument is neither 0 nor 1.
  template <class P>
  TENURE_KERNEL_LAYER P random_normal(P bits) {
    using T = scalar_of<P>;
    constexpr T half = detail::is_wide_lane<P> ? T(0x1p-53) : T(0x1p-24f);  // a quarter of the distance of two values of 2u - 1
    const P u = random_unit(bits), x = add(sub(add(u, u), set1<P>(T(1))), set1<P>(half));
    return detail::normal_quantile(x);
  }

}  // namespace TENURE_NAMESPACE::TENURE_LANES(math)
