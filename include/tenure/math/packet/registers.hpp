// SPDX-License-Identifier: BSL-1.0
// The SIMD registers of x86 as packets: their types and the primitives on them, by intrinsics and by the vector operators of g++ and clang. A number
// is a packet of one lane. The primitives have the names that Eigen gives them, because on other processors Eigen's own are used (types.hpp). Only the
// headers of math/packet/ and the kernels of the CPU backend call them.
// Cost: Eigen's packets take 0.45 s more of each file's compile time with g++.
#pragma once

#include <tenure/core/config.hpp>

// g++ warns at every packet in a template argument that the type loses its alignment attribute there, which is harmless. The
// pragma is not popped at the end, because the uses are in other headers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

#include <cstddef>
#include <utility>

#if TENURE_SSE
#include <immintrin.h>
#endif

TENURE_WARNINGS_OFF  // where 512-bit intrinsics are inlined: gcc.gnu.org/PR105593
namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail::simd {

/// The scalar, the number of lanes and the next narrower register of a packet. The narrowest register is its own half.
template <class T, int Lanes, class Half>
struct register_traits {
  using type = T;
  using half = Half;
  static constexpr int size = Lanes;
};
template <class P>
struct unpacket_traits : register_traits<P, 1, P> {};
/// The widest packet of T.
template <class T>
struct packet_traits : unpacket_traits<T> {
  using type = T;
};

/// Sums, products and quotients: the operators of the compiler, for registers and numbers.
template <class P> TENURE_INLINE P padd(const P& a, const P& b) { return a + b; }
template <class P> TENURE_INLINE P psub(const P& a, const P& b) { return a - b; }
template <class P> TENURE_INLINE P pmul(const P& a, const P& b) { return a * b; }
template <class P> TENURE_INLINE P pdiv(const P& a, const P& b) { return a / b; }
/// a*b + c, rounded once if the processor has the instruction.
template <class P> TENURE_INLINE P pmadd(const P& a, const P& b, const P& c) { return a * b + c; }
/// c - a*b, rounded like pmadd.
template <class P> TENURE_INLINE P pnmadd(const P& a, const P& b, const P& c) { return c - a * b; }
/// The same number in each lane.
template <class P> TENURE_INLINE P pset1(const typename unpacket_traits<P>::type& x) { return x; }
/// Loads and stores without alignment.
template <class P> TENURE_INLINE P ploadu(const typename unpacket_traits<P>::type* from) { return *from; }
template <class T> TENURE_INLINE void pstoreu(T* to, const T& x) { *to = x; }

#if TENURE_SSE
template <> struct unpacket_traits<__m128> : register_traits<float, 4, __m128> {};
template <> struct unpacket_traits<__m128d> : register_traits<double, 2, __m128d> {};
#if TENURE_AVX
template <> struct unpacket_traits<__m256> : register_traits<float, 8, __m128> {};
template <> struct unpacket_traits<__m256d> : register_traits<double, 4, __m128d> {};
#endif
#if TENURE_AVX512
template <> struct unpacket_traits<__m512> : register_traits<float, 16, __m256> {};
template <> struct unpacket_traits<__m512d> : register_traits<double, 8, __m256d> {};
#endif

#if TENURE_AVX512
using widest_float = __m512;
using widest_double = __m512d;
#elif TENURE_AVX
using widest_float = __m256;
using widest_double = __m256d;
#else
using widest_float = __m128;
using widest_double = __m128d;
#endif

template <> struct packet_traits<float> : unpacket_traits<widest_float> { using type = widest_float; };
template <> struct packet_traits<double> : unpacket_traits<widest_double> { using type = widest_double; };

#if defined(__FMA__)
TENURE_INLINE __m128 pmadd(const __m128& a, const __m128& b, const __m128& c) { return _mm_fmadd_ps(a, b, c); }
TENURE_INLINE __m128d pmadd(const __m128d& a, const __m128d& b, const __m128d& c) { return _mm_fmadd_pd(a, b, c); }
TENURE_INLINE __m256 pmadd(const __m256& a, const __m256& b, const __m256& c) { return _mm256_fmadd_ps(a, b, c); }
TENURE_INLINE __m256d pmadd(const __m256d& a, const __m256d& b, const __m256d& c) { return _mm256_fmadd_pd(a, b, c); }
TENURE_INLINE __m128 pnmadd(const __m128& a, const __m128& b, const __m128& c) { return _mm_fnmadd_ps(a, b, c); }
TENURE_INLINE __m128d pnmadd(const __m128d& a, const __m128d& b, const __m128d& c) { return _mm_fnmadd_pd(a, b, c); }
TENURE_INLINE __m256 pnmadd(const __m256& a, const __m256& b, const __m256& c) { return _mm256_fnmadd_ps(a, b, c); }
TENURE_INLINE __m256d pnmadd(const __m256d& a, const __m256d& b, const __m256d& c) { return _mm256_fnmadd_pd(a, b, c); }
#endif

template <> TENURE_INLINE __m128 pset1<__m128>(const float& x) { return _mm_set1_ps(x); }
template <> TENURE_INLINE __m128d pset1<__m128d>(const double& x) { return _mm_set1_pd(x); }
template <> TENURE_INLINE __m128 ploadu<__m128>(const float* from) { return _mm_loadu_ps(from); }
template <> TENURE_INLINE __m128d ploadu<__m128d>(const double* from) { return _mm_loadu_pd(from); }
TENURE_INLINE void pstoreu(float* to, const __m128& x) { _mm_storeu_ps(to, x); }
TENURE_INLINE void pstoreu(double* to, const __m128d& x) { _mm_storeu_pd(to, x); }

TENURE_INLINE __m128 pmin(const __m128& a, const __m128& b) { return _mm_min_ps(b, a); }
TENURE_INLINE __m128d pmin(const __m128d& a, const __m128d& b) { return _mm_min_pd(b, a); }
TENURE_INLINE __m128 pmax(const __m128& a, const __m128& b) { return _mm_max_ps(b, a); }
TENURE_INLINE __m128d pmax(const __m128d& a, const __m128d& b) { return _mm_max_pd(b, a); }

TENURE_INLINE __m128 pand(const __m128& a, const __m128& b) { return _mm_and_ps(a, b); }
TENURE_INLINE __m128d pand(const __m128d& a, const __m128d& b) { return _mm_and_pd(a, b); }
TENURE_INLINE __m128 por(const __m128& a, const __m128& b) { return _mm_or_ps(a, b); }
TENURE_INLINE __m128d por(const __m128d& a, const __m128d& b) { return _mm_or_pd(a, b); }
TENURE_INLINE __m128 pxor(const __m128& a, const __m128& b) { return _mm_xor_ps(a, b); }
TENURE_INLINE __m128d pxor(const __m128d& a, const __m128d& b) { return _mm_xor_pd(a, b); }

/// Comparisons: a lane is all ones or all zeros. Registers of 512 bits have masks in their place (comparison.hpp).
TENURE_INLINE __m128 pcmp_lt(const __m128& a, const __m128& b) { return _mm_cmplt_ps(a, b); }
TENURE_INLINE __m128d pcmp_lt(const __m128d& a, const __m128d& b) { return _mm_cmplt_pd(a, b); }
TENURE_INLINE __m128 pcmp_le(const __m128& a, const __m128& b) { return _mm_cmple_ps(a, b); }
TENURE_INLINE __m128d pcmp_le(const __m128d& a, const __m128d& b) { return _mm_cmple_pd(a, b); }
TENURE_INLINE __m128 pcmp_eq(const __m128& a, const __m128& b) { return _mm_cmpeq_ps(a, b); }
TENURE_INLINE __m128d pcmp_eq(const __m128d& a, const __m128d& b) { return _mm_cmpeq_pd(a, b); }

/// Where a lane of the mask is set `a`, elsewhere `b`.
#if defined(__SSE4_1__)
TENURE_INLINE __m128 pselect(const __m128& mask, const __m128& a, const __m128& b) { return _mm_blendv_ps(b, a, mask); }
TENURE_INLINE __m128d pselect(const __m128d& mask, const __m128d& a, const __m128d& b) { return _mm_blendv_pd(b, a, mask); }
TENURE_INLINE __m128 pfloor(const __m128& x) { return _mm_floor_ps(x); }
TENURE_INLINE __m128d pfloor(const __m128d& x) { return _mm_floor_pd(x); }
TENURE_INLINE __m128 pceil(const __m128& x) { return _mm_ceil_ps(x); }
TENURE_INLINE __m128d pceil(const __m128d& x) { return _mm_ceil_pd(x); }
TENURE_INLINE __m128 print(const __m128& x) { return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TENURE_INLINE __m128d print(const __m128d& x) { return _mm_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
#else
TENURE_INLINE __m128 pselect(const __m128& mask, const __m128& a, const __m128& b) { return _mm_or_ps(_mm_and_ps(mask, a), _mm_andnot_ps(mask, b)); }
TENURE_INLINE __m128d pselect(const __m128d& mask, const __m128d& a, const __m128d& b) { return _mm_or_pd(_mm_and_pd(mask, a), _mm_andnot_pd(mask, b)); }
/// The nearest integer by adding and subtracting 2^23 or 2^52. Floor and ceil lose the sign of a zero (rounding.hpp gives it back).
template <class P>
TENURE_INLINE P print(const P& x) {
  using T = typename unpacket_traits<P>::type;
  const P sign = pset1<P>(T(-0.0)), limit = pset1<P>(sizeof(T) == 8 ? T(4503599627370496.0) : T(8388608.0)), size = pxor(por(x, sign), sign);
  return pselect(pcmp_lt(size, limit), por(size + limit - limit, pand(x, sign)), x);
}
template <class P>
TENURE_INLINE P pfloor(const P& x) {
  const P near = print(x);
  return near - pand(pcmp_lt(x, near), pset1<P>(1));
}
template <class P>
TENURE_INLINE P pceil(const P& x) {
  const P near = print(x);
  return near + pand(pcmp_lt(near, x), pset1<P>(1));
}
#endif

#if TENURE_AVX
template <> TENURE_INLINE __m256 pset1<__m256>(const float& x) { return _mm256_set1_ps(x); }
template <> TENURE_INLINE __m256d pset1<__m256d>(const double& x) { return _mm256_set1_pd(x); }
template <> TENURE_INLINE __m256 ploadu<__m256>(const float* from) { return _mm256_loadu_ps(from); }
template <> TENURE_INLINE __m256d ploadu<__m256d>(const double* from) { return _mm256_loadu_pd(from); }
TENURE_INLINE void pstoreu(float* to, const __m256& x) { _mm256_storeu_ps(to, x); }
TENURE_INLINE void pstoreu(double* to, const __m256d& x) { _mm256_storeu_pd(to, x); }
TENURE_INLINE __m256 pmin(const __m256& a, const __m256& b) { return _mm256_min_ps(b, a); }
TENURE_INLINE __m256d pmin(const __m256d& a, const __m256d& b) { return _mm256_min_pd(b, a); }
TENURE_INLINE __m256 pmax(const __m256& a, const __m256& b) { return _mm256_max_ps(b, a); }
TENURE_INLINE __m256d pmax(const __m256d& a, const __m256d& b) { return _mm256_max_pd(b, a); }
TENURE_INLINE __m256 pand(const __m256& a, const __m256& b) { return _mm256_and_ps(a, b); }
TENURE_INLINE __m256d pand(const __m256d& a, const __m256d& b) { return _mm256_and_pd(a, b); }
TENURE_INLINE __m256 por(const __m256& a, const __m256& b) { return _mm256_or_ps(a, b); }
TENURE_INLINE __m256d por(const __m256d& a, const __m256d& b) { return _mm256_or_pd(a, b); }
TENURE_INLINE __m256 pxor(const __m256& a, const __m256& b) { return _mm256_xor_ps(a, b); }
TENURE_INLINE __m256d pxor(const __m256d& a, const __m256d& b) { return _mm256_xor_pd(a, b); }
TENURE_INLINE __m256 pcmp_lt(const __m256& a, const __m256& b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
TENURE_INLINE __m256d pcmp_lt(const __m256d& a, const __m256d& b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
TENURE_INLINE __m256 pcmp_le(const __m256& a, const __m256& b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
TENURE_INLINE __m256d pcmp_le(const __m256d& a, const __m256d& b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
TENURE_INLINE __m256 pcmp_eq(const __m256& a, const __m256& b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
TENURE_INLINE __m256d pcmp_eq(const __m256d& a, const __m256d& b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
TENURE_INLINE __m256 pselect(const __m256& mask, const __m256& a, const __m256& b) { return _mm256_blendv_ps(b, a, mask); }
TENURE_INLINE __m256d pselect(const __m256d& mask, const __m256d& a, const __m256d& b) { return _mm256_blendv_pd(b, a, mask); }
TENURE_INLINE __m256 pfloor(const __m256& x) { return _mm256_floor_ps(x); }
TENURE_INLINE __m256d pfloor(const __m256d& x) { return _mm256_floor_pd(x); }
TENURE_INLINE __m256 pceil(const __m256& x) { return _mm256_ceil_ps(x); }
TENURE_INLINE __m256d pceil(const __m256d& x) { return _mm256_ceil_pd(x); }
TENURE_INLINE __m256 print(const __m256& x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TENURE_INLINE __m256d print(const __m256d& x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
#endif

#if TENURE_AVX512
// What is not here for 512 bits has a masked intrinsic where it is called.
TENURE_INLINE __m512 pmadd(const __m512& a, const __m512& b, const __m512& c) { return _mm512_fmadd_ps(a, b, c); }
TENURE_INLINE __m512d pmadd(const __m512d& a, const __m512d& b, const __m512d& c) { return _mm512_fmadd_pd(a, b, c); }
TENURE_INLINE __m512 pnmadd(const __m512& a, const __m512& b, const __m512& c) { return _mm512_fnmadd_ps(a, b, c); }
TENURE_INLINE __m512d pnmadd(const __m512d& a, const __m512d& b, const __m512d& c) { return _mm512_fnmadd_pd(a, b, c); }
template <> TENURE_INLINE __m512 pset1<__m512>(const float& x) { return _mm512_set1_ps(x); }
template <> TENURE_INLINE __m512d pset1<__m512d>(const double& x) { return _mm512_set1_pd(x); }
template <> TENURE_INLINE __m512 ploadu<__m512>(const float* from) { return _mm512_loadu_ps(from); }
template <> TENURE_INLINE __m512d ploadu<__m512d>(const double* from) { return _mm512_loadu_pd(from); }
TENURE_INLINE void pstoreu(float* to, const __m512& x) { _mm512_storeu_ps(to, x); }
TENURE_INLINE void pstoreu(double* to, const __m512d& x) { _mm512_storeu_pd(to, x); }
// AVX-512F without DQ has these for integers only.
TENURE_INLINE __m512 pand(const __m512& a, const __m512& b) { return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_castps_si512(b))); }
TENURE_INLINE __m512d pand(const __m512d& a, const __m512d& b) { return _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(a), _mm512_castpd_si512(b))); }
TENURE_INLINE __m512 por(const __m512& a, const __m512& b) { return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(a), _mm512_castps_si512(b))); }
TENURE_INLINE __m512d por(const __m512d& a, const __m512d& b) { return _mm512_castsi512_pd(_mm512_or_si512(_mm512_castpd_si512(a), _mm512_castpd_si512(b))); }
TENURE_INLINE __m512 pxor(const __m512& a, const __m512& b) { return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_castps_si512(b))); }
TENURE_INLINE __m512d pxor(const __m512d& a, const __m512d& b) { return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(a), _mm512_castpd_si512(b))); }
#endif

template <class P>
using lanes_in_order = std::make_integer_sequence<int, unpacket_traits<P>::size>;

/// Lane i is from[i * stride].
template <class T, class P>
TENURE_INLINE P pgather(const T* from, std::ptrdiff_t stride) {
  return [=]<int... L>(std::integer_sequence<int, L...>) __attribute__((always_inline)) { return P{from[L * stride]...}; }(lanes_in_order<P>{});
}
/// Lane i is first + i.
template <class P>
TENURE_INLINE P plset(const typename unpacket_traits<P>::type& first) {
  using T = typename unpacket_traits<P>::type;
  return [&]<int... L>(std::integer_sequence<int, L...>) __attribute__((always_inline)) { return pset1<P>(first) + P{static_cast<T>(L)...}; }(lanes_in_order<P>{});
}
template <class P> TENURE_INLINE typename unpacket_traits<P>::type pfirst(const P& x) { return x[0]; }
template <class P>
TENURE_INLINE P preverse(const P& x) {
  return [&]<int... L>(std::integer_sequence<int, L...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(x, x, (unpacket_traits<P>::size - 1 - L)...);
  }(lanes_in_order<P>{});
}

/// As many packets as P has lanes.
template <class P, int N>
struct PacketBlock {
  P packet[N];
};

/// Lane l is element index(l) of the lanes of a and then of b.
template <class P, class Index>
TENURE_INLINE P shuffled(const P& a, const P& b, Index index) {
  return [&]<int... L>(std::integer_sequence<int, L...>) __attribute__((always_inline)) { return __builtin_shufflevector(a, b, index(L)...); }(lanes_in_order<P>{});
}
/// Of each 16 bytes the lower (Part = 0) or the upper (Part = 1) half of a and of b, their units of `Unit` lanes in turn: unpcklps, unpckhpd and so on.
template <int Part, int Unit, class P>
TENURE_INLINE P unpacked(const P& a, const P& b) {
  return shuffled(a, b, [](int l) {
    constexpr int lanes = unpacket_traits<P>::size, in_16_bytes = static_cast<int>(16 * lanes / sizeof(P));
    const int at = l % in_16_bytes, unit = at / Unit;
    return unit % 2 * lanes + l - at + Part * in_16_bytes / 2 + unit / 2 * Unit + at % Unit;
  });
}
/// Blocks of 16 bytes: first those of a, then those of b, each from block First in steps of Step.
template <int First, int Step, class P>
TENURE_INLINE P blocks_of(const P& a, const P& b) {
  return shuffled(a, b, [](int l) {
    constexpr int lanes = unpacket_traits<P>::size, in_16_bytes = static_cast<int>(16 * lanes / sizeof(P)), taken = lanes / in_16_bytes / 2;
    const int block = l / in_16_bytes;
    return block / taken * lanes + (First + block % taken * Step) * in_16_bytes + l % in_16_bytes;
  });
}

/// Transposes a block in place: lane i of packet j becomes lane j of packet i. First in each 16 bytes, then the blocks of 16 bytes.
/// Cost: log2(N) shuffles for each packet.
template <class P, int N>
TENURE_INLINE void ptranspose(PacketBlock<P, N>& block) {
  static_assert(N == unpacket_traits<P>::size);
  constexpr int inside = static_cast<int>(16 * N / sizeof(P)), blocks = N / inside;
  P* const p = block.packet;
  // Row r of group g: row r of the inside x inside matrices whose columns are the packets of group g.
  const auto in_16_bytes = [&](int g) __attribute__((always_inline)) {
    P* const of = p + g * inside;
    if constexpr (inside == 2) {
      const P low = unpacked<0, 1>(of[0], of[1]), high = unpacked<1, 1>(of[0], of[1]);
      of[0] = low, of[1] = high;
    } else {
      const P a = unpacked<0, 1>(of[0], of[1]), b = unpacked<1, 1>(of[0], of[1]), c = unpacked<0, 1>(of[2], of[3]), d = unpacked<1, 1>(of[2], of[3]);
      of[0] = unpacked<0, 2>(a, c), of[1] = unpacked<1, 2>(a, c), of[2] = unpacked<0, 2>(b, d), of[3] = unpacked<1, 2>(b, d);
    }
  };
  const auto across = [&]([[maybe_unused]] int r) __attribute__((always_inline)) {
    if constexpr (blocks == 2) {
      const P a = p[r], b = p[r + inside];
      p[r] = blocks_of<0, 1>(a, b), p[r + inside] = blocks_of<1, 1>(a, b);
    } else if constexpr (blocks == 4) {
      const P a = blocks_of<0, 1>(p[r], p[r + inside]), b = blocks_of<2, 1>(p[r], p[r + inside]);
      const P c = blocks_of<0, 1>(p[r + 2 * inside], p[r + 3 * inside]), d = blocks_of<2, 1>(p[r + 2 * inside], p[r + 3 * inside]);
      p[r] = blocks_of<0, 2>(a, c), p[r + inside] = blocks_of<1, 2>(a, c), p[r + 2 * inside] = blocks_of<0, 2>(b, d), p[r + 3 * inside] = blocks_of<1, 2>(b, d);
    }
  };
  [&]<int... G>(std::integer_sequence<int, G...>) __attribute__((always_inline)) { (in_16_bytes(G), ...); }(std::make_integer_sequence<int, blocks>{});
  [&]<int... R>(std::integer_sequence<int, R...>) __attribute__((always_inline)) { (across(R), ...); }(std::make_integer_sequence<int, inside>{});
}

/// The sum of all lanes, half by half.
template <class P>
TENURE_INLINE typename unpacket_traits<P>::type predux(const P& x) {
  using half = typename unpacket_traits<P>::half;
  constexpr int lanes = unpacket_traits<P>::size, of_half = unpacket_traits<half>::size;
  if constexpr (of_half < lanes) {
    return [&]<int... L>(std::integer_sequence<int, L...>) __attribute__((always_inline)) {
      return predux<half>(__builtin_shufflevector(x, x, L...) + __builtin_shufflevector(x, x, (of_half + L)...));
    }(lanes_in_order<half>{});
  } else {
    return [&]<int... L>(std::integer_sequence<int, L...>) __attribute__((always_inline)) {
      const P folded = x + __builtin_shufflevector(x, x, ((L + lanes / 2) % lanes)...);
      return lanes == 2 ? folded[0] : folded[0] + folded[1];
    }(lanes_in_order<P>{});
  }
}

#else
template <class P> TENURE_INLINE P plset(const P& first) { return first; }
template <class P> TENURE_INLINE P predux(const P& x) { return x; }
template <class P> TENURE_INLINE P pmin(const P& a, const P& b) { return b < a ? b : a; }
template <class P> TENURE_INLINE P pmax(const P& a, const P& b) { return a < b ? b : a; }
template <class T, class P> TENURE_INLINE P pgather(const T* from, std::ptrdiff_t) { return *from; }
// Declarations for branches that packets of one lane do not take.
template <class...> void pfirst(...); template <class...> void preverse(...); template <class...> void pselect(...); template <class...> void pand(...);
template <class...> void por(...); template <class...> void pxor(...); template <class...> void psqrt(...); template <class...> void pfloor(...);
template <class...> void pceil(...); template <class...> void print(...); template <class...> void pcmp_lt(...); template <class...> void pcmp_le(...);
template <class...> void pcmp_eq(...);
template <class P, int N> struct PacketBlock { P packet[N]; };
template <class P> TENURE_INLINE void ptranspose(PacketBlock<P, 1>&) {}
#endif

}  // namespace tenure::math::detail::simd
TENURE_WARNINGS_ON
