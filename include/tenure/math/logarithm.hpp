// SPDX-License-Identifier: BSL-1.0
// log, log2, log1p, softplus: x = m 2^e with m near 1, then the series of atanh in s = f/(2+f), f = m - 1. With AVX-512 a table
// of 1/m for sixteenths of m and the series of log(1 + r) replace it.
// Law: at most 2 ulp over the whole domain, subnormals included; log1p(-0) is -0, and log1p keeps a small relative error near 0;
//      log(0) is -inf, and log of a negative number is NaN. softplus(x) - softplus(-x) = x.
// Cost: one division and a polynomial in s^2 (7 terms, or 4 for float); with AVX-512 two permutations and a polynomial in r
//       (9 terms, or 4 for float). log1p adds one exact sum. softplus takes an exp and a log1p.
#pragma once

#include <tenure/math/exponential.hpp>
#include <tenure/math/twin.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

template <class P>
struct log_parts {
  P e;  // integral
  P m;  // x = m 2^e
};

// Splits x into m in [1/sqrt2, sqrt2) and e. x must be normal and positive.
// With AVX-512 m is in [3/4, 3/2), and x may be any value: 0 gives e = -inf, inf gives e = inf, a negative x gives m = NaN.
template <class P>
TENURE_KERNEL_INLINE log_parts<P> log_split(P x) {
  using L = layout<P>;
#if TENURE_AVX512
  if constexpr (is_512<P> && L::wide) {
    const P m = _mm512_maskz_getmant_pd(every_lane<P>, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    return {_mm512_sub_pd(_mm512_maskz_getexp_pd(every_lane<P>, x), _mm512_maskz_getexp_pd(every_lane<P>, m)), m};
  } else if constexpr (is_512<P>) {
    const P m = _mm512_maskz_getmant_ps(every_lane<P>, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    return {_mm512_sub_ps(_mm512_maskz_getexp_ps(every_lane<P>, x), _mm512_maskz_getexp_ps(every_lane<P>, m)), m};
  } else
#endif
  {
    using word = bits_of<P>;
    constexpr word root_half = L::wide ? word(0x3fe6a09e667f3bcdu) : word(0x3f3504f3u);
    const P shifted = add_bits(x, set1_bits<P>(L::one - root_half));
    const P m = add_bits(and_bits(shifted, set1_bits<P>(L::mantissa_mask)), set1_bits<P>(root_half));
    // With the biased exponent in the low bits of 2^mantissa, the bits are a floating-point number, so no conversion is needed.
    constexpr scalar_of<P> two_mantissa = static_cast<scalar_of<P>>(word(1) << L::mantissa);
    const P biased = or_bits(shift_right<L::mantissa>(shifted), set1<P>(two_mantissa));
    return {sub(biased, set1<P>(two_mantissa + L::bias)), m};
  }
}

// (2 atanh(s) - 2s) / s for z = s^2. A Remez fit on |s| <= 1/5, weighted for the relative error of log (double 2^-55.9, float
// 2^-35.3).
template <class P>
TENURE_KERNEL_INLINE P log_tail(P z) {
  if constexpr (layout<P>::wide)
    return mul(z, horner<P>(z, {0x1.555555555577ap-1, 0x1.99999998efbe8p-2, 0x1.249249b2d7e9ep-2, 0x1.c71c00f0f5532p-3,
                                0x1.7474f51f2d34cp-3, 0x1.385168547cae8p-3, 0x1.3ac942d4e5f9ep-3}));
  else
    return mul(z, horner<P>(z, {0x1.555554p-1f, 0x1.999bdep-2f, 0x1.23e96p-2f, 0x1.ed941p-3f}));
}

// f - log(1 + f) - extra = s (f - tail) - extra. So f, the leading term of the logarithm, stays exact.
template <class P>
TENURE_KERNEL_INLINE P log1p_deficit(P f, P minus_extra = set1<P>(scalar_of<P>(0))) {
  const P s = div(f, add(f, set1<P>(scalar_of<P>(2))));
  return fma(s, sub(f, log_tail(mul(s, s))), minus_extra);
}

// The two parts of ln2. Both are positive, so an infinite e gives an infinity of the same sign in e ln2.
template <class P>
struct ln2_parts {
  using T = scalar_of<P>;
  static constexpr T high = layout<P>::wide ? T(0x1.62e42fefa3p-1) : T(0x1.62e4p-1);
  static constexpr T low = layout<P>::wide ? T(0x1.3de6af278ece6p-42) : T(0x1.7f7d1cp-20);
};

// e ln2 + log(1 + f).
template <class P>
TENURE_KERNEL_INLINE P log_sum(P e, P f) {
  return fma(e, set1<P>(ln2_parts<P>::high), sub(f, log1p_deficit(f, mul(e, set1<P>(-ln2_parts<P>::low)))));
}

// log((u + low) 2^more) for finite u >= 1 and |low| of at most an ulp of u, or any low >= 0 if u is 1.
template <class P>
TENURE_KERNEL_LAYER P log_of_twin(twin<P> u, P more) {
  using T = scalar_of<P>;
  const log_parts<P> parts = log_split(u.hi);
  const P scaled = mul(u.lo, power_of_two(neg(at_most(parts.e, T(100)))));
  const twin<P> f = fast_two_sum(sub(parts.m, set1<P>(T(1))), scaled);
  const P e = add(parts.e, more);
  return fma(e, set1<P>(ln2_parts<P>::high), sub(f.hi, log1p_deficit(f.hi, fnma(e, set1<P>(ln2_parts<P>::low), neg(f.lo)))));
}

// The result of a logarithm for any x, given `value` for positive finite x: it adds the cases 0, negative, inf and NaN.
template <class P>
TENURE_KERNEL_INLINE P log_domain(P x, P value) {
  using T = scalar_of<P>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  value = select(lt(x, set1<P>(inf)), value, x);  // inf, NaN
  value = select(lt(x, set1<P>(T(0))), set1<P>(std::numeric_limits<T>::quiet_NaN()), value);
  return select(eq(x, set1<P>(T(0))), set1<P>(-inf), value);
}
// With AVX-512 the value of log and log2 is already correct in these cases.
template <class P>
TENURE_KERNEL_INLINE P log_specials(P x, P value) {
  if constexpr (is_512<P>) return value;
  else return log_domain(x, value);
}

// log_split for any positive x: it scales subnormals first. With AVX-512 log_split takes them.
template <class P>
TENURE_KERNEL_INLINE log_parts<P> log_split_any(P x) {
  if constexpr (is_512<P>) {
    return log_split(x);
  } else {
    using T = scalar_of<P>;
    using L = layout<P>;
    constexpr int lift = L::mantissa + 2;
    constexpr T power = static_cast<T>(bits_of<P>(1) << lift);
    const mask_of<P> small = lt(x, set1<P>(std::numeric_limits<T>::min()));
    log_parts<P> parts = log_split(select(small, mul(x, set1<P>(power)), x));
    parts.e = sub(parts.e, select(small, set1<P>(T(lift)), set1<P>(T(0))));
    return parts;
  }
}

// log(1 + x) for finite x > -1.
template <class P>
TENURE_KERNEL_LAYER P log1p_ordinary(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  const auto [u, low] = one_plus(x);
  const log_parts<P> parts = log_split(u);
  // For e = 0, f + low 2^-e is exactly x, so small x keep their relative accuracy.
  const P scaled = mul(low, power_of_two(neg(at_most(parts.e, T(100)))));
  return log_sum(parts.e, add(sub(parts.m, one), scaled));
}

#if TENURE_AVX512
// A table for each piece of [1, 3/2) and [3/4, 1), selected by the four leading bits of the fraction. c is close to the
// reciprocal of the middle of the piece, and exactly 1 in the two pieces next to 1. c is chosen so that the natural and the
// binary logarithm of 1/c are both within 1/64 ulp of the numbers in the table.
template <class T>
struct log_table {
  alignas(64) static constexpr T c[16] = {
      0x1p+0, 0x1.d420000000279p-1, 0x1.bad0000000019p-1, 0x1.a417fffffffd5p-1, 0x1.8f9fffffffd1ep-1, 0x1.7d07ffffffe46p-1,
      0x1.6c17ffffffe4p-1, 0x1.5c980000001f3p-1, 0x1.4e5ffffffff62p+0, 0x1.413fffffffe71p+0, 0x1.351fffffffd3fp+0, 0x1.29e7ffffffe7cp+0,
      0x1.1f700000000a4p+0, 0x1.15affffffffdcp+0, 0x1.0c9800000c017p+0, 0x1p+0};
  alignas(64) static constexpr T log[16] = {
      0, 0x1.6ef528c055489p-4, 0x1.29532f823f4afp-3, 0x1.9530a9d6d57f5p-3, 0x1.fb7d86eee4a56p-3, 0x1.2e88abb1da19dp-2,
      0x1.5d185bf708ea8p-2, 0x1.89a4b86c5bca2p-2, -0x1.117ee81dfe2ep-2, -0x1.d0fb7f2255461p-3, -0x1.8230164c190f3p-3, -0x1.367acad3c8c13p-3,
      -0x1.da6e7637c4fc2p-4, -0x1.4d1515b987ad0p-4, -0x1.8966a13f2965fp-5, 0};
  alignas(64) static constexpr T log2[16] = {
      0, 0x1.08b438e516af1p-3, 0x1.acf30032be6e7p-3, 0x1.24486a06dfd06p-2, 0x1.6e13af9f3abefp-2, 0x1.b476d02872509p-2,
      0x1.f7a349e748451p-2, 0x1.1bf426e8e96ccp-1, -0x1.8a9228a043a24p-2, -0x1.4f69f5d82ff12p-2, -0x1.16935d34fa501p-2, -0x1.bfed6e26be114p-3,
      -0x1.563adff6b239ep-3, -0x1.e089492ee5dadp-4, -0x1.1bc75cf6afd1dp-4, 0};
};
template <>
struct log_table<float> {
  alignas(64) static constexpr float c[16] = {
      0x1p+0f, 0x1.d42682p-1f, 0x1.bacf3cp-1f, 0x1.a4113ep-1f, 0x1.8fa0e8p-1f, 0x1.7cf55ep-1f, 0x1.6c19ap-1f, 0x1.5c9156p-1f,
      0x1.4e5ebep+0f, 0x1.4144d8p+0f, 0x1.351ef6p+0f, 0x1.29eac4p+0f, 0x1.1f694cp+0f, 0x1.15c27ap+0f, 0x1.0ca5cap+0f, 0x1p+0f};
  alignas(64) static constexpr float log[16] = {
      0, 0x1.6ebc38p-4f, 0x1.2956bap-3f, 0x1.95519cp-3f, 0x1.fb78e2p-3f, 0x1.2ebacp-2f, 0x1.5d13cap-2f, 0x1.89b84cp-2f,
      -0x1.117b0ep-2f, -0x1.d11a6p-3f, -0x1.822934p-3f, -0x1.368dcep-3f, -0x1.da0efp-4f, -0x1.4e2596p-4f, -0x1.8b0b26p-5f, 0};
  alignas(64) static constexpr float log2[16] = {
      0, 0x1.088b26p-3f, 0x1.acf81cp-3f, 0x1.24602ep-2f, 0x1.6e1056p-2f, 0x1.b4bf1p-2f, 0x1.f79cb2p-2f, 0x1.1c0246p-1f,
      -0x1.8a8c9ap-2f, -0x1.4f803cp-2f, -0x1.168e66p-2f, -0x1.c008dcp-3f, -0x1.55f5f8p-3f, -0x1.e2126cp-4f, -0x1.1cf6b4p-4f, 0};
};

// x = 2^e (1 + r) / c with -1/32 <= r <= 1/16. Near x = 1, e is 0 and c is 1. Special values are as in log_split, and e
// determines the result for them.
template <class P>
struct log_piece {
  P e, m, c, r;
  P index;  // the index into the tables
};
template <class P>
TENURE_KERNEL_INLINE log_piece<P> log_lookup(P x) {
  using T = scalar_of<P>;
  const log_parts<P> parts = log_split(x);
  const P index = shift_right<layout<P>::mantissa - 4>(parts.m);
  const P c = lookup16(log_table<T>::c, index);
  return {parts.e, parts.m, c, fma(parts.m, c, set1<P>(T(-1))), index};
}

// log(1 + r) + extra. A Remez fit, weighted for the relative error of log(1 + r) (double 2^-56.6, float 2^-28.4).
template <class P>
TENURE_KERNEL_INLINE P log1p_near_0(P r, P r_and_extra) {
  const P z = mul(r, r);
  P q;
  if constexpr (layout<P>::wide)
    q = horner_by_halves<P>(r, z, {-0x1.0000000000003p-1, 0x1.5555555555f63p-2, -0x1.fffffffff1d3dp-3, 0x1.99999980a04e7p-3, -0x1.555554b419445p-3,
                                   0x1.2492d825ec50cp-3, -0x1.0009babf15429p-3, 0x1.c57634eb3d796p-4, -0x1.660498de7ae1cp-4});
  else
    q = horner_by_halves<P>(r, z, {-0.5f, 0x1.555846p-2f, -0x1.00100cp-2f, 0x1.81f7a6p-3f});
  return fma(z, q, r_and_extra);
}

// e ln2 + log(1/c) + log(1 + r)
template <class P>
TENURE_KERNEL_INLINE P log_by_table(const log_piece<P>& x, P r) {
  using T = scalar_of<P>;
  constexpr T ln2 = layout<P>::wide ? T(0x1.62e42fefa39efp-1) : T(0x1.62e43p-1);
  const P known = fma(x.e, set1<P>(ln2), lookup16(log_table<T>::log, x.index));
  return add(known, log1p_near_0(r, layout<P>::wide ? fma(x.e, set1<P>(T(0x1.abc9e3b39803fp-56)), r) : r));
}

// log(1 + x)
template <class P>
TENURE_KERNEL_INLINE P log1p_by_table(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  const auto [u, low] = one_plus(x);
  const log_piece<P> piece = log_lookup(u);
  // m / u = 2^-e. For the largest u the bits give -inf, and the product is NaN. The min instruction returns its second argument
  // for a NaN; that argument is at least as large as every other value of `scaled`.
  P scaled = mul(low, add_bits(sub_bits(piece.m, u), one));
  const P tiny = set1<P>(std::numeric_limits<T>::epsilon());
  if constexpr (layout<P>::wide) scaled = _mm512_maskz_min_pd(every_lane<P>, scaled, tiny);
  else scaled = _mm512_maskz_min_ps(every_lane<P>, scaled, tiny);
  // For u near 1 this is exactly x, so small x keep their relative accuracy.
  return log_by_table(piece, fma(scaled, piece.c, piece.r));
}

// Like log_table, for the sixteenths of [1, 2), within 1/256 ulp. The second c is close to the reciprocal of the start of its
// piece, because otherwise the rounding of r would be visible in logarithms just below 1/16.
template <class T>
struct log_table_of_one {
  alignas(64) static constexpr T c[16] = {
      0x1p+0, 0x1.dfd9fffffffcep-1, 0x1.bacffffffffb1p-1, 0x1.a41a000000003p-1,
      0x1.8f9bfffffd125p-1, 0x1.7d060000023aep-1, 0x1.6c160000001a8p-1, 0x1.5c98000000443p-1,
      0x1.4e5dfffffea29p-1, 0x1.4141ffffffc6cp-1, 0x1.3522000000ad8p-1, 0x1.29e4000000b73p-1,
      0x1.1f6fffffffdfbp-1, 0x1.15b200000000fp-1, 0x1.0c9800000014cp-1, 0x1.040fffffffd9bp-1};
  alignas(64) static constexpr T log[16] = {
      0, 0x1.099ddc74bc6dep-4, 0x1.29532f823f69p-3, 0x1.9526e9cf5e6a6p-3,
      0x1.fb9206d5f6e4dp-3, 0x1.2e8e0bae0c54dp-2, 0x1.5d1dfbf610d25p-2, 0x1.89a4b86c5b5d7p-2,
      0x1.b44f97bccda45p-2, 0x1.dd44404cd1804p-2, 0x1.0254da5a62309p-1, 0x1.154c5d2f4d23cp-1,
      0x1.27966128ab4b4p-1, 0x1.393ddd3564dfep-1, 0x1.4a4dc5dbc7c3bp-1, 0x1.5ad484c36a3e4p-1};
};
template <>
struct log_table_of_one<float> {
  alignas(64) static constexpr float c[16] = {
      0x1p+0f, 0x1.dfdf9ep-1f, 0x1.bac01ep-1f, 0x1.a4201p-1f, 0x1.8fa118p-1f, 0x1.7d0154p-1f, 0x1.6c1f74p-1f, 0x1.5c9f76p-1f,
      0x1.4e5ffcp-1f, 0x1.413d62p-1f, 0x1.351f5cp-1f, 0x1.29df98p-1f, 0x1.1f802ep-1f, 0x1.15bf4ep-1f, 0x1.0c9fd4p-1f, 0x1.041f4cp-1f};
  alignas(64) static constexpr float log[16] = {
      0, 0x1.096deap-4f, 0x1.299ca6p-3f, 0x1.95095cp-3f, 0x1.fb77ecp-3f, 0x1.2e9a9ap-2f, 0x1.5d0366p-2f, 0x1.898ecep-2f,
      0x1.b44984p-2f, 0x1.dd52f8p-2f, 0x1.02593ap-1f, 0x1.1553fp-1f, 0x1.27799p-1f, 0x1.392556p-1f, 0x1.4a3edap-1f, 0x1.5ab668p-1f};
};

// log(1 + x) for 0 <= x <= 1. It needs no exponent.
template <class P>
TENURE_KERNEL_INLINE P log1p_to_one(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1));
  const P u = at_most(add(one, x), T(2) - std::numeric_limits<T>::epsilon());
  const P index = shift_right<layout<P>::mantissa - 4>(u);
  const P c = lookup16(log_table_of_one<T>::c, index);
  const P r = fma(sub(x, sub(u, one)), c, fma(u, c, set1<P>(T(-1))));
  return add(lookup16(log_table_of_one<T>::log, index), log1p_near_0(r, r));
}
#endif

}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P log(P x) {
#if TENURE_AVX512
  if constexpr (is_512<P>) {
    const detail::log_piece<P> piece = detail::log_lookup(x);
    return detail::log_by_table(piece, piece.r);
  }
#endif
  const detail::log_parts<P> parts = detail::log_split_any(x);
  return detail::log_specials(x, detail::log_sum(parts.e, sub(parts.m, set1<P>(scalar_of<P>(1)))));
}

