// SPDX-License-Identifier: BSL-1.0
// Determinants and cofactors of matrices of at most 4 x 4, without branches. The 2 x 2 minors are rounded once or twice, so that a result is as exact as by
// elimination also where the matrix is nearly singular.
#pragma once

#include <cstdint>

#include <tenure/math/lanes.hpp>
#include <tenure/math/packet/interleave.hpp>
#include <tenure/math/packet/minimum.hpp>
#include <tenure/math/twin.hpp>

namespace TENURE_NAMESPACE::ops {

inline constexpr std::int64_t most_cofactor_rows = 4;

/// a b - c d, to two roundings of the result. Source: W. Kahan, On the cost of floating-point computation without extra-precise arithmetic, 2004.
template <class V>
TENURE_KERNEL_INLINE V minor_of(V a, V b, V c, V d) {
  const V first = a * b, lost = V(math::detail::product_residual(a.value, b.value, first.value));  // first - a b
  if constexpr (math::detail::has_fma) {
    return math::minus_product(first, c, d) - lost;
  } else {
    const V second = c * d;
    return (first - second) - (lost - V(math::detail::product_residual(c.value, d.value, second.value)));
  }
}
/// x a - y b + z c.
template <class V>
TENURE_KERNEL_INLINE V alternating(V x, V a, V y, V b, V z, V c) { return V(math::fma(z.value, c.value, math::minus_product(x * a, y, b).value)); }
/// -(x a - y b + z c).
template <class V>
TENURE_KERNEL_INLINE V opposite(V x, V a, V y, V b, V z, V c) { return math::minus_product(math::minus_product(y * b, x, a), z, c); }

#if defined(__CUDACC__)
template <class T>
inline constexpr bool has_cofactor_packets = false;
#else
/// Whether the numbers of one matrix stand in packets, of 3 x 3 all but the last.
template <class T>
inline constexpr bool has_cofactor_packets = [] {
  if constexpr (math::is_one_lane<math::packet_of<T>>) return false;
  else return math::is_512<math::packet_of<T>> && math::width<math::packet_of<T>> == 8;
}();
/// Minor e of 3 x 3 is number [0][e] times number [1][e] less number [2][e] times number [3][e].
inline constexpr int factors_of_minors[4][8] = {{4, 2, 1, 5, 0, 2, 3, 1}, {8, 7, 5, 6, 8, 3, 7, 6}, {5, 1, 2, 3, 2, 0, 4, 0}, {7, 8, 4, 8, 6, 5, 6, 7}};
/// cofactors() of one matrix of 3 x 3, with the same bits: the first eight minors in the lanes of a packet.
template <class V>
TENURE_KERNEL_INLINE V cofactors_of_3(const V* a, V* to) {
  using T = typename V::number;
  using P = math::packet_of<T>;
  using L = math::lanes<P>;
  const P numbers[2] = {math::load<P>(&a->value), math::set1<P>(a[8].value)};
  const auto of = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
    return L(math::detail::collected<2>(numbers, [](int lane) { return factors_of_minors[K][lane]; }));
  };
  const L all = minor_of(of(std::integral_constant<int, 0>{}), of(std::integral_constant<int, 1>{}), of(std::integral_constant<int, 2>{}), of(std::integral_constant<int, 3>{}));
  const auto lane = [&](int l) { return V(all.value[l]); };
  const V first = lane(0), second = lane(3), third = lane(6), last = minor_of(a[0], a[4], a[1], a[3]);
  math::store<P>(&to->value, all.value);
  to[8] = last;
  return V(math::fma(a[2].value, third.value, math::fma(a[1].value, second.value, (a[0] * first).value)));
}
#endif
/// Writes the transposed cofactors of a, which are det(a) times the inverse, and returns det(a). 1 <= n <= 4.
template <class V>
TENURE_KERNEL_INLINE V cofactors(std::int64_t n, const V* a, V* to) {
  if (n == 1) return to[0] = V(typename V::number(1)), a[0];
  if (n == 2) {
    const V zero = V(typename V::number(0));
    to[0] = a[3], to[1] = zero - a[1], to[2] = zero - a[2], to[3] = a[0];
    return minor_of(a[0], a[3], a[1], a[2]);
  }
  if constexpr (V::is_number && has_cofactor_packets<typename V::number>)
    if (n == 3) return cofactors_of_3(a, to);
  if (n == 3) {
    const auto at = [&](int i, int j, int k, int l) { return minor_of(a[i], a[j], a[k], a[l]); };
    to[0] = at(4, 8, 5, 7), to[1] = at(2, 7, 1, 8), to[2] = at(1, 5, 2, 4);
    to[3] = at(5, 6, 3, 8), to[4] = at(0, 8, 2, 6), to[5] = at(2, 3, 0, 5);
    to[6] = at(3, 7, 4, 6), to[7] = at(1, 6, 0, 7), to[8] = at(0, 4, 1, 3);
    return V(math::fma(a[2].value, to[6].value, math::fma(a[1].value, to[3].value, (a[0] * to[0]).value)));
  }
  // s: the minors of the rows 0 and 1. c: those of the rows 2 and 3.
  const auto s = [&](int i, int j) { return minor_of(a[i], a[4 + j], a[4 + i], a[j]); };
  const auto c = [&](int i, int j) { return minor_of(a[8 + i], a[12 + j], a[12 + i], a[8 + j]); };
  const V s01 = s(0, 1), s02 = s(0, 2), s03 = s(0, 3), s12 = s(1, 2), s13 = s(1, 3), s23 = s(2, 3);
  const V c01 = c(0, 1), c02 = c(0, 2), c03 = c(0, 3), c12 = c(1, 2), c13 = c(1, 3), c23 = c(2, 3);
  to[0] = alternating(a[5], c23, a[6], c13, a[7], c12), to[1] = opposite(a[1], c23, a[2], c13, a[3], c12);
  to[2] = alternating(a[13], s23, a[14], s13, a[15], s12), to[3] = opposite(a[9], s23, a[10], s13, a[11], s12);
  to[4] = opposite(a[4], c23, a[6], c03, a[7], c02), to[5] = alternating(a[0], c23, a[2], c03, a[3], c02);
  to[6] = opposite(a[12], s23, a[14], s03, a[15], s02), to[7] = alternating(a[8], s23, a[10], s03, a[11], s02);
  to[8] = alternating(a[4], c13, a[5], c03, a[7], c01), to[9] = opposite(a[0], c13, a[1], c03, a[3], c01);
  to[10] = alternating(a[12], s13, a[13], s03, a[15], s01), to[11] = opposite(a[8], s13, a[9], s03, a[11], s01);
  to[12] = opposite(a[4], c12, a[5], c02, a[6], c01), to[13] = alternating(a[0], c12, a[1], c02, a[2], c01);
  to[14] = opposite(a[12], s12, a[13], s02, a[14], s01), to[15] = alternating(a[8], s12, a[9], s02, a[10], s01);
  return alternating(s01, c23, s02, c13, s03, c12) + alternating(s12, c03, s13, c02, s23, c01);
}

