// SPDX-License-Identifier: BSL-1.0
// erf(x) = -expm1(g(x)) for x >= 0, with g = log(erfc). g is smooth, so one polynomial is enough for all x. With AVX-512 there is
// one polynomial for each piece instead (piecewise.hpp).
// Law: at most 2 ulp; odd, and erf(-0) is -0; +-1 at the infinities.
// Cost: a polynomial (25 terms, or 9 for float) and an expm1; with AVX-512 18 (8) lookups and fma. It has no branch and no
// division.
#pragma once

#include <tenure/math/exponential.hpp>
#include <tenure/math/pieces.hpp>
#include <tenure/math/piecewise.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
TENURE_KERNEL_LAYER P erf(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  // erf rounds to 1 from 5.93 (float: 3.92) on.
  const P a = at_most(abs(x), T(wide ? 6.0 : 3.95));
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && wide) return with_sign(detail::piecewise<false>(a, 13.0 / 16, detail::erf_pieces_double), x);
  else if constexpr (is_512<P>) return with_sign(detail::piecewise<true>(a, 33.0f / 128, detail::erf_pieces_float), x);
#endif
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

}  // namespace tenure::math
