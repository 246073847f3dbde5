// SPDX-License-Identifier: BSL-1.0
// sin, cos: r = x - n pi with pi as a sum of three numbers (four without fma), an odd polynomial on |r| <= pi/2, and the sign by
// the parity of n. tan: the same with multiples of pi/2, r as the sum of two numbers, and -1 / tan r where n is odd.
// Law: at most 2 ulp for every finite x, also for huge ones; sin and tan are odd and keep -0; infinities give NaN.
// Cost: no table, and no division but one in tan, if every |x| is below 2^26 (double) or 2^16 (float). For each larger lane there is a call that
//       computes an exact 192-bit product with 1/pi (Payne and Hanek).
#pragma once

#include <tenure/math/packet.hpp>
#include <tenure/math/twin.hpp>
#include <tenure/math/wide.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

struct reduced_angle {
  double r;    // in [-pi/2, pi/2]
  double low;  // r + low has a relative error of 2^-70
  bool odd;    // true if n is odd
};

// x = (n + half/2) pi + r for |x| > 2^8; with half for |x| in place of x. It computes 192 bits of x/pi modulo 2.
[[gnu::noinline, gnu::cold]] TENURE_KERNEL inline reduced_angle reduce_huge_angle(double x, bool half) {
  using wide = wide_number;
  // 1/pi: 64 zero bits, then the bits after the binary point.
  static constexpr std::uint64_t inverse_pi[] = {
      0x0000000000000000u, 0x517cc1b727220a94u, 0xfe13abe8fa9a6ee0u, 0x6db14acc9e21c820u, 0xff28b1d5ef5de2b0u,
      0xdb92371d2126e970u, 0x0324977504e8c90eu, 0x7f0ef58e5894d39fu, 0x74411afa975da242u, 0x74ce38135a2fbf20u,
      0x9cc8eb1cc1a99cfau, 0x4e422fc5defc941du, 0x8ffc4bffef02cc07u, 0xf79788c5ad05368fu, 0xb69b3f6793e584dbu,
      0xa7a31fb34f2ff516u, 0xba93dd63f5f2f8bdu, 0x9e839cfbc5294975u, 0x35fdafd88fc6ae84u, 0x2b0198237e3db5d5u,
      0xf867de104d7a1b0eu};
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  if (biased == 0x7ff) return {std::numeric_limits<double>::quiet_NaN(), 0.0, false};
  const std::uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  // |x| = mantissa 2^exponent. Bit j of the table has the weight 2^(63-j). Bits for which mantissa 2^(exponent+63-j) is an even
  // integer do not change the result, so the window starts at j = exponent + 63, and its top bit counts multiples of pi.
  const int first = biased - 1075 + 63;
  const int word = first >> 6, shift = first & 63;
  std::uint64_t w[3];
  for (int i = 0; i < 3; ++i)
    w[i] = shift == 0 ? inverse_pi[word + i]
                      : (inverse_pi[word + i] << shift) | (inverse_pi[word + i + 1] >> (64 - shift));
  const wide low = product_of_words<wide>(mantissa, w[2]);
  const wide middle = product_of_words<wide>(mantissa, w[1]) + static_cast<std::uint64_t>(low >> 64);
  const std::uint64_t top = mantissa * w[0] + static_cast<std::uint64_t>(middle >> 64);
  bool odd = (top >> 63) != 0;
  // The fraction of |x|/pi as an unsigned number of 128 bits in [0, 1).
  wide fraction = ((static_cast<wide>(top) << 64) | static_cast<std::uint64_t>(middle)) << 1 |
                  (static_cast<std::uint64_t>(low) >> 63);
  const wide one_half = static_cast<wide>(1) << 127;
  bool negative = false;
  if (half) {
    negative = fraction < one_half;
    fraction = negative ? one_half - fraction : fraction - one_half;
  } else if (fraction >= one_half) {
    negative = true;
    odd = !odd;
    fraction = static_cast<wide>(0) - fraction;
  }
  if (fraction == 0) return {0.0, 0.0, odd};
  int zeros = 0;
  while ((fraction >> 127) == 0) fraction <<= 1, ++zeros;
  // The leading 53 bits and the following ones as two numbers, each exact in a double.
  const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - zeros) << 52);
  const double high = static_cast<double>(static_cast<std::uint64_t>(fraction >> 75)) * 0x1p-53;
  const double rest = static_cast<double>(static_cast<std::uint64_t>(fraction >> 22) & 0x1fffffffffffffu) * 0x1p-106;
  // (high + rest) (pi_high + pi_low). pi_high and the upper half of `high` have few digits, so that their product is exact.
  const double upper = static_cast<double>(static_cast<std::uint64_t>(fraction >> 102)) * 0x1p-26;
  const double lower = high - upper;
  const double pi_a = 0x1.921fb54p+1, pi_b = 0x1.10b4611a62633p-29;
  const double leading = upper * pi_a, rests = lower * pi_a + (high * pi_b + rest * pi_a), sum = leading + rests;
  // sin is odd in x, so r gets the sign of x. cos is even and uses |x|.
  const double signed_scale = negative != (!half && x < 0) ? -scale : scale;
  return {sum * signed_scale, (rests - (sum - leading)) * signed_scale, odd};
}

