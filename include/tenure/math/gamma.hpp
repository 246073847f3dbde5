// SPDX-License-Identifier: BSL-1.0
// The logarithm of the gamma function and its derivatives. Up to 4.28 lgamma(x) is lgamma(2 + t), a polynomial, and the logarithm of a product; beyond it is
// Stirling's formula with a polynomial in 1 / x^2. digamma is alike, from its root; on CPUs that of doubles is in pieces (digamma_rows.hpp, digamma_pieces.hpp).
// trigamma and tetragamma add terms up to an argument of 5. Negative arguments are reflected. scripts/gamma.py writes the coefficients.
// Law: for x > 0 at most 4 ulp, also near the zeros of lgamma and digamma; without fma 4.5 for tetragamma.
// For x < 0 the unit is the ulp of the largest of |lgamma(x)|, lgamma(|x|) and 1; for digamma of |digamma(x)|, digamma(1 - x) and 1; for tetragamma of
// |tetragamma(x)| and 32; and trigamma has at most 5 ulp.
// Cost: a logarithm, two polynomials (20 and 9 terms, or 10 and 3 for float) and a division; where a packet has a negative number a logarithm more.
#pragma once

#include <tenure/math/digamma_pieces.hpp>
#include <tenure/math/digamma_rows.hpp>
#include <tenure/math/logarithm.hpp>
#include <tenure/math/packet/rounding.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

// lgamma(a) for a >= -1/2, and NaN.
template <class P>
TENURE_KERNEL_LAYER P lgamma_reflected(P a) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1));
  // t is in [-23/32, 9/32). Up to 1.28 the logarithm of a, which cancels half of its digits at 1.5, is below 1/4.
  const P whole = floor(at_most(add(a, set1<P>(T(0.71875))), T(4))), t = sub(a, whole);
  const mask_of<P> large = ge(a, set1<P>(T(4.28125)));
  // lgamma(a) = lgamma(2 + t) + log((a - 1) (a - 2)) or - log(a (a + 1)); the number of factors is the distance of `whole` from 2.
  const mask_of<P> below = lt(whole, set1<P>(T(2)));
  const P first = select(below, abs(a), select(eq(whole, set1<P>(T(2))), one, sub(a, one)));
  const P second = select(eq(whole, set1<P>(T(0))), add(a, one), select(eq(whole, set1<P>(T(4))), sub(a, set1<P>(T(2))), one));
  const P l = log(select(large, a, mul(first, second)));
  P near;
  if constexpr (wide)
    near = horner<P>(t, {0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a5575e2p-4, 0x1.51322ac7d8816p-6, -0x1.e404fc21a56c8p-8,
                         0x1.7add6eacd073ap-9, -0x1.38ac5c18e76edp-10, 0x1.0b36b05f62b8dp-11, -0x1.d3fd59ea5ef12p-13, 0x1.a126e1c23fcf6p-14,
                         -0x1.78dd555fa216dp-15, 0x1.583f1680b0723p-16, -0x1.3c38b042e9c9ap-17, 0x1.20d46ffc7e5f3p-18, -0x1.311aed2fa8f8ap-19,
                         0x1.de8dd331c1654p-21, 0x1.85eb2251873a9p-22, 0x1.02687de115027p-19, 0x1.7fd33e4f3728dp-20, 0x1.501be31681523p-21});
  else
    near = horner<P>(t, {0x1.b0ee6p-2f, 0x1.4a34ccp-2f, -0x1.13e006p-4f, 0x1.51344ep-6f, -0x1.e3f268p-8f, 0x1.79941p-9f, -0x1.405228p-10f,
                         0x1.1f506ap-11f, -0x1.b86058p-18f, 0x1.5f3ce4p-12f});
  near = fma(t, near, select(below, neg(l), l));
  const P inverse = div(one, a), u = mul(inverse, inverse);
  P s;
  if constexpr (wide)
    s = horner<P>(u, {0x1.5555555555555p-4, -0x1.6c16c16c08fdbp-9, 0x1.a01a0135b3598p-11, -0x1.3813312aafd36p-11, 0x1.b933426ea6755p-11,
                      -0x1.f34cf52df0bf3p-10, 0x1.871e49dd28b84p-8, -0x1.4692030d2f9b7p-6, 0x1.623482772b75fp-5});
  else
    s = horner<P>(u, {0x1.555554p-4f, -0x1.6bf89ap-9f, 0x1.8889fap-11f});
  constexpr T rest = wide ? T(0x1.acfe390c97d69p-2) : T(0x1.acfe3ap-2f);  // (log(2 pi) - 1) / 2
  const P far = fma(sub(a, set1<P>(T(0.5))), sub(l, one), fma(s, inverse, set1<P>(rest)));
  return select(large, far, near);
}

