// SPDX-License-Identifier: BSL-1.0
// What the densities of the gamma and the beta distribution have in common: a log(a / x) + x - a as a sum of two numbers, and Stirling's series.
// The error of the deviance is 2^-53 + 2^-57 times its value (float: 2^-24 and 2^-28), so that a density has few ulp also far in its tails.
// Cost: two divisions and a logarithm of two numbers; near x = a a division more.
#pragma once

#include <tenure/math/power.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail {

// The logarithm of a positive number that is a sum of two.
template <class P>
TENURE_KERNEL_INLINE twin<P> log_of_sum(twin<P> x) {
  const P hi = at_least(x.hi, std::numeric_limits<scalar_of<P>>::denorm_min());
  const twin<P> l = log_twin(hi);
  return {l.hi, fma(x.lo, estimated_inverse(hi), l.lo)};
}

// x + y, for a large y.lo too.
template <class P>
TENURE_KERNEL_INLINE twin<P> twin_sum(twin<P> x, twin<P> y) {
  const twin<P> s = two_sum(x.hi, y.hi);
  return fast_two_sum(s.hi, add(s.lo, add(x.lo, y.lo)));
}
template <class P>
TENURE_KERNEL_INLINE twin<P> twin_minus(twin<P> x) { return {neg(x.hi), neg(x.lo)}; }

// a twin times a number.
template <class P>
TENURE_KERNEL_INLINE twin<P> scaled_twin(P a, twin<P> x) {
  const twin<P> p = two_product(a, x.hi);
  return {p.hi, fma(a, x.lo, p.lo)};
}

// a log(a / x) + x - a near x = a: with s = (x - a) / (x + a) up to 1/64 it is (x - a) s - 2 a s^3 (1/3 + s^2 / 5 + ...), and the first term is exact.
template <class P>
TENURE_KERNEL_LAYER twin<P> near_deviance(twin<P> x, P a) {
  using T = scalar_of<P>;
  twin<P> d = two_sum(x.hi, neg(a)), e = two_sum(x.hi, a);
  d.lo = add(d.lo, x.lo);
  e.lo = add(e.lo, x.lo);
  const P inverse = div(set1<P>(T(1)), e.hi);
  twin<P> s;
  s.hi = mul(d.hi, inverse);
  s.lo = mul(add(fnma(s.hi, e.lo, product_residual(s.hi, e.hi, d.hi)), d.lo), inverse);
  const P square = mul(s.hi, s.hi);
  P series;
  if constexpr (layout<P>::wide)
    series = horner<P>(square, {T(1.0 / 3), T(1.0 / 5), T(1.0 / 7), T(1.0 / 9), T(1.0 / 11)});
  else
    series = horner<P>(square, {T(1.0 / 3), T(1.0 / 5)});
  twin<P> near = two_product(d.hi, s.hi);
  near.lo = add(near.lo, fma(d.hi, s.lo, mul(d.lo, s.hi)));
  return twin_sum(near, {neg(mul(mul(add(a, a), mul(s.hi, square)), series)), set1<P>(T(0))});
}

// The same for any x: 0 at x = a and positive elsewhere.
template <class P>
TENURE_KERNEL_LAYER twin<P> deviance(twin<P> x, P a) {
  using T = scalar_of<P>;
  twin<P> d = two_sum(x.hi, neg(a)), q;
  d.lo = add(d.lo, x.lo);
  const mask_of<P> is_near = le(abs(d.hi), mul(add(x.hi, a), set1<P>(T(1.0 / 64))));
  // x - a - a log(x / a), with the quotient as a sum of two numbers.
  q.hi = div(x.hi, a);
  q.lo = div(add(product_residual(q.hi, a, x.hi), x.lo), a);
  const twin<P> far = twin_sum(d, twin_minus(scaled_twin(a, log_of_sum(q))));
  if (!any<P>(is_near)) return far;
  const twin<P> near = near_deviance(x, a);
  return {select(is_near, near.hi, far.hi), select(is_near, near.lo, far.lo)};
}

template <class P>
TENURE_KERNEL_INLINE twin<P> log_of_2() {
  using T = scalar_of<P>;
  if constexpr (layout<P>::wide) return {set1<P>(T(0x1.62e42fefa39efp-1)), set1<P>(T(0x1.abc9e3b39803fp-56))};
  else return {set1<P>(T(0x1.62e43p-1f)), set1<P>(T(-0x1.05c61p-29f))};
}
// v / 2^32.
template <class P>
TENURE_KERNEL_INLINE P unscaled(P v) { return mul(v, set1<P>(scalar_of<P>(0x1p-32))); }

// log gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2, for a from 5 on, with an error of 2^-57 (float: 2^-29). scripts/special.py writes the coefficients.
template <class P>
TENURE_KERNEL_INLINE P stirling_of_inverse(P inverse) {
  const P u = mul(inverse, inverse);
  P s;
  if constexpr (layout<P>::wide)
    s = horner<P>(u, {0x1.5555555555554p-4, -0x1.6c16c16bfed08p-9, 0x1.a01a00d9bd833p-11, -0x1.3812e332e7b12p-11, 0x1.b913395c909cfp-11,
                      -0x1.efc44ce427a63p-10, 0x1.6bbc9c7ad5dd5p-8, -0x1.b1eab8f2cfe7dp-7});
  else
    s = horner<P>(u, {0x1.555556p-4f, -0x1.6c061ep-9f, 0x1.8e7868p-11f});
  return mul(s, inverse);
}
template <class P>
TENURE_KERNEL_INLINE P stirling_rest(P a) { return stirling_of_inverse(div(set1<P>(scalar_of<P>(1)), a)); }

}  // namespace tenure::math::detail
