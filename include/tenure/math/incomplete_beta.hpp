// SPDX-License-Identifier: BSL-1.0
// The regularized incomplete beta function I_x(a, b), its derivatives by a and b, and the density, which is its derivative by x. Up to about the mean it is the density
// and a continued fraction (that of Didonato and Morris), beyond it 1 - I_(1 - x)(b, a). A pass over the fraction from the front finds how many terms a lane needs, and a
// pass from the back computes it: forward, its terms would cancel. The density is e^-deviance, for a or b below 5 after five steps of the recurrence.
// Law: betainc and the density have at most 16 ulp for a and b up to 1e5, and the derivatives by a and b 48 of the larger of
// |derivative| and I / 8. Where b < 1 and x > 0.9 the unit is the ulp of 1.
// Cost: 10 to 30 terms with two divisions each in each pass; 550 at the mean of a = b = 1e6.
#pragma once

#include <tenure/math/deviance.hpp>
#include <tenure/math/gamma.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

// a (a + 1) ... (a + 4) = gamma(a + 5) / gamma(a) for a small a, else 1.
template <class P>
TENURE_KERNEL_INLINE P five_steps(P a, mask_of<P> small) {
  using T = scalar_of<P>;
  const auto plus = [a](int k) { return add(a, set1<P>(T(k))); };
  return select(small, mul(mul(mul(a, plus(1)), mul(plus(2), plus(3))), plus(4)), set1<P>(T(1)));
}

// 2^32 x^a y^b / B(a, b) for y = 1 - x, with Density divided by x y; and log(x (a + b) / a), log(y (a + b) / b) and a - (a + b) x.
template <class P>
struct beta_prefix {
  P value, log_x, log_y, excess;
};
template <bool Density, class P>
TENURE_KERNEL_LAYER beta_prefix<P> beta_prefix_of(P a, P b, P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1)), zero = set1<P>(T(0)), five = set1<P>(T(5));
  const mask_of<P> small_a = lt(a, five), small_b = lt(b, five), small = mask_or(small_a, small_b);
  const twin<P> y = one_plus(neg(x)), s = two_sum(a, b);
  const twin<P> of_x = scaled_twin(x, s);
  const P ra = select(small_a, add(a, five), a), rb = select(small_b, add(b, five), b);
  twin<P> of_y = twin_product(y, s);
  const twin<P> e = two_sum(of_x.hi, neg(a));
  beta_prefix<P> r{zero, zero, zero, neg(add(e.hi, add(e.lo, of_x.lo)))};
  r.log_x = log1p(neg(div(r.excess, a)));
  r.log_y = log1p(div(r.excess, b));
  const P c = select(small, five, a), d = select(small, five, b);
  const twin<P> sum = two_sum(ra, rb);
  twin<P> exponent = twin_minus(twin_sum(deviance<P>({select(small, five, of_x.hi), select(small, zero, of_x.lo)}, c), deviance<P>({select(small, five, of_y.hi), select(small, zero, of_y.lo)}, d)));
  P factor = one, over = one;
  if (any<P>(small)) {  // a log x + b log y + ra log(s / ra) + rb log(s / rb) for s = ra + rb
    const auto part = [&](P raised, P given, mask_of<P> is_small) {
      twin<P> q;
      q.hi = div(sum.hi, raised);
      q.lo = div(add(product_residual(q.hi, raised, sum.hi), sum.lo), raised);
      const twin<P> l = log_of_sum(q), whole = scaled_twin(raised, l);
      // What raising has rounded off.
      const P rest = select(is_small, sub(given, sub(raised, five)), zero);
      return twin<P>{whole.hi, fma(rest, l.hi, whole.lo)};
    };
    const twin<P> lx = log_of_sum<P>({x, zero}), ly = log_of_sum(y);
    twin<P> powers = twin_sum(scaled_twin(a, lx), scaled_twin(b, ly));
    if constexpr (Density) powers = twin_sum(powers, twin_minus(twin_sum(lx, ly)));
    const twin<P> below = twin_sum(powers, twin_sum(part(ra, a, small_a), part(rb, b, small_b)));
    exponent = {select(small, below.hi, exponent.hi), select(small, below.lo, exponent.lo)};
    const mask_of<P> both = mask_and(small_a, small_b);
    factor = mul(five_steps(a, small_a), five_steps(b, small_b));
    over = mul(five_steps(s.hi, small), five_steps(add(s.hi, five), both));
  }
  const P rest = sub(stirling_rest(sum.hi), add(stirling_rest(ra), stirling_rest(rb)));
  exponent = twin_sum(twin_sum(exponent, {rest, zero}), scaled_twin(set1<P>(T(32)), log_of_2<P>()));
  const P root = sqrt(mul(mul(ra, div(rb, sum.hi)), set1<P>(T(0.159154943091895335769L))));
  r.value = mul(mul(exp_of_twin(exponent), div(factor, over)), root);
  if constexpr (Density) r.value = select(small, r.value, div(div(r.value, y.hi), x));
  return r;
}

