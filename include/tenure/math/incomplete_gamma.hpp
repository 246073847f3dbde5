// SPDX-License-Identifier: BSL-1.0
// The regularized incomplete gamma functions P and Q = 1 - P, their derivative by a, and the density, which is their derivative by x. For a below 40 (float: 20), or
// far from x = a, it is a series of positive terms (x < a) or a continued fraction, both without divisions (gamma_sums.hpp); elsewhere it is Temme's expansion. The
// density is e^-deviance, for a below 5 a power with 1 / gamma. Q of small a and x has a series of its own.
// Law: gammainc and gammaincc have at most 8 ulp, the density 4, and their derivative by a 16.
// Cost: a logarithm of two numbers, an exponential, and up to 60 terms of the series, 110 of the fraction, or an expansion of 100 terms. The derivative by a divides in each term.
#pragma once

#include <tenure/math/deviance.hpp>
#include <tenure/math/gamma.hpp>
#include <tenure/math/gamma_sums.hpp>
#include <tenure/math/gamma_uniform.hpp>
#include <tenure/math/normal_tail.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

// What the incomplete gamma functions compute for positive and finite a and x.
template <class P>
struct gamma_tails {
  P lower, upper, slope;  // P, Q and the derivative of P by a
};

// lgamma(1 + a) for a from 0 to 1, with the digits of a small a.
template <class P>
TENURE_KERNEL_INLINE P lgamma_of_one_plus(P a) {
  const P t = sub(a, set1<P>(scalar_of<P>(0.5)));
  P s;
  if constexpr (layout<P>::wide)
    s = horner<P>(t, {-0x1.eeb95b094c191p-3, 0x1.1cba4e3820cdap-1, -0x1.6b58de447aadbp-3, 0x1.41ce0cb1ce22bp-4, -0x1.4547b11192b16p-5,
                      0x1.606b19d7a4e6ap-6, -0x1.8e17f3a2faf6fp-7, 0x1.ce313ad8f988cp-8, -0x1.1184419bea99fp-8, 0x1.4859ffe9c5364p-9,
                      -0x1.8e80d0fd3218dp-10, 0x1.e7dbb0bb6f21ep-11, -0x1.2cc9f27069dbap-11, 0x1.750dfe4d98a27p-12, -0x1.cfca581af171cp-13,
                      0x1.224cc9c40ad9dp-13, -0x1.7891a9f8a8b54p-14, 0x1.db08d102118b1p-15, -0x1.ccaec81726b21p-16, 0x1.234fe8d4b1560p-16,
                      -0x1.a50a72334a0b6p-16, 0x1.0cc6d4168c302p-16});
  else
    s = horner<P>(t, {-0x1.eeb95cp-3f, 0x1.1cba4ep-1f, -0x1.6b587ap-3f, 0x1.41cd92p-4f, -0x1.4578dap-5f, 0x1.60a778p-6f, -0x1.85adaap-7f,
                      0x1.c3dc9p-8f, -0x1.5abcaap-8f, 0x1.a22efap-9f});
  return mul(a, s);
}

// 1 / gamma(1 + t) for t from 0 to 1.
template <class P>
TENURE_KERNEL_INLINE P inverse_gamma_of_one_plus(P t) {
  t = sub(t, set1<P>(scalar_of<P>(0.5)));
  if constexpr (layout<P>::wide)
    return horner<P>(t, {0x1.20dd750429b6dp+0, -0x1.514d3d90584b3p-5, -0x1.0da5a671c048cp-1, 0x1.669be41a93892p-3,
                      0x1.a18540be33653p-5, -0x1.5955cc3972186p-5, 0x1.b16203e548491p-8, 0x1.15f7f0609c138p-9,
                      -0x1.232bd852d67ecp-10, 0x1.3f84605541cc3p-13, 0x1.a96374da02946p-16, -0x1.d24cdaed928e6p-17,
                      0x1.2172c2ddcbee9p-19, 0x1.f2ae41d5b51adp-25, -0x1.82a4ea6702998p-24, 0x1.21263fe0d7581p-26});
  else
    return horner<P>(t, {0x1.20dd76p+0f, -0x1.514d48p-5f, -0x1.0da5a6p-1f, 0x1.669c72p-3f, 0x1.a185a8p-5f, -0x1.5975fcp-5f,
                      0x1.b1334cp-8f, 0x1.20d16p-9f, -0x1.1f5098p-10f});
}