// sin(pi r) / (pi r) for z = r^2 and |r| <= 1/2.
template <class P>
TENURE_KERNEL_INLINE P sine_of_turns(P z) {
  constexpr bool wide = layout<P>::wide;
  P s;
  if constexpr (wide)
    s = horner<P>(z, {0x1.0000000000000p+0, -0x1.a51a6625307d3p+0, 0x1.9f9cb402bc3ebp-1, -0x1.86a8e472088a4p-3, 0x1.ac6805cbe14f0p-6,
                      -0x1.3381697088111p-9, 0x1.37469730d3391p-13, -0x1.d3e3c296a65cfp-18, 0x1.07192db714f81p-22});
  else
    s = horner<P>(z, {0x1p+0f, -0x1.a51a58p+0f, 0x1.9f9916p-1f, -0x1.860654p-3f, 0x1.94fd82p-6f});
  return s;
}

// pi cot(pi r) for |r| <= 1/2.
template <class P>
TENURE_KERNEL_INLINE P cotangent_of_turns(P r) {
  constexpr bool wide = layout<P>::wide;
  const P z = mul(r, r);
  P c;
  if constexpr (wide)
    c = horner<P>(z, {0x1.0000000000000p+0, -0x1.a51a6625307d2p+1, -0x1.151322ac7d966p+1, -0x1.0470984bfe971p+1, -0x1.010b36b2cd5f9p+1,
                      -0x1.00412d95d6167p+1, -0x1.0010342abc8ffp+1, -0x1.0002573add536p+1, -0x1.001b51db805aep+1, -0x1.fda283cafff21p+0,
                      -0x1.0a152401a7be0p+1, -0x1.80af13e0346dep+0, -0x1.13b68189cafa5p+2, 0x1.6d1d214ce6371p+2, -0x1.3b987c4367d2cp+4,
                      0x1.7c4ca29508e95p+4, -0x1.520b3b2fb7688p+4});
  else
    c = horner<P>(z, {0x1p+0f, -0x1.a51a72p+1f, -0x1.150f34p+1f, -0x1.04ec08p+1f, -0x1.f36a62p+0f, -0x1.3ba24p+1f, -0x1.f420acp-12f,
                      -0x1.842b2ap+2f});
  return div(c, r);
}

// log b - digamma(b) for q = 1 / b and b from 4 on.
template <class P>
TENURE_KERNEL_INLINE P digamma_rest(P q) {
  constexpr bool wide = layout<P>::wide;
  const P u = mul(q, q);
  P s;
  if constexpr (wide)
    s = horner<P>(u, {0x1.5555555555553p-4, -0x1.1111111101245p-7, 0x1.041040c176a8ep-8, -0x1.1110da6023195p-8, 0x1.f064f28ef252cp-8,
                      -0x1.582438d9893bdp-6, 0x1.46cd896d2670ep-4, -0x1.6520e90d4b86dp-2, 0x1.5152ac74ccd7ep+0, -0x1.61b20cb604f86p+1});
  else
    s = horner<P>(u, {0x1.555556p-4f, -0x1.110e3p-7f, 0x1.0237f2p-8f, -0x1.bd4238p-9f});
  return mul(q, fma(q, s, set1<P>(scalar_of<P>(0.5))));
}

// digamma(b) for b >= 0, and NaN. -0 gives inf.
template <class P>
TENURE_KERNEL_LAYER P digamma_of_positive(P b) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
#if TENURE_AVX512
  if constexpr (is_512<P> && wide) return digamma_by_pieces(b);
#endif
#if !defined(__CUDACC__)
  if constexpr (!is_512<P> && wide) return digamma_from_32_too(b);