// x^a y^b / (a B(a, b)) / I_x(a, b), and its derivatives by a and b. Without the factor a of its first terms a derivative keeps its digits for a small a.
template <class P>
struct beta_denominator {
  P value, by_a, by_b;
};
template <bool Slope, class P>
TENURE_KERNEL_LAYER beta_denominator<P> beta_fraction(P a, P b, P x, P excess) {
  using T = scalar_of<P>;
  constexpr T eps = std::numeric_limits<T>::epsilon() / (Slope ? 256 : 16);
  const P zero = set1<P>(T(0)), one = set1<P>(T(1)), s = add(a, b), y = sub(one, x), start = add(excess, one);
  // The numerator m, with q = 1 / (a + 2 m - 1).
  const auto top = [&](P m, P q, P of_b) {
    const P k = sub(m, one);
    return mul(mul(mul(select(eq(k, zero), one, add(a, k)), q), mul(mul(add(s, k), x), q)), mul(m, mul(of_b, x)));
  };
  // The denominator n, with p = 1 / (a + 2 n - 1) and q = 1 / (a + 2 n + 1).
  const auto bottom = [&](P n, P p, P q) { return add(add(n, mul(mul(n, p), mul(sub(b, n), x))), mul(mul(select(eq(n, zero), one, add(a, n)), q), fma(n, add(y, one), start))); };
  P q = div(one, add(a, one)), m = zero, d = div(one, bottom(zero, zero, q)), change = one, terms = zero;
  mask_of<P> active = mask_set<P>(true);
  for (int n = 1; n < 5000 && any<P>(active); ++n) {
    m = add(m, one);
    const P next_q = div(one, add(a, add(add(m, m), one))), of_b = sub(b, m), t = top(m, q, of_b);
    const P next_d = div(one, fma(t, d, bottom(m, q, next_q)));
    // For an integer b a numerator is 0, but its derivative by b is not.
    change = abs(mul(change, mul(Slope ? top(m, q, max(abs(of_b), one)) : t, mul(d, next_d))));
    terms = select(active, m, terms);
    active = mask_and(active, gt(change, set1<P>(eps)));
    q = next_q, d = next_d;
  }
  q = div(one, add(a, add(add(terms, terms), one)));
  const P before = div(one, add(a, sub(add(terms, terms), one)));
  beta_denominator<P> f{bottom(terms, before, q), zero, zero};
  T most;
  if constexpr (is_one_lane<P>) most = terms;
  else most = across<P>(terms, [](auto u, auto v) { return max(u, v); });
  for (m = set1<P>(most); any<P>(ge(m, one)); m = sub(m, one)) {
    const mask_of<P> goes_on = le(m, terms);
    const P n = sub(m, one), twice = add(m, m), of_m = div(one, add(a, sub(twice, one)));
    const P of_n = div(one, select(eq(m, one), one, add(a, sub(twice, set1<P>(T(3))))));
    const P t = top(m, of_m, sub(b, m)), inverse = div(one, f.value), ratio = mul(t, inverse);
    if constexpr (Slope) {
      const mask_of<P> is_first = eq(m, one);
      const P k = mul(m, x), u = mul(select(is_first, one, add(a, n)), of_m), grows = select(is_first, zero, one), v = mul(mul(add(s, n), x), of_m), w = mul(sub(b, m), k);
      // The derivatives of the numerator by a and b, and those of the denominator.
      const P top_a = fma(mul(fma(x, u, mul(grows, v)), of_m), w, neg(mul(add(t, t), of_m)));
      const P top_b = mul(u, fma(mul(x, of_m), w, mul(v, k)));
      const P first = mul(mul(n, of_n), mul(sub(b, n), x)), second = fma(n, add(y, one), start);
      const P bottom_a = fnma(first, of_n, fma(sub(grows, u), mul(second, of_m), mul(u, y)));
      const P bottom_b = mul(x, fma(n, of_n, neg(u)));
      f.by_a = select(goes_on, fma(fnma(ratio, f.by_a, top_a), inverse, bottom_a), f.by_a);
      f.by_b = select(goes_on, fma(fnma(ratio, f.by_b, top_b), inverse, bottom_b), f.by_b);
    }
    f.value = select(goes_on, add(bottom(n, of_n, of_m), ratio), f.value);
  }
  return f;
}

