// SPDX-License-Identifier: BSL-1.0
// Packets: the functions on SIMD registers with which every loop in the library is written. Only this header calls Eigen's packet
// primitives.
// Law: each function does in each lane what the scalar function of the same name does, also for NaN. Integers wrap around
// (core/number.hpp).
// Cost: one or two instructions for each call. across() is slower and belongs after a loop.
//
// P is a packet of float or double, or an arithmetic type T, which is a packet of one lane.
// mask_of<P> is the type that a comparison returns: bool for one lane, a lane_mask (a k register) for 512-bit packets, and
// otherwise a P whose lanes are all ones or all zeros. mask_and, mask_or, mask_not, any, all and select take all three.
#pragma once

#include <tenure/core/number.hpp>

// With nvcc packets have one lane, and Eigen is not included, because it takes a second in each of nvcc's passes over a file.
#if !defined(__CUDACC__)
#include <tenure/math/eigen_packets.hpp>
#if defined(EIGEN_VECTORIZE) ? TENURE_ONE_LANE : defined(EIGEN_DONT_VECTORIZE) && !TENURE_ONE_LANE
#error "tenure: include: Eigen and Tenure disagree about vectorization: define EIGEN_DONT_VECTORIZE before the first include of either"
#endif
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

// g++ warns at every packet in a template argument that the type loses its alignment attribute there, which is harmless. The
// pragma is not popped at the end, because the uses are in other headers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
inline constexpr bool is_one_lane = std::is_arithmetic_v<P>;

namespace detail {

#if defined(__CUDACC__)
// Declarations for code that packets of one lane never reach.
namespace simd {
template <class T>
struct packet_traits {
  using type = T;
};
template <class P>
struct unpacket_traits;
template <class...> void pset1(...); template <class...> void ploadu(...); template <class...> void pstoreu(...); template <class...> void pgather(...);
template <class...> void pselect(...); template <class...> void pfirst(...); template <class...> void preverse(...); template <class...> void pand(...);
template <class...> void por(...); template <class...> void pxor(...); template <class...> void padd(...); template <class...> void psub(...);
template <class...> void pmul(...); template <class...> void pdiv(...); template <class...> void pmadd(...); template <class...> void psqrt(...);
template <class...> void pfloor(...); template <class...> void pceil(...); template <class...> void print(...); template <class...> void pmin(...);
template <class...> void pmax(...); template <class...> void pcmp_lt(...); template <class...> void pcmp_le(...); template <class...> void pcmp_eq(...);
}  // namespace simd
#else
namespace simd = Eigen::internal;
#endif

template <class T>
struct packet_for {
  using type = T;
};
template <>
struct packet_for<float> {
  using type = simd::packet_traits<float>::type;
};
template <>
struct packet_for<double> {
  using type = simd::packet_traits<double>::type;
};

template <class P, bool = is_one_lane<P>>
struct lanes_of {
  using scalar = P;
  static constexpr int count = 1;
};
template <class P>
struct lanes_of<P, false> {
  using scalar = typename detail::simd::unpacket_traits<P>::type;
  static constexpr int count = detail::simd::unpacket_traits<P>::size;
};

// True if a*b+c is one instruction with one rounding. Algorithms with numbers split in two choose their method by it.
#if defined(__FMA__) || defined(__AVX512F__) || defined(__ARM_FEATURE_FMA) || defined(__CUDA_ARCH__)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

#if defined(EIGEN_VECTORIZE_AVX512)
inline constexpr bool has_512 = true;
#else
inline constexpr bool has_512 = false;
#endif

}  // namespace detail

/// The widest packet of T: a SIMD register for float and double, and T itself for every other type.
template <class T>
using packet_of = typename detail::packet_for<T>::type;

template <class P>
using scalar_of = typename detail::lanes_of<P>::scalar;

/// The number of lanes of P.
template <class P>
inline constexpr int width = detail::lanes_of<P>::count;

template <class P>
inline constexpr bool is_512 = detail::has_512 && width<P> * sizeof(scalar_of<P>) == 64;

