// SPDX-License-Identifier: BSL-1.0
// The two sums of the incomplete gamma functions: the series 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ... of P(a, x), and Legendre's continued fraction for
// Q(a, x) / (a x^a e^-x / gamma(a + 1)). Both go from the last term to the first, because forward the terms of the fraction would cancel, as one quotient, so without
// a division for each term. Each lane has a number of terms of its own, a multiple of 4, which was measured. The derivatives by a have slower sums.
// Cost: four terms of the series are 12 products and sums, four of the fraction 20.
#pragma once

#include <tenure/math/deviance.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail {

// 2^-n for 2^n <= x < 2^(n + 1). Powers of two scale the quotients exactly.
template <class P>
TENURE_KERNEL_INLINE P inverse_power_below(P x) {
  using L = layout<P>;
  return sub_bits(set1_bits<P>(bits_of<P>(2 * L::bias) << L::mantissa), and_bits(x, set1_bits<P>(static_cast<bits_of<P>>(~L::mantissa_mask))));
}

// The multiple of 4 from n on, and from 4 on.
template <class P>
TENURE_KERNEL_INLINE P fours(P n) { return mul(add(floor(mul(n, set1<P>(scalar_of<P>(0.25)))), set1<P>(scalar_of<P>(1))), set1<P>(scalar_of<P>(4))); }

template <class P>
TENURE_KERNEL_INLINE scalar_of<P> largest_lane(P v) {
  if constexpr (is_one_lane<P>) return v;
  else return across<P>(v, [](auto a, auto b) { return max(a, b); });
}

// The series for x <= max(a, 4) and a up to 40 (float: 20), or x < 0.56 a. With b = a + n the rest behind n terms is about ((b + 1) (b + 2) + x) / ((b + 1) (b + 2 - x)).
template <class P>
TENURE_KERNEL_LAYER P gamma_series(P a, P x, mask_of<P> is_asked) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1)), two = set1<P>(T(2)), far = set1<P>(wide ? T(40) : T(20));
  const P v = div(x, select(ge(a, far), a, add(a, set1<P>(T(8)))));
  const P near_terms = fma(v, fma(x, set1<P>(wide ? T(-0.165) : T(0.331f)), set1<P>(wide ? T(26.3) : T(19.9f))), fma(x, set1<P>(wide ? T(0.942) : T(0.21f)), fma(a, set1<P>(wide ? T(-0.148) : T(-0.145f)), set1<P>(wide ? T(12.2) : T(6.1f)))));
  const P terms = select(is_asked, fours(select(ge(a, far), fma(v, set1<P>(wide ? T(80) : T(40)), set1<P>(wide ? T(8) : T(5))), near_terms)), set1<P>(T(4)));
  const P s = inverse_power_below(max(max(a, x), one)), c = mul(a, s), u = mul(x, s), square = mul(u, u);
  const P first = fma(add(terms, one), s, c), second = fma(add(terms, two), s, c);
  const P start = fma(first, second, mul(u, s)), start_under = mul(first, sub(second, u));
  P p = start, q = start_under;
  for (T n = largest_lane<P>(terms); n > T(0); n -= T(4)) {
    const mask_of<P> starts = eq(terms, set1<P>(n));
    p = select(starts, start, p);
    q = select(starts, start_under, q);
    P k = mul(s, set1<P>(n));
    for (int half = 0; half < 2; ++half) {  // two steps: q times a + k, p times x and the new q added
      const P after = sub(k, s), high = add(c, k), low = add(c, after);
      p = fma(square, p, mul(mul(add(u, low), high), q));
      q = mul(q, mul(high, low));
      k = sub(after, s);
    }
  }
  return div(p, q);
}

// The fraction for x >= max(a, 1). The rest behind the last denominator is the root of f^2 - b f + n (n - a) = 0.
template <class P>
TENURE_KERNEL_LAYER P gamma_fraction(P a, P x, mask_of<P> is_asked) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1)), two = set1<P>(T(2)), half = set1<P>(T(0.5)), distance = sub(x, a), near = at_most(a, wide ? T(40) : T(20));
  const P measured = add(div(fma(mul(near, half), near, set1<P>(wide ? T(100) : T(24.5f))), x), set1<P>(wide ? T(5.7) : T(2.7f)));
  const P terms = select(is_asked, fours(measured), set1<P>(T(4)));
  const P b = add(add(terms, terms), add(distance, one));
  const P root = sqrt(sub(mul(b, b), mul(mul(set1<P>(T(4)), terms), sub(terms, a))));
  const P s = inverse_power_below(x), c = mul(a, s), d = mul(distance, s), start = mul(mul(add(b, root), half), s);
  P p = start, q = one;
  for (T n = largest_lane<P>(terms); n > T(0); n -= T(4)) {
    const mask_of<P> starts = eq(terms, set1<P>(n));
    p = select(starts, start, p);
    q = select(starts, one, q);
    P k = mul(s, set1<P>(n));
    for (int step = 0; step < 4; ++step) {  // f = 2 n - 1 + x - a + n (a - n) / f
      const P next = fma(add(fma(two, k, neg(s)), d), p, mul(mul(k, sub(c, k)), q));
      q = p;
      p = next;
      k = sub(k, s);
    }
  }
  return mul(div(q, p), s);
}

template <class P>
struct sum_and_slope {
  P value, slope;
};

// The series and its derivative by a, until all lanes have converged.
template <class P>
TENURE_KERNEL_LAYER sum_and_slope<P> gamma_series_slope(P a, P x) {
  using T = scalar_of<P>;
  constexpr T eps = std::numeric_limits<T>::epsilon() / 4;  // what is below it changes no sum
  const P one = set1<P>(T(1));
  P term = one, slope = set1<P>(T(0)), k = a;
  sum_and_slope<P> sum{term, slope};
  for (int n = 0; n < 400; ++n) {
    k = add(k, one);
    const P inverse = div(one, k), ratio = mul(x, inverse);
    slope = mul(ratio, fnma(term, inverse, slope));
    sum.slope = add(sum.slope, slope);
    term = mul(term, ratio);
    sum.value = add(sum.value, term);
    if (!any<P>(mask_or(gt(term, mul(sum.value, set1<P>(eps))), gt(abs(slope), mul(abs(sum.slope), set1<P>(eps)))))) break;
  }
  return sum;
}

// The fraction and its derivative by a, with a division for each term.
template <class P>
TENURE_KERNEL_LAYER sum_and_slope<P> gamma_fraction_slope(P a, P x) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P one = set1<P>(T(1)), two = set1<P>(T(2)), half = set1<P>(T(0.5)), distance = sub(x, a);
  const P by_x = div(set1<P>(wide ? T(92) : T(21)), x), by_a = mul(at_most(a, wide ? T(40) : T(20)), set1<P>(wide ? T(0.4) : T(0.45f)));
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
    slope = select(is_behind, slope, sub(mul(r, fnma(ratio, slope, n)), one));
    f = select(is_behind, f, add(add(fma(two, n, neg(one)), distance), ratio));
  }
  const P value = div(one, f);
  return {value, neg(mul(mul(slope, value), value))};
}

}  // namespace tenure::math::detail
