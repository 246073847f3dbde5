// SPDX-License-Identifier: BSL-1.0
// One number from all lanes of a packet.
#pragma once

#include <tenure/math/packet/memory.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

/// Combines all lanes, half by half. The order of the two operands of `combine` is unspecified. The lanes go through memory. There is no branch on scalars, because a maximum
/// would mispredict it.
template <class P, class Combine>
TENURE_KERNEL_INLINE scalar_of<P> across(P a, Combine combine) {
  if constexpr (is_one_lane<P>) {
    return a;
  } else {
    using half = half_of<P>;
    scalar_of<P> lanes[width<P>];
    if constexpr (width<half> < width<P> && width<half> > 1) {
      store<P>(lanes, a);
      return across<half>(combine(load<half>(lanes), load<half>(lanes + width<half>)), combine);
    } else {
      static_assert(width<P> == 2 || width<P> == 4);
      const P folded = combine(a, P(detail::simd::preverse(a)));  // combines the first with the last lane, the second with the third
      if constexpr (width<P> == 2) return detail::simd::pfirst(folded);
      store<P>(lanes, folded);
      return detail::simd::pfirst(P(combine(folded, set1<P>(lanes[1]))));
    }
  }
}

}  // namespace tenure::math
