// SPDX-License-Identifier: BSL-1.0
// Packets from constants and from memory, and back: whole packets, the first n lanes, lanes at a stride, and stores that bypass the
// caches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tenure/math/packet/types.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

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

/// Keeps a loaded packet in its register. g++ knows that the register equals the memory, and loads the value again for each use: a
/// processor loads two packets in a cycle, so a product that does this takes 1.5 times as long, and a layer norm 1.1 times. The empty asm
/// hides the origin of the value.
template <class P>
TENURE_KERNEL_INLINE void stay_in_register([[maybe_unused]] P& value) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX__) && !defined(__CUDACC__)
  if constexpr (!is_one_lane<P>) asm("" : "+v"(value));
#endif
}

/// Keeps packets that are interleaved in this order. clang computes all of one packet before the next one, and then each waits for its own
/// chain: five exp and tanh in a chain took 1.7 times as long. The empty asm statements stay in the order in which they were written.
template <class P>
TENURE_KERNEL_INLINE void stay_in_order([[maybe_unused]] P& value) {
#if defined(__clang__) && defined(__AVX__) && !defined(__CUDACC__)
  if constexpr (!is_one_lane<P>) asm volatile("" : "+v"(value));
#endif
}

template <class P>
TENURE_KERNEL_INLINE void store(scalar_of<P>* to, P value) {
  if constexpr (is_one_lane<P>) *to = value;
  else detail::simd::pstoreu(to, value);
}

// Stores that bypass the caches, so that a cache line is not read before it is written. The address must be aligned to the
// packet. Other threads see the stores only after end_of_streams() and a synchronisation after it.
namespace detail {
#if TENURE_SSE
TENURE_INLINE void stream_to(float* to, __m128 value) { _mm_stream_ps(to, value); }
TENURE_INLINE void stream_to(double* to, __m128d value) { _mm_stream_pd(to, value); }
#if TENURE_AVX
TENURE_INLINE void stream_to(float* to, __m256 value) { _mm256_stream_ps(to, value); }
TENURE_INLINE void stream_to(double* to, __m256d value) { _mm256_stream_pd(to, value); }
#endif
#if TENURE_AVX512
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
    return detail::simd::pgather<scalar_of<P>, P>(from, stride);  // loads and inserts, which are as fast as the instruction on many machines
  }
}

/// True if as many packets as P has lanes can be transposed in registers.
template <class P>
inline constexpr bool can_transpose = [] {
  if constexpr (!is_one_lane<P>) return requires(detail::simd::PacketBlock<P, width<P>>& block) { detail::simd::ptranspose(block); };
  return false;
}();
/// Lane i of packet j becomes lane j of packet i. Requires can_transpose<P>.
template <class P>
TENURE_INLINE void transpose([[maybe_unused]] P (&packets)[width<P>]) {
#if !TENURE_ONE_LANE
  [&]<std::size_t... I>(std::index_sequence<I...>) {  // g++ makes a call of memmove of a loop
    detail::simd::PacketBlock<P, width<P>> block{{packets[I]...}};
    detail::simd::ptranspose(block);
    ((packets[I] = block.packet[I]), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(width<P>)>{});
#endif
}

// Loads and stores of the first n lanes by one instruction. Without them a packet goes through an array, and the load of a packet waits for
// the stores of its parts: [n, 3] + [3] took 13 ns for a row, with them 0.8.
namespace detail {
#if TENURE_AVX512
TENURE_INLINE __mmask16 bits_of_lanes(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
TENURE_INLINE __m512 load_lanes(__m512 rest, int n, const float* from) { return _mm512_mask_loadu_ps(rest, bits_of_lanes(n), from); }
TENURE_INLINE __m512d load_lanes(__m512d rest, int n, const double* from) {
  return _mm512_mask_loadu_pd(rest, static_cast<__mmask8>(bits_of_lanes(n)), from);
}
TENURE_INLINE void store_lanes(float* to, int n, __m512 value) { _mm512_mask_storeu_ps(to, bits_of_lanes(n), value); }
TENURE_INLINE void store_lanes(double* to, int n, __m512d value) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(bits_of_lanes(n)), value);
}
#endif
#if TENURE_AVX512 && defined(__AVX512VL__)
// vmaskmovps writes in 20 cycles on Zen 4, a masked vmovups in 1 or 2.
TENURE_INLINE __mmask8 bits_of_half(int n) { return static_cast<__mmask8>((1u << n) - 1u); }
TENURE_INLINE __m256 load_lanes(__m256 rest, int n, const float* from) { return _mm256_mask_loadu_ps(rest, bits_of_half(n), from); }
TENURE_INLINE __m256d load_lanes(__m256d rest, int n, const double* from) { return _mm256_mask_loadu_pd(rest, bits_of_half(n), from); }
TENURE_INLINE __m128 load_lanes(__m128 rest, int n, const float* from) { return _mm_mask_loadu_ps(rest, bits_of_half(n), from); }
TENURE_INLINE __m128d load_lanes(__m128d rest, int n, const double* from) { return _mm_mask_loadu_pd(rest, bits_of_half(n), from); }
TENURE_INLINE void store_lanes(float* to, int n, __m256 value) { _mm256_mask_storeu_ps(to, bits_of_half(n), value); }
TENURE_INLINE void store_lanes(double* to, int n, __m256d value) { _mm256_mask_storeu_pd(to, bits_of_half(n), value); }
TENURE_INLINE void store_lanes(float* to, int n, __m128 value) { _mm_mask_storeu_ps(to, bits_of_half(n), value); }
TENURE_INLINE void store_lanes(double* to, int n, __m128d value) { _mm_mask_storeu_pd(to, bits_of_half(n), value); }
#elif TENURE_AVX
template <class Int, int Lanes>
struct ones_then_zeros {
  Int at[2 * Lanes] = {};
  constexpr ones_then_zeros() {
    for (int i = 0; i < Lanes; ++i) at[i] = -1;
  }
};
template <class Int, int Lanes>
inline constexpr ones_then_zeros<Int, Lanes> ones{};
/// A mask with -1 in the first n lanes, and 0 in the others.
template <class Int, int Lanes>
TENURE_INLINE __m256i mask_of_lanes(int n) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones<Int, Lanes>.at + Lanes - n));
}
template <class Int, int Lanes>
TENURE_INLINE __m128i half_mask_of_lanes(int n) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(ones<Int, Lanes>.at + Lanes - n));
}