namespace detail {
// The unmasked 512-bit intrinsics pass an undefined register, and g++ 12 warns about that wherever they are inlined (gcc bug
// 105593). The zero-masked ones with every lane set compile to the same instruction.
template <class P>
inline constexpr auto every_lane = static_cast<std::conditional_t<(width<P> > 8), std::uint16_t, std::uint8_t>>(~0u);
}  // namespace detail

/// A mask with one bit for each lane. Lane 0 is the lowest bit.
template <int Lanes>
struct lane_mask {
  std::conditional_t<(Lanes > 8), std::uint16_t, std::uint8_t> bits;
};

template <class P>
using mask_of = std::conditional_t<is_one_lane<P>, bool, std::conditional_t<is_512<P>, lane_mask<width<P>>, P>>;

// The unsigned integer with the size of one lane.
template <class P>
using bits_of = std::conditional_t<sizeof(scalar_of<P>) == 8, std::uint64_t, std::uint32_t>;

// ---- constants, memory ------------------------------------------------------------------------------------

template <class P>
TENURE_KERNEL_INLINE P set1(scalar_of<P> value) {
  if constexpr (is_one_lane<P>) return value;
  else return detail::simd::pset1<P>(value);
}

/// A packet with this bit pattern in every lane.
template <class P>
TENURE_KERNEL_INLINE P set1_bits(bits_of<P> bits) {
  return set1<P>(std::bit_cast<scalar_of<P>>(bits));
}

/// Loads a packet. `from` needs only the alignment of one scalar.
template <class P>
TENURE_KERNEL_INLINE P load(const scalar_of<P>* from) {
  if constexpr (is_one_lane<P>) return *from;
  else return detail::simd::ploadu<P>(from);
}

template <class P>
TENURE_KERNEL_INLINE void store(scalar_of<P>* to, P value) {
  if constexpr (is_one_lane<P>) *to = value;
  else detail::simd::pstoreu(to, value);
}

// Stores that bypass the caches, so that a cache line is not read before it is written. The address must be aligned to the
// packet. Other threads see the stores only after end_of_streams() and a synchronisation after it.
namespace detail {
#if defined(EIGEN_VECTORIZE_SSE) && !defined(__CUDACC__)
TENURE_INLINE void stream_to(float* to, __m128 value) { _mm_stream_ps(to, value); }
TENURE_INLINE void stream_to(double* to, __m128d value) { _mm_stream_pd(to, value); }
#if defined(EIGEN_VECTORIZE_AVX)
TENURE_INLINE void stream_to(float* to, __m256 value) { _mm256_stream_ps(to, value); }
TENURE_INLINE void stream_to(double* to, __m256d value) { _mm256_stream_pd(to, value); }
#endif
#if defined(EIGEN_VECTORIZE_AVX512)
TENURE_INLINE void stream_to(float* to, __m512 value) { _mm512_stream_ps(to, value); }
TENURE_INLINE void stream_to(double* to, __m512d value) { _mm512_stream_pd(to, value); }
#endif
TENURE_INLINE void end_streams() { _mm_sfence(); }
#else
template <class T, class P>
void stream_to(T*, P) = delete;
TENURE_INLINE void end_streams() {}
#endif
}  // namespace detail

/// True if P has stores that bypass the caches. Packets on x86 have them.
template <class P>
inline constexpr bool can_stream = requires(scalar_of<P>* to, P value) { detail::stream_to(to, value); };

/// Stores a packet and bypasses the caches. Requires can_stream<P>, and `to` must be aligned to sizeof(P).
template <class P>
TENURE_INLINE void stream(scalar_of<P>* to, P value) { detail::stream_to(to, value); }
TENURE_INLINE void end_of_streams() { detail::end_streams(); }

/// Lane i is from[i * stride].
template <class P>
TENURE_KERNEL_INLINE P gather(const scalar_of<P>* from, std::ptrdiff_t stride) {
  if constexpr (is_one_lane<P>) {
    return *from;
  } else {
#if defined(EIGEN_VECTORIZE_AVX512)
    // Eigen's 512-bit gather has offsets of 32 bits. On many machines sixteen loads and inserts are as fast as the instruction.
    auto at = [=](int i) { return from[i * stride]; };
    if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4)
      return _mm512_set_ps(at(15), at(14), at(13), at(12), at(11), at(10), at(9), at(8), at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0));
    else if constexpr (is_512<P>)
      return _mm512_set_pd(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0));
    else
