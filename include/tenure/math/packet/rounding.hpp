// SPDX-License-Identifier: BSL-1.0
// Rounding to integers. A zero keeps its sign, and a result of zero has the sign of its argument.
#pragma once

#include <cmath>
#include <type_traits>

#include <tenure/math/packet/arithmetic.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
// Before SSE4.1 there is no instruction, and floor and ceil add and subtract, which loses the sign of a zero.
template <class P>
TENURE_KERNEL_INLINE P with_sign_of_zero(P rounded, [[maybe_unused]] P a) {
#if TENURE_SSE && !defined(__SSE4_1__)
  return with_sign(rounded, a);
#else
  return rounded;
#endif
}
}  // namespace detail

// The three keep the sign of a zero, and a result of zero has the sign of its argument.
template <class P>
TENURE_KERNEL_INLINE P floor(P a) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_roundscale_ps(detail::every_lane<P>, a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  else if constexpr (is_512<P>) return _mm512_maskz_roundscale_pd(detail::every_lane<P>, a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  else
#endif
  if constexpr (std::is_floating_point_v<P>) return std::floor(a);
  else if constexpr (is_one_lane<P>) return a;
  else return detail::with_sign_of_zero<P>(detail::simd::pfloor(a), a);
}
template <class P>
TENURE_KERNEL_INLINE P ceil(P a) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_roundscale_ps(detail::every_lane<P>, a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  else if constexpr (is_512<P>) return _mm512_maskz_roundscale_pd(detail::every_lane<P>, a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  else
#endif
  if constexpr (std::is_floating_point_v<P>) return std::ceil(a);
  else if constexpr (is_one_lane<P>) return a;
  else return detail::with_sign_of_zero<P>(detail::simd::pceil(a), a);
}
/// Rounds toward zero. -0 and the sign of a negative fraction are kept.
template <class P>
TENURE_KERNEL_INLINE P trunc(P a) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_roundscale_ps(detail::every_lane<P>, a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  else if constexpr (is_512<P>) return _mm512_maskz_roundscale_pd(detail::every_lane<P>, a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  else
#endif
  if constexpr (std::is_floating_point_v<P>) return std::trunc(a);
  else if constexpr (is_one_lane<P>) return a;
  else return with_sign(floor(abs(a)), a);  // Eigen 3.4 has no ptrunc
}
/// Rounds to the nearest integer, and halves to even.
template <class P>
TENURE_KERNEL_INLINE P round(P a) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_roundscale_ps(detail::every_lane<P>, a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  else if constexpr (is_512<P>) return _mm512_maskz_roundscale_pd(detail::every_lane<P>, a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  else
#endif
  if constexpr (std::is_floating_point_v<P>) return std::nearbyint(a);
  else if constexpr (is_one_lane<P>) return a;
  else return detail::with_sign_of_zero<P>(detail::simd::print(a), a);
}

}  // namespace tenure::math
