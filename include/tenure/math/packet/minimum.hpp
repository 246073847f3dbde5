// SPDX-License-Identifier: BSL-1.0
// The minimum and the maximum of two packets, and what they do with NaN.
#pragma once

#include <type_traits>

#include <tenure/math/packet/comparison.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

/// The minimum and the maximum in one instruction. A NaN in `a` gives NaN; with a NaN in `b` the result may be `a`.
template <class P>
TENURE_KERNEL_INLINE P min_of_numbers(P a, P b) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_min_ps(detail::every_lane<P>, b, a);
  else if constexpr (is_512<P>) return _mm512_maskz_min_pd(detail::every_lane<P>, b, a);
  else
#endif
  if constexpr (is_one_lane<P>) return b < a ? b : a;
  else return detail::simd::pmin(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P max_of_numbers(P a, P b) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_max_ps(detail::every_lane<P>, b, a);
  else if constexpr (is_512<P>) return _mm512_maskz_max_pd(detail::every_lane<P>, b, a);
  else
#endif
  if constexpr (is_one_lane<P>) return a < b ? b : a;
  else return detail::simd::pmax(a, b);
}

/// The minimum and the maximum. If either argument is NaN, the result is NaN, as in PyTorch.
template <class P>
TENURE_KERNEL_INLINE P min(P a, P b) {
  if constexpr (std::is_floating_point_v<P>) return (a < b || a != a) ? a : b;
  else if constexpr (is_one_lane<P>) return a < b ? a : b;
  else return select(is_nan(b), b, min_of_numbers(a, b));
}
template <class P>
TENURE_KERNEL_INLINE P max(P a, P b) {
  if constexpr (std::is_floating_point_v<P>) return (a > b || a != a) ? a : b;
  else if constexpr (is_one_lane<P>) return a > b ? a : b;
  else return select(is_nan(b), b, max_of_numbers(a, b));
}

/// The minimum or maximum of x and a constant that is not NaN, in one instruction. A NaN in x gives NaN.
template <class P>
TENURE_KERNEL_INLINE P at_most(P x, scalar_of<P> bound) { return min_of_numbers(x, set1<P>(bound)); }
template <class P>
TENURE_KERNEL_INLINE P at_least(P x, scalar_of<P> bound) { return max_of_numbers(x, set1<P>(bound)); }

}  // namespace tenure::math