#endif
      return detail::simd::pgather<scalar_of<P>, P>(from, stride);
  }
}

/// Writes lane i to to[i * stride].
template <class P>
TENURE_KERNEL_INLINE void scatter(scalar_of<P>* to, std::ptrdiff_t stride, P value) {
  scalar_of<P> lanes[width<P>];
  store<P>(lanes, value);
  for (int i = 0; i < width<P>; ++i) to[i * stride] = lanes[i];
}

/// Loads the first n lanes from memory and sets the others to `fill`. It reads nothing beyond n. Requires 0 <= n <= width.
template <class P>
TENURE_KERNEL_INLINE P load_first(const scalar_of<P>* from, int n, scalar_of<P> fill = scalar_of<P>(0)) {
  if constexpr (is_one_lane<P>) {
    return n > 0 ? *from : fill;
  } else {
#if defined(EIGEN_VECTORIZE_AVX512)
    if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4)
      return _mm512_mask_loadu_ps(set1<P>(fill), static_cast<__mmask16>((1u << n) - 1u), from);
    else if constexpr (is_512<P>)
      return _mm512_mask_loadu_pd(set1<P>(fill), static_cast<__mmask8>((1u << n) - 1u), from);
    else
#endif
    {
      scalar_of<P> lanes[width<P>];
      for (scalar_of<P>& lane : lanes) lane = fill;
      std::memcpy(lanes, from, static_cast<std::size_t>(n) * sizeof(scalar_of<P>));
      return load<P>(lanes);
    }
  }
}

/// Writes the first n lanes and nothing beyond. Requires 0 <= n <= width.
template <class P>
TENURE_KERNEL_INLINE void store_first(scalar_of<P>* to, P value, int n) {
  if constexpr (is_one_lane<P>) {
    if (n > 0) *to = value;
  } else {
#if defined(EIGEN_VECTORIZE_AVX512)
    if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4)
      _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << n) - 1u), value);
    else if constexpr (is_512<P>)
      _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << n) - 1u), value);
    else
#endif
    {
      scalar_of<P> lanes[width<P>];
      store<P>(lanes, value);
      std::memcpy(to, lanes, static_cast<std::size_t>(n) * sizeof(scalar_of<P>));
    }
  }
}

// ---- bits -------------------------------------------------------------------------------------------------

