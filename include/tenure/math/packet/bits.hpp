// SPDX-License-Identifier: BSL-1.0
// The bits of each lane as an integer: shifts, sums, differences, and, or, xor.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include <tenure/math/packet/types.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {

// Integer operations on the bits of each lane. Eigen 3.4 has no packets of 64-bit integers, so these use the intrinsics directly.
// The shift count is a template argument, because the instructions take an immediate.
template <int N, std::floating_point T> TENURE_KERNEL_INLINE T shl(T a) { return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) << N); }
template <int N, std::floating_point T> TENURE_KERNEL_INLINE T shr(T a) { return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) >> N); }
template <std::floating_point T> TENURE_KERNEL_INLINE T iadd(T a, T b) { return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) + std::bit_cast<bits_of<T>>(b)); }
template <std::floating_point T> TENURE_KERNEL_INLINE T isub(T a, T b) { return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) - std::bit_cast<bits_of<T>>(b)); }

#if TENURE_SSE
template <int N> TENURE_INLINE __m128 shl(__m128 a) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_castps_si128(a), N)); }
template <int N> TENURE_INLINE __m128 shr(__m128 a) { return _mm_castsi128_ps(_mm_srli_epi32(_mm_castps_si128(a), N)); }
TENURE_INLINE __m128 iadd(__m128 a, __m128 b) { return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(a), _mm_castps_si128(b))); }
TENURE_INLINE __m128 isub(__m128 a, __m128 b) { return _mm_castsi128_ps(_mm_sub_epi32(_mm_castps_si128(a), _mm_castps_si128(b))); }
template <int N> TENURE_INLINE __m128d shl(__m128d a) { return _mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(a), N)); }
template <int N> TENURE_INLINE __m128d shr(__m128d a) { return _mm_castsi128_pd(_mm_srli_epi64(_mm_castpd_si128(a), N)); }
TENURE_INLINE __m128d iadd(__m128d a, __m128d b) { return _mm_castsi128_pd(_mm_add_epi64(_mm_castpd_si128(a), _mm_castpd_si128(b))); }
TENURE_INLINE __m128d isub(__m128d a, __m128d b) { return _mm_castsi128_pd(_mm_sub_epi64(_mm_castpd_si128(a), _mm_castpd_si128(b))); }
#endif
#if TENURE_AVX
#if TENURE_AVX2
template <int N> TENURE_INLINE __m256 shl(__m256 a) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), N)); }
template <int N> TENURE_INLINE __m256 shr(__m256 a) { return _mm256_castsi256_ps(_mm256_srli_epi32(_mm256_castps_si256(a), N)); }
TENURE_INLINE __m256 iadd(__m256 a, __m256 b) { return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b))); }
TENURE_INLINE __m256 isub(__m256 a, __m256 b) { return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b))); }
template <int N> TENURE_INLINE __m256d shl(__m256d a) { return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(a), N)); }
template <int N> TENURE_INLINE __m256d shr(__m256d a) { return _mm256_castsi256_pd(_mm256_srli_epi64(_mm256_castpd_si256(a), N)); }
TENURE_INLINE __m256d iadd(__m256d a, __m256d b) { return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(a), _mm256_castpd_si256(b))); }
TENURE_INLINE __m256d isub(__m256d a, __m256d b) { return _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_castpd_si256(a), _mm256_castpd_si256(b))); }
#else
// AVX without AVX2 has 256-bit floating point but only 128-bit integers, so integer operations work on halves.
TENURE_INLINE __m128 high(__m256 a) { return _mm256_extractf128_ps(a, 1); }
TENURE_INLINE __m128d high(__m256d a) { return _mm256_extractf128_pd(a, 1); }
TENURE_INLINE __m128 low(__m256 a) { return _mm256_castps256_ps128(a); }
TENURE_INLINE __m128d low(__m256d a) { return _mm256_castpd256_pd128(a); }
TENURE_INLINE __m256 join(__m128 l, __m128 h) { return _mm256_insertf128_ps(_mm256_castps128_ps256(l), h, 1); }
TENURE_INLINE __m256d join(__m128d l, __m128d h) { return _mm256_insertf128_pd(_mm256_castpd128_pd256(l), h, 1); }
template <int N> TENURE_INLINE __m256 shl(__m256 a) { return join(shl<N>(low(a)), shl<N>(high(a))); }
template <int N> TENURE_INLINE __m256 shr(__m256 a) { return join(shr<N>(low(a)), shr<N>(high(a))); }
TENURE_INLINE __m256 iadd(__m256 a, __m256 b) { return join(iadd(low(a), low(b)), iadd(high(a), high(b))); }
TENURE_INLINE __m256 isub(__m256 a, __m256 b) { return join(isub(low(a), low(b)), isub(high(a), high(b))); }
template <int N> TENURE_INLINE __m256d shl(__m256d a) { return join(shl<N>(low(a)), shl<N>(high(a))); }
template <int N> TENURE_INLINE __m256d shr(__m256d a) { return join(shr<N>(low(a)), shr<N>(high(a))); }
TENURE_INLINE __m256d iadd(__m256d a, __m256d b) { return join(iadd(low(a), low(b)), iadd(high(a), high(b))); }
TENURE_INLINE __m256d isub(__m256d a, __m256d b) { return join(isub(low(a), low(b)), isub(high(a), high(b))); }
#endif
#endif
#if TENURE_AVX512
template <int N> TENURE_INLINE __m512 shl(__m512 a) { return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, _mm512_castps_si512(a), N)); }
template <int N> TENURE_INLINE __m512 shr(__m512 a) { return _mm512_castsi512_ps(_mm512_maskz_srli_epi32(0xffff, _mm512_castps_si512(a), N)); }
TENURE_INLINE __m512 iadd(__m512 a, __m512 b) { return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b))); }
TENURE_INLINE __m512 isub(__m512 a, __m512 b) { return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b))); }
template <int N> TENURE_INLINE __m512d shl(__m512d a) { return _mm512_castsi512_pd(_mm512_maskz_slli_epi64(0xff, _mm512_castpd_si512(a), N)); }
template <int N> TENURE_INLINE __m512d shr(__m512d a) { return _mm512_castsi512_pd(_mm512_maskz_srli_epi64(0xff, _mm512_castpd_si512(a), N)); }
TENURE_INLINE __m512d iadd(__m512d a, __m512d b) { return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b))); }
TENURE_INLINE __m512d isub(__m512d a, __m512d b) { return _mm512_castsi512_pd(_mm512_sub_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b))); }
#endif
#if defined(EIGEN_VECTORIZE_NEON)
template <int N> TENURE_INLINE float32x2_t shl(float32x2_t a) { return vreinterpret_f32_u32(vshl_n_u32(vreinterpret_u32_f32(a), N)); }
template <int N> TENURE_INLINE float32x2_t shr(float32x2_t a) { return vreinterpret_f32_u32(vshr_n_u32(vreinterpret_u32_f32(a), N)); }
TENURE_INLINE float32x2_t iadd(float32x2_t a, float32x2_t b) { return vreinterpret_f32_u32(vadd_u32(vreinterpret_u32_f32(a), vreinterpret_u32_f32(b))); }
TENURE_INLINE float32x2_t isub(float32x2_t a, float32x2_t b) { return vreinterpret_f32_u32(vsub_u32(vreinterpret_u32_f32(a), vreinterpret_u32_f32(b))); }
template <int N> TENURE_INLINE float32x4_t shl(float32x4_t a) { return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a), N)); }
template <int N> TENURE_INLINE float32x4_t shr(float32x4_t a) { return vreinterpretq_f32_u32(vshrq_n_u32(vreinterpretq_u32_f32(a), N)); }
TENURE_INLINE float32x4_t iadd(float32x4_t a, float32x4_t b) { return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b))); }
TENURE_INLINE float32x4_t isub(float32x4_t a, float32x4_t b) { return vreinterpretq_f32_u32(vsubq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b))); }
#if defined(__aarch64__)
template <int N> TENURE_INLINE float64x2_t shl(float64x2_t a) { return vreinterpretq_f64_u64(vshlq_n_u64(vreinterpretq_u64_f64(a), N)); }
template <int N> TENURE_INLINE float64x2_t shr(float64x2_t a) { return vreinterpretq_f64_u64(vshrq_n_u64(vreinterpretq_u64_f64(a), N)); }
TENURE_INLINE float64x2_t iadd(float64x2_t a, float64x2_t b) { return vreinterpretq_f64_u64(vaddq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b))); }
TENURE_INLINE float64x2_t isub(float64x2_t a, float64x2_t b) { return vreinterpretq_f64_u64(vsubq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b))); }
#endif
#endif

}  // namespace detail

