// SPDX-License-Identifier: BSL-1.0
// Determinants and cofactors of matrices of at most 4 x 4, without branches. The 2 x 2 minors are rounded once or twice, so that a result is as exact as by
// elimination also where the matrix is nearly singular.
#pragma once

#include <cstdint>

#include <tenure/math/lanes.hpp>
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

/// Writes the transposed cofactors of a, which are det(a) times the inverse, and returns det(a). 1 <= n <= 4.
template <class V>
TENURE_KERNEL_INLINE V cofactors(std::int64_t n, const V* a, V* to) {
  if (n == 1) return to[0] = V(typename V::number(1)), a[0];
  if (n == 2) {
    const V zero = V(typename V::number(0));
    to[0] = a[3], to[1] = zero - a[1], to[2] = zero - a[2], to[3] = a[0];
    return minor_of(a[0], a[3], a[1], a[2]);
  }
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
  V total = V(T(0));
  for (std::int64_t i = 0; i < n; ++i) {
    V of_row = math::abs(a[i * n]);
    for (std::int64_t j = 1; j < n; ++j) of_row = of_row + math::abs(a[i * n + j]);
    total = total + of_row;
  }
  return !(math::abs(det) > V(T(is_double ? 0x1p-500 : 0x1p-50)) && total < V(T(is_double ? 0x1p150 : 0x1p24)));
}

}  // namespace tenure::ops
