// SPDX-License-Identifier: BSL-1.0
// pow, rsqrt. pow = exp(y log x), where log x and the product are sums of two numbers each (Dekker, Knuth).
// Law: pow has at most 2 ulp over its whole domain, with the special cases of C (pow(x, 0) = pow(1, y) = 1; an odd integer y
// keeps the sign
//      of x). rsqrt has at most 2 ulp, and rsqrt(0) is inf.
// Cost: pow takes as long as about four exps. rsqrt takes a square root and a division, and with AVX-512 neither.
#pragma once

#include <tenure/math/logarithm.hpp>
#include <tenure/math/twin.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

// log x for positive finite x, with a relative error of about 2^-66 (float: 2^-36).
template <class P>
TENURE_KERNEL_INLINE twin<P> log_twin(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  constexpr T third_high = wide ? T(0x1.5555555555555p-1) : T(0x1.555556p-1);
  constexpr T third_low = wide ? T(0x1.5555555555555p-55) : T(-0x1.555556p-26);
  const log_parts<P> parts = log_split_any(x);
  const P f = sub(parts.m, set1<P>(T(1)));
  // s = f / (2 + f)
  const P two = set1<P>(T(2));
  const P d = add(two, f);
  const P d_low = sub(f, sub(d, two));
  const P inverse = div(set1<P>(T(1)), d);
  twin<P> s;
  s.hi = mul(f, inverse);
  s.lo = mul(sub(product_residual(s.hi, d, f), mul(s.hi, d_low)), inverse);
  twin<P> z = two_product(s.hi, s.hi);
  z.lo = fma(add(s.hi, s.hi), s.lo, z.lo);
  // log m = 2s + s z (2/3 + z q(z)). q is a Remez fit, weighted for the relative error of log (double 2^-69.0, float 2^-34.5).
  P q;
  if constexpr (wide)
    q = horner<P>(z.hi, {0x1.9999999999968p-2, 0x1.2492492498de7p-2, 0x1.c71c71bc69569p-3, 0x1.745d1bc8002a8p-3,
                     0x1.3b1298106581dp-3, 0x1.113a21c54ca01p-3, 0x1.dacf4b901e206p-4, 0x1.018106552bbc0p-3});
  else
    q = horner<P>(z.hi, {0x1.999aap-2f, 0x1.241a3cp-2f, 0x1.e8e82p-3f});
  const P zq = mul(z.hi, q);
  twin<P> c = fast_two_sum(set1<P>(third_high), zq);
  c.lo = add(c.lo, set1<P>(third_low));
  const twin<P> tail = twin_product(twin_product(s, z), c);
  const P leading = mul(parts.e, set1<P>(layout<P>::ln2_high));
  // fast_two_sum requires |e ln2| >= 2|s|. That holds unless e = 0, and then the sum is exact.
  const twin<P> first = fast_two_sum(leading, add(s.hi, s.hi));
  const twin<P> second = fast_two_sum(first.hi, tail.hi);
  const P low = add(add(add(first.lo, second.lo), fma(parts.e, set1<P>(layout<P>::ln2_low), add(s.lo, s.lo))), tail.lo);
  return fast_two_sum(second.hi, low);
}

// x^y for positive finite x.
template <class P>
TENURE_KERNEL_INLINE P pow_positive(P x, P y) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const twin<P> l = log_twin(x);
  // With a larger |y| the result overflows or underflows too, unless log x is 0.
  y = at_least(at_most(y, wide ? T(0x1p66) : T(0x1p40f)), wide ? T(-0x1p66) : T(-0x1p40f));
  const twin<P> w = two_product(y, l.hi);
  const P bounded = at_least(at_most(w.hi, T(wide ? 712.0 : 90.0)), T(wide ? -748.0 : -106.0));
  const P low = at_least(at_most(fma(y, l.lo, w.lo), T(0.25)), T(-0.25));
  exp_parts<P> parts = exp_reduce(bounded);
  parts.r = add(parts.r, low);
  const P e = fma(parts.r, fma(parts.r, exp_tail(parts.r), set1<P>(T(1))), set1<P>(T(1)));
  return scale(e, parts.n);
}

}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P pow(P x, P y) {
  using T = scalar_of<P>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const P zero = set1<P>(T(0)), one = set1<P>(T(1)), infinite = set1<P>(inf);
  const P a = abs(x);
  const mask_of<P> root = eq(a, zero);
  P value = detail::pow_positive(select(root, one, a), y);  // the logarithm of 0 would raise a floating-point exception flag
  const mask_of<P> down = lt(y, zero);
  value = select(root, select(down, infinite, zero), value);
  value = select(eq(a, infinite), select(down, zero, infinite), value);
  const P half = mul(y, set1<P>(T(0.5)));
  const mask_of<P> integer = eq(round(y), y);
  const mask_of<P> odd = mask_and(integer, ne(round(half), half));
  value = select(odd, with_sign(value, x), value);
  const mask_of<P> no_real = mask_and(mask_and(lt(x, zero), mask_not(integer)), lt(a, infinite));
  value = select(no_real, set1<P>(std::numeric_limits<T>::quiet_NaN()), value);
  value = select(mask_or(is_nan(x), is_nan(y)), add(x, y), value);
  return select(mask_or(eq(y, zero), eq(x, one)), one, value);
}

/// 1 / sqrt(x)
template <class P>
TENURE_KERNEL_LAYER P rsqrt(P x) {
  using T = scalar_of<P>;
#if TENURE_AVX512
  if constexpr (is_512<P>) {
    // An estimate of 14 bits and a step of Halley's method; for double also a Newton step. For 0, inf and NaN the estimate is the
    // result.
    P y;
    if constexpr (detail::layout<P>::wide) y = _mm512_maskz_rsqrt14_pd(detail::every_lane<P>, x);
    else y = _mm512_maskz_rsqrt14_ps(detail::every_lane<P>, x);
    const P estimate = y;
    const P e = fnma(mul(x, y), y, set1<P>(T(1)));
    y = fma(mul(y, e), fma(e, set1<P>(T(0.375)), set1<P>(T(0.5))), y);
    if constexpr (detail::layout<P>::wide) y = fma(fnma(mul(x, y), y, set1<P>(T(1))), mul(y, set1<P>(T(0.5))), y);
    return select(is_nan(e), estimate, y);
  }
#endif
  return div(set1<P>(T(1)), sqrt(x));
}

}  // namespace tenure::math