namespace detail {

// Integer operations on the bits of each lane. Eigen 3.4 has no packets of 64-bit integers, so these use the intrinsics directly.
// The shift count is a template argument, because the instructions take an immediate.
TENURE_KERNEL_INLINE float as_lane(float, std::uint32_t b) { return std::bit_cast<float>(b); }
TENURE_KERNEL_INLINE double as_lane(double, std::uint64_t b) { return std::bit_cast<double>(b); }

template <int N> TENURE_KERNEL_INLINE float shl(float a) { return as_lane(a, std::bit_cast<std::uint32_t>(a) << N); }
template <int N> TENURE_KERNEL_INLINE float shr(float a) { return as_lane(a, std::bit_cast<std::uint32_t>(a) >> N); }
TENURE_KERNEL_INLINE float iadd(float a, float b) { return as_lane(a, std::bit_cast<std::uint32_t>(a) + std::bit_cast<std::uint32_t>(b)); }
TENURE_KERNEL_INLINE float isub(float a, float b) { return as_lane(a, std::bit_cast<std::uint32_t>(a) - std::bit_cast<std::uint32_t>(b)); }
template <int N> TENURE_KERNEL_INLINE double shl(double a) { return as_lane(a, std::bit_cast<std::uint64_t>(a) << N); }
template <int N> TENURE_KERNEL_INLINE double shr(double a) { return as_lane(a, std::bit_cast<std::uint64_t>(a) >> N); }
TENURE_KERNEL_INLINE double iadd(double a, double b) { return as_lane(a, std::bit_cast<std::uint64_t>(a) + std::bit_cast<std::uint64_t>(b)); }
TENURE_KERNEL_INLINE double isub(double a, double b) { return as_lane(a, std::bit_cast<std::uint64_t>(a) - std::bit_cast<std::uint64_t>(b)); }

#if defined(EIGEN_VECTORIZE_SSE)
template <int N> TENURE_INLINE __m128 shl(__m128 a) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_castps_si128(a), N)); }
template <int N> TENURE_INLINE __m128 shr(__m128 a) { return _mm_castsi128_ps(_mm_srli_epi32(_mm_castps_si128(a), N)); }
TENURE_INLINE __m128 iadd(__m128 a, __m128 b) { return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(a), _mm_castps_si128(b))); }
TENURE_INLINE __m128 isub(__m128 a, __m128 b) { return _mm_castsi128_ps(_mm_sub_epi32(_mm_castps_si128(a), _mm_castps_si128(b))); }
template <int N> TENURE_INLINE __m128d shl(__m128d a) { return _mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(a), N)); }
template <int N> TENURE_INLINE __m128d shr(__m128d a) { return _mm_castsi128_pd(_mm_srli_epi64(_mm_castpd_si128(a), N)); }
TENURE_INLINE __m128d iadd(__m128d a, __m128d b) { return _mm_castsi128_pd(_mm_add_epi64(_mm_castpd_si128(a), _mm_castpd_si128(b))); }
TENURE_INLINE __m128d isub(__m128d a, __m128d b) { return _mm_castsi128_pd(_mm_sub_epi64(_mm_castpd_si128(a), _mm_castpd_si128(b))); }
TENURE_INLINE __m128 root(__m128 a) { return _mm_sqrt_ps(a); }
TENURE_INLINE __m128d root(__m128d a) { return _mm_sqrt_pd(a); }
TENURE_INLINE int lane_signs(__m128 a) { return _mm_movemask_ps(a); }
TENURE_INLINE int lane_signs(__m128d a) { return _mm_movemask_pd(a); }
#endif
#if defined(EIGEN_VECTORIZE_AVX)
#if defined(EIGEN_VECTORIZE_AVX2)
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
TENURE_INLINE __m256 root(__m256 a) { return _mm256_sqrt_ps(a); }
TENURE_INLINE __m256d root(__m256d a) { return _mm256_sqrt_pd(a); }
TENURE_INLINE int lane_signs(__m256 a) { return _mm256_movemask_ps(a); }
TENURE_INLINE int lane_signs(__m256d a) { return _mm256_movemask_pd(a); }
#endif
#if defined(EIGEN_VECTORIZE_AVX512)
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

// ---- arithmetic -------------------------------------------------------------------------------------------

// If the machine has fma, a product that is added is rounded only once. g++ contracts a*b + c by default. clang 14 contracts only
// operators in scopes with the pragma below, and no intrinsics. It saves 3 % of a gradient and 7 % of a softmax.
// -ffp-contract=off stops g++, but not these scopes.
#if defined(__clang__) && !defined(__CUDACC__)
#define TENURE_CONTRACT _Pragma("clang fp contract(fast)")
template <class P>
inline constexpr bool has_operators = is_one_lane<P> || std::is_floating_point_v<scalar_of<P>>;
#else
#define TENURE_CONTRACT
template <class P>
inline constexpr bool has_operators = is_one_lane<P>;
#endif

