// SPDX-License-Identifier: BSL-1.0
// Packets of lanes from memory that holds a narrower element type, and back: whole packets, the first n lanes, and lanes at a stride.
// A type states two functions of a packet, `widened` and `narrowed`, in a specialization of narrow_lanes. They work on the bits of lanes of
// 32 bits, of which the lower 16 are the number in memory. It may add `from_words` and `to_words`, the same from and to registers of 16-bit words.
// Cost: a load of bfloat16 is one instruction more with AVX-512, else two; a store is four with avx512_bf16, else eight. A rounding is five or eight.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include <tenure/core/dtype.hpp>
#include <tenure/math/packet/bits.hpp>
#include <tenure/math/packet/comparison.hpp>
#include <tenure/math/packet/memory.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

/// The conversions of a narrow element type. number::convert gives the same results for one number.
template <class Narrow>
struct narrow_lanes;
template <>
struct narrow_lanes<bfloat16> {
  template <class P>
  static TENURE_KERNEL_INLINE P widened(P bits) { return detail::shl<16>(bits); }
  template <class P>
  static TENURE_KERNEL_INLINE P narrowed(P x) {
    const P odd = detail::shr<31>(detail::shl<15>(x));
    const P nearest = detail::iadd(detail::iadd(x, set1_bits<P>(0x7fff)), odd);
    return detail::shr<16>(select(eq(x, x), nearest, detail::simd::por(x, set1_bits<P>(0x400000))));
  }
#if TENURE_AVX512 && defined(__AVX512BW__)
  static TENURE_INLINE __m512 from_words(__m512, __m256i words) {
    const __m512i twice = _mm512_set_epi16(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaa, twice, _mm512_castsi256_si512(words)));
  }
  static TENURE_INLINE __m512 broadcast_word(__m512, const bfloat16* x) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_set1_epi16(std::bit_cast<short>(*x)), _mm512_set1_epi32(static_cast<int>(0xffff0000))));
  }
#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
  static TENURE_INLINE __m256i to_words(__m512 x) {
    constexpr int is_subnormal = 0x20;  // the instruction makes these zero
    return _mm512_fpclass_ps_mask(x, is_subnormal) != 0 ? subnormal_to_words(x) : std::bit_cast<__m256i>(_mm512_cvtneps_pbh(x));
  }
  [[gnu::cold, gnu::noinline]] static __m256i subnormal_to_words(__m512 x) { return _mm512_maskz_cvtepi32_epi16(detail::every_lane<__m512>, _mm512_castps_si512(narrowed(x))); }
#endif
#endif
#if TENURE_AVX2
  static TENURE_INLINE __m256 broadcast_word(__m256, const bfloat16* x) {
    return _mm256_castsi256_ps(_mm256_and_si256(_mm256_set1_epi16(std::bit_cast<short>(*x)), _mm256_set1_epi32(static_cast<int>(0xffff0000))));
  }
