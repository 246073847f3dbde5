// SPDX-License-Identifier: BSL-1.0
// The regularized incomplete gamma functions P and Q = 1 - P, their derivative by a, and the density, which is their derivative by x. For a below 20, or far from
// x = a, the smaller one is a series of positive terms (x < a), until all lanes have converged, or a continued fraction; elsewhere it is Temme's expansion. The density
// is e^-deviance, for a below 5 after five steps of the recurrence. Q of small a and x has a series of its own.
// Law: gammainc, gammaincc and the density have at most 10 ulp, and their derivative by a has 24.
// Cost: up to 100 terms with a division each, or an expansion of 120 terms without one.
#pragma once

#include <tenure/math/deviance.hpp>
#include <tenure/math/gamma.hpp>
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

// 2^32 x^a e^-x / gamma(a + 1), with Density times a / x, and the deviance of x from a. With the factor it is no subnormal number where a result is none.
template <class P>
struct gamma_prefix {
  P value, deviance;
};
template <bool Density, class P>
TENURE_KERNEL_LAYER gamma_prefix<P> gamma_prefix_of(P a, P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1)), zero = set1<P>(T(0));
  const mask_of<P> small = lt(a, set1<P>(T(5)));
  const P raised = select(small, add(a, set1<P>(T(5))), a);
  const twin<P> distance = deviance<P>({select(small, raised, x), zero}, raised);
  twin<P> exponent = twin_minus(distance);
  if (any<P>(small)) {  // a log x - x - r log r + r for r = a + 5, of which a part is rounded off
    const twin<P> log_raised = log_twin(raised);
    const P rest = mul(sub(a, sub(raised, set1<P>(T(5)))), log_raised.hi);
    const twin<P> l = log_of_sum<P>({x, zero}), power = Density ? twin_sum(scaled_twin(a, l), twin_minus(l)) : scaled_twin(a, l);
    const twin<P> whole = twin_sum(power, twin_minus(scaled_twin(raised, log_raised)));
    const twin<P> below = twin_sum(twin_sum(whole, two_sum(raised, neg(x))), {neg(rest), zero});
    exponent = {select(small, below.hi, exponent.hi), select(small, below.lo, exponent.lo)};
  }
  exponent = twin_sum(twin_sum(exponent, {neg(stirling_rest(raised)), zero}), scaled_twin(set1<P>(T(32)), log_of_2<P>()));
  const P root = sqrt(mul(raised, set1<P>(T(6.28318530717958647693L))));
  P factor = select(small, five_factors(a), one);
  if constexpr (Density) factor = mul(factor, select(small, a, at_most(div(a, x), std::numeric_limits<T>::max())));
  const P value = div(mul(exp_of_twin(exponent), factor), root);
  return {value, distance.hi};
}

// 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ... and its derivative by a.
template <class P>
struct sum_and_slope {
  P value, slope;
};
template <bool Slope, class P>
TENURE_KERNEL_LAYER sum_and_slope<P> gamma_series(P a, P x) {
  using T = scalar_of<P>;
  constexpr T eps = std::numeric_limits<T>::epsilon() / 4;  // what is below it changes no sum
  const P one = set1<P>(T(1));
  P term = one, slope = set1<P>(T(0)), k = a;
  sum_and_slope<P> sum{term, slope};
  for (int n = 0; n < 400; ++n) {
    k = add(k, one);
    const P inverse = div(one, k), ratio = mul(x, inverse);
    if constexpr (Slope) {
      slope = mul(ratio, fnma(term, inverse, slope));
      sum.slope = add(sum.slope, slope);
    }
    term = mul(term, ratio);
    sum.value = add(sum.value, term);
    mask_of<P> goes_on = gt(term, mul(sum.value, set1<P>(eps)));
    if constexpr (Slope) goes_on = mask_or(goes_on, gt(abs(slope), mul(abs(sum.slope), set1<P>(eps))));
    if (!any<P>(goes_on)) break;
  }
  return sum;
}

// Legendre's continued fraction for Q(a, x) / (a x^a e^-x / gamma(a + 1)), and its derivative by a, from the last denominator to the first: forward, its terms would cancel.
// The rest behind the last one is the root of f^2 - b f + n (n - a) = 0. Each lane has a number of terms of its own, which was measured for x from 1 on and x >= a.
template <bool Slope, class P>
TENURE_KERNEL_LAYER sum_and_slope<P> gamma_fraction(P a, P x) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1)), two = set1<P>(T(2)), half = set1<P>(T(0.5)), distance = sub(x, a);
  const P by_x = div(set1<P>(wide ? T(92) : T(21)), x), by_a = mul(at_most(a, T(20)), set1<P>(wide ? T(0.35) : T(0.45f)));
  const P terms = floor(add(add(by_x, by_a), set1<P>(wide ? T(9) : T(4.5f))));
  const P b = add(add(terms, terms), add(distance, one));
  const P root = sqrt(sub(mul(b, b), mul(mul(set1<P>(T(4)), terms), sub(terms, a))));
  P f = mul(add(b, root), half), slope = mul(sub(div(sub(add(terms, terms), b), root), one), half);
  T most;
  if constexpr (is_one_lane<P>) most = terms;
  else most = across<P>(terms, [](auto u, auto v) { return max(u, v); });
  for (P n = set1<P>(most); any<P>(ge(n, one)); n = sub(n, one)) {
    const mask_of<P> is_behind = gt(n, terms);
    const P r = div(one, f), c = mul(n, sub(a, n)), ratio = mul(c, r);
    if constexpr (Slope) slope = select(is_behind, slope, sub(mul(r, fnma(ratio, slope, n)), one));
    f = select(is_behind, f, add(add(fma(two, n, neg(one)), distance), ratio));
  }
  const P value = div(one, f);
  return {value, neg(mul(mul(slope, value), value))};
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

