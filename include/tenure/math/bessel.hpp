// SPDX-License-Identifier: BSL-1.0
// The modified Bessel functions I_0 and I_1 times e^-|x|. Up to |x| = 12 (float: 8) they are e^-|x| and a polynomial in x^2, whose terms are all positive, and beyond it
// a polynomial in 1 / |x| divided by the root of |x|. scripts/special.py writes the coefficients.
// Law: i0e and i1e have at most 4 ulp; i0e is even and i1e odd, and both are 0 at the infinities.
// Cost: an exponential, two polynomials (20 and 19 terms, or 11 and 6 for float), a root and two divisions.
#pragma once

#include <tenure/math/exponential.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
// I_0(x), or I_1(x) / x, for z = x^2 up to 144 (float: 64).
template <int N, class P>
TENURE_KERNEL_INLINE P bessel_by_square(P z) {
  constexpr bool wide = layout<P>::wide;
  P y;
  if constexpr (N == 0 && wide)
    y = horner<P>(z, {0x1.0000000000000p+0, 0x1.0000000000001p-2, 0x1.fffffffffffe5p-7, 0x1.c71c71c71c85cp-12, 0x1.c71c71c71b79fp-18,
                      0x1.23456789b322dp-24, 0x1.02e85c084ed33p-31, 0x1.522a43fa6c768p-39, 0x1.522a43cbe7d6ap-47, 0x1.0b3133d3965d4p-55,
                      0x1.5601791115648p-64, 0x1.69cb295869eb0p-73, 0x1.4193bf02efcf6p-82, 0x1.e750b1ebeea85p-92, 0x1.3d6905b0b46cep-101,
                      0x1.6eb8afc0c75e5p-111, 0x1.52b97d6fde8b1p-121, 0x1.9241914233365p-131, 0x1.eda9552a5f1f5p-144, 0x1.b590d8756b302p-151});
  else if constexpr (N == 0)
    y = horner<P>(z, {0x1p+0f, 0x1.fffffcp-3f, 0x1.000018p-6f, 0x1.c71af6p-12f, 0x1.c7283ap-18f, 0x1.230eeep-24f, 0x1.042128p-31f, 0x1.4935bap-39f,
                      0x1.7be056p-47f, 0x1.2a36b2p-56f, 0x1.5dd954p-63f});
  else if constexpr (N == 1 && wide)
    y = horner<P>(z, {0x1.0000000000000p-1, 0x1.ffffffffffff9p-5, 0x1.55555555555b8p-9, 0x1.c71c71c71bef9p-15, 0x1.6c16c16c1c6e9p-21,
                      0x1.845c8a0c97dd5p-28, 0x1.27e4fb7a42e60p-35, 0x1.522a43d3dfddep-43, 0x1.2c975a182a1bfp-51, 0x1.ab81d971e4f1cp-60,
                      0x1.f17748fb5795dp-69, 0x1.e25df7f0525f2p-78, 0x1.8bf01988dccebp-87, 0x1.15c0618d43747p-96, 0x1.57b9ccfddc2a5p-106,
                      0x1.52f01d5669aefp-116, 0x1.ab1027a543623p-126, 0x1.163ad7f86299fp-138, 0x1.03ea3816c452cp-145});
  else if constexpr (N == 1)
    y = horner<P>(z, {0x1p-1f, 0x1.00000cp-4f, 0x1.5554ap-9f, 0x1.c72582p-15f, 0x1.6bdc5ap-21f, 0x1.860b22p-28f, 0x1.206496p-35f, 0x1.7b217cp-43f,
                      0x1.508e68p-52f, 0x1.b5ac08p-59f});
  return y;
}
// e^-x I_N(x) sqrt(x) for u = 1 / x up to 1/12 (float: 1/8).
template <int N, class P>
TENURE_KERNEL_INLINE P bessel_of_large(P u) {
  constexpr bool wide = layout<P>::wide;
  P y;
  if constexpr (N == 0 && wide)
    y = horner<P>(u, {0x1.9884533d43651p-2, 0x1.9884533d437a8p-5, 0x1.cb94dda3fdccap-6, 0x1.debb13906de72p-6, 0x1.6e8615405190dp-5,
                      0x1.737f62a4cdf9ap-4, 0x1.bdbcee24644ecp-3, 0x1.8742fd023ae0ep+0, -0x1.60cf86bc3fffdp+5, 0x1.d534ff73be64cp+10,
                      -0x1.aa4f6b285b009p+15, 0x1.1a9711a84a116p+20, -0x1.0873b108cbff0p+24, 0x1.484deabe6d133p+27, -0x1.ba600f4662a5ep+29,
                      -0x1.46dc99f91ac23p+28, 0x1.382883d1e9e54p+35, -0x1.e035a83af1c83p+37, 0x1.f9ce23279b911p+38});
  else if constexpr (N == 0)
    y = horner<P>(u, {0x1.988454p-2f, 0x1.98874ap-5f, 0x1.c97fcap-6f, 0x1.103f7p-5f, -0x1.216ab4p-7f, 0x1.7cec3cp-2f});
  else if constexpr (N == 1 && wide)
    y = horner<P>(u, {0x1.9884533d43651p-2, -0x1.32633e6df2911p-3, -0x1.7efc0e08fabd0p-5, -0x1.4f1c8d44b578dp-5, -0x1.d73f083bdbdcdp-5,
                      -0x1.c5f4bcf4840b4p-4, -0x1.09b9bc4c53191p-2, -0x1.9aeb053aee0b1p+0, 0x1.4eee86788cc68p+5, -0x1.be44887106afdp+10,
                      0x1.8fb1df72e3bc4p+15, -0x1.0389acb8acf8bp+20, 0x1.d452779732a09p+23, -0x1.0c96094239366p+27, 0x1.0cef9286e1791p+29,
                      0x1.8fa3bc5b0b508p+31, -0x1.b4c3907fee144p+35, 0x1.23f8d2e127fb9p+38, -0x1.23d59e09bfba3p+39});
  else if constexpr (N == 1)
    y = horner<P>(u, {0x1.988454p-2f, -0x1.326416p-3f, -0x1.7dce5ep-5f, -0x1.746p-5f, 0x1.b48952p-9f, -0x1.ba7adp-2f});
  return y;
}

template <int N, class P>
TENURE_KERNEL_INLINE P scaled_bessel(P x) {
  using T = scalar_of<P>;
  constexpr T bound = layout<P>::wide ? T(12) : T(8);
  const P a = abs(x), small = at_most(a, bound), large = at_least(a, bound);
  const P y = bessel_by_square<N>(mul(small, small));
  const P near = mul(exp_of_minus_abs(small), N == 0 ? y : mul(y, small));
  const P far = div(bessel_of_large<N>(div(set1<P>(T(1)), large)), sqrt(large));
  return select(gt(a, set1<P>(bound)), far, near);
}
}  // namespace detail

/// e^-|x| I_0(x).
template <class P>
TENURE_KERNEL_LAYER P i0e(P x) { return detail::scaled_bessel<0>(x); }
/// e^-|x| I_1(x).
template <class P>
TENURE_KERNEL_LAYER P i1e(P x) { return with_sign(detail::scaled_bessel<1>(x), x); }

}  // namespace tenure::math
