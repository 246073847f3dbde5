// SPDX-License-Identifier: BSL-1.0
// A twin is a number stored as the sum of two numbers, for the few steps that need more precision than the type has.
// Law: fast_two_sum and two_product are exact (Dekker, Veltkamp), with or without fma. The relative error of twin_product is a
// few 2^-2p, where p is the number of digits of the type.
// Cost: fast_two_sum takes 3 operations, two_product 2 (17 without fma), twin_product 4.
#pragma once

#include <tenure/math/packet.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail {

// The number hi + lo. |lo| is at most about an ulp of hi.
template <class P>
struct twin {
  P hi, lo;
};

template <class P>
TENURE_KERNEL_INLINE twin<P> fast_two_sum(P a, P b) {  // |a| >= |b| or a == 0
  const P s = add(a, b);
  return {s, sub(b, sub(s, a))};
}

// 1 + x as two numbers. It is exact for x below 2^53 (float: 2^24), because there 1 is a multiple of the last place of x. For
// larger x the second number is too small to matter.
template <class P>
TENURE_KERNEL_INLINE twin<P> one_plus(P x) { return fast_two_sum(set1<P>(scalar_of<P>(1)), x); }

template <class P>
TENURE_KERNEL_INLINE P upper_half(P a) {  // Veltkamp's split
  constexpr scalar_of<P> splitter = layout<P>::wide ? scalar_of<P>(134217729.0) : scalar_of<P>(4097.0f);
  const P c = mul(a, set1<P>(splitter));
  return sub(c, sub(c, a));
}

template <class P>
TENURE_KERNEL_INLINE twin<P> two_product(P a, P b) {
  const P p = mul(a, b);
  if constexpr (has_fma) {
    return {p, fma(a, b, neg(p))};
  } else {
    const P ah = upper_half(a), bh = upper_half(b), al = sub(a, ah), bl = sub(b, bh);
    return {p, add(add(add(sub(mul(ah, bh), p), mul(ah, bl)), mul(al, bh)), mul(al, bl))};
  }
}

// 1 / a with at least half the digits of the type. (For double, an estimate with a Newton step is not faster than the division,
// which has a hardware unit of its own.)
template <class P>
TENURE_KERNEL_INLINE P reciprocal(P a) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_rcp14_ps(every_lane<P>, a);
  else
#endif
    return div(set1<P>(scalar_of<P>(1)), a);
}

// 1 / a with at least 14 digits, at most the largest number.
template <class P>
TENURE_KERNEL_INLINE P estimated_inverse(P a) {
  using T = scalar_of<P>;
#if TENURE_AVX512
  if constexpr (is_512<P> && layout<P>::wide) return at_most<P>(_mm512_maskz_rcp14_pd(every_lane<P>, a), std::numeric_limits<T>::max());
#endif
  return at_most(reciprocal(a), std::numeric_limits<T>::max());
}

// a + b = hi + lo exactly (Knuth).
template <class P>
TENURE_KERNEL_INLINE twin<P> two_sum(P a, P b) {
  const P s = add(a, b);
  const P b_part = sub(s, a);
  return {s, add(sub(a, sub(s, b_part)), sub(b, b_part))};
}

// c - a*b. It is exact if it is small compared with c.
template <class P>
TENURE_KERNEL_INLINE P product_residual(P a, P b, P c) {
  if constexpr (has_fma) {
    return fnma(a, b, c);
  } else {
    const twin<P> p = two_product(a, b);
    return sub(sub(c, p.hi), p.lo);
  }
}

// a b + c with about one rounding where a b and c nearly cancel.
template <class P>
TENURE_KERNEL_INLINE P exact_multiply_add(P a, P b, P c) {
  if constexpr (!std::is_floating_point_v<scalar_of<P>>) {
    return add(mul(a, b), c);
  } else if constexpr (has_fma) {
    return fma(a, b, c);
  } else {
    const twin<P> p = two_product(a, b);
    // The split overflows for large numbers, where the product is as good.
    return add(add(p.hi, c), select(lt(abs(p.lo), abs(p.hi)), p.lo, set1<P>(scalar_of<P>(0))));
  }
}

// a / (k + b), for 0 <= |b| <= k and k + b not 0, or for b so large that its ulp is above 1. The error is about half an ulp,
// because the rounding error of k + b is corrected. Without the correction that rounding alone could be an ulp.
template <class P>
TENURE_KERNEL_LAYER P quotient_by_sum(P a, scalar_of<P> k, P b) {
  const P d = add(set1<P>(k), b);
  const P d_low = sub(b, sub(d, set1<P>(k)));
  P inverse, q;
#if TENURE_AVX512
  if constexpr (is_512<P> && layout<P>::wide) {  // the correction needs only an estimate of the reciprocal
    inverse = _mm512_maskz_rcp14_pd(every_lane<P>, d);
    q = div(a, d);
  } else
#endif
  {
    inverse = reciprocal(d);
    q = mul(a, inverse);
  }
  return fma(fnma(q, d_low, product_residual(q, d, a)), inverse, q);
}

template <class P>
TENURE_KERNEL_INLINE twin<P> twin_product(twin<P> a, twin<P> b) {
  const twin<P> p = two_product(a.hi, b.hi);
  return {p.hi, add(p.lo, fma(a.hi, b.lo, mul(a.lo, b.hi)))};
}

}  // namespace tenure::math::detail
