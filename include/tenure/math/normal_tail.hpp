// SPDX-License-Identifier: BSL-1.0
// The logarithm of the normal distribution function Phi, stable in both tails, and its derivative r(x) = phi(x) / Phi(x), the hazard of -x. For x = -a < 0 the
// excess e = r - a is G / (sqrt(2 pi) H) with the polynomials of normal_cdf up to 6 (float: 3), and a polynomial in 1 / a^2 beyond. Then log Phi(x) is
// -a^2 / 2 - log(sqrt(2 pi) r). For x > 0 it is log1p(-phi / r(-x)). erfcx is of the same family.
// Law: log_normal_cdf, normal_ratio and normal_excess have at most 4.5 ulp, also in both tails. erfcx has 4.
// Cost: that of exp, log and log1p, with two divisions.
#pragma once

#include <tenure/math/logarithm.hpp>
#include <tenure/math/normal.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
// phi(a) / Phi(-a) - a for a >= 0.
template <class P>
TENURE_KERNEL_LAYER P normal_excess_of(P a) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  constexpr T bound = wide ? T(6) : T(3);
  const normal_polynomials<P> p = normal_polynomials_of(at_most(a, bound));
  const P inverse = div(set1<P>(T(1)), at_least(a, bound)), u = mul(inverse, inverse);
  P s;
  if constexpr (wide)
    s = horner<P>(u, {0x1.0000000000000p+0, -0x1.fffffffffff72p+0, 0x1.3ffffffff2a77p+3, -0x1.27fffff80248ap+6, 0x1.60fffd78552dbp+9,
                      -0x1.fe1f8302c3694p+12, 0x1.af4201355a84fp+16, -0x1.a0bafd7e53e1cp+20, 0x1.c30022aecff14p+24, -0x1.096b9527e5cb3p+29,
                      0x1.42152db73429ap+33, -0x1.72e61122ce3fdp+37, 0x1.6de51ce8ff583p+41, -0x1.1367e81d3b461p+45, 0x1.0f7fe828f7a10p+48,
                      -0x1.0167e5d225bb2p+50});
  else
    s = horner<P>(u, {0x1p+0f, -0x1.fffeacp+0f, 0x1.3fcc7ap+3f, -0x1.24dap+6f, 0x1.469da4p+9f, -0x1.746428p+12f, 0x1.6a54e2p+15f, -0x1.005ed4p+18f,
                      0x1.be8846p+19f, -0x1.5fd14ep+20f});
  return select(ge(a, set1<P>(bound)), mul(s, inverse), div(p.g, mul(p.h, set1<P>(root_of_2_pi<T>))));
}

// phi(x), with the digits of a tail.
template <class P>
TENURE_KERNEL_INLINE P normal_density(P x) {
  using T = scalar_of<P>;
  return mul(exp_of_product(x, mul(x, set1<P>(T(-0.5)))), set1<P>(T(0.398942280401432677940L)));
}
}  // namespace detail

/// log Phi(x).
template <class P>
TENURE_KERNEL_LAYER P log_normal_cdf(P x) {
  using T = scalar_of<P>;
  const P a = abs(x), r = add(a, detail::normal_excess_of(a));
  const P below = fma(mul(x, set1<P>(T(-0.5))), x, neg(log(mul(r, set1<P>(detail::root_of_2_pi<T>)))));
  return select(lt(x, set1<P>(T(0))), below, log1p(neg(div(detail::normal_density(x), r))));
}

/// phi(x) / Phi(x), the derivative of log Phi(x).
template <class P>
TENURE_KERNEL_LAYER P normal_ratio(P x) {
  using T = scalar_of<P>;
  const P a = abs(x), r = add(a, detail::normal_excess_of(a)), density = detail::normal_density(x);
  return select(lt(x, set1<P>(T(0))), r, div(density, sub(set1<P>(T(1)), div(density, r))));
}

/// x + phi(x) / Phi(x), without cancellation.
template <class P>
TENURE_KERNEL_LAYER P normal_excess(P x) {
  const P e = detail::normal_excess_of(abs(x));
  return select(lt(x, set1<P>(scalar_of<P>(0))), e, add(x, normal_ratio(x)));
}

/// e^(x^2) erfc(x): for x >= 0 it is sqrt(2 / pi) / r(-sqrt(2) x), without the exponential. It overflows for x below -26.6 (float: -9.3).
template <class P>
TENURE_KERNEL_LAYER P erfcx(P x) {
  using T = scalar_of<P>;
  const P a = abs(x), e = detail::normal_excess_of(mul(a, set1<P>(T(1.41421356237309504880L))));
  const P ratio = div(set1<P>(T(0.564189583547756286948L)), fma(e, set1<P>(T(0.707106781186547524401L)), a));
  const P tail = select(eq(a, set1<P>(T(0))), set1<P>(T(1)), ratio);
  const mask_of<P> below = lt(x, set1<P>(T(0)));
  if (!any<P>(below)) return tail;
  const P whole = exp_of_product(a, a);
  return select(below, sub(add(whole, whole), tail), tail);
}

}  // namespace tenure::math