// I_x(a, b), and its derivatives.
template <class P>
struct beta_numbers {
  P value, by_a, by_b;
};
template <bool Slope, class P>
TENURE_KERNEL_LAYER beta_numbers<P> beta_numbers_of(P a, P b, P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1)), two = set1<P>(T(2)), zero = set1<P>(T(0)), y = sub(one, x), s = add(a, b);
  const beta_prefix<P> h = beta_prefix_of<false>(a, b, x);
  const mask_of<P> is_direct = mask_or(le(mul(x, add(s, two)), add(a, one)), mask_and(lt(b, one), le(x, set1<P>(T(0.9)))));
  const P c = select(is_direct, a, b), d = select(is_direct, b, a);
  const beta_denominator<P> f = beta_fraction<Slope>(c, d, select(is_direct, x, y), select(is_direct, h.excess, neg(h.excess)));
  const P inverse = div(one, f.value), scaled = div(mul(h.value, inverse), c), part = min(unscaled(scaled), one);
  beta_numbers<P> r{select(is_direct, part, sub(one, part)), zero, zero};
  if constexpr (Slope) {
    // The derivative of log(x^c y^d / B(c, d)) by c is log x - digamma(c) + digamma(c + d). For a small c 1 / c is set apart.
    const mask_of<P> small_s = lt(s, set1<P>(T(5)));
    const P of_s = digamma_of_positive(s), rest_s = digamma_rest(select(small_s, one, div(one, s)));
    // I has the factor 1 / c too: its derivative by c is with digamma(c + 1).
    const auto slope = [&](P shape, mask_of<P> is_c, P log_of_ratio, P log_of_x, P of_fraction) {
      const mask_of<P> small = lt(shape, set1<P>(T(5)));
      const P v = div(one, shape);
      const P near = add(sub(add(log_of_x, of_s), digamma_of_positive(add(shape, one))), select(is_c, zero, v));
      const P far = sub(add(log_of_ratio, sub(digamma_rest(select(small, one, v)), rest_s)), select(is_c, v, zero));
      return unscaled(mul(scaled, fnma(of_fraction, inverse, select(small, near, far))));
    };
    const P by_a = slope(a, is_direct, h.log_x, log(x), select(is_direct, f.by_a, f.by_b)), by_b = slope(b, mask_not(is_direct), h.log_y, log1p(neg(x)), select(is_direct, f.by_b, f.by_a));
    r.by_a = select(is_direct, by_a, neg(by_a));
    r.by_b = select(is_direct, by_b, neg(by_b));
  }
  return r;
}