/// Where a product of cofactors() may have left the range of the type, or det(a) is so small that it matters; also for NaN.
template <class V>
TENURE_KERNEL_INLINE auto is_out_of_range(std::int64_t n, const V* a, V det) {
  using T = typename V::number;
  constexpr bool is_double = sizeof(T) == 8;
  constexpr T largest = is_double ? 0x1p150 : 0x1p24;
  const auto is_large_enough = math::abs(det) > V(T(is_double ? 0x1p-500 : 0x1p-50));
  if constexpr (V::is_number && has_cofactor_packets<T>)
    if (n > 2) {
      using P = math::packet_of<T>;
      constexpr int w = math::width<P>;
      bool are_small = true;
      std::int64_t e = 0;
      for (; e + w <= n * n; e += w) are_small = are_small && math::all<P>(math::lt(math::abs(math::load<P>(&a->value + e)), math::set1<P>(largest)));
      for (; e < n * n; ++e) are_small = are_small && math::abs(a[e].value) < largest;  // a masked load would wait for the store of a single number
      return !(is_large_enough && math::lanes_choice<T>{are_small});
    }
  V found = V(T(0));
  for (std::int64_t e = 0; e < n * n; ++e) found = V(math::max(found.value, math::abs(a[e]).value));  // det is NaN where an element is
  return !(is_large_enough && found < V(largest));
}

}  // namespace tenure::ops
