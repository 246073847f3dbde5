// SPDX-License-Identifier: BSL-1.0
// The types of packets and of masks, with their numbers of lanes.
//
// P is a packet of float or double, or an arithmetic type T, which is a packet of one lane.
// mask_of<P> is the type that a comparison returns: bool for one lane, a lane_mask (a k register) for 512-bit packets, and
// otherwise a P whose lanes are all ones or all zeros. mask_and, mask_or, mask_not, any, all and select take all three.
#pragma once

#include <tenure/core/config.hpp>

#if TENURE_SSE || TENURE_ONE_LANE
#include <tenure/math/packet/registers.hpp>
#else
#include <tenure/math/eigen_core.hpp>
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wignored-attributes"  // as registers.hpp says
#endif
#if !defined(EIGEN_VECTORIZE)
#error "tenure: include: Eigen and Tenure disagree about vectorization: define EIGEN_DONT_VECTORIZE before the first include of either"
#endif
#endif

#include <cstdint>
#include <type_traits>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
inline constexpr bool is_one_lane = std::is_arithmetic_v<P>;

namespace detail {

#if !TENURE_SSE && !TENURE_ONE_LANE
namespace simd = Eigen::internal;
#endif

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

inline constexpr bool has_512 = TENURE_AVX512;

}  // namespace detail

/// The widest packet of T: a SIMD register for float and double, and T itself for every other type.
template <class T>
using packet_of = typename std::conditional_t<std::is_floating_point_v<T>, detail::simd::packet_traits<T>, std::type_identity<T>>::type;

template <class P>
using scalar_of = typename detail::lanes_of<P>::scalar;

/// The next narrower packet. The narrowest is its own half.
template <class P>
using half_of = typename detail::simd::unpacket_traits<P>::half;

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

namespace detail {
template <class P, int Lanes>
struct packet_within {
  using type = P;
};
template <class P, int Lanes>
  requires(width<P> > Lanes && !std::is_same_v<P, half_of<P>>)
struct packet_within<P, Lanes> : packet_within<half_of<P>, Lanes> {};
}  // namespace detail
/// The widest packet with at most `Lanes` lanes that is not wider than P, or the narrowest one.
template <class P, int Lanes>
using packet_within = typename detail::packet_within<P, Lanes>::type;

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

}  // namespace tenure::math