template <bool Slope, class P>
TENURE_KERNEL_LAYER gamma_tails<P> gamma_tails_of(P a, P x) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1)), zero = set1<P>(T(0));
  const gamma_prefix<P> prefix = gamma_prefix_of<false>(a, x);
  const P inverse = div(one, a), half_square = mul(prefix.deviance, inverse), size = sqrt(add(half_square, half_square));
  const mask_of<P> is_uniform = mask_and(ge(a, set1<P>(T(20))), le(size, set1<P>(wide ? T(0.6) : T(1))));
  const mask_of<P> rises = le(x, max(a, one)), is_series = mask_and(rises, mask_not(is_uniform)), is_fraction = mask_not(mask_or(rises, is_uniform));
  gamma_tails<P> r{zero, one, zero};
  P from_digamma = zero;  // log x - digamma(a + 1)
  if constexpr (Slope)
    if (any<P>(mask_not(is_uniform))) from_digamma = sub(log(x), digamma_of_positive(add(a, one)));
  if (any<P>(is_series)) {
    const P c = select(is_series, a, one), u = select(is_series, x, one);
    const sum_and_slope<P> sum = gamma_series<Slope>(c, u);
    const P lower = min(unscaled(mul(prefix.value, sum.value)), one);
    r.lower = lower;
    r.upper = sub(one, lower);
    const mask_of<P> is_small = mask_and(is_series, lt(c, one));
    if (any<P>(is_small)) r.upper = select(is_small, upper_of_small(select(is_small, c, one), select(is_small, u, one)), r.upper);
    if constexpr (Slope) r.slope = unscaled(mul(prefix.value, fma(sum.value, from_digamma, sum.slope)));
  }
  if (any<P>(is_fraction)) {
    // Where x is larger than the bound, e^-deviance is 0.
    const P c = select(is_fraction, a, one), u = select(is_fraction, at_most(x, wide ? T(2e4) : T(2e3f)), set1<P>(T(2)));
    const sum_and_slope<P> f = gamma_fraction<Slope>(at_most(c, wide ? T(2e4) : T(2e3f)), u);
    const P upper = unscaled(mul(prefix.value, mul(c, f.value)));
    r.upper = select(is_fraction, upper, r.upper);
    r.lower = select(is_fraction, sub(one, upper), r.lower);
    if constexpr (Slope) r.slope = select(is_fraction, neg(unscaled(mul(prefix.value, fma(c, fma(f.value, from_digamma, f.slope), f.value)))), r.slope);
  }
  if (any<P>(is_uniform)) {
    const P c = select(is_uniform, a, set1<P>(T(20))), z = sqrt(select(is_uniform, prefix.deviance, zero));
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
  return detail::gamma_domain(at, detail::gamma_tails_of<false>(at.a, at.x).lower, zero, one);
}

/// Q(a, x) = 1 - P(a, x).
template <class P>
TENURE_KERNEL_LAYER P gammaincc(P a, P x) {
  const detail::gamma_arguments<P> at = detail::gamma_arguments_of(a, x);
  const P zero = set1<P>(scalar_of<P>(0)), one = set1<P>(scalar_of<P>(1));
  return detail::gamma_domain(at, detail::gamma_tails_of<false>(at.a, at.x).upper, one, zero);
}

/// The derivative of P(a, x) by a. At a = 0 it is that from above, the exponential integral -E1(x).
template <class P>
TENURE_KERNEL_LAYER P gammainc_slope(P a, P x) {
  using T = scalar_of<P>;
  const detail::gamma_arguments<P> at = detail::gamma_arguments_of(a, x);
  const P zero = set1<P>(T(0)), value = mul(detail::gamma_tails_of<true>(at.a, at.x).slope, at.of_slope);
  return detail::gamma_domain(at, value, zero, select(eq(x, set1<P>(std::numeric_limits<T>::infinity())), zero, value));
}

/// x^(a - 1) e^-x / gamma(a), the derivative of P(a, x) by x.
template <class P>
TENURE_KERNEL_LAYER P gamma_density(P a, P x) {
  using T = scalar_of<P>;
  const detail::gamma_arguments<P> at = detail::gamma_arguments_of(a, x);
  const P zero = set1<P>(T(0)), one = set1<P>(T(1)), inf = set1<P>(std::numeric_limits<T>::infinity());
  const P value = detail::unscaled(detail::gamma_prefix_of<true>(at.a, at.x).value);
  const P at_0 = select(eq(a, one), one, select(lt(a, one), inf, zero));
  return detail::gamma_domain(at, mul(value, at.of_slope), at_0, zero);
}

}  // namespace tenure::math