#endif
};
template <>
struct narrow_lanes<float16> {
  template <class P>
  static TENURE_KERNEL_INLINE P widened(P bits) {
    const P sign = and_bits(detail::shl<16>(bits), set1_bits<P>(0x80000000)), size = detail::shl<13>(and_bits(bits, set1_bits<P>(0x7fff)));
    const P value = mul(size, set1<P>(0x1p112f)), infinite = set1<P>(0x1p16f);  // exact, also for subnormal numbers
    const P special = detail::simd::por(detail::simd::por(size, set1_bits<P>(0x7f800000)), select(eq(value, infinite), set1<P>(0.0f), set1_bits<P>(0x400000)));
    return detail::simd::por(sign, select(lt(value, infinite), value, special));
  }
  template <class P>
  static TENURE_KERNEL_INLINE P narrowed(P x) {
    const P sign = and_bits(detail::shr<16>(x), set1_bits<P>(0x8000)), size = abs(x);
    const P odd = detail::shr<31>(detail::shl<18>(size));
    const P normal = detail::shr<13>(detail::iadd(detail::iadd(size, set1_bits<P>(0u - 0x38000000u + 0xfffu)), odd));
    const P subnormal = detail::iadd(add(size, set1<P>(0.5f)), set1_bits<P>(0u - 0x3f000000u));  // a step of 0.5 is that of subnormal numbers
    const P finite = select(lt(size, set1<P>(0x1p-14f)), subnormal, normal), known = select(lt(size, set1<P>(65520.0f)), finite, set1_bits<P>(0x7c00));
    const P nan = detail::simd::por(and_bits(detail::shr<13>(x), set1_bits<P>(0x3ff)), set1_bits<P>(0x7e00));
    return detail::simd::por(sign, select(eq(x, x), known, nan));
  }
#if TENURE_AVX512
  static TENURE_INLINE __m512 from_words(__m512, __m256i words) { return _mm512_maskz_cvtph_ps(detail::every_lane<__m512>, words); }
  static TENURE_INLINE __m256i to_words(__m512 x) { return _mm512_maskz_cvtps_ph(detail::every_lane<__m512>, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
#endif
#if TENURE_AVX && defined(__F16C__)
  static TENURE_INLINE __m256 from_words(__m256, __m128i words) { return _mm256_cvtph_ps(words); }
  static TENURE_INLINE __m128i to_words(__m256 x) { return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
#endif
};

namespace detail {
// The 16-bit words of a packet of 32-bit lanes.
#if TENURE_SSE
TENURE_INLINE __m128 words_from(__m128, const void* from) { return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_loadl_epi64(static_cast<const __m128i*>(from)), _mm_setzero_si128())); }
TENURE_INLINE void words_to(void* to, __m128 words) {
  // The packing instruction of SSE2 saturates signed numbers, so the words are made signed first.
  const __m128i wide = _mm_srai_epi32(_mm_slli_epi32(_mm_castps_si128(words), 16), 16);
  _mm_storel_epi64(static_cast<__m128i*>(to), _mm_packs_epi32(wide, wide));
}
#endif
#if TENURE_AVX
TENURE_INLINE __m256 words_from(__m256, const void* from) {
#if TENURE_AVX2
  return _mm256_castsi256_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from))));
#else
  return join(words_from(__m128{}, from), words_from(__m128{}, static_cast<const char*>(from) + 8));
#endif
}
TENURE_INLINE void words_to(void* to, __m256 words) {
  const __m128i low = _mm_castps_si128(_mm256_castps256_ps128(words)), high = _mm_castps_si128(_mm256_extractf128_ps(words, 1));
  _mm_storeu_si128(static_cast<__m128i*>(to), _mm_packus_epi32(low, high));
}
#endif
#if TENURE_AVX512
TENURE_INLINE __m512 words_from(__m512, const void* from) {
  return _mm512_castsi512_ps(_mm512_maskz_cvtepu16_epi32(every_lane<__m512>, _mm256_loadu_si256(static_cast<const __m256i*>(from))));
}
TENURE_INLINE void words_to(void* to, __m512 words) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_maskz_cvtepi32_epi16(every_lane<__m512>, _mm512_castps_si512(words)));
}
#endif
void words_from(...);
void words_to(...);

