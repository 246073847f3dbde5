// SPDX-License-Identifier: BSL-1.0
// log, log2, log1p, softplus: x = m 2^e with m near 1, then atanh's series in s = f/(2+f), f = m - 1.
// Law: at most 2 ulp over the whole domain, subnormals included; log1p keeps -0 and its relative error near 0;
//      log(0) = -inf, of negatives NaN. softplus(x) - softplus(-x) = x.
// Cost: one division and a polynomial in s^2 (7 terms, or 4 for float); log1p adds one exact sum; softplus is an exp and a log1p.
#pragma once

#include <tenure/math/exponential.hpp>
#include <tenure/math/twin.hpp>

namespace tenure::math {

namespace detail {

template <class P>
struct log_parts {
  P e;  // integral
  P m;  // x = m 2^e
};

// m in [1/sqrt2, sqrt2), and x must be normal and positive.
// With AVX-512 m in [3/4, 3/2), and any x (0 gives e = -inf, inf gives e = inf, negatives m = NaN).
template <class P>
TENURE_KERNEL_INLINE log_parts<P> log_split(P x) {
  using L = layout<P>;
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && L::wide) {
    const P m = _mm512_maskz_getmant_pd(every_lane<P>, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    return {_mm512_sub_pd(_mm512_maskz_getexp_pd(every_lane<P>, x), _mm512_maskz_getexp_pd(every_lane<P>, m)), m};
  } else if constexpr (is_512<P>) {
    const P m = _mm512_maskz_getmant_ps(every_lane<P>, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    return {_mm512_sub_ps(_mm512_maskz_getexp_ps(every_lane<P>, x), _mm512_maskz_getexp_ps(every_lane<P>, m)), m};
  } else
#endif
  {
    using word = bits_of<P>;
    constexpr word root_half = L::wide ? word(0x3fe6a09e667f3bcdu) : word(0x3f3504f3u);
    const P shifted = add_bits(x, set1_bits<P>(L::one - root_half));
    const P m = add_bits(and_bits(shifted, set1_bits<P>(L::mantissa_mask)), set1_bits<P>(root_half));
    // The biased exponent, dropped into the low bits of 2^mantissa, is a number without a conversion.
    constexpr scalar_of<P> two_mantissa = static_cast<scalar_of<P>>(word(1) << L::mantissa);
    const P biased = or_bits(shift_right<L::mantissa>(shifted), set1<P>(two_mantissa));
    return {sub(biased, set1<P>(two_mantissa + L::bias)), m};
  }
}

// (2 atanh(s) - 2s) / s for z = s^2: Remez fit on |s| <= 1/5, weighted for relative error of log (double 2^-55.9, float 2^-35.3).
template <class P>
TENURE_KERNEL_INLINE P log_tail(P z) {
  if constexpr (layout<P>::wide)
    return mul(z, horner<P>(z, {0x1.555555555577ap-1, 0x1.99999998efbe8p-2, 0x1.249249b2d7e9ep-2, 0x1.c71c00f0f5532p-3,
                                0x1.7474f51f2d34cp-3, 0x1.385168547cae8p-3, 0x1.3ac942d4e5f9ep-3}));
  else
    return mul(z, horner<P>(z, {0x1.555554p-1f, 0x1.999bdep-2f, 0x1.23e96p-2f, 0x1.ed941p-3f}));
}

// f - log(1 + f) - extra = s (f - tail) - extra: f, the leading term of the logarithm, stays exact.
template <class P>
TENURE_KERNEL_INLINE P log1p_deficit(P f, P minus_extra = set1<P>(scalar_of<P>(0))) {
  const P s = div(f, add(f, set1<P>(scalar_of<P>(2))));
  return fma(s, sub(f, log_tail(mul(s, s))), minus_extra);
}

// e ln2 + log(1 + f). Both parts of ln2 are positive, so an infinite e gives that infinity.
template <class P>
TENURE_KERNEL_INLINE P log_sum(P e, P f) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  constexpr T ln2_high = wide ? T(0x1.62e42fefa3p-1) : T(0x1.62e4p-1);
  constexpr T ln2_low = wide ? T(0x1.3de6af278ece6p-42) : T(0x1.7f7d1cp-20);
  return fma(e, set1<P>(ln2_high), sub(f, log1p_deficit(f, mul(e, set1<P>(-ln2_low)))));
}

// What log does with 0, negatives, inf and NaN, given the value for positive finite x; with AVX-512 it comes by itself.
template <class P>
TENURE_KERNEL_INLINE P log_specials(P x, P value) {
  if constexpr (is_512<P>) return value;
  using T = scalar_of<P>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  value = select(lt(x, set1<P>(inf)), value, x);  // inf, NaN
  value = select(lt(x, set1<P>(T(0))), set1<P>(std::numeric_limits<T>::quiet_NaN()), value);
  return select(eq(x, set1<P>(T(0))), set1<P>(-inf), value);
}

// Brings subnormals into the range of log_split; AVX-512 needs no help.
template <class P>
TENURE_KERNEL_INLINE log_parts<P> log_split_any(P x) {
  if constexpr (is_512<P>) {
    return log_split(x);
  } else {
    using T = scalar_of<P>;
    using L = layout<P>;
    constexpr int lift = L::mantissa + 2;
    constexpr T power = static_cast<T>(bits_of<P>(1) << lift);
    const mask_of<P> small = lt(x, set1<P>(std::numeric_limits<T>::min()));
    log_parts<P> parts = log_split(select(small, mul(x, set1<P>(power)), x));
    parts.e = sub(parts.e, select(small, set1<P>(T(lift)), set1<P>(T(0))));
    return parts;
  }
}

// log(1 + x) for x > -1; without AVX-512 finite too.
template <class P>
TENURE_KERNEL_INLINE P log1p_ordinary(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  const P u = add(one, x);
  // u + low = 1 + x: exact below 2^53 (float: 2^24), 1 being a multiple of x's last place; beyond, far too small to matter.
  P low = sub(x, sub(u, one));
  const log_parts<P> parts = log_split(u);
  const P f = sub(parts.m, one);
  // Where e = 0, f + low 2^-e gives x back exactly, so small x keep their relative accuracy.
  if constexpr (is_512<P>) {
    // u = 0 has e = -inf, u = inf has low = NaN.
    low = select(lt(u, set1<P>(std::numeric_limits<T>::infinity())), low, set1<P>(T(0)));
    low = ldexp(low, neg(at_least(parts.e, T(-1000))));
  } else {
    low = mul(low, power_of_two(neg(at_most(parts.e, T(100)))));
  }
  return log_sum(parts.e, add(f, low));
}

}  // namespace detail

template <class P>
TENURE_KERNEL_INLINE P log(P x) {
  const detail::log_parts<P> parts = detail::log_split_any(x);
  return detail::log_specials(x, detail::log_sum(parts.e, sub(parts.m, set1<P>(scalar_of<P>(1)))));
}

template <class P>
TENURE_KERNEL_INLINE P log2(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  constexpr T log2e_high = wide ? T(0x1.71547652b82fep+0) : T(0x1.715476p+0);
  constexpr T log2e_low = wide ? T(0x1.777d0ffda0d24p-56) : T(0x1.4ae0cp-26);
  // Adding 0 makes -0 a 0, whose mantissa AVX-512 takes for 1 and not -1.
  const detail::log_parts<P> parts = detail::log_split_any(add(x, set1<P>(T(0))));
  const P f = sub(parts.m, set1<P>(T(1)));
  const P w = detail::log1p_deficit(f);
  // log(1 + f) as v + v_low: next to e = -1 half of v cancels.
  const P v = sub(f, w);
  const P v_low = sub(sub(f, v), w);
  const P low = fma(v, set1<P>(log2e_low), mul(v_low, set1<P>(log2e_high)));
  return detail::log_specials(x, add(parts.e, fma(v, set1<P>(log2e_high), low)));
}

template <class P>
TENURE_KERNEL_INLINE P log1p(P x) {
  using T = scalar_of<P>;
  if constexpr (is_512<P>) return with_sign(detail::log1p_ordinary(x), x);
  constexpr T inf = std::numeric_limits<T>::infinity();
  P value = detail::log1p_ordinary(at_most(x, std::numeric_limits<T>::max()));
  value = select(lt(x, set1<P>(inf)), value, x);  // inf, NaN
  value = select(lt(x, set1<P>(T(-1))), set1<P>(std::numeric_limits<T>::quiet_NaN()), value);
  value = select(eq(x, set1<P>(T(-1))), set1<P>(-inf), value);
  return with_sign(value, x);
}

/// log(1 + e^x)
template <class P>
TENURE_KERNEL_INLINE P softplus(P x) {
  using T = scalar_of<P>;
  const P e = detail::exp_clamped<true>(at_least(neg(abs(x)), T(detail::layout<P>::wide ? -746.0 : -104.5)));
  // e in [0, 1]: no special value but NaN, which the sum keeps.
  return add(max(x, set1<P>(T(0))), detail::log1p_ordinary(e));
}

}  // namespace tenure::math