#endif
  const P zero = set1<P>(T(0)), one = set1<P>(T(1));
  const mask_of<P> large = ge(b, set1<P>(T(4)));
  const P whole = floor(at_most(b, T(4)));
  const P t = sub(sub(b, whole), set1<P>(T(0.5))), y = add(t, set1<P>(T(1.5)));  // b = y + whole - 1
  // digamma has its root in [1, 2]. The root is a sum of two numbers, so the relative error is small near it.
  constexpr T high = wide ? T(0x1.3a4f395283812p-5) : T(0x1.3a4f3ap-5f), low = wide ? T(0x1.e563779a1f5b1p-60) : T(-0x1.5af8fep-30f);
  const P from_root = add(add(t, set1<P>(high)), set1<P>(low));
  P d;
  if constexpr (wide)
    d = horner<P>(t, {0x1.6d3498ca56891p+0, 0x1.433082f05864bp-2, -0x1.0148eed6c6c07p-4, 0x1.25d9429f592c8p-6, -0x1.8417ed8fa10fdp-8,
                      0x1.13f9ae205f23bp-9, -0x1.996841b1594a7p-11, 0x1.37928e74595f1p-12, -0x1.e206ed551b693p-14, 0x1.78dca9365b35ap-15,
                      -0x1.28bdbb90d5e46p-16, 0x1.d5938a605a715p-18, -0x1.75032eeb3b981p-19, 0x1.28cbc0483d020p-20, -0x1.d173eea3df42bp-22,
                      0x1.7357eedcb7370p-23, -0x1.696a2e1396333p-24, 0x1.20c5b6988c6aep-25});
  else
    d = horner<P>(t, {0x1.6d3498p+0f, 0x1.433082p-2f, -0x1.0148eep-4f, 0x1.25dac4p-6f, -0x1.841a4cp-8f, 0x1.134dc6p-9f, -0x1.98595cp-11f,
                      0x1.53b3p-12f, -0x1.072beap-13f});
  // digamma(b) = d (y - root) / y + 1 / y + 1 / (y + 1) or - 1 / b, as one quotient.
  const mask_of<P> is_0 = lt(whole, one), is_3 = eq(whole, set1<P>(T(3)));
  const P e = fma(from_root, d, select(lt(one, whole), one, zero));
  const P factor = select(is_0, b, select(is_3, add(y, one), one));
  const P numerator = fma(e, factor, select(is_0, neg(y), select(is_3, y, zero)));
  const P q = div(select(large, one, numerator), select(large, b, mul(y, factor)));
  const P far = sub(log(select(large, b, one)), digamma_rest(q));
  return select(large, far, q);
}

// trigamma(b) for b >= 0, and NaN.
template <class P>
TENURE_KERNEL_LAYER P trigamma_of_positive(P b) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1)), zero = set1<P>(T(0));
  const mask_of<P> small = lt(b, set1<P>(T(5)));
  // The sum of 1 / (b + k)^2 for k = 1 ... 4 in b (b + 5): p = (b + 1) (b + 4), r = (b + 2) (b + 3).
  const P c = select(small, b, one), m = mul(c, add(c, set1<P>(T(5)))), p = add(m, set1<P>(T(4))), r = add(m, set1<P>(T(6))), pr = mul(p, r);
  const P twice = add(m, m);
  const P sum = fma(add(twice, set1<P>(T(17))), mul(r, r), mul(add(twice, set1<P>(T(13))), mul(p, p)));
  const P of_b = div(one, c);
  const P head = fma(of_b, of_b, div(sum, mul(pr, pr)));
  const P inverse = div(one, select(small, add(b, set1<P>(T(5))), b)), u = mul(inverse, inverse);
  P s;
  if constexpr (wide)
    s = horner<P>(u, {0x1.5555555555555p-3, -0x1.111111110e2ddp-5, 0x1.8618617349402p-6, -0x1.1111051303a5bp-5, 0x1.3649a5599f8bdp-4,
                      -0x1.02cfe0f9f9badp-2, 0x1.24e5acc304d4fp+0, -0x1.8c6ef3dfd0c6bp+2, 0x1.f2a029d7fefdcp+4, -0x1.73201c8ea7380p+6});
  else
    s = horner<P>(u, {0x1.555556p-3f, -0x1.110f1p-5f, 0x1.8418bp-6f, -0x1.cdea36p-6f});
  const P tail = fma(u, fma(inverse, s, set1<P>(T(0.5))), inverse);
  return add(select(small, head, zero), tail);
}

