// SPDX-License-Identifier: BSL-1.0
// exp, exp2, expm1, sigmoid: x = n ln2 + r with |r| <= ln2/2 (Cody and Waite), a polynomial in r, then a scaling by 2^n.
// Law: at most 2 ulp over the whole domain, also for subnormal results; expm1(-0) is -0, and expm1 keeps a small relative error
// near 0;
//      sigmoid(x) + sigmoid(-x) = 1, and sigmoid(x) ~ exp(x) down to the smallest subnormal.
// Cost: one polynomial (degree 11, or 6 for float). exp and expm1 have no division, sigmoid has one.
#pragma once

#include <tenure/math/packet.hpp>
#include <tenure/math/twin.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

// (e^r - 1 - r) / r^2 for |r| <= ln2/2. A Remez fit, weighted for the relative error of e^r - 1 (double 2^-55.6, float 2^-26.2).
template <class P>
TENURE_KERNEL_INLINE P exp_tail(P r) {
  if constexpr (layout<P>::wide)
    return horner<P>(r, {0x1.0000000000005p-1, 0x1.5555555555539p-3, 0x1.555555555225ap-5, 0x1.1111111119091p-7,
                         0x1.6c16c17ef5995p-10, 0x1.a01a0174da37dp-13, 0x1.a019a71c351ddp-16, 0x1.71de884cb87e5p-19,
                         0x1.28a236f4cbf3fp-22, 0x1.ae6bad98a7ba6p-26});
  else
    return horner<P>(r, {0x1.fffffep-2f, 0x1.5554bp-3f, 0x1.555674p-5f, 0x1.1227f6p-7f, 0x1.6bec04p-10f});
}

template <class P>
struct exp_parts {
  P n;  // integral
  P r;  // x - n ln2
};

// Requires |x| < 2^10 (float: 2^7.5). Then n ln2_high is exact, so r has only one rounding error, with or without fma.
template <class P>
TENURE_KERNEL_INLINE exp_parts<P> exp_reduce(P x) {
  using L = layout<P>;
  const P shifter = set1<P>(L::shifter);
  const P n = sub(fma(x, set1<P>(L::log2e), shifter), shifter);
  return {n, fma(n, set1<P>(-L::ln2_low), fma(n, set1<P>(-L::ln2_high), x))};
}

// a 2^n for |n| <= 2 bias - 2. Without a scalef instruction it takes two multiplications, because 2^n itself may be out of range.
template <class P>
TENURE_KERNEL_INLINE P scale(P a, P n) {
  if constexpr (is_512<P>) {
    return ldexp(a, n);
  } else {
    const P shifter = set1<P>(layout<P>::shifter);
    const P half = sub(fma(n, set1<P>(scalar_of<P>(0.5)), shifter), shifter);
    return mul(mul(a, power_of_two(half)), power_of_two(sub(n, half)));
  }
}