// The arguments, with harmless numbers in the lanes whose result is known.
template <class P>
struct beta_arguments {
  P a, b, x;
  mask_of<P> is_nan, is_below, is_above;
};
template <class P>
TENURE_KERNEL_INLINE beta_arguments<P> beta_arguments_of(P a, P b, P x) {
  using T = scalar_of<P>;
  const P zero = set1<P>(T(0)), one = set1<P>(T(1)), half = set1<P>(T(0.5)), inf = set1<P>(std::numeric_limits<T>::infinity());
  const mask_of<P> at_0 = eq(x, zero), at_1 = eq(x, one);
  const mask_of<P> falls = mask_or(eq(b, zero), eq(a, inf)), rises = mask_or(eq(a, zero), eq(b, inf));  // all of it is at 1, or at 0
  const mask_of<P> inside = mask_and(mask_and(ge(a, zero), ge(b, zero)), mask_and(ge(x, zero), le(x, one)));
  const mask_of<P> is_nan = mask_or(mask_not(inside), mask_and(falls, rises)), is_above = mask_or(at_1, mask_and(rises, mask_not(at_0))), is_below = mask_or(at_0, mask_and(falls, mask_not(at_1)));
  const mask_of<P> known = mask_or(is_nan, mask_or(is_below, is_above));
  // Smaller shapes give the same slopes; larger ones a step.
  constexpr T least = layout<P>::wide ? T(0x1p-900) : T(0x1p-100f), most = layout<P>::wide ? T(0x1p500) : T(0x1p60f);
  const auto bounded = [&](P v) { return select(known, one, at_least(at_most(v, most), least)); };
  return {bounded(a), bounded(b), select(known, half, x), is_nan, is_below, is_above};
}
template <class P>
TENURE_KERNEL_INLINE P beta_domain(const beta_arguments<P>& at, P value, P below, P above) {
  value = select(at.is_above, above, select(at.is_below, below, value));
  return select(at.is_nan, set1<P>(std::numeric_limits<scalar_of<P>>::quiet_NaN()), value);
}

}  // namespace detail

/// I_x(a, b), the part below x of the beta distribution. 0 at x = 0 and 1 at x = 1; a step at 0 for a = 0 or b = inf, and at 1 for b = 0 or a = inf. NaN beyond.
template <class P>
TENURE_KERNEL_LAYER P betainc(P a, P b, P x) {
  const detail::beta_arguments<P> at = detail::beta_arguments_of(a, b, x);
  const P zero = set1<P>(scalar_of<P>(0)), one = set1<P>(scalar_of<P>(1));
  return detail::beta_domain(at, detail::beta_numbers_of<false>(at.a, at.b, at.x).value, zero, one);
}

/// The derivative of I_x(a, b) by a, for Which = 0, or b.
template <int Which, class P>
TENURE_KERNEL_LAYER P betainc_slope(P a, P b, P x) {
  const detail::beta_arguments<P> at = detail::beta_arguments_of(a, b, x);
  const P zero = set1<P>(scalar_of<P>(0));
  const detail::beta_numbers<P> r = detail::beta_numbers_of<true>(at.a, at.b, at.x);
  return detail::beta_domain(at, Which == 0 ? r.by_a : r.by_b, zero, zero);
}

/// x^(a - 1) (1 - x)^(b - 1) / B(a, b), the derivative of I_x(a, b) by x.
template <class P>
TENURE_KERNEL_LAYER P beta_density(P a, P b, P x) {
  using T = scalar_of<P>;
  const detail::beta_arguments<P> at = detail::beta_arguments_of(a, b, x);
  const P zero = set1<P>(T(0)), one = set1<P>(T(1)), inf = set1<P>(std::numeric_limits<T>::infinity());
  const auto end = [&](P shape, P other) { return select(eq(shape, one), other, select(lt(shape, one), inf, zero)); };
  const P value = detail::unscaled(detail::beta_prefix_of<true>(at.a, at.b, at.x).value);
  const P below = select(eq(x, zero), end(a, b), zero), above = select(eq(x, one), end(b, a), zero);
  return detail::beta_domain(at, value, below, above);
}

}  // namespace tenure::math
