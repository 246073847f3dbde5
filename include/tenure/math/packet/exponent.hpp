// SPDX-License-Identifier: BSL-1.0
// The layout of a floating-point number, and products with powers of two.
#pragma once

#include <cstdint>

#include <tenure/math/packet/arithmetic.hpp>
#include <tenure/math/packet/minimum.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
template <class P>
struct layout {
  using scalar = scalar_of<P>;
  static constexpr bool wide = sizeof(scalar) == 8;
  static constexpr int mantissa = wide ? 52 : 23;
  static constexpr int bias = wide ? 1023 : 127;
  static constexpr bits_of<P> one = wide ? bits_of<P>(0x3ff0000000000000u) : bits_of<P>(0x3f800000u);
  static constexpr bits_of<P> mantissa_mask = (bits_of<P>(1) << mantissa) - 1;
  // 1.5 * 2^mantissa. If it is added to a number below 2^(mantissa-1), the low bits of the sum contain the rounded number.
  static constexpr scalar shifter = static_cast<scalar>(wide ? 6755399441055744.0 : 12582912.0);
  // ln2 in two parts for the exponents n of exp and pow: n * ln2_high is exact.
  static constexpr scalar log2e = wide ? scalar(0x1.71547652b82fep+0) : scalar(0x1.715476p+0);
  static constexpr scalar ln2_high = wide ? scalar(0x1.62e42fefa4000p-1) : scalar(0x1.62e8p-1);
  static constexpr scalar ln2_low = wide ? scalar(-0x1.8432a1b0e2634p-43) : scalar(-0x1.e8082ep-16);
};

// 2^n for an integer n in [-bias+1, bias]. It shifts the low bits of n + shifter + bias.
template <class P>
TENURE_KERNEL_INLINE P power_of_two(P n) {
  using L = layout<P>;
  return shift_left<L::mantissa>(add(n, set1<P>(L::shifter + L::bias)));
}
}  // namespace detail

/// a * 2^n for an integral n, rounded once, also if the result is subnormal or overflows. A caller may clamp |n| to 2^30. `a`
/// must be 0, normal, inf or NaN. It is one instruction with AVX-512, otherwise two multiplications.
template <class P>
TENURE_KERNEL_INLINE P ldexp(P a, P n) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_scalef_ps(detail::every_lane<P>, a, n);
  else if constexpr (is_512<P>) return _mm512_maskz_scalef_pd(detail::every_lane<P>, a, n);
  else
#endif
  {
    using L = detail::layout<P>;
    using T = scalar_of<P>;
    n = at_least(at_most(n, T(2 * L::bias)), T(-2 * L::bias + 2));
    const P half = sub(add(mul(n, set1<P>(T(0.5))), set1<P>(L::shifter)), set1<P>(L::shifter));
    return mul(mul(a, detail::power_of_two(half)), detail::power_of_two(sub(n, half)));
  }
}

}  // namespace tenure::math