#if TENURE_AVX512
// 2^(k/16) rounded to nearest, and below the rounding error as a second number. The literals have the type of the table: with
// -frounding-math g++ 12 emits other bits for an array or a struct in which a double is converted to float inexactly (test_math_rounding_math).
template <class T>
alignas(64) inline constexpr T sixteenth_powers[16] = {};
template <>
alignas(64) inline constexpr double sixteenth_powers<double>[16] = {
    0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
template <>
alignas(64) inline constexpr float sixteenth_powers<float>[16] = {
    0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
    0x1.306fep+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
    0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};

template <class T>
alignas(64) inline constexpr T sixteenth_rests[16] = {};
template <>
alignas(64) inline constexpr double sixteenth_rests<double>[16] = {
    0.0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54,
    0x1.6f46ad23182e4p-55, 0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54,
    -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56,
    0x1.7a1cd345dcc81p-54, 0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54};
template <>
alignas(64) inline constexpr float sixteenth_rests<float>[16] = {
    0.0f, 0x1.9f3122p-25f, -0x1.c15742p-27f, 0x1.ceac48p-25f,
    0x1.4636e2p-25f, 0x1.824684p-25f, -0x1.593abcp-25f, -0x1.5bd5ecp-27f,
    0x1.9fcef4p-26f, -0x1.829fdp-25f, 0x1.15506ep-27f, 0x1.51f848p-27f,
    -0x1.a94b14p-26f, -0x1.3d56b2p-27f, -0x1.822dbcp-27f, 0x1.52486cp-27f};

// Looks up table[k], where k is the low four bits of each lane of `index`. It is one permutation.
template <class P>
TENURE_KERNEL_INLINE P lookup16(const scalar_of<P> (&table)[16], P index) {
  if constexpr (layout<P>::wide) return _mm512_permutex2var_pd(load<P>(table), _mm512_castpd_si512(index), load<P>(table + 8));
  else return _mm512_maskz_permutexvar_ps(every_lane<P>, _mm512_castps_si512(index), load<P>(table));
}

// Clamps x to [-bound, bound]. A NaN becomes one of the bounds.
template <class P>
TENURE_KERNEL_INLINE P within(P x, scalar_of<P> bound) {
#if TENURE_AVX512 && defined(__AVX512DQ__)
  constexpr int nearer_zero = 2;
  if constexpr (layout<P>::wide) return _mm512_maskz_range_pd(every_lane<P>, x, set1<P>(bound), nearer_zero);
  else return _mm512_maskz_range_ps(every_lane<P>, x, set1<P>(bound), nearer_zero);
#else
  return max_of_numbers(set1<P>(-bound), min_of_numbers(set1<P>(bound), x));
#endif
}

// e^x by a table, for 512-bit registers, where the table lookup is one permutation. n counts sixteenths and |r| <= ln2/32, so that
// the polynomial needs half the terms. It is a Remez fit, weighted for the relative error of e^r (double 2^-56.2, float 2^-29.2).
// Precise adds the rest of the table entry: 0.6 ulp instead of 1.3, for one more permutation.
// x may be any value. For large |x|, inf and NaN the result depends on n alone, because r is clamped to where the polynomial is positive. `low` is
// added to x. It is below an ulp of x, or any number if |x| is so large.
template <bool Precise, class P, class... Low>
TENURE_KERNEL_INLINE P exp_by_table(P x, Low... low) {
  using T = scalar_of<P>;
  using L = layout<P>;
  const P shifter = set1<P>(L::shifter / T(16));
  const P shifted = fma(x, set1<P>(L::log2e), shifter);
  const P n = sub(shifted, shifter);
  P r = fma(n, set1<P>(-L::ln2_low), fma(n, set1<P>(-L::ln2_high), x));
  ((r = add(r, low)), ...);
  r = within(r, T(0.5));
  P p;
  if constexpr (L::wide) {
    const P z = mul(r, r);
    const P q = horner_by_pairs<P>(r, z, {0x1.0000000000005p-1, 0x1.555555548ebbbp-3, 0x1.555555545e082p-5, 0x1.11123b485d461p-7,
                                          0x1.6c185e8bc8a22p-10});
    p = fma(z, q, r);
  } else {
    p = mul(r, horner<P>(r, {1.0f, 0x1.00022p-1f, 0x1.555764p-3f}));
  }
  const P power = lookup16(sixteenth_powers<T>, shifted);
  const P e = Precise ? add(power, fma(power, p, lookup16(sixteenth_rests<T>, shifted))) : fma(power, p, power);
  return ldexp(e, n);  // the instruction takes the floor of n
}
#endif

// e^x. Requires |x| < 2^10 (float: 2^7.5), as exp_reduce does. NaN gives NaN.
template <class P>
TENURE_KERNEL_LAYER P exp_clamped(P x) {
  const exp_parts<P> parts = exp_reduce(x);
  const P e = fma(parts.r, fma(parts.r, exp_tail(parts.r), set1<P>(scalar_of<P>(1))), set1<P>(scalar_of<P>(1)));
  return scale(e, parts.n);
}

// e^(x.hi + x.lo), where |x.lo| is at most an ulp of x.hi. inf, 0 and NaN as for exp(x.hi).
template <class P>
TENURE_KERNEL_LAYER P exp_of_twin(twin<P> x) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1));
#if TENURE_AVX512
  if constexpr (is_512<P>) return exp_by_table<false>(x.hi, x.lo);
#endif
  exp_parts<P> parts = exp_reduce(at_least(at_most(x.hi, T(wide ? 710.0 : 89.0)), T(wide ? -746.0 : -104.5)));
  // Where the result is neither 0 nor infinite, the rest is far below 1. Elsewhere it may be anything.
  parts.r = add(parts.r, select(lt(abs(x.lo), set1<P>(T(0x1p-10))), x.lo, set1<P>(T(0))));
  const P e = fma(parts.r, fma(parts.r, exp_tail(parts.r), one), one);
  return scale(e, parts.n);
}