// Integers of a byte as floating lanes.
#if TENURE_AVX2
TENURE_INLINE __m256 bytes_from(__m256, const std::int8_t* from) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)))); }
TENURE_INLINE __m256 bytes_from(__m256, const std::uint8_t* from) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)))); }
#endif
#if TENURE_AVX512
TENURE_INLINE __m512 bytes_from(__m512, const std::int8_t* from) {
  return _mm512_maskz_cvtepi32_ps(every_lane<__m512>, _mm512_maskz_cvtepi8_epi32(every_lane<__m512>, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
TENURE_INLINE __m512 bytes_from(__m512, const std::uint8_t* from) {
  return _mm512_maskz_cvtepi32_ps(every_lane<__m512>, _mm512_maskz_cvtepu8_epi32(every_lane<__m512>, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
#endif
void bytes_from(...);

/// The words of a packet as one register, if the processor converts them at once.
template <class P>
struct words_of;
#if TENURE_AVX
template <>
struct words_of<__m256> {
  static TENURE_INLINE __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
  static TENURE_INLINE void store(void* to, __m128i words) { _mm_storeu_si128(static_cast<__m128i*>(to), words); }
};
#endif
#if TENURE_AVX512
template <>
struct words_of<__m512> {
  static TENURE_INLINE __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static TENURE_INLINE void store(void* to, __m256i words) { _mm256_storeu_si256(static_cast<__m256i*>(to), words); }
};
#endif

template <class Lanes, class P>
TENURE_KERNEL_INLINE P load_words(P p, const void* from) {
  if constexpr (requires { Lanes::from_words(p, words_of<P>::load(from)); }) return Lanes::from_words(p, words_of<P>::load(from));
  else return Lanes::widened(words_from(p, from));
}
template <class Lanes, class P>
TENURE_KERNEL_INLINE void store_words(void* to, P value) {
  if constexpr (requires { words_of<P>::store(to, Lanes::to_words(value)); }) words_of<P>::store(to, Lanes::to_words(value));
  else words_to(to, Lanes::narrowed(value));
}
}  // namespace detail

/// Loads the first n lanes, at a stride, and repeats the first element in the others. Requires n > 0.
template <class P, class Narrow>
TENURE_KERNEL_INLINE P load_narrow(const Narrow* from, std::ptrdiff_t stride = 1, int n = width<P>) {
  if constexpr (is_one_lane<P>) {
    return static_cast<P>(*from);
  } else {
    if constexpr (std::is_same_v<decltype(detail::bytes_from(P{}, from)), P>) {
      if (stride == 1 && n == width<P>) return detail::bytes_from(P{}, from);
    } else if constexpr (sizeof(Narrow) == 2 && std::is_same_v<decltype(detail::words_from(P{}, from)), P>) {
      if (stride == 1 && n == width<P>) return detail::load_words<narrow_lanes<Narrow>>(P{}, from);
    }
    scalar_of<P> lanes[width<P>];
    for (int l = 0; l < width<P>; ++l) lanes[l] = static_cast<scalar_of<P>>(from[l < n ? l * stride : 0]);
    return load<P>(lanes);
  }
}

/// One number in every lane.
template <class P, class Narrow>
TENURE_KERNEL_INLINE P broadcast_narrow(const Narrow* from) {
  if constexpr (requires { narrow_lanes<Narrow>::broadcast_word(P{}, from); }) return narrow_lanes<Narrow>::broadcast_word(P{}, from);
  else return set1<P>(static_cast<scalar_of<P>>(*from));
}

/// Rounds each lane and writes the first n of them, at a stride, and nothing else.
template <class P, class Narrow>
TENURE_KERNEL_INLINE void store_narrow(Narrow* to, P value, std::ptrdiff_t stride = 1, int n = width<P>) {
  if constexpr (is_one_lane<P>) {
    if (n > 0) *to = Narrow(value);
  } else {
    if constexpr (std::is_same_v<decltype(detail::words_from(P{}, to)), P>)
      if (stride == 1 && n == width<P>) return detail::store_words<narrow_lanes<Narrow>>(to, value);
    scalar_of<P> lanes[width<P>];
    store<P>(lanes, value);
    for (int l = 0; l < n; ++l) to[l * stride] = Narrow(lanes[l]);
  }
}

/// The numbers that memory would hold after a store, in lanes.
template <class Narrow, class P>
TENURE_KERNEL_INLINE P rounded_to(P value) {
  if constexpr (is_one_lane<P>) return static_cast<P>(Narrow(value));
  else if constexpr (requires { narrow_lanes<Narrow>::to_words(value); }) return narrow_lanes<Narrow>::from_words(P{}, narrow_lanes<Narrow>::to_words(value));
  else return narrow_lanes<Narrow>::widened(narrow_lanes<Narrow>::narrowed(value));
}

}  // namespace tenure::math
