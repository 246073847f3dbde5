// SPDX-License-Identifier: BSL-1.0
// e^(xy), and the distribution function of the standard normal distribution, erfc(-x / sqrt(2)) / 2. Both are an exponential of a product, whose rounding
// error alone would be hundreds of ulp of the result. So the product is the sum of two numbers.
// Law: at most 3 ulp, and 6 for normal_cdf of float, also for tiny and subnormal results. NaN gives NaN; normal_cdf is 0 and 1 at the infinities.
// Cost: that of exp and of erfc, and a few steps more; normal_cdf of float: an exp, ten steps of a polynomial and a division.
#pragma once

#include <tenure/math/error_function.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
TENURE_KERNEL_LAYER P exp_of_product(P x, P y) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  const P one = set1<P>(T(1));
  const detail::twin<P> p = detail::two_product(x, y);
  detail::exp_parts<P> parts = detail::exp_reduce(at_least(at_most(p.hi, T(wide ? 710.0 : 89.0)), T(wide ? -746.0 : -104.5)));
  // Where the result is neither 0 nor infinite, the rest is far below 1. Elsewhere it may be anything.
  parts.r = add(parts.r, select(lt(abs(p.lo), set1<P>(T(0x1p-10))), p.lo, set1<P>(T(0))));
  const P e = fma(parts.r, fma(parts.r, detail::exp_tail(parts.r), one), one);
  return detail::scale(e, parts.n);
}

namespace detail {
// In float one polynomial is enough for both tails: normal_cdf(-a) = e^(-a^2 / 2) p(t) with t = (a - 4) / (a + 4). A Remez fit, weighted for the
// relative error (2^-25.9).
template <class P>
TENURE_KERNEL_INLINE P normal_cdf_of_float(P x) {
  const P a = at_most(abs(x), 14.5f), four = set1<P>(4.0f);  // from 14.2 on it is 0
  const P p = horner<P>(div(sub(a, four), add(a, four)), {0x1.82b4bcp-4f, -0x1.5cf97ep-3f, 0x1.fd750cp-4f, -0x1.25b5f8p-4f, 0x1.f9b34cp-6f,
                        -0x1.1675b6p-7f, 0x1.077a36p-11f, 0x1.58dba2p-11f, -0x1.5ff00ap-13f, -0x1.11cf84p-14f});
  const P tail = mul(p, exp_of_product(mul(a, set1<P>(-0.5f)), a));
  return select(lt(x, set1<P>(0.0f)), tail, sub(set1<P>(1.0f), tail));
}
}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P normal_cdf(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  if constexpr (wide) {
    x = at_least(at_most(x, T(40)), T(-40));  // where it is 1 and 0, and the products below are numbers
    // -1 / sqrt(2) as two numbers.
    const detail::twin<P> p = detail::two_product(x, set1<P>(T(-0x1.6a09e667f3bcdp-1)));
    return mul(set1<P>(T(0.5)), detail::erfc_of<true>(p.hi, fma(x, set1<P>(T(0x1.bdd3413b26456p-55)), p.lo)));
  } else {
    return detail::normal_cdf_of_float(x);
  }
}

}  // namespace tenure::math