// e^-|x| for functions that compute further with it. With 512-bit registers the error is below 1 ulp.
template <class P>
TENURE_KERNEL_LAYER P exp_of_minus_abs(P x) {
  x = neg(abs(x));
#if TENURE_AVX512
  if constexpr (is_512<P>) return exp_by_table<true>(x);
#endif
  return exp_clamped(at_least(x, scalar_of<P>(layout<P>::wide ? -746.0 : -104.5)));
}

// (e^x - 1) / 2 for x = n ln2 + r and t = e^r - 1 - r, for n from -60 to the largest exponent. It returns the half, because 2^(n-1)
// overflows only if the result does, and because tanh and sinh need the half.
template <class P>
TENURE_KERNEL_INLINE P half_expm1(P n, P r, P t) {
  using T = scalar_of<P>;
  const P s = power_of_two(sub(n, set1<P>(T(1))));
  // s (r + t) + s - 1/2. The two large terms are added exactly, because at n = 1 and n = -1 half of their digits cancel.
  const P a = sub(s, set1<P>(T(0.5)));
  const P sum = fma(s, r, a);
  const P rest = fma(s, r, sub(a, sum));
  return add(sum, fma(s, t, rest));
}

template <class P>
TENURE_KERNEL_INLINE P half_expm1(P x) {
  const exp_parts<P> parts = exp_reduce(x);
  return half_expm1(parts.n, parts.r, mul(mul(parts.r, parts.r), exp_tail(parts.r)));
}

}  // namespace detail

/// e^x. inf for inf, 0 for -inf, NaN for NaN.
template <class P>
TENURE_KERNEL_LAYER P exp(P x) {
  constexpr bool wide = detail::layout<P>::wide;
#if TENURE_AVX512
  if constexpr (is_512<P>) return detail::exp_by_table<false>(x);
#endif
  // The bounds lie just beyond the largest x with a finite result and the smallest with a nonzero one. So n stays small, and inf
  // needs no special case.
  x = at_least(at_most(x, scalar_of<P>(wide ? 710.0 : 89.0)), scalar_of<P>(wide ? -746.0 : -104.5));
  return detail::exp_clamped(x);
}

/// 2^x, exact for integral x. inf for inf, 0 for -inf, NaN for NaN.
template <class P>
TENURE_KERNEL_LAYER P exp2(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  x = at_least(at_most(x, T(wide ? 1025.0 : 129.0)), T(wide ? -1077.0 : -152.0));
  const P shifter = set1<P>(detail::layout<P>::shifter);
  const P n = sub(add(x, shifter), shifter), r = sub(x, n);
  // (2^r - 1) / r for |r| <= 1/2. A Remez fit, weighted for the relative error of 2^r (double 2^-58.0, float 2^-28.9).
  P q;
  if constexpr (wide)
    q = horner<P>(r, {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a5p-3, 0x1.c6b08d7049fe6p-5, 0x1.3b2ab6fba0077p-7, 0x1.5d87fe78cdb1ep-10,
                      0x1.4309130efbea7p-13, 0x1.ffcbfba8a2534p-17, 0x1.62bfc73f1599ap-20, 0x1.b5267dcef80ffp-24, 0x1.e61bfbaf91488p-28,
                      0x1.e79b97eb1aacdp-32});
  else
    q = horner<P>(r, {0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6aee6p-5f, 0x1.3b2d5p-7f, 0x1.5f3f3p-10f, 0x1.41fb2p-13f});
  return detail::scale(fma(r, q, set1<P>(T(1))), n);
}

template <class P>
TENURE_KERNEL_LAYER P expm1(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  const P bounded = at_least(at_most(x, T(wide ? 710.0 : 89.0)), T(wide ? -40.0 : -20.0));
  const P h = detail::half_expm1(bounded);
  // For |x| below this, expm1(x) rounds to x. This also keeps -0 and subnormals.
  const mask_of<P> tiny = lt(abs(x), set1<P>(T(wide ? 0x1p-54 : 0x1p-25)));
  return select(tiny, x, add(h, h));
}

/// 1 / (1 + e^-x)
template <class P>
TENURE_KERNEL_LAYER P sigmoid(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  // e^-|x| does not overflow, and for very negative x it is the result.
  const P e = detail::exp_of_minus_abs(x);
  const P numerator = select(lt(x, set1<P>(T(0))), e, one);
  return detail::quotient_by_sum(numerator, T(1), e);
}

}  // namespace tenure::math
