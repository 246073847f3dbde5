// SPDX-License-Identifier: BSL-1.0
// e^(xy), and the distribution function of the standard normal distribution, erfc(-x / sqrt(2)) / 2. Both are an exponential of a product, whose rounding
// error alone would be hundreds of ulp of the result. So the product is the sum of two numbers.
// Law: at most 3 ulp, also for tiny and subnormal results. NaN gives NaN; normal_cdf is 0 and 1 at the infinities.
// Cost: that of exp and of erfc, and a few steps more.
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

template <class P>
TENURE_KERNEL_LAYER P normal_cdf(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  // -1 / sqrt(2) as two numbers.
  constexpr T high = wide ? T(-0x1.6a09e667f3bcdp-1) : T(-0x1.6a09e6p-1), low = wide ? T(0x1.bdd3413b26456p-55) : T(-0x1.9fcef4p-27);
  x = at_least(at_most(x, T(40)), T(-40));  // where it is 1 and 0, and the products below are numbers
  const detail::twin<P> p = detail::two_product(x, set1<P>(high));
  return mul(set1<P>(T(0.5)), detail::erfc_of<true>(p.hi, fma(x, set1<P>(low), p.lo)));
}

}  // namespace tenure::math
