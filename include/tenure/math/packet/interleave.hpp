// SPDX-License-Identifier: BSL-1.0
// Packets of points: memory has x0 y0 z0 x1 y1 z1 ..., and a kernel needs a packet of each component.
#pragma once

#include <type_traits>
#include <utility>

#include <tenure/math/packet/types.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

/// True if the components of short rows are separated in registers: rows of 2 to max_components numbers.
template <class P>
inline constexpr bool can_interleave = [] {
#if !defined(__CUDACC__)
  if constexpr (!is_one_lane<P>) return std::is_floating_point_v<scalar_of<P>>;
#endif
  return false;
}();
inline constexpr int max_components = 8;

#if !defined(__CUDACC__)
namespace detail {

/// The lanes of `now` whose element is in one of the packets before packet M, and the other lanes from packet M. Lane l of the result is element `source(l)` of
/// all packets in turn. For M = 1, `now` is packet 0 itself.
template <int M, class P, class Source, int... L>
TENURE_INLINE P merged(P now, P next, Source source, std::integer_sequence<int, L...>) {
  constexpr int lanes = width<P>;
  constexpr auto from = [](int lane, int element) {
    const int packet = element / lanes;
    return packet == M ? lanes + element % lanes : M > 1 ? lane : packet == 0 ? element : 0;
  };
  return __builtin_shufflevector(now, next, from(L, source(L))...);
}
/// Lane l is element `source(l)` of Count packets in turn.
template <int Count, class P, class Source>
TENURE_INLINE P collected(const P* packets, Source source) {
  return [&]<int... M>(std::integer_sequence<int, M...>) __attribute__((always_inline)) {
    P now = packets[0];
    ((now = merged<M + 1>(now, packets[M + 1], source, std::make_integer_sequence<int, width<P>>{})), ...);
    return now;
  }(std::make_integer_sequence<int, Count - 1>{});
}

constexpr int least_factor(int n) {
  int f = 2;
  while (n % f != 0) ++f;
  return f;
}

}  // namespace detail
#endif

// No loops over packets: g++ makes calls of memmove of them.
/// `packets` has the numbers of width<P> rows of C numbers, as in memory. Then packet k has number k of each row. Requires can_interleave<P>.
/// Cost: C (C - 1) shuffles for a prime C; 2 for 2, 8 for 4, 18 for 6, 24 for 8, 36 for 9.
template <int C, class P>
TENURE_INLINE void deinterleave([[maybe_unused]] P (&packets)[C]) {
#if !defined(__CUDACC__)
  if constexpr (constexpr int factor = detail::least_factor(C), rest = C / factor; rest > 1) {
    [&]<int... J, int... F>(std::integer_sequence<int, J...>, std::integer_sequence<int, F...>) __attribute__((always_inline)) {
      P part[factor][rest];
      const auto split = [&](int j) __attribute__((always_inline)) {
        P some[factor] = {packets[factor * j + F]...};
        deinterleave<factor>(some);
        ((part[F][j] = some[F]), ...);
      };
      (split(J), ...);
      (deinterleave<rest>(part[F]), ...);
      const auto take = [&](int f) __attribute__((always_inline)) { ((packets[factor * J + f] = part[f][J]), ...); };
      (take(F), ...);
    }(std::make_integer_sequence<int, rest>{}, std::make_integer_sequence<int, factor>{});
  } else {
    [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
      const P found[C] = {detail::collected<C>(packets, [](int lane) { return lane * C + K; })...};
      ((packets[K] = found[K]), ...);
    }(std::make_integer_sequence<int, C>{});
  }
#endif
}

/// The inverse of deinterleave(): packet k has number k of each row, and then the packets have the rows as in memory.
template <int C, class P>
TENURE_INLINE void interleave([[maybe_unused]] P (&packets)[C]) {
#if !defined(__CUDACC__)
  if constexpr (constexpr int factor = detail::least_factor(C), rest = C / factor; rest > 1) {
    [&]<int... J, int... F>(std::integer_sequence<int, J...>, std::integer_sequence<int, F...>) __attribute__((always_inline)) {
      P part[factor][rest];
      const auto put = [&](int f) __attribute__((always_inline)) { ((part[f][J] = packets[factor * J + f]), ...); };
      (put(F), ...);
      (interleave<rest>(part[F]), ...);
      const auto join = [&](int j) __attribute__((always_inline)) {
        P some[factor] = {part[F][j]...};
        interleave<factor>(some);
        ((packets[factor * j + F] = some[F]), ...);
      };
      (join(J), ...);
    }(std::make_integer_sequence<int, rest>{}, std::make_integer_sequence<int, factor>{});
  } else {
    constexpr int lanes = width<P>;
    [&]<int... J>(std::integer_sequence<int, J...>) __attribute__((always_inline)) {
      const P found[C] = {detail::collected<C>(packets, [](int lane) { return (J * lanes + lane) % C * lanes + (J * lanes + lane) / C; })...};
      ((packets[J] = found[J]), ...);
    }(std::make_integer_sequence<int, C>{});
  }
#endif
}

}  // namespace tenure::math