// 2^32 x^a e^-x / gamma(a + 1), and the deviance of x from a, for a from 5 on. With the factor it is no subnormal number where a result is none. With Density it is
// x^(a - 1) e^-x / gamma(a), without the factor. log is the logarithm of x / a, or of x for an a below 5.
template <class P>
struct gamma_prefix {
  P value, deviance, log;
};
template <bool Density, class P>
TENURE_KERNEL_LAYER gamma_prefix<P> gamma_prefix_of(P a, P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1)), zero = set1<P>(T(0)), inverse = div(one, a);
  const mask_of<P> small = lt(a, set1<P>(T(5)));
  // a log(a / x) + x - a, or x - a log x for a small a.
  const P quotient = mul(x, inverse);
  const twin<P> l = log_of_sum<P>({select(small, x, quotient), select(small, zero, mul(product_residual(quotient, a, x), inverse))});
  const twin<P> distance = two_sum(x, neg(select(small, zero, a)));
  twin<P> d = twin_sum(distance, twin_minus(scaled_twin(a, l)));
  const mask_of<P> is_near = mask_and(le(abs(sub(x, a)), mul(add(x, a), set1<P>(T(1.0 / 64)))), mask_not(small));
  if (any<P>(is_near)) {
    const twin<P> near = near_deviance<P>({x, zero}, a);
    d = {select(is_near, near.hi, d.hi), select(is_near, near.lo, d.lo)};
  }
  twin<P> exponent = twin_minus(d);
  P factor = one, under = sqrt(mul(a, set1<P>(T(6.28318530717958647693L))));
  if (any<P>(small)) {  // gamma(a + 1) = a (a - 1) ... gamma(1 + t) for the fraction t
    const auto step = [&](int k) { return max(sub(a, set1<P>(T(k))), one); };
    under = select(small, mul(mul(step(0), step(1)), mul(step(2), step(3))), under);
    factor = select(small, inverse_gamma_of_one_plus(sub(a, floor(a))), one);
    if constexpr (Density) {
      const twin<P> less = twin_sum(exponent, twin_minus(l));
      exponent = {select(small, less.hi, exponent.hi), select(small, less.lo, exponent.lo)};
    }
  }
  if constexpr (Density) factor = mul(factor, select(small, a, at_most(div(a, x), std::numeric_limits<T>::max())));
  // The power of two in the exponent. A density of a small a and x has a large exponent.
  const mask_of<P> grows = Density ? gt(exponent.hi, zero) : mask_set<P>(false);
  const twin<P> lift = scaled_twin(select(grows, set1<P>(T(-64)), set1<P>(T(32))), log_of_2<P>());
  exponent = twin_sum(exponent, {lift.hi, sub(lift.lo, select(small, zero, stirling_of_inverse(inverse)))});
  const P value = div(mul(exp_of_twin(exponent), factor), under);
  return {Density ? mul(value, select(grows, set1<P>(T(0x1p64)), set1<P>(T(0x1p-32)))) : value, d.hi, l.hi};
}

// Q(a, x) for a and x up to 1: -expm1(u) - e^u a S with u = a log x - lgamma(1 + a), and the terms (-x)^n / (n! (a + n)) of S.
template <class P>
TENURE_KERNEL_LAYER P upper_of_small(P a, P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  P s = set1<P>(T(0));
  for (int n = layout<P>::wide ? 18 : 10; n > 0; --n) s = mul(mul(x, set1<P>(T(-1) / static_cast<T>(n))), add(s, div(one, add(a, set1<P>(static_cast<T>(n))))));
  const P m = expm1(fma(a, log(x), neg(lgamma_of_one_plus(a))));
  return neg(fma(add(m, one), mul(a, s), m));
}

// What of gamma_tails a caller reads.
enum class gamma_part { lower, upper, slope };