// pi = one + two + three + four. With fma there are three parts. x and n * one have the same last place, so the first step of x - n pi is exact, and
// the rounding error of each later step is relative to its result. All parts are positive, so that -0 is kept. Without fma the first three parts have
// so few digits that their product with n is exact.
template <class T>
struct pi {
  static constexpr bool wide = sizeof(T) == 8;
  static constexpr T one = has_fma ? (wide ? T(0x1.921fb54442d18p+1) : T(0x1.921fb4p+1)) : (wide ? T(0x1.921fb544p+1) : T(0x1.9218p+1));
  static constexpr T two = has_fma ? (wide ? T(0x1.1a62633145c06p-53) : T(0x1.4442dp-23)) : (wide ? T(0x1.0b4611a6p-33) : T(0x1.ed5p-13));
  static constexpr T three = has_fma ? (wide ? T(0x1.c1cd129024e08p-106) : T(0x1.846988p-47)) : (wide ? T(0x1.3198a2ep-68) : T(0x1.10bp-29));
  static constexpr T four = has_fma ? T(0) : wide ? T(0x1.b839a252049c1p-103) : T(0x1.184698p-43);
};

template <class P>
struct angle {
  P r;
  P sign;  // +0 or -0: the sign (-1)^n
};

template <class P>
[[gnu::noinline, gnu::cold]] TENURE_KERNEL inline void reduce_huge_lanes(const scalar_of<P>* x, scalar_of<P>* r, scalar_of<P>* sign,
                                                                         scalar_of<P> bound, bool half) {
  using T = scalar_of<P>;
  for (int i = 0; i < width<P>; ++i) {
    if (std::fabs(x[i]) <= bound) continue;
    const reduced_angle a = reduce_huge_angle(static_cast<double>(x[i]), half);
    r[i] = static_cast<T>(a.r);
    sign[i] = a.odd ? T(-0.0) : T(0.0);
  }
}

// x = n pi + r, or, with Half, x = (n + 1/2) pi + r.
template <bool Half, class P>
TENURE_KERNEL_INLINE angle<P> reduce_angle(P x) {
  using T = scalar_of<P>;
  using L = layout<P>;
  constexpr bool wide = L::wide;
  constexpr T bound = has_fma ? (wide ? T(0x1p26) : T(0x1p16f)) : (wide ? T(0x1p20) : T(0x1p11f));
  constexpr T inverse_pi = wide ? T(0x1.45f306dc9c883p-2) : T(0x1.45f306p-2);
  const P shifter = set1<P>(L::shifter);
  const P shifted = Half ? add(fma(x, set1<P>(inverse_pi), set1<P>(T(-0.5))), shifter) : fma(x, set1<P>(inverse_pi), shifter);
  P n = sub(shifted, shifter);
  if constexpr (Half) n = add(n, set1<P>(T(0.5)));
  angle<P> a;
  if constexpr (has_fma) {
    a.r = fma(n, set1<P>(-pi<T>::three), fma(n, set1<P>(-pi<T>::two), fma(n, set1<P>(-pi<T>::one), x)));
  } else {
    const twin<P> upper = two_sum(sub(x, mul(n, set1<P>(pi<T>::one))), mul(n, set1<P>(-pi<T>::two)));
    a.r = add(upper.hi, sub(upper.lo, add(mul(n, set1<P>(pi<T>::three)), mul(n, set1<P>(pi<T>::four)))));
  }
  a.sign = shift_left<wide ? 63 : 31>(shifted);
  const mask_of<P> ordinary = le(abs(x), set1<P>(bound));
  if (!all<P>(ordinary)) [[unlikely]] {
    T lanes[width<P>], r[width<P>], sign[width<P>];
    store<P>(lanes, x);
    store<P>(r, a.r);
    store<P>(sign, a.sign);
    reduce_huge_lanes<P>(lanes, r, sign, bound, Half);
    a.r = load<P>(r);
    a.sign = load<P>(sign);
  }
  return a;
}