template <class P>
TENURE_KERNEL_LAYER P log2(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
#if TENURE_AVX512
  if constexpr (is_512<P>) {  // Remez fits of log2(1 + r) / r; the relative error is 2^-56.8 for double and 2^-28.8 for float
    const detail::log_piece<P> piece = detail::log_lookup(x);
    P q;
    if constexpr (wide)
      q = horner<P>(piece.r, {0x1.71547652b82fep+0, -0x1.71547652b8304p-1, 0x1.ec709dc3a1824p-2, -0x1.71547652ac588p-2, 0x1.2776c4fa510cap-2,
                              -0x1.ec709cc19561dp-3, 0x1.a6183e6b206fap-3, -0x1.71631725d90eap-3, 0x1.47131f7b7f1c4p-3, -0x1.01dd98e11528cp-3});
    else
      q = horner<P>(piece.r, {0x1.715476p+0f, -0x1.715478p-1f, 0x1.ec75f8p-2f, -0x1.716c94p-2f, 0x1.1597d2p-2f});
    return fma(piece.r, q, add(piece.e, detail::lookup16(detail::log_table<T>::log2, piece.index)));
  }
#endif
  constexpr T log2e_high = wide ? T(0x1.71547652b82fep+0) : T(0x1.715476p+0);
  constexpr T log2e_low = wide ? T(0x1.777d0ffda0d24p-56) : T(0x1.4ae0cp-26);
  const detail::log_parts<P> parts = detail::log_split_any(x);
  const P f = sub(parts.m, set1<P>(T(1)));
  const P w = detail::log1p_deficit(f);
  // log(1 + f) as v + v_low, because for e = -1 half of v cancels.
  const P v = sub(f, w);
  const P v_low = sub(sub(f, v), w);
  const P low = fma(v, set1<P>(log2e_low), mul(v_low, set1<P>(log2e_high)));
  return detail::log_specials(x, add(parts.e, fma(v, set1<P>(log2e_high), low)));
}