TENURE_INLINE __m256 load_lanes(__m256 rest, int n, const float* from) {
  const __m256i mask = mask_of_lanes<std::int32_t, 8>(n);
  return _mm256_blendv_ps(rest, _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask));
}
TENURE_INLINE __m256d load_lanes(__m256d rest, int n, const double* from) {
  const __m256i mask = mask_of_lanes<std::int64_t, 4>(n);
  return _mm256_blendv_pd(rest, _mm256_maskload_pd(from, mask), _mm256_castsi256_pd(mask));
}
TENURE_INLINE __m128 load_lanes(__m128 rest, int n, const float* from) {
  const __m128i mask = half_mask_of_lanes<std::int32_t, 4>(n);
  return _mm_blendv_ps(rest, _mm_maskload_ps(from, mask), _mm_castsi128_ps(mask));
}
TENURE_INLINE __m128d load_lanes(__m128d rest, int n, const double* from) {
  const __m128i mask = half_mask_of_lanes<std::int64_t, 2>(n);
  return _mm_blendv_pd(rest, _mm_maskload_pd(from, mask), _mm_castsi128_pd(mask));
}
TENURE_INLINE void store_lanes(float* to, int n, __m256 value) { _mm256_maskstore_ps(to, mask_of_lanes<std::int32_t, 8>(n), value); }
TENURE_INLINE void store_lanes(double* to, int n, __m256d value) { _mm256_maskstore_pd(to, mask_of_lanes<std::int64_t, 4>(n), value); }
TENURE_INLINE void store_lanes(float* to, int n, __m128 value) { _mm_maskstore_ps(to, half_mask_of_lanes<std::int32_t, 4>(n), value); }
TENURE_INLINE void store_lanes(double* to, int n, __m128d value) { _mm_maskstore_pd(to, half_mask_of_lanes<std::int64_t, 2>(n), value); }
#endif
// Never defined or called: the choice where the processor has no such instruction for these types. nvcc looks at the arguments of a call even
// in a branch that is not taken, so these take all.
void load_lanes(...);
void store_lanes(...);
}  // namespace detail

/// True if an instruction loads and stores the first lanes of P.
template <class P>
inline constexpr bool has_masked_memory =
    std::is_same_v<decltype(detail::load_lanes(std::declval<P>(), 1, std::declval<const scalar_of<P>*>())), P>;

/// Loads the first n lanes from memory and sets the others to `fill`. It reads nothing beyond n. Requires 0 <= n <= width.
template <class P>
TENURE_KERNEL_INLINE P load_first(const scalar_of<P>* from, int n, scalar_of<P> fill = scalar_of<P>(0)) {
  if constexpr (is_one_lane<P>) {
    return n > 0 ? *from : fill;
  } else if constexpr (has_masked_memory<P>) {
    return detail::load_lanes(set1<P>(fill), n, from);
  } else {
    scalar_of<P> lanes[width<P>];
    for (scalar_of<P>& lane : lanes) lane = fill;
    std::memcpy(lanes, from, static_cast<std::size_t>(n) * sizeof(scalar_of<P>));
    return load<P>(lanes);
  }
}

/// Writes the first n lanes and nothing beyond. Requires 0 <= n <= width.
template <class P>
TENURE_KERNEL_INLINE void store_first(scalar_of<P>* to, P value, int n) {
  if constexpr (is_one_lane<P>) {
    if (n > 0) *to = value;
  } else if constexpr (has_masked_memory<P>) {
    detail::store_lanes(to, n, value);
  } else {
    scalar_of<P> lanes[width<P>];
    store<P>(lanes, value);
    std::memcpy(to, lanes, static_cast<std::size_t>(n) * sizeof(scalar_of<P>));
  }
}

}  // namespace tenure::math
