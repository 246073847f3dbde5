// SPDX-License-Identifier: BSL-1.0
// log10 = log(x) / log(10), with log x as the sum of two numbers, as in pow.
// Law: at most 0.6 ulp, so powers of ten have exact results. log10(0) is -inf, and log10 of a negative number is NaN.
// Cost: one division, and as much as about two logs.
#pragma once

#include <tenure/math/power.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
TENURE_KERNEL_LAYER P log10(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  constexpr T high = wide ? T(0x1.bcb7b1526e50ep-2) : T(0x1.bcb7b2p-2), low = wide ? T(0x1.95355baaafad3p-57) : T(-0x1.5b235ep-27);
  const detail::twin<P> l = detail::log_twin(x);
  const detail::twin<P> p = detail::two_product(l.hi, set1<P>(high));
  return detail::log_domain(x, add(p.hi, add(p.lo, fma(l.hi, set1<P>(low), mul(l.lo, set1<P>(high))))));
}

}  // namespace tenure::math