template <class P>
struct quarter_angle {
  twin<P> r;  // |r| <= pi/4
  P odd;      // -0 where n is odd, else +0
};

template <class P>
[[gnu::noinline, gnu::cold]] TENURE_KERNEL inline void reduce_huge_lanes_to_quarters(const scalar_of<P>* x, scalar_of<P>* r, scalar_of<P>* low, scalar_of<P>* odd,
                                                                                     scalar_of<P> bound) {
  using T = scalar_of<P>;
  for (int i = 0; i < width<P>; ++i) {
    if (std::fabs(x[i]) <= bound) continue;
    reduced_angle a = reduce_huge_angle(static_cast<double>(x[i]), false);
    const bool far = std::fabs(a.r) > 0x1.921fb54442d18p-1;
    if (far) {
      a = reduce_huge_angle(static_cast<double>(x[i]), true);
      if (x[i] < T(0)) a.r = -a.r, a.low = -a.low;
    }
    r[i] = static_cast<T>(a.r);
    low[i] = static_cast<T>((a.r - static_cast<double>(r[i])) + a.low);
    odd[i] = far ? T(-0.0) : T(0.0);
  }
}

// x = n pi/2 + r = h pi + r, where h = n / 2.
template <class P>
TENURE_KERNEL_INLINE quarter_angle<P> reduce_to_quarter(P x) {
  using T = scalar_of<P>;
  using L = layout<P>;
  constexpr bool wide = L::wide;
  constexpr T bound = has_fma ? (wide ? T(0x1p25) : T(0x1p15f)) : (wide ? T(0x1p19) : T(0x1p10f));
  constexpr T inverse_half_pi = wide ? T(0x1.45f306dc9c883p-1) : T(0x1.45f306p-1);
  const P shifted = fma(x, set1<P>(inverse_half_pi), set1<P>(L::shifter));
  const P h = mul(sub(shifted, set1<P>(L::shifter)), set1<P>(T(0.5)));
  twin<P> first;
  P low;
  if constexpr (has_fma) {
    const twin<P> second = two_product(h, set1<P>(-pi<T>::two));
    first = two_sum(fma(h, set1<P>(-pi<T>::one), x), second.hi);
    low = fma(h, set1<P>(-pi<T>::three), add(first.lo, second.lo));
  } else {
    first = two_sum(sub(x, mul(h, set1<P>(pi<T>::one))), mul(h, set1<P>(-pi<T>::two)));
    low = sub(first.lo, add(mul(h, set1<P>(pi<T>::three)), mul(h, set1<P>(pi<T>::four))));
  }
  quarter_angle<P> a{two_sum(first.hi, low), shift_left<wide ? 63 : 31>(shifted)};
  const mask_of<P> ordinary = le(abs(x), set1<P>(bound));
  if (!all<P>(ordinary)) [[unlikely]] {
    T lanes[width<P>], r[width<P>], rest[width<P>], odd[width<P>];
    store<P>(lanes, x);
    store<P>(r, a.r.hi);
    store<P>(rest, a.r.lo);
    store<P>(odd, a.odd);
    reduce_huge_lanes_to_quarters<P>(lanes, r, rest, odd, bound);
    a.r = {load<P>(r), load<P>(rest)};
    a.odd = load<P>(odd);
  }
  return a;
}