template <class P>
TENURE_KERNEL_INLINE P add(P a, P b) {
  TENURE_CONTRACT
  if constexpr (number::wraps<P>) return number::add(a, b);
  else if constexpr (has_operators<P>) return static_cast<P>(a + b);
  else return detail::simd::padd(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P sub(P a, P b) {
  TENURE_CONTRACT
  if constexpr (number::wraps<P>) return number::sub(a, b);
  else if constexpr (has_operators<P>) return static_cast<P>(a - b);
  else return detail::simd::psub(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P mul(P a, P b) {
  TENURE_CONTRACT
  if constexpr (number::wraps<P>) return number::mul(a, b);
  else if constexpr (has_operators<P>) return static_cast<P>(a * b);
  else return detail::simd::pmul(a, b);
}
#undef TENURE_CONTRACT
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
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_fnmadd_ps(a, b, c);
  else if constexpr (is_512<P>) return _mm512_fnmadd_pd(a, b, c);
  else
#endif
  if constexpr (!detail::has_fma) return sub(c, mul(a, b));
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

/// The square root, correctly rounded. (Eigen's psqrt for float is an estimate that treats subnormals as 0.)
template <class P>
TENURE_KERNEL_INLINE P sqrt(P a) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_sqrt_ps(detail::every_lane<P>, a);
  else if constexpr (is_512<P>) return _mm512_maskz_sqrt_pd(detail::every_lane<P>, a);
  else
#endif
  if constexpr (is_one_lane<P>) return static_cast<P>(std::sqrt(a));
#if defined(EIGEN_VECTORIZE_SSE)
  else return detail::root(a);
#else
  else return detail::simd::psqrt(a);
#endif
}

// ---- comparison and masks ---------------------------------------------------------------------------------

template <class P>
TENURE_KERNEL_INLINE mask_of<P> lt(P a, P b) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)};
  else
#endif
  if constexpr (is_one_lane<P>) return a < b;
  else return detail::simd::pcmp_lt(a, b);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> le(P a, P b) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)};
  else
#endif
  if constexpr (is_one_lane<P>) return a <= b;
  else return detail::simd::pcmp_le(a, b);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> eq(P a, P b) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)};
  else
#endif
  if constexpr (is_one_lane<P>) return a == b;
  else return detail::simd::pcmp_eq(a, b);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> gt(P a, P b) {
  return lt(b, a);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> ge(P a, P b) {
  return le(b, a);
}

TENURE_KERNEL_INLINE bool mask_and(bool a, bool b) { return a && b; }
TENURE_KERNEL_INLINE bool mask_or(bool a, bool b) { return a || b; }
TENURE_KERNEL_INLINE bool mask_xor(bool a, bool b) { return a != b; }
TENURE_KERNEL_INLINE bool mask_not(bool a) { return !a; }
template <int N>
TENURE_KERNEL_INLINE lane_mask<N> mask_and(lane_mask<N> a, lane_mask<N> b) {
  return {static_cast<decltype(a.bits)>(a.bits & b.bits)};
}
template <int N>
TENURE_KERNEL_INLINE lane_mask<N> mask_or(lane_mask<N> a, lane_mask<N> b) {
  return {static_cast<decltype(a.bits)>(a.bits | b.bits)};
}
template <int N>
TENURE_KERNEL_INLINE lane_mask<N> mask_xor(lane_mask<N> a, lane_mask<N> b) {
  return {static_cast<decltype(a.bits)>(a.bits ^ b.bits)};
}
template <int N>
TENURE_KERNEL_INLINE lane_mask<N> mask_not(lane_mask<N> a) {
  return {static_cast<decltype(a.bits)>(~a.bits)};
}
template <class M>
  requires(!is_one_lane<M>)
TENURE_KERNEL_INLINE M mask_and(M a, M b) {
  return and_bits(a, b);
}
template <class M>
  requires(!is_one_lane<M>)
TENURE_KERNEL_INLINE M mask_or(M a, M b) {
  return or_bits(a, b);
}
template <class M>
  requires(!is_one_lane<M>)
TENURE_KERNEL_INLINE M mask_xor(M a, M b) {
  return xor_bits(a, b);
}
template <class M>
  requires(!is_one_lane<M>)
TENURE_KERNEL_INLINE M mask_not(M a) {
  return xor_bits(a, set1_bits<M>(static_cast<bits_of<M>>(~bits_of<M>(0))));
}

/// A mask with `value` in every lane.
template <class P>
TENURE_KERNEL_INLINE mask_of<P> mask_set(bool value) {
  using word = bits_of<P>;
  if constexpr (is_one_lane<P>) return value;
  else if constexpr (is_512<P>) return {static_cast<decltype(mask_of<P>::bits)>(value ? ~0u : 0u)};
  else return set1_bits<P>(value ? static_cast<word>(~word(0)) : word(0));
}

template <class P>
TENURE_KERNEL_INLINE mask_of<P> ne(P a, P b) {
  return mask_not(eq(a, b));
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> is_nan(P a) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q)};
  else
