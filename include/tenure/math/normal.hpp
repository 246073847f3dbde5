// SPDX-License-Identifier: BSL-1.0
// e^(xy), and the distribution function of the standard normal distribution. For x = -a < 0 it is e^(-a^2 / 2) H / (sqrt(2 pi) a H + G) with
// polynomials H and G of a; for x > 0 it is 1 minus the value at -x. The rounding error of the product in the exponent alone would be hundreds of ulp
// of the result. So the product is the sum of two numbers.
// Law: at most 3 ulp, and 5 for normal_cdf, also for tiny and subnormal results. NaN gives NaN; normal_cdf is 0 and 1 at the infinities.
// Cost: that of exp and a few steps more; normal_cdf: 21 steps (float: 10) and a division more. In a kernel that also computes the density, which is
// exp_of_product(x, x * -0.5) / sqrt(2 pi), both share the exponential.
#pragma once

#include <tenure/math/exponential.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
TENURE_KERNEL_LAYER P exp_of_product(P x, P y) { return detail::exp_of_twin(detail::two_product(x, y)); }

namespace detail {
template <class P>
struct normal_polynomials {
  P h, g;
};
// H and G for a from 0 to 39 (float: 14.5).
template <class P>
TENURE_KERNEL_INLINE normal_polynomials<P> normal_polynomials_of(P a) {
  // H and G are a minimax fit by the relative error (double 2^-57.7,
  // float 2^-25.8). All terms are positive, so no digits cancel. For large a the quotient is nearly 1 / (sqrt(2 pi) a), whatever the errors of H and G.
  P h, g;
  if constexpr (layout<P>::wide) {
    const P z = mul(a, a);
    h = horner_by_halves<P>(a, z, {1.0, 0x1.b19731eef0ecap+0, 0x1.6b3a6db15a44ep+0, 0x1.85aeb103809eap-1, 0x1.25ed2e5c92334p-2, 0x1.446eb5692544ap-4,
                                   0x1.092028b3e2577p-6, 0x1.3d5661769f738p-9, 0x1.0b6a4d392f1abp-12, 0x1.20db6c3f1931cp-16, 0x1.341c27bd95ddep-21});
    g = horner_by_halves<P>(a, z, {2.0, 0x1.3d00298e302efp+1, 0x1.91774040ad635p+0, 0x1.4a106a3ee8bdbp-1, 0x1.7ea46116d26e2p-3, 0x1.41ee0e2db7a51p-5,
                                   0x1.8811190bc5319p-8, 0x1.4da59932b70cdp-11, 0x1.6a0759bae356ap-15, 0x1.822899b6e7d92p-20});
  } else {
    h = horner<P>(a, {1.0f, 0x1.d381e8p-1f, 0x1.9347c6p-2f, 0x1.72f8acp-4f, 0x1.3b9fc2p-7f});
    g = horner<P>(a, {2.0f, 0x1.d4a7dep-1f, 0x1.d558acp-3f, 0x1.89befap-6f, 0x1.4a37cp-19f});
  }
  return {h, g};
}
template <class T>
inline constexpr T root_of_2_pi = sizeof(T) == 8 ? T(0x1.40d931ff62705p+1) : T(0x1.40d932p+1f);
}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P normal_cdf(P x) {
  using T = scalar_of<P>;
  // From 38.6 (float: 14.3) on the exponential times the quotient is 0.
  const P a = at_most(abs(x), detail::layout<P>::wide ? T(39) : T(14.5f));
  const detail::normal_polynomials<P> p = detail::normal_polynomials_of(a);
  const P quotient = div(p.h, fma(mul(a, set1<P>(detail::root_of_2_pi<T>)), p.h, p.g));
  const P tail = mul(quotient, exp_of_product(x, mul(x, set1<P>(T(-0.5)))));
  return select(lt(x, set1<P>(T(0))), tail, sub(set1<P>(T(1)), tail));
}

}  // namespace tenure::math
