// SPDX-License-Identifier: BSL-1.0
// sinc(x) = sin(pi x) / (pi x), as NumPy has it, and its first two derivatives. Up to |x| = 1 the derivatives are polynomials in x^2, and beyond it the
// recurrence x f' + f = cos(pi x), x f'' + 2 f' = -pi sin(pi x). scripts/special.py writes the coefficients.
// Law: sinc has at most 3 ulp, also near its zeros, and is 1 at 0. sinc_slope<1> and <2> have 5 ulp of what they reach between their zeros: from 1 on that is 1 / |x|
// and pi / |x|.
// Cost: a polynomial of 9 terms (float: 5) and a division; the slopes another polynomial of 11 (6) terms and a division, or two.
#pragma once

#include <tenure/math/gamma.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
// a with the sign of (-1)^n for the integer n.
template <class P>
TENURE_KERNEL_INLINE P alternating(P n, P a) {
  const P half = mul(n, set1<P>(scalar_of<P>(0.5)));
  return select(eq(floor(half), half), a, neg(a));
}
}  // namespace detail

/// sin(pi x) / (pi x); 1 at 0, NaN at the infinities.
template <class P>
TENURE_KERNEL_LAYER P sinc(P x) {
  using T = scalar_of<P>;
  const P n = round(x), r = sub(x, n), one = set1<P>(T(1));
  const mask_of<P> is_0 = eq(x, set1<P>(T(0)));
  const P size = mul(div(r, select(is_0, one, x)), detail::sine_of_turns(mul(r, r)));
  return select(is_0, one, detail::alternating(n, size));
}

/// The derivative of sinc of order K = 0, 1 or 2.
template <int K, class P>
TENURE_KERNEL_LAYER P sinc_slope(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  if constexpr (K == 0) {
    return sinc(x);
  } else {
    const mask_of<P> far = gt(abs(x), set1<P>(T(1)));
    const P t = sub(mul(x, x), set1<P>(T(0.5)));
    P near;
    if constexpr (K == 1 && wide)
      near = horner<P>(t, {-0x1.ed82aeb618df8p+0, 0x1.1fc3840cc0fd8p+1, -0x1.ba42bffca0c79p-1, 0x1.54f2ae852431cp-3, -0x1.3d253d962bda4p-6,
                           0x1.8b738a94c9321p-10, -0x1.61e2816c0b080p-14, 0x1.dcfc99627e6c9p-19, -0x1.f5d0b6d01f4d9p-24, 0x1.a7c20162a862ep-29,
                           -0x1.257561fe68c35p-34});
    else if constexpr (K == 1)
      near = horner<P>(t, {-0x1.ed82bp+0f, 0x1.1fc384p+1f, -0x1.ba425cp-1f, 0x1.54f29ep-3f, -0x1.3daap-6f, 0x1.8bcdp-10f});
    else if constexpr (wide)
      near = horner<P>(t, {0x1.4811658da46ddp-2, 0x1.41149613f94a5p+2, -0x1.e8e5ef42d22fbp+1, 0x1.168204db1ce96p+0, -0x1.555761df22785p-3,
                           0x1.0794203dd5107p-6, -0x1.190295089305ep-10, 0x1.b7558c0974a11p-15, -0x1.06ddae082a098p-19, 0x1.f18253c72bc23p-25,
                           -0x1.7d87f9bf6e638p-30});
    else
      near = horner<P>(t, {0x1.481166p-2f, 0x1.411496p+2f, -0x1.e8e5fp+1f, 0x1.1681d4p+0f, -0x1.555754p-3f, 0x1.07f444p-6f, -0x1.193c18p-10f});
    if constexpr (K == 1) near = mul(near, x);
    if (!any<P>(far)) return near;
    constexpr T pi = T(3.14159265358979323846L);
    const P n = round(x), r = sub(x, n), u = select(far, x, set1<P>(T(1)));
    P top;
    if constexpr (K == 1) {  // cos(pi x) = +-(1 - 2 sin^2(pi r / 2)), and near its zeros +-sin(pi (1/2 - |r|)), which has its digits there
      const mask_of<P> is_steep = gt(abs(r), set1<P>(T(0.25)));
      const P h = select(is_steep, sub(set1<P>(T(0.5)), abs(r)), mul(r, set1<P>(T(0.5)))), s = mul(mul(h, set1<P>(pi)), detail::sine_of_turns(mul(h, h)));
      top = sub(detail::alternating(n, select(is_steep, s, fnma(add(s, s), s, set1<P>(T(1))))), sinc(x));
    } else {
      const P s = mul(mul(r, set1<P>(pi * pi)), detail::sine_of_turns(mul(r, r))), slope = sinc_slope<1>(x);
      top = neg(add(detail::alternating(n, s), add(slope, slope)));
    }
    return select(far, div(top, u), near);
  }
}

}  // namespace tenure::math
