// SPDX-License-Identifier: BSL-1.0
// erf(x) = -expm1(g(x)) for x >= 0, with g = log(erfc). g is smooth, so one polynomial is enough for all x. With AVX-512 there is
// one polynomial for each piece instead (piecewise.hpp).
// erfc(x) = 1 - x P(x^2) near 0, and exp(-x^2) p(t) / (1 + 2x) with t = (x - k) / (x + k) for larger x, with x^2, p and the quotient as sums of
// two numbers; erfc(-x) = 2 - erfc(x).
// Law: at most 2 ulp, also where erfc is tiny or subnormal; erf is odd, and erf(-0) is -0; +-1 at the infinities, and 0 and 2 for erfc.
// Cost: erf: a polynomial (25 terms, or 9 for float) and an expm1; with AVX-512 18 (8) lookups and fma. It has no branch and no
// division. erfc: two polynomials (9 and 22 terms, or 5 and 10), an exp and a division.
#pragma once

#include <tenure/math/exponential.hpp>
#include <tenure/math/pieces.hpp>
#include <tenure/math/piecewise.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
inline constexpr double near_zero_of_erf = 0.4375;
// erf(x) / x in z = x^2 for |x| <= 0.4375. A Remez fit, weighted for the relative error of erfc (double 2^-62.8, float 2^-32.9).
template <class P>
TENURE_KERNEL_INLINE P erf_near_zero(P z) {
  if constexpr (layout<P>::wide)
    return horner<P>(z, {0x1.20dd750429b6dp+0, -0x1.812746b0379ccp-2, 0x1.ce2f21a0407b7p-4, -0x1.b82ce3111cf1ep-6, 0x1.565bcc917ee43p-8,
                         -0x1.c02d8145ea7b7p-11, 0x1.f996a139e184ep-14, -0x1.f2f90819c7edcp-17, 0x1.934638c906a4ep-20});
  else
    return horner<P>(z, {0x1.20dd74p+0f, -0x1.812734p-2f, 0x1.ce2762p-4f, -0x1.b6c702p-6f, 0x1.3991e2p-8f});
}
}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P erf(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  if constexpr (is_one_lane<P> && wide)  // one number takes 3 ns so, and 15 below
    if (abs(x) < T(detail::near_zero_of_erf)) return mul(x, detail::erf_near_zero(mul(x, x)));
  // erf rounds to 1 from 5.9216 (float: 3.9193) on.
#if TENURE_AVX512
  if constexpr (is_512<P> && wide) return with_sign(detail::piecewise<false>(at_most(abs(x), 5.925), 13.0 / 16, detail::erf_pieces_double), x);
  else if constexpr (is_512<P>) return with_sign(detail::piecewise<true>(at_most(abs(x), 3.95f), 33.0f / 128, detail::erf_pieces_float), x);
#endif
  const P a = at_most(abs(x), wide ? T(6.0) : T(3.95f));
  // log(erfc(a)) / a on [0, 6] (float: [0, 3.95]): Remez fit weighted for relative error of erf.
  P h;
  if constexpr (wide)
    h = horner<P>(a, {-0x1.1ae3a0b5f5c7fp-56, -0x1.45f306dc9c897p-1, -0x1.a4f4e2a1b207bp-4, 0x1.39668593d7cf9p-6,
                   0x1.b6b68bee3c774p-13, -0x1.bca67bd0cd9d9p-10, 0x1.35654f9860302p-11, -0x1.b22bc1708c1ecp-16,
                   -0x1.0e7f9c651216dp-14, 0x1.f2afd47e53d68p-16, -0x1.c951156de6603p-19, -0x1.7c863b6c44eebp-19,
                   0x1.d37d510e9f57fp-20, -0x1.69284af3fea61p-22, -0x1.269c4c07cee5dp-23, 0x1.30703d3b5e647p-23,
                   -0x1.1a5421335bee7p-24, 0x1.6824785282a60p-26, -0x1.57724f8495c58p-28, 0x1.f34fd3b3263f8p-31,
                   -0x1.128903f97af43p-33, 0x1.bbb92aa78d4a9p-37, -0x1.f1faab4141975p-41, 0x1.5ad6d4dbc13a6p-45,
                   -0x1.c3a1f554cc89ep-51});
  else
    h = horner<P>(a, {0x1.d0e958p-25f, -0x1.45f2fap-1f, -0x1.a4fa5ep-4f, 0x1.39cdccp-6f, 0x1.505496p-13f, -0x1.b4fe68p-10f,
                      0x1.4bc76ep-11f, -0x1.ed6616p-14f, 0x1.3690a8p-17f});
  // The leading coefficient, -2/sqrt(pi), is split into two numbers, so that near 0 the rounding error of h is far below the last
  // place of g.
  constexpr T leading = wide ? T(-0x1.20dd750429b6dp+0) : T(-0x1.20dd76p+0);
  const detail::twin<P> first = detail::two_product(a, set1<P>(leading));
  const P g = add(first.hi, fma(a, h, first.lo));
  const P half = detail::half_expm1(g);
  // For subnormal results every step would round to a whole ulp, so tiny x take the leading term only.
  const mask_of<P> tiny = lt(a, set1<P>(T(wide ? 0x1p-60 : 0x1p-30)));
  return with_sign(neg(select(tiny, first.hi, add(half, half))), x);
}

