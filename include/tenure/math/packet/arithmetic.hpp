// SPDX-License-Identifier: BSL-1.0
// Sums, products, quotients, fused multiply-add, signs and the square root.
#pragma once

#include <cmath>
#include <type_traits>

#include <tenure/core/number.hpp>
#include <tenure/math/packet/bits.hpp>
#include <tenure/math/packet/memory.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

// clang does not contract a*b + c here. With `#pragma clang fp contract(fast)` it did where product and sum stood in one basic block. The loop of a
// kernel and its end differ in their blocks, so an element had other bits in another place (laws/run_time.cpp, AVX2). The pragma saved 3 % of a
// gradient and 7 % of a softmax.

template <class P>
TENURE_KERNEL_INLINE P add(P a, P b) {
  if constexpr (number::wraps<P>) return number::add(a, b);
  else if constexpr (is_one_lane<P>) return static_cast<P>(a + b);
  else return detail::simd::padd(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P sub(P a, P b) {
  if constexpr (number::wraps<P>) return number::sub(a, b);
  else if constexpr (is_one_lane<P>) return static_cast<P>(a - b);
  else return detail::simd::psub(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P mul(P a, P b) {
  if constexpr (number::wraps<P>) return number::mul(a, b);
  else if constexpr (is_one_lane<P>) return static_cast<P>(a * b);
  else return detail::simd::pmul(a, b);
}
/// The quotient. Integers divide as in C++, toward zero; the division of an integer by zero is undefined.
template <class P>
TENURE_KERNEL_INLINE P div(P a, P b) {
  if constexpr (is_one_lane<P>) return static_cast<P>(a / b);
  else return detail::simd::pdiv(a, b);
}

/// a*b + c. It is rounded once if the machine has the instruction, else twice.
template <class P>
TENURE_KERNEL_INLINE P fma(P a, P b, P c) {
  if constexpr (std::is_floating_point_v<P> && detail::has_fma) return std::fma(a, b, c);
  else if constexpr (is_one_lane<P>) return number::add(number::mul(a, b), c);
  else return detail::simd::pmadd(a, b, c);
}

/// Flips the sign bit, also of zero and NaN. (Eigen's pnegate for 512 bits computes 0 - a, which loses -0.)
template <class P>
TENURE_KERNEL_INLINE P neg(P a) {
  if constexpr (is_one_lane<P>) return number::neg(a);
  else return xor_bits(a, set1<P>(scalar_of<P>(-0.0)));
}

/// c - a*b, rounded like fma.
template <class P>
TENURE_KERNEL_INLINE P fnma(P a, P b, P c) {
  if constexpr (!detail::has_fma) return sub(c, mul(a, b));
#if TENURE_SSE  // g++ would flip the sign of a factor that is read twice
  else if constexpr (!is_one_lane<P>) return detail::simd::pnmadd(a, b, c);
#endif
  else return fma(neg(a), b, c);
}

template <class P>
TENURE_KERNEL_INLINE P abs(P a) {
  if constexpr (std::is_floating_point_v<P> || !is_one_lane<P>)
    return and_bits(a, set1_bits<P>(static_cast<bits_of<P>>(~bits_of<P>(0)) >> 1));
  else if constexpr (std::is_unsigned_v<P>) return a;
  else return number::abs(a);
}

/// The sign bit of a as a number: +0 or -0.
template <class P>
TENURE_KERNEL_INLINE P sign_bit(P a) {
  return and_bits(a, set1<P>(scalar_of<P>(-0.0)));
}
/// Gives `magnitude` the sign of `sign`. It is an OR of the sign bits, so the sign bit of `magnitude` should be clear.
template <class P>
TENURE_KERNEL_INLINE P with_sign(P magnitude, P sign) {
  return or_bits(magnitude, sign_bit(sign));
}

namespace detail {
#if TENURE_SSE
TENURE_INLINE __m128 root(__m128 a) { return _mm_sqrt_ps(a); }
TENURE_INLINE __m128d root(__m128d a) { return _mm_sqrt_pd(a); }
// std::sqrt tests its argument and calls the C library for a negative one, because of errno.
TENURE_INLINE float root(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }
TENURE_INLINE double root(double a) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(a), _mm_set_sd(a))); }
#endif
#if TENURE_AVX
TENURE_INLINE __m256 root(__m256 a) { return _mm256_sqrt_ps(a); }
TENURE_INLINE __m256d root(__m256d a) { return _mm256_sqrt_pd(a); }
#endif
}  // namespace detail

/// The square root, correctly rounded. (Eigen's psqrt for float is an estimate that treats subnormals as 0.)
template <class P>
TENURE_KERNEL_INLINE P sqrt(P a) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_sqrt_ps(detail::every_lane<P>, a);
  else if constexpr (is_512<P>) return _mm512_maskz_sqrt_pd(detail::every_lane<P>, a);
  else
#endif
#if TENURE_SSE
  return detail::root(a);
#else
  if constexpr (is_one_lane<P>) return static_cast<P>(std::sqrt(a));
  else return detail::simd::psqrt(a);
#endif
}

}  // namespace tenure::math
