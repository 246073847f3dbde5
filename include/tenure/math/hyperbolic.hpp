// SPDX-License-Identifier: BSL-1.0
// tanh, sinh, cosh, computed from h = (e^|x| - 1)/2, which keeps the relative accuracy near 0.
// Law: at most 2 ulp; tanh and sinh are odd and keep -0, cosh is even; infinities and NaN as in the C library.
// Cost: an expm1 and one division. With AVX-512 tanh looks up a power of two, or for float the polynomial of a piece, and sinh for float has no
// division. sinh and cosh also compute the case of large |x|, without a branch.
#pragma once

#include <tenure/math/exponential.hpp>
#include <tenure/math/pieces.hpp>
#include <tenure/math/piecewise.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

#if TENURE_AVX512
namespace detail {

// Let d be the relative amount by which 2^(k/16) exceeds sixteenth_powers[k], and e the amount by which ln2 exceeds the nearest
// double. The table contains (d - (k/16) e) / 2.
alignas(64) inline constexpr double sixteenth_excesses[16] = {
    0, 0x1.72fb3e496956cp-55, -0x1.1c6dfce592b4cp-56, 0x1.54e2678e1f691p-55,
    0x1.febc30c92f75cp-57, 0x1.171cfede95063p-56, 0x1.91426ca8a3f31p-58, 0x1.aee8127441405p-56,
    -0x1.70b8386c55230p-55, -0x1.51e7add4efea0p-56, 0x1.55c3e4f6ef2a1p-56, -0x1.63613a4b7407fp-62,
    0x1.213bc3c95a36fp-56, -0x1.25492fb7d5c01p-60, -0x1.60c266caa447fp-60, -0x1.63fbe5dcb4307p-55};

// The bits of 2^(k/16) minus k << 48. If the bits of a number of sixteenths are added 48 places up, its integer part adds to the
// exponent and its low four bits cancel.
alignas(64) inline constexpr auto sixteenth_power_bits = [] {
  struct { double at[16]; } bits{};
  for (std::uint64_t k = 0; k < 16; ++k) bits.at[k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(sixteenth_powers<double>[k]) - (k << 48));
  return bits;
}();

// tanh a = h / (h + 1) with h = (e^2a - 1) / 2 = (s - 1) / 2 + s p, where s = 2^(k/16), s - 1 is exact and p = (e^2r - 1) / 2,
// |r| <= ln2/64.
template <class P>
TENURE_KERNEL_INLINE P tanh_by_table(P a) {  // 0 <= a <= 20, or NaN
  const P shifter = set1<P>(layout<P>::shifter / 16);
  const P shifted = fma(a, set1<P>(0x1.71547652b82fep+1), shifter);
  // The excess corrects the rounding of the power and, below 2 ln2, of ln2; above that the rounding of ln2 is too small to
  // matter. r is added last, because it is exact where s is close to 1.
  const P excess = lookup16(sixteenth_excesses, shifted);
  const P r = fma(sub(shifted, shifter), set1<P>(-0x1.62e42fefa39efp-2), a);
  const P sum = add(r, excess), z = mul(sum, sum);
  // A Remez fit, weighted for the relative error of p: 2^-60.
  const P q = horner_by_pairs<P>(sum, z, {0x1.0000000000003p+0, 0x1.5555555555556p-1, 0x1.55555554ac91dp-2, 0x1.11111110c60f8p-3,
                                          0x1.6c181ffad2d42p-5, 0x1.a01b393b539adp-7});
  const P p = add(r, fma(z, q, excess));
  const P s = add_bits(lookup16(sixteenth_power_bits.at, shifted), shift_left<48>(shifted)), half = set1<P>(0.5);
  const P h = fma(s, p, fma(s, half, neg(half)));
  // A Newton step corrects the error of the quotient that the rounding of h + 1 causes; the remainder is h - t (h + 1). The
  // correction is about an ulp, so 1 / (h + 1) is needed to one part in 16 only. A subtraction of the bits gives that, and does
  // not use the multipliers, which are the bottleneck.
  const P d = add(h, set1<P>(1.0)), t = div(h, d);
  const P inverse = sub_bits(set1_bits<P>(0x7fde623822fc16e6u), d);
  return fma(fnma(t, h, sub(h, t)), inverse, t);
}

// 2^-n sinh(n ln2) and 2^-n cosh(n ln2) for each n. They are exact up to n = 12; above that they round to 1/2.
alignas(64) inline constexpr auto powers_apart = [] {
  struct { float sinh[16], cosh[16]; } halves{};
  for (int n = 0; n < 16; ++n) {
    const float inverse = 1 / static_cast<float>(std::uint64_t(1) << 2 * n);
    halves.sinh[n] = 0.5f - inverse / 2, halves.cosh[n] = 0.5f + inverse / 2;
  }
  return halves;
}();

// sinh(n ln2 + r) by the addition theorem, for float. It has no division and keeps its relative accuracy near 0.
template <class P>
TENURE_KERNEL_INLINE P sinh_by_table(P a) {  // 0 <= a <= 90, or NaN
  const P shifter = set1<P>(layout<P>::shifter);
  const P shifted = fma(a, set1<P>(0x1.715476p+0f), shifter);
  const P n = sub(shifted, shifter);
  const P index = at_most(shifted, layout<P>::shifter + 15);
  const P r = fma(n, set1<P>(0x1.e8082ep-16f), fma(n, set1<P>(-0x1.62e8p-1f), a));
  const P z = mul(r, r);
  // Remez fits of (cosh r - 1) / z and (sinh r - r) / (r z). The relative errors of cosh and sinh are 2^-34 and 2^-37.
  const P cosh_less_1 = mul(z, horner<P>(z, {0.5f, 0x1.555480p-5f, 0x1.6d9842p-10f}));
  const P sinh_r = fma(mul(r, z), horner<P>(z, {0x1.555556p-3f, 0x1.1110b2p-7f, 0x1.a17026p-13f}), r);
  const P s = lookup16(powers_apart.sinh, index), c = lookup16(powers_apart.cosh, index);
  return ldexp(add(s, fma(s, cosh_less_1, mul(c, sinh_r))), n);
}

}  // namespace detail
#endif