namespace detail {
// e^(a^2) erfc(a) as two numbers, for a from 0.43 on.
template <class P>
TENURE_KERNEL_INLINE twin<P> scaled_erfc(P a) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  constexpr T k = wide ? T(3) : T(2.5);
  const P one = set1<P>(T(1));
  const P d = add(a, set1<P>(k)), twice = add(a, a);
  const twin<P> n = one_plus(twice);
  // One division gives 1 / d and 1 / n. Both quotients that use them are corrected.
  const P inverse = div(one, mul(d, n.hi)), of_d = mul(inverse, n.hi), of_n = mul(inverse, d);
  // t = (a - k) / (a + k): a - k (t + 1) - t a is the remainder.
  const P guess = fma(set1<P>(-2 * k), of_d, one);
  const P t = fma(product_residual(guess, a, fnma(set1<P>(k), add(guess, one), a)), of_d, guess);
  // e^(a^2) erfc(a) (1 + 2a) in t. A Remez fit, weighted for the relative error (double 2^-56.9, float 2^-29.7).
  P rest;
  T first;
  if constexpr (wide) {
    first = 0x1.40c522d7e4987p+0;
    rest = horner<P>(t, {-0x1.15c084bb9e8f8p-3, -0x1.85a15c58aa449p-5, 0x1.098366a5b493cp-3, -0x1.e88b803a4c60bp-4, 0x1.17ca2877e5074p-4,
                         -0x1.8574c40a7fd52p-6, 0x1.4b884e5e9ededp-9, 0x1.ef1bdc2b8927dp-10, -0x1.98db55114d90fp-11,
                         -0x1.b911e6c9dfc0ep-14, 0x1.065a9300b3f72p-13, 0x1.4bf86bb0feb40p-18, -0x1.51458d5f8c4d8p-16,
                         -0x1.83d4c521a4d6cp-21, 0x1.d2bd3f97ea97fp-19, 0x1.69fc9b1ccab3cp-22, -0x1.4e56b8e8d9816p-21,
                         -0x1.ec7e25966a456p-24, 0x1.c326b607adaa3p-24, 0x1.5b0b733cf46eep-26, -0x1.b52d47b8f983dp-27});
  } else {
    first = 0x1.43cc7p+0f;
    rest = horner<P>(t, {-0x1.f52c6p-4f, -0x1.959a92p-4f, 0x1.42d3a6p-3f, -0x1.a5c4bp-4f, 0x1.0c5642p-5f, 0x1.f6c10ap-11f,
                         -0x1.1d1728p-8f, 0x1.aec1a4p-12f, 0x1.1946f8p-11f});
  }
  const twin<P> p = fast_two_sum(set1<P>(first), mul(t, rest));
  const P q = mul(p.hi, of_n);
  return {q, mul(add(fnma(q, n.lo, product_residual(q, n.hi, p.hi)), p.lo), of_n)};
}
}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P erfc(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  // erfc rounds to 0 from 27.23 (float: 10.06) on.
  const P a = at_most(abs(x), wide ? T(27.3) : T(10.2f));
  if constexpr (is_one_lane<P>)  // the same bits as below, where packets compute both
    if (a < T(detail::near_zero_of_erf)) return fnma(x, detail::erf_near_zero(mul(a, a)), T(1));
  const detail::twin<P> q = detail::scaled_erfc(a), square = detail::two_product(a, a);
  // -a^2 = n ln2 + r. e^r q is q.hi and small terms, so that the roundings of r and q would show in the result: both are sums of two numbers.
  using L = detail::layout<P>;
  const P n = detail::exp_reduce(neg(square.hi)).n;
  const detail::twin<P> r = detail::fast_two_sum(fma(n, set1<P>(-L::ln2_high), neg(square.hi)), neg(fma(n, set1<P>(L::ln2_low), square.lo)));
  const P e = fma(mul(r.hi, r.hi), detail::exp_tail(r.hi), r.hi);  // e^r - 1
  const P tail = detail::scale(add(q.hi, fma(q.hi, e, fma(q.hi, r.lo, fma(q.lo, e, q.lo)))), n);
  const P far = select(lt(x, set1<P>(T(0))), sub(set1<P>(T(2)), tail), tail);
  return select(lt(a, set1<P>(T(detail::near_zero_of_erf))), fnma(x, detail::erf_near_zero(mul(a, a)), set1<P>(T(1))), far);
}

}  // namespace tenure::math