template <gamma_part Part, class P>
TENURE_KERNEL_LAYER gamma_tails<P> gamma_tails_of(P a, P x) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide, Slope = Part == gamma_part::slope;
  constexpr T large = wide ? T(40) : T(20);
  const P one = set1<P>(T(1)), zero = set1<P>(T(0));
  const gamma_prefix<P> prefix = gamma_prefix_of<false>(a, x);
  const mask_of<P> is_large = ge(a, set1<P>(large));
  P size = zero;
  mask_of<P> is_uniform = is_large;
  if (any<P>(is_large)) {
    const P half_square = div(prefix.deviance, a);
    size = sqrt(add(half_square, half_square));
    is_uniform = mask_and(is_large, le(size, set1<P>(wide ? T(0.6) : T(1))));
  }
  // Beyond x = a the series has more terms, but up to x = 4 it is faster than the fraction. For Q it would cancel there.
  const mask_of<P> rises = le(x, at_least(a, Part == gamma_part::lower ? T(4) : T(1))), is_series = mask_and(rises, mask_not(is_uniform)), is_fraction = mask_not(mask_or(rises, is_uniform));
  gamma_tails<P> r{zero, one, zero};
  P from_digamma = zero;  // log x - digamma(a + 1)
  if constexpr (Slope)
    if (any<P>(mask_not(is_uniform))) {
      const mask_of<P> small = lt(a, set1<P>(T(5)));
      const P inverse = div(one, select(small, set1<P>(T(5)), a));
      P rest = sub(inverse, digamma_rest(inverse));
      if (any<P>(small)) rest = select(small, digamma_of_positive(add(select(small, a, one), one)), rest);
      from_digamma = sub(prefix.log, rest);
    }
  if (any<P>(is_series)) {
    const P c = select(is_series, a, one), u = select(is_series, x, one);
    if constexpr (Slope) {
      const sum_and_slope<P> sum = gamma_series_slope(c, u);
      r.slope = unscaled(mul(prefix.value, fma(sum.value, from_digamma, sum.slope)));
    } else {
      r.lower = min(unscaled(mul(prefix.value, gamma_series(c, u, is_series))), one);
      r.upper = sub(one, r.lower);
    }
    if constexpr (Part == gamma_part::upper) {
      const mask_of<P> is_small = mask_and(is_series, lt(c, one));
      if (any<P>(is_small)) r.upper = select(is_small, upper_of_small(select(is_small, c, one), select(is_small, u, one)), r.upper);
    }
  }
  if (any<P>(is_fraction)) {
    // Where x is larger than the bound, e^-deviance is 0.
    const P c = at_most(select(is_fraction, a, one), wide ? T(2e4) : T(2e3f)), u = select(is_fraction, at_most(x, wide ? T(2e4) : T(2e3f)), set1<P>(T(2)));
    if constexpr (Slope) {
      const sum_and_slope<P> f = gamma_fraction_slope(c, u);
      r.slope = select(is_fraction, neg(unscaled(mul(prefix.value, fma(c, fma(f.value, from_digamma, f.slope), f.value)))), r.slope);
    } else {
      const P upper = unscaled(mul(prefix.value, mul(c, gamma_fraction(c, u, is_fraction))));
      r.upper = select(is_fraction, upper, r.upper);
      r.lower = select(is_fraction, sub(one, upper), r.lower);
    }
  }
  if (any<P>(is_uniform)) {
    const P c = select(is_uniform, a, set1<P>(large)), z = sqrt(select(is_uniform, prefix.deviance, zero));
    const P eta = with_sign(select(is_uniform, size, zero), select(is_uniform, sub(x, a), zero)), v = div(one, c);
    const uniform_sum<P> t = uniform_sum_of<Slope>(eta, v);
    const P root = sqrt(mul(c, set1<P>(T(6.28318530717958647693L)))), g = mul(prefix.value, exp(stirling_rest(c)));
    const P half = mul(mul(root, set1<P>(T(0.5))), erfcx(z));
    const mask_of<P> below = lt(x, a);
    const P tail = unscaled(mul(g, select(below, sub(half, t.value), add(half, t.value)))), other = sub(one, tail);
    r.lower = select(is_uniform, select(below, tail, other), r.lower);
    r.upper = select(is_uniform, select(below, other, tail), r.upper);
    if constexpr (Slope) {
      const P mu = mul(sub(x, a), v), is_middle = select(eq(eta, zero), one, eta);
      const P ratio = select(eq(eta, zero), one, div(mu, is_middle)), log_of_ratio = fnma(mul(eta, set1<P>(T(0.5))), eta, mu);
      // The derivative of T by a, along which eta changes too.
      const P total = neg(mul(v, fma(t.by_eta, ratio, mul(t.by_inverse, v))));
      const P sum = sub(fma(eta, set1<P>(T(0.5)), neg(ratio)), fma(t.value, fma(v, set1<P>(T(-0.5)), log_of_ratio), total));
      r.slope = select(is_uniform, unscaled(mul(g, sum)), r.slope);
    }
  }
  return r;
}

