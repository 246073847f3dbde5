// SPDX-License-Identifier: BSL-1.0
// asin, acos: an odd polynomial for |x| <= 1/2; above, acos x = 2 asin(sqrt((1 - x) / 2)). atan, atan2: |x| is reduced to [0, tan(pi/8)] by atan x =
// pi/4 + atan((x-1)/(x+1)) = pi/2 - atan(1/x). An odd polynomial follows.
// Law: at most 2 ulp; asin and atan are odd and keep -0; beyond [-1, 1] asin and acos are NaN; for zeros and infinities atan2 gives the results
// of the C library.
// Cost: a square root for asin and acos, one division for atan, two for atan2.
#pragma once

#include <tenure/math/twin.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

// atan(t) = t + t^3 A(t^2) for |t| <= tan(pi/8). A is a Remez fit, weighted for the relative error (double 2^-59.4, float 2^-30.5).
template <class P>
TENURE_KERNEL_INLINE P atan_tail(P t) {
  const P z = mul(t, t);
  P a;
  if constexpr (layout<P>::wide)
    a = horner<P>(z, {-0x1.555555555553dp-2, 0x1.99999999957cap-3, -0x1.24924922a9a6fp-3, 0x1.c71c70e495fa8p-4,
                      -0x1.745cf8b0296ffp-4, 0x1.3b1115ddd9fcdp-4, -0x1.10eb914895e08p-4, 0x1.df0cf3be491f4p-5,
                      -0x1.9cc79e67f3560p-5, 0x1.37b7f623fce99p-5, -0x1.2526439def028p-6});
  else
    a = horner<P>(z, {-0x1.55554ap-2f, 0x1.9991ap-3f, -0x1.23b5a2p-3f, 0x1.b1f10cp-4f, -0x1.f1fae8p-5f});
  return mul(mul(z, t), a);
}

// atan(numerator / denominator) as two numbers: a multiple of pi/4 and the rest. Both are >= 0, not both 0 and not both inf.
template <class P>
TENURE_KERNEL_INLINE twin<P> atan_quotient(P numerator, P denominator) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  constexpr T tan_low = wide ? T(0x1.a827999fcef32p-2) : T(0x1.a8279ap-2), tan_high = wide ? T(0x1.3504f333f9de6p+1) : T(0x1.3504f4p+1);
  constexpr T quarter_high = wide ? T(0x1.921fb54442d18p-1) : T(0x1.921fb6p-1);
  constexpr T quarter_low = wide ? T(0x1.1a62633145c07p-55) : T(-0x1.777a5cp-26);
  const mask_of<P> steep = gt(numerator, mul(denominator, set1<P>(tan_high)));
  const mask_of<P> middle = mask_and(gt(numerator, mul(denominator, set1<P>(tan_low))), mask_not(steep));
  const P zero = set1<P>(T(0));
  const P top = select(steep, neg(denominator), select(middle, sub(numerator, denominator), numerator));
  const P bottom = select(steep, numerator, select(middle, add(numerator, denominator), denominator));
  const P t = div(top, bottom);
  const P high = select(steep, set1<P>(T(2) * quarter_high), select(middle, set1<P>(quarter_high), zero));
  const P low = select(steep, set1<P>(T(2) * quarter_low), select(middle, set1<P>(quarter_low), zero));
  return {high, add(t, add(atan_tail(t), low))};
}

}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P atan(P x) {
  const detail::twin<P> angle = detail::atan_quotient(abs(x), set1<P>(scalar_of<P>(1)));
  return with_sign(add(angle.hi, angle.lo), x);
}