// sin r = r + r^3 S(r^2) for |r| <= pi/2. S is a Remez fit, weighted for the relative error (double 2^-61.6, float 2^-27.3).
template <class P>
TENURE_KERNEL_INLINE P sin_reduced(P r) {
  const P z = mul(r, r);
  P s;
  if constexpr (layout<P>::wide)
    s = horner<P>(z, {-0x1.5555555555555p-3, 0x1.11111111110c0p-7, -0x1.a01a01a014834p-13, 0x1.71de3a5284062p-19,
                      -0x1.ae6454c994658p-26, 0x1.6123cab510fbap-33, -0x1.ae42fec413a92p-41, 0x1.882652e6a91d1p-49});
  else
    s = horner<P>(z, {-0x1.55554cp-3f, 0x1.110ed2p-7f, -0x1.9f6fa8p-13f, 0x1.5db8d2p-19f});
  // The rounding error of z is added, because near pi/2 it would be an ulp.
  const P z_low = neg(product_residual(r, r, z));
  if constexpr (has_fma) {
    return fma(fma(z, s, mul(z_low, s)), r, r);
  } else {
    const twin<P> t = two_product(z, s);
    const twin<P> product = two_product(t.hi, r);
    const twin<P> total = fast_two_sum(r, product.hi);
    return add(total.hi, add(total.lo, add(product.lo, mul(r, add(t.lo, mul(z_low, s))))));
  }
}

}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P sin(P x) {
  detail::angle<P> a = detail::reduce_angle<false>(x);
  // with_sign keeps -0, which r + r^3 S loses. Without fma r itself may lose the sign of a zero x, so x is selected there.
  if constexpr (!detail::has_fma) a.r = select(eq(x, set1<P>(scalar_of<P>(0))), x, a.r);
  return xor_bits(with_sign(detail::sin_reduced(a.r), a.r), a.sign);
}

template <class P>
TENURE_KERNEL_LAYER P cos(P x) {
  // cos((n + 1/2) pi + r) = -(-1)^n sin r
  const detail::angle<P> a = detail::reduce_angle<true>(x);
  return neg(xor_bits(detail::sin_reduced(a.r), a.sign));
}

template <class P>
TENURE_KERNEL_LAYER P tan(P x) {
  using T = scalar_of<P>;
  const P zero = set1<P>(T(0)), one = set1<P>(T(1));
  const detail::quarter_angle<P> a = detail::reduce_to_quarter(x);
  const P r = a.r.hi, z = mul(r, r);
  // (tan r - r) / r^3 in r^2 for |r| <= pi/4. A Remez fit, weighted for the relative error (double 2^-56.2, float 2^-29.6).
  P t;
  if constexpr (detail::layout<P>::wide)
    t = horner<P>(z, {0x1.55555555554f0p-2, 0x1.11111111184bdp-3, 0x1.ba1ba1b455432p-5, 0x1.664f49ac83597p-6, 0x1.226e11e875f22p-7,
                      0x1.d6d943abc9ff5p-9, 0x1.7d5a9bcc035d8p-10, 0x1.3800dafdbf0f6p-11, 0x1.d226868fb27cbp-13, 0x1.1ec1d43bec721p-13,
                      -0x1.bfb1f08f26a11p-16, 0x1.78587cf6464bfp-14, -0x1.79b43ce280b58p-15, 0x1.5ea1c735c8dccp-16});
  else
    t = horner<P>(z, {0x1.55556p-2f, 0x1.110d88p-3f, 0x1.badd1p-5f, 0x1.5ca324p-6f, 0x1.6355d6p-7f, 0x1.4af088p-14f, 0x1.1f280ap-8f});
  const P tail = mul(mul(z, r), t), near = add(r, tail);
  const P value = add(r, fma(a.r.lo, fma(near, near, one), tail));
  const mask_of<P> odd = lt(or_bits(a.odd, one), zero);
  return select(eq(x, zero), x, select(odd, div(set1<P>(T(-1)), select(odd, value, one)), value));
}

}  // namespace tenure::math