/// Shifts the bits of each lane; zeros come in.
template <int N, class P>
TENURE_KERNEL_INLINE P shift_left(P a) {
  return detail::shl<N>(a);
}
template <int N, class P>
TENURE_KERNEL_INLINE P shift_right(P a) {
  return detail::shr<N>(a);
}
/// The sum or difference of the bits of each lane as integers, modulo 2^32 or 2^64.
template <class P>
TENURE_KERNEL_INLINE P add_bits(P a, P b) {
  return detail::iadd(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P sub_bits(P a, P b) {
  return detail::isub(a, b);
}

template <class P>
TENURE_KERNEL_INLINE P and_bits(P a, P b) {
  if constexpr (is_one_lane<P>) return std::bit_cast<P>(std::bit_cast<bits_of<P>>(a) & std::bit_cast<bits_of<P>>(b));
  else return detail::simd::pand(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P or_bits(P a, P b) {
  if constexpr (is_one_lane<P>) return std::bit_cast<P>(std::bit_cast<bits_of<P>>(a) | std::bit_cast<bits_of<P>>(b));
  else return detail::simd::por(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P xor_bits(P a, P b) {
  if constexpr (is_one_lane<P>) return std::bit_cast<P>(std::bit_cast<bits_of<P>>(a) ^ std::bit_cast<bits_of<P>>(b));
  else return detail::simd::pxor(a, b);
}

}  // namespace tenure::math