/// The angle of the point (x, y), in [-pi, pi].
template <class P>
TENURE_KERNEL_LAYER P atan2(P y, P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T pi_high = wide ? T(0x1.921fb54442d18p+1) : T(0x1.921fb6p+1);
  constexpr T pi_low = wide ? T(0x1.1a62633145c07p-53) : T(-0x1.777a5cp-24);
  const P zero = set1<P>(T(0)), one = set1<P>(T(1));
  P top = abs(y), bottom = abs(x);
  // Two zeros are replaced by 0/1, and two infinities by 1/1.
  bottom = select(mask_and(eq(top, zero), eq(bottom, zero)), one, bottom);
  const mask_of<P> both_infinite = mask_and(eq(top, set1<P>(inf)), eq(bottom, set1<P>(inf)));
  top = select(both_infinite, one, top);
  bottom = select(both_infinite, one, bottom);
  // Scaling by a power of two keeps sums and products of the two in range, and keeps the smaller one from being subnormal.
  const P larger = max(top, bottom);
  const P up = set1<P>(wide ? T(0x1p600) : T(0x1p64f)), down = set1<P>(wide ? T(0x1p-600) : T(0x1p-64f));
  const P factor = select(lt(larger, down), up, select(gt(larger, up), down, one));
  detail::twin<P> angle = detail::atan_quotient(mul(top, factor), mul(bottom, factor));
  // The sign bit of x decides, so that x = -0 counts as negative.
  const mask_of<P> left = lt(or_bits(sign_bit(x), one), zero);
  // Both parts are subtracted from pi: the sum of the two is rounded, and at -0 the result would be an ulp above pi/2.
  angle = {select(left, sub(set1<P>(pi_high), angle.hi), angle.hi), select(left, sub(set1<P>(pi_low), angle.lo), angle.lo)};
  const P value = with_sign(add(angle.hi, angle.lo), y);
  return select(mask_or(is_nan(x), is_nan(y)), add(x, y), value);
}

namespace detail {

// asin(s) = s + tail with s = sqrt((1 - |x|) / 2) for |x| > 1/2, else s = x.
template <class P>
struct arc {
  P s, tail;
  mask_of<P> steep;  // |x| > 1/2
};

template <class P>
TENURE_KERNEL_INLINE arc<P> arc_of(P x) {
  using T = scalar_of<P>;
  const P half = set1<P>(T(0.5)), a = abs(x);
  arc<P> out;
  out.steep = gt(a, half);
  const P z = select(out.steep, fnma(half, a, half), mul(a, a));
  out.s = select(out.steep, sqrt(z), x);
  // (asin s - s) / s^3 in s^2 for s^2 <= 1/4. A Remez fit, weighted for the relative error (double 2^-55.9, float 2^-27.6).
  P p;
  if constexpr (layout<P>::wide)
    p = horner<P>(z, {0x1.5555555555390p-3, 0x1.333333336e7d8p-4, 0x1.6db6db427bce9p-5, 0x1.f1c72c389f226p-6, 0x1.6e89f44709450p-6,
                      0x1.1c6be14d784dcp-6, 0x1.c6fdc7c3db1adp-7, 0x1.8ec2d80dfe066p-7, 0x1.abd0842048b3bp-8, 0x1.3ff3ea6b41440p-6,
                      -0x1.09d209a705260p-6, 0x1.056d0e122dc10p-5});
  else
    p = horner<P>(z, {0x1.5555c8p-3f, 0x1.3301e4p-4f, 0x1.747e48p-5f, 0x1.8c285ap-6f, 0x1.596d0ap-5f});
  out.tail = mul(mul(out.s, z), p);
  return out;
}

template <class T>
inline constexpr T half_pi_high = sizeof(T) == 8 ? T(0x1.921fb54442d18p+0) : T(0x1.921fb6p+0);
template <class T>
inline constexpr T half_pi_low = sizeof(T) == 8 ? T(0x1.1a62633145c07p-54) : T(-0x1.777a5cp-25);

}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P asin(P x) {
  using T = scalar_of<P>;
  const detail::arc<P> a = detail::arc_of(x);
  const detail::twin<P> far = detail::fast_two_sum(set1<P>(detail::half_pi_high<T>), neg(add(a.s, a.s)));
  const P steep = add(far.hi, add(far.lo, sub(set1<P>(detail::half_pi_low<T>), add(a.tail, a.tail))));
  return with_sign(select(a.steep, steep, abs(add(a.s, a.tail))), x);
}

/// In [0, pi].
template <class P>
TENURE_KERNEL_LAYER P acos(P x) {
  using T = scalar_of<P>;
  const detail::arc<P> a = detail::arc_of(x);
  const P s = select(a.steep, add(a.s, a.s), a.s), tail = select(a.steep, add(a.tail, a.tail), a.tail);
  const auto from = [&](T high, T low) {
    const detail::twin<P> sum = detail::fast_two_sum(set1<P>(high), neg(s));
    return add(sum.hi, add(sum.lo, sub(set1<P>(low), tail)));
  };
  const P right = add(s, tail), middle = from(detail::half_pi_high<T>, detail::half_pi_low<T>), left = from(2 * detail::half_pi_high<T>, 2 * detail::half_pi_low<T>);
  return select(a.steep, select(lt(x, set1<P>(T(0))), left, right), middle);
}

}  // namespace tenure::math