// polygamma<2>(b) for b >= 0, and NaN.
template <class P>
TENURE_KERNEL_LAYER P tetragamma_of_positive(P b) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1)), zero = set1<P>(T(0));
  const mask_of<P> small = lt(b, set1<P>(T(5)));
  // As in trigamma, with the third powers: their sum is h (h^2 - 3 p) / p^3 for h = 2 b + 5, and alike with r.
  const P c = select(small, b, one), m = mul(c, add(c, set1<P>(T(5)))), p = add(m, set1<P>(T(4))), r = add(m, set1<P>(T(6))), pr = mul(p, r);
  const P h = add(add(c, c), set1<P>(T(5)));
  const P sum = mul(h, fma(add(m, set1<P>(T(13))), mul(r, mul(r, r)), mul(add(m, set1<P>(T(7))), mul(p, mul(p, p)))));
  const P of_b = div(one, c);
  const P head = fma(mul(of_b, of_b), of_b, div(sum, mul(pr, mul(pr, pr))));
  const P inverse = div(one, select(small, add(b, set1<P>(T(5))), b)), u = mul(inverse, inverse);
  P s;
  if constexpr (wide)
    s = horner<P>(u, {0x1.fffffffffffffp-2, -0x1.5555555553c13p-3, 0x1.5555554f19c49p-3, -0x1.33332e5b6b388p-2, 0x1.aaa8b6f1b57c6p-1,
                      -0x1.a4f2a6444c047p+1, 0x1.15ba04af6f260p+4, -0x1.c4b19523592bbp+6, 0x1.860941760f96cp+9, -0x1.1320faecd49c8p+12,
                      0x1.a51e72506964fp+13});
  else
    s = horner<P>(u, {0x1p-1f, -0x1.55500ap-3f, 0x1.52aefp-3f, -0x1.f5bba4p-3f});
  const P tail = fma(u, fma(u, s, inverse), u);
  return neg(add(select(small, add(head, head), zero), tail));
}

// The distance of x from the nearest integer, with a sign. 0 at the poles, and NaN at an infinity.
template <class P>
TENURE_KERNEL_INLINE P from_integer(P x) { return sub(x, round(x)); }

}  // namespace detail

/// log |gamma(x)|; inf at 0, at the negative integers and at both infinities.
template <class P>
TENURE_KERNEL_LAYER P lgamma(P x) {
  using T = scalar_of<P>;
  const mask_of<P> reflects = lt(x, set1<P>(T(-0.5)));
  const P a = select(reflects, neg(x), x);
  const P value = detail::lgamma_reflected(a);
  if (!any<P>(reflects)) return value;
  // gamma(x) gamma(-x) = -pi / (x sin(pi x))
  const P r = detail::from_integer(a);
  const P other = neg(add(log(mul(a, abs(mul(r, detail::sine_of_turns(mul(r, r)))))), value));
  // From 2^52 on every number is an integer.
  const mask_of<P> pole = mask_or(eq(r, set1<P>(T(0))), ge(a, set1<P>(T(0x1p52))));
  return select(reflects, select(pole, set1<P>(std::numeric_limits<T>::infinity()), other), value);
}

/// The derivative of lgamma. -inf at 0, inf at -0, NaN at the negative integers.
template <class P>
TENURE_KERNEL_LAYER P digamma(P x) {
  using T = scalar_of<P>;
#if !defined(__CUDACC__)
  if constexpr (!is_512<P> && detail::layout<P>::wide)
    if (all<P>(detail::is_below_32(x))) return detail::digamma_below_32(x);
#endif
  const mask_of<P> reflects = lt(x, set1<P>(T(0)));
  const P value = detail::digamma_of_positive(select(reflects, sub(set1<P>(T(1)), x), x));
  if (!any<P>(reflects)) return value;
  const P r = detail::from_integer(x);
  const P other = select(eq(r, set1<P>(T(0))), set1<P>(std::numeric_limits<T>::quiet_NaN()), sub(value, detail::cotangent_of_turns(r)));
  return select(reflects, other, value);
}

/// The derivative of digamma, polygamma<1>. inf at 0 and at the negative integers, 0 at inf.
template <class P>
TENURE_KERNEL_LAYER P trigamma(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  const mask_of<P> reflects = lt(x, set1<P>(T(0)));
  const P value = detail::trigamma_of_positive(select(reflects, sub(one, x), x));
  if (!any<P>(reflects)) return value;
  const P r = detail::from_integer(x), cosecant = div(one, mul(r, detail::sine_of_turns(mul(r, r))));
  return select(reflects, sub(mul(cosecant, cosecant), value), value);
}

/// The derivative of trigamma, polygamma<2>. -inf at 0, inf at -0, NaN at the negative integers, -0 at inf.
template <class P>
TENURE_KERNEL_LAYER P tetragamma(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  const mask_of<P> reflects = lt(x, set1<P>(T(0)));
  const P value = detail::tetragamma_of_positive(select(reflects, sub(one, x), x));
  if (!any<P>(reflects)) return value;
  const P r = detail::from_integer(x), cosecant = div(one, mul(r, detail::sine_of_turns(mul(r, r))));
  const P twice = mul(mul(cosecant, cosecant), detail::cotangent_of_turns(r));
  const P other = select(eq(r, set1<P>(T(0))), set1<P>(std::numeric_limits<T>::quiet_NaN()), sub(value, add(twice, twice)));
  return select(reflects, other, value);
}

}  // namespace tenure::math