#endif
  return mask_not(eq(a, a));
}

/// mask ? a : b for each lane. Both are computed before; this only moves bits.
template <class P>
TENURE_KERNEL_INLINE P select(mask_of<P> mask, P a, P b) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_mask_blend_ps(mask.bits, b, a);
  else if constexpr (is_512<P>) return _mm512_mask_blend_pd(mask.bits, b, a);
  else
#endif
  if constexpr (is_one_lane<P>) return mask ? a : b;
  else return detail::simd::pselect(mask, a, b);
}

namespace detail {
template <class P>
TENURE_KERNEL_INLINE unsigned mask_bits(P mask) {
#if defined(EIGEN_VECTORIZE_SSE)
  return static_cast<unsigned>(lane_signs(mask));
#else
  bits_of<P> lanes[width<P>];
  std::memcpy(lanes, &mask, sizeof lanes);
  unsigned out = 0;
  for (int i = 0; i < width<P>; ++i) out |= static_cast<unsigned>(lanes[i] & 1u) << i;
  return out;
#endif
}
}  // namespace detail

/// The mask as an integer with one bit for each lane. Lane 0 is the lowest bit.
template <class P>
TENURE_KERNEL_INLINE unsigned lane_bits(mask_of<P> mask) {
  if constexpr (is_one_lane<P>) return mask ? 1u : 0u;
  else if constexpr (is_512<P>) return mask.bits;
  else return detail::mask_bits<P>(mask);
}
/// True if any lane of the mask is set. P cannot be deduced, so it is written: any<P>(lt(x, y)).
template <class P>
TENURE_KERNEL_INLINE bool any(mask_of<P> mask) {
  return lane_bits<P>(mask) != 0;
}
template <class P>
TENURE_KERNEL_INLINE bool all(mask_of<P> mask) {
  return lane_bits<P>(mask) == (width<P> == 32 ? ~0u : (1u << width<P>) - 1u);
}

/// The minimum and the maximum in one instruction. A NaN in `a` gives NaN; with a NaN in `b` the result may be `a`.
template <class P>
TENURE_KERNEL_INLINE P min_of_numbers(P a, P b) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_min_ps(detail::every_lane<P>, b, a);
  else if constexpr (is_512<P>) return _mm512_maskz_min_pd(detail::every_lane<P>, b, a);
  else