// The arguments, with harmless numbers in the lanes whose result is known.
template <class P>
struct gamma_arguments {
  P a, x, of_slope;  // a slope is multiplied by the last one
  mask_of<P> is_nan, is_below, is_above;  // no result; x is 0 or a infinite; x is infinite or a is 0
};
template <class P>
TENURE_KERNEL_INLINE gamma_arguments<P> gamma_arguments_of(P a, P x) {
  using T = scalar_of<P>;
  const P zero = set1<P>(T(0)), one = set1<P>(T(1)), inf = set1<P>(std::numeric_limits<T>::infinity());
  const mask_of<P> is_below = mask_or(eq(x, zero), eq(a, inf)), is_above = mask_or(eq(a, zero), eq(x, inf));
  const mask_of<P> is_nan = mask_or(mask_not(mask_and(ge(a, zero), ge(x, zero))), mask_and(is_below, is_above));
  const mask_of<P> known = mask_or(is_nan, mask_or(is_below, eq(x, inf)));
  // The sums of smaller numbers do not overflow. For such large ones P depends on the quotient alone, and the slopes are like 1 / sqrt(a).
  const mask_of<P> is_huge = gt(max(a, x), set1<P>(layout<P>::wide ? T(0x1p900) : T(0x1p100f)));
  const P scale = select(is_huge, set1<P>(layout<P>::wide ? T(0x1p-128) : T(0x1p-28f)), one), of_slope = select(is_huge, set1<P>(layout<P>::wide ? T(0x1p-64) : T(0x1p-14f)), one);
  return {select(known, one, mul(a, scale)), select(known, one, mul(x, scale)), of_slope, is_nan, is_below, is_above};
}
template <class P>
TENURE_KERNEL_INLINE P gamma_domain(const gamma_arguments<P>& at, P value, P below, P above) {
  value = select(at.is_below, below, select(at.is_above, above, value));
  return select(at.is_nan, set1<P>(std::numeric_limits<scalar_of<P>>::quiet_NaN()), value);
}

}  // namespace detail

/// P(a, x), the part below x of the gamma distribution with shape a. 0 at x = 0 and 1 at inf; P(0, x) is 1. NaN for a or x below 0, and for (0, 0).
template <class P>
TENURE_KERNEL_LAYER P gammainc(P a, P x) {
  const detail::gamma_arguments<P> at = detail::gamma_arguments_of(a, x);
  const P zero = set1<P>(scalar_of<P>(0)), one = set1<P>(scalar_of<P>(1));
  return detail::gamma_domain(at, detail::gamma_tails_of<detail::gamma_part::lower>(at.a, at.x).lower, zero, one);
}

/// Q(a, x) = 1 - P(a, x).
template <class P>
TENURE_KERNEL_LAYER P gammaincc(P a, P x) {
  const detail::gamma_arguments<P> at = detail::gamma_arguments_of(a, x);
  const P zero = set1<P>(scalar_of<P>(0)), one = set1<P>(scalar_of<P>(1));
  return detail::gamma_domain(at, detail::gamma_tails_of<detail::gamma_part::upper>(at.a, at.x).upper, one, zero);
}

/// The derivative of P(a, x) by a. At a = 0 it is that from above, the exponential integral -E1(x).
template <class P>
TENURE_KERNEL_LAYER P gammainc_slope(P a, P x) {
  using T = scalar_of<P>;
  const detail::gamma_arguments<P> at = detail::gamma_arguments_of(a, x);
  const P zero = set1<P>(T(0)), value = mul(detail::gamma_tails_of<detail::gamma_part::slope>(at.a, at.x).slope, at.of_slope);
  return detail::gamma_domain(at, value, zero, select(eq(x, set1<P>(std::numeric_limits<T>::infinity())), zero, value));
}

/// x^(a - 1) e^-x / gamma(a), the derivative of P(a, x) by x.
template <class P>
TENURE_KERNEL_LAYER P gamma_density(P a, P x) {
  using T = scalar_of<P>;
  const detail::gamma_arguments<P> at = detail::gamma_arguments_of(a, x);
  const P zero = set1<P>(T(0)), one = set1<P>(T(1)), inf = set1<P>(std::numeric_limits<T>::infinity());
  const P value = detail::gamma_prefix_of<true>(at.a, at.x).value;
  const P at_0 = select(eq(a, one), one, select(lt(a, one), inf, zero));
  return detail::gamma_domain(at, mul(value, at.of_slope), at_0, zero);
}

}  // namespace tenure::math