template <class P>
TENURE_KERNEL_LAYER P tanh(P x) {
  using T = scalar_of<P>;
#if TENURE_AVX512
  if constexpr (is_512<P> && !detail::layout<P>::wide)
    return with_sign(detail::piecewise<false>(at_most(abs(x), 9.02f), 75.0f / 128, detail::tanh_pieces_float), x);
  else if constexpr (is_512<P>) return with_sign(detail::tanh_by_table(at_most(abs(x), 20.0)), x);
#endif
  // tanh rounds to 1 from 19.07 (float: 9.011) on.
  const P a = at_most(abs(x), T(detail::layout<P>::wide ? 20.0 : 10.0));
  const P h = detail::half_expm1(add(a, a));
  return with_sign(detail::quotient_by_sum(h, T(1), h), x);
}

namespace detail {
// e^a / 2 for a >= 0, also where e^a overflows and the half does not.
template <class P>
TENURE_KERNEL_INLINE P half_exp(P a) {
  using T = scalar_of<P>;
  const exp_parts<P> parts = exp_reduce(at_most(a, T(layout<P>::wide ? 712.0 : 90.0)));
  const P e = fma(parts.r, fma(parts.r, exp_tail(parts.r), set1<P>(T(1))), set1<P>(T(1)));
  return scale(e, sub(parts.n, set1<P>(T(1))));
}
}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P sinh(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  const P a = abs(x);
#if TENURE_AVX512
  if constexpr (is_512<P> && !wide) return with_sign(detail::sinh_by_table(at_most(a, 90.0f)), x);
#endif
  const detail::exp_parts<P> parts = detail::exp_reduce(at_most(a, T(wide ? 712.0 : 90.0)));
  const P t = mul(mul(parts.r, parts.r), detail::exp_tail(parts.r));
  const P one = set1<P>(T(1));
  const P large = detail::scale(add(one, add(parts.r, t)), sub(parts.n, one));
  // With h = (e^a - 1)/2 and k = h/(2h + 1): sinh = h + k = 2h - 2hk. The second form has a smaller rounding error near 0, and
  // the first has no cancellation. From 22 (float: 10) on, k is below half an ulp of e^a / 2.
  const P h = detail::half_expm1(at_most(parts.n, T(40)), parts.r, t);
  const P twice = add(h, h);
  const P k = div(h, add(twice, one));
  const P near = select(lt(h, set1<P>(T(0.5))), fnma(twice, k, twice), add(h, k));
  const mask_of<P> far = gt(a, set1<P>(T(wide ? 22.0 : 10.0)));
  // For |x| below this, sinh(x) rounds to x. The formula above would lose a bit of subnormals when it halves them.
  const mask_of<P> tiny = lt(a, set1<P>(T(wide ? 0x1p-27 : 0x1p-13)));
  return select(tiny, x, with_sign(select(far, large, near), x));
}

template <class P>
TENURE_KERNEL_LAYER P cosh(P x) {
  using T = scalar_of<P>;
  const P e = detail::half_exp(abs(x));
  return add(e, div(set1<P>(T(0.25)), e));
}

}  // namespace tenure::math