#endif
  if constexpr (is_one_lane<P>) return b < a ? b : a;
  else return detail::simd::pmin(a, b);
}
template <class P>
TENURE_KERNEL_INLINE P max_of_numbers(P a, P b) {
#if defined(EIGEN_VECTORIZE_AVX512)
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

// ---- rounding and exponents -------------------------------------------------------------------------------

template <class P>
TENURE_KERNEL_INLINE P floor(P a) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_roundscale_ps(detail::every_lane<P>, a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  else if constexpr (is_512<P>) return _mm512_maskz_roundscale_pd(detail::every_lane<P>, a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  else
#endif
  if constexpr (std::is_floating_point_v<P>) return std::floor(a);
  else if constexpr (is_one_lane<P>) return a;
  else return detail::simd::pfloor(a);
}
template <class P>
TENURE_KERNEL_INLINE P ceil(P a) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_roundscale_ps(detail::every_lane<P>, a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  else if constexpr (is_512<P>) return _mm512_maskz_roundscale_pd(detail::every_lane<P>, a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  else
#endif
  if constexpr (std::is_floating_point_v<P>) return std::ceil(a);
  else if constexpr (is_one_lane<P>) return a;
  else return detail::simd::pceil(a);
}
/// Rounds to the nearest integer, and halves to even.
template <class P>
TENURE_KERNEL_INLINE P round(P a) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_roundscale_ps(detail::every_lane<P>, a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  else if constexpr (is_512<P>) return _mm512_maskz_roundscale_pd(detail::every_lane<P>, a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  else
#endif
  if constexpr (std::is_floating_point_v<P>) return std::nearbyint(a);
  else if constexpr (is_one_lane<P>) return a;
  else return detail::simd::print(a);
}

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
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_maskz_scalef_ps(detail::every_lane<P>, a, n);
  else if constexpr (is_512<P>) return _mm512_maskz_scalef_pd(detail::every_lane<P>, a, n);
  else
#endif
  {
    using L = detail::layout<P>;
    using T = scalar_of<P>;
    n = at_least(at_most(n, T(2 * L::bias)), T(-2 * L::bias + 2));
    const P half = detail::layout<P>::wide ? sub(add(mul(n, set1<P>(T(0.5))), set1<P>(L::shifter)), set1<P>(L::shifter))
                                           : sub(add(mul(n, set1<P>(T(0.5))), set1<P>(L::shifter)), set1<P>(L::shifter));
    return mul(mul(a, detail::power_of_two(half)), detail::power_of_two(sub(n, half)));
  }
}

// ---- across lanes -----------------------------------------------------------------------------------------

/// Combines all lanes, half by half. The order of the two operands of `combine` is unspecified. The lanes go through memory,
/// because g++ 12 warns about Eigen's 512-bit shuffles (gcc.gnu.org/PR105593). There is no branch on scalars, because a maximum
/// would mispredict it.
template <class P, class Combine>
TENURE_KERNEL_INLINE scalar_of<P> across(P a, Combine combine) {
  if constexpr (is_one_lane<P>) {
    return a;
  } else {
    using half = typename detail::simd::unpacket_traits<P>::half;
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
// ---- polynomials ------------------------------------------------------------------------------------------

namespace detail {
template <class P, class T, std::size_t N, std::size_t... I>
TENURE_KERNEL_INLINE P horner_steps(P x, const T (&c)[N], std::index_sequence<I...>) {
  P sum = set1<P>(c[N - 1]);
  ((sum = fma(sum, x, set1<P>(c[N - 2 - I]))), ...);
  return sum;
}
}  // namespace detail

/// The polynomial c[0] + c[1] x + c[2] x^2 + ... as a chain of N-1 fma.
template <class P, std::size_t N>
TENURE_KERNEL_INLINE P horner(P x, const scalar_of<P> (&c)[N]) {
  return detail::horner_steps(x, c, std::make_index_sequence<N - 1>());
}

/// The same polynomial, with z = x^2: the even and the odd powers are two chains. It takes as many operations but half the latency.
template <class P, std::size_t N>
TENURE_KERNEL_INLINE P horner_by_halves(P x, P z, const scalar_of<P> (&c)[N]) {
  P sum[2] = {set1<P>(c[(N - 1) & ~std::size_t(1)]), set1<P>(c[(N - 2) | 1])};
  const auto step = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    sum[I & 1] = fma(sum[I & 1], z, set1<P>(c[I]));
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (step(std::integral_constant<std::size_t, N - 3 - I>{}), ...); }(std::make_index_sequence<N - 2>());
  return fma(sum[1], x, sum[0]);
}

/// The same polynomial from pairs of neighbouring terms, which do not wait for z. A loop with an exp and a tanh is 1 % faster
/// with it. With nine terms, as in log1p, horner_by_halves is 4 % faster.
template <class P, std::size_t N>
TENURE_KERNEL_INLINE P horner_by_pairs(P x, P z, const scalar_of<P> (&c)[N]) {
  const auto pair = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    if constexpr (I + 1 < N) return fma(set1<P>(c[I + 1]), x, set1<P>(c[I]));
    else return set1<P>(c[I]);
  };
  constexpr std::size_t last = (N - 1) & ~std::size_t(1);
  P sum = pair(std::integral_constant<std::size_t, last>{});
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((sum = fma(sum, z, pair(std::integral_constant<std::size_t, last - 2 - 2 * I>{}))), ...);
  }(std::make_index_sequence<last / 2>());
  return sum;
}

}  // namespace tenure::math