template <class P>
TENURE_KERNEL_LAYER P log1p(P x) {
  using T = scalar_of<P>;
#if TENURE_AVX512
  if constexpr (is_512<P>) return with_sign(detail::log1p_by_table(x), x);
#endif
  constexpr T inf = std::numeric_limits<T>::infinity();
  P value = detail::log1p_ordinary(at_most(x, std::numeric_limits<T>::max()));
  value = select(lt(x, set1<P>(inf)), value, x);  // inf, NaN
  value = select(lt(x, set1<P>(T(-1))), set1<P>(std::numeric_limits<T>::quiet_NaN()), value);
  value = select(eq(x, set1<P>(T(-1))), set1<P>(-inf), value);
  return with_sign(value, x);
}

/// log(1 + e^x)
template <class P>
TENURE_KERNEL_LAYER P softplus(P x) {
  using T = scalar_of<P>;
  const P e = detail::exp_of_minus_abs(x);
  // e is in [0, 1], so the only special value is NaN, and the sum keeps it.
  P tail;
#if TENURE_AVX512
  if constexpr (is_512<P>) tail = detail::log1p_to_one(e);
  else
#endif
    tail = detail::log1p_ordinary(e);
  return add(max(x, set1<P>(T(0))), tail);
}

}  // namespace tenure::math
