// SPDX-License-Identifier: BSL-1.0
// The lanes of matrix products: packets of T, loaded from elements of T or from elements that are narrower in memory, and how two of them are multiplied.
// Pairs of bfloat16 are elements too: where the processor multiplies them, a lane takes two steps of a sum at a time.
#pragma once

#include "../../core/config.hpp"

#include <tenure/math/packet.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

namespace packets = math::detail::simd;
using index = std::int64_t;

/// Whether T has packet arithmetic here. Other types use scalar loops.
template <class T>
inline constexpr bool has_packets = std::is_same_v<T, float> || std::is_same_v<T, double>;

#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool many_registers = TENURE_AVX512;
#else
inline constexpr bool many_registers = sizeof(void*) == 8;
#endif

/// The packet with exactly `Lanes` lanes. Lanes is 1, or between min_lanes and max_lanes.
template <class T, index Lanes>
struct packet_of_lanes {
  using type = math::packet_within<math::packet_of<T>, static_cast<int>(Lanes)>;
};
template <class T>
struct packet_of_lanes<T, 1> {
  using type = T;
};
template <class T, index Lanes>
using packet_of = typename packet_of_lanes<T, Lanes>::type;

template <class T>
inline constexpr index max_lanes = math::width<math::packet_of<T>>;
template <class T>
inline constexpr index min_lanes = math::width<typename packet_of_lanes<T, 2>::type>;

/// The number of lanes of the widest packet that `columns` columns fill.
template <class T>
constexpr index widest(index columns, index limit) {
  index lanes = max_lanes<T>;
  while (lanes > limit) lanes /= 2;
  while (lanes > columns && lanes > min_lanes<T>) lanes /= 2;
  return lanes > columns ? 1 : lanes;
}

/// Two neighbours in memory. An instruction multiplies pairs and adds both products to a lane of float32, at twice the speed of a multiply-add. It rounds
/// after each addition, and takes subnormal numbers for zero.
struct bfloat16_pair {
  bfloat16 of[2];
};
#if TENURE_AVX512 && defined(__AVX512BF16__)
inline constexpr bool multiplies_pairs = true;
TENURE_INLINE __m512 add_pairs(__m512 x, __m512 y, __m512 sum) { return _mm512_dpbf16_ps(sum, std::bit_cast<__m512bh>(x), std::bit_cast<__m512bh>(y)); }
#else
inline constexpr bool multiplies_pairs = false;
void add_pairs(...);
#endif
template <class S>
inline constexpr bool is_pair = std::is_same_v<S, bfloat16_pair>;

/// Loads a packet of lanes from elements of their type, of a narrower type in memory, or from pairs.
template <class Packet, class S>
TENURE_INLINE Packet load_lanes(const S* from) {
  if constexpr (has_packets<S>) return packets::ploadu<Packet>(from);
  else if constexpr (is_pair<S>) return packets::ploadu<Packet>(reinterpret_cast<const float*>(from));
  else return math::load_narrow<Packet>(from);
}
/// A packet of one element.
template <class Packet, class S>
TENURE_INLINE Packet broadcast_lane(const S* from) {
  if constexpr (has_packets<S>) return packets::pset1<Packet>(*from);
  else if constexpr (is_pair<S>) return packets::pset1<Packet>(std::bit_cast<float>(*from));
  else return math::broadcast_narrow<Packet>(from);
}
/// sum + x y, where x and y were loaded from elements of types A and B.
template <class A, class B, class Packet>
TENURE_INLINE Packet multiply_add(Packet x, Packet y, Packet sum) {
  if constexpr (is_pair<A> && is_pair<B>) return add_pairs(x, y, sum);
  else return packets::pmadd(x, y, sum);
}

/// Loads the first `n` lanes, and sets the others to zero. It reads no memory beyond the first n elements.
template <class Packet, class T>
TENURE_INLINE Packet load_some(const T* from, index n) {
  constexpr bool masks_are_free = sizeof(Packet) == 64;  // AVX-512: a load with a mask takes no longer
  constexpr index lanes = math::width<Packet>;
  if constexpr (is_pair<T>) {
    return math::load_first<Packet>(reinterpret_cast<const float*>(from), static_cast<int>(n));
  } else if constexpr (has_packets<T> && math::has_masked_memory<Packet>) {
    if (!masks_are_free && n == lanes) return packets::ploadu<Packet>(from);
    return math::load_first<Packet>(from, static_cast<int>(n));
  } else {
    if (n == lanes) return load_lanes<Packet>(from);
    T first[lanes] = {};
    for (index i = 0; i < n; ++i) first[i] = from[i];
    return load_lanes<Packet>(first);
  }
}

/// Stores the first `n` lanes. It writes no memory beyond the first n elements.
template <class Packet, class T>
TENURE_INLINE void store_some(T* to, const Packet& value, index n) {
  if (n == max_lanes<T>) return packets::pstoreu(to, value);
  if constexpr (math::has_masked_memory<Packet>) {
    math::store_first<Packet>(to, value, static_cast<int>(n));
  } else {
    T lanes[max_lanes<T>];
    packets::pstoreu(lanes, value);
    for (index i = 0; i < n; ++i) to[i] = lanes[i];
  }
}

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
