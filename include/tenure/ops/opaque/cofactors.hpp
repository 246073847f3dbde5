// SPDX-License-Identifier: BSL-1.0
// Determinants and inverses of matrices of at most 4 x 4 by cofactors, without branches. The 2 x 2 minors are rounded once or twice, so that a result is as
// exact as by elimination also where the matrix is nearly singular. What may have left the range of the type is computed again by elimination, in functions
// that are not inlined.
#pragma once

#include <cstdint>

#include <tenure/math/lanes.hpp>
#include <tenure/math/packet/interleave.hpp>
#include <tenure/math/twin.hpp>
#include <tenure/ops/opaque/elimination.hpp>
#include <tenure/ops/opaque/extent.hpp>

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
/// x a + y b + z c.
template <class V>
TENURE_KERNEL_INLINE V sum_of_products(V x, V a, V y, V b, V z, V c) { return V(math::fma(z.value, c.value, math::fma(y.value, b.value, (x * a).value))); }

/// Column k of the three that are left without column `out`.
constexpr int other_column(int out, int k) { return k + (k >= out ? 1 : 0); }
/// The number of the pair of columns i < j: 01, 02, 03, 12, 13, 23.
constexpr int pair_of_columns(int i, int j) { return i == 0 ? j - 1 : i + j; }
/// The pair that is left of the three columns without `out` if the k-th is taken away.
constexpr int other_pair(int out, int k) { return pair_of_columns(other_column(out, k == 0 ? 1 : 0), other_column(out, k == 2 ? 1 : 2)); }

/// det(a) of 4 x 4, from the minors of the upper rows and those of the lower ones.
template <class V>
TENURE_KERNEL_INLINE V det_of_minors(const V* s, const V* c) { return alternating(s[0], c[5], s[1], c[4], s[2], c[3]) + alternating(s[5], c[0], s[4], c[1], s[3], c[2]); }

#if defined(__CUDACC__)
template <class T>
inline constexpr bool has_packets_of_4 = false;
#else
/// The packet of four numbers T, or the widest one if that has fewer.
template <class T>
using packet_of_4 = math::packet_within<math::packet_of<T>, 4>;
/// Whether the rows of one matrix of 4 x 4 stand in packets.
template <class T>
inline constexpr bool has_packets_of_4 = math::width<packet_of_4<T>> == 4;
/// Whether eight numbers of one matrix of 3 x 3 stand in a packet.
template <class T>
inline constexpr bool has_packets_of_8 = [] {
  if constexpr (math::is_one_lane<math::packet_of<T>>) return false;
  else return math::is_512<math::packet_of<T>> && math::width<math::packet_of<T>> == 8;
}();
/// Lane l is element source(l) of two packets in turn.
template <class P, class Source>
TENURE_INLINE math::lanes<P> shuffled(const math::lanes<P>& first, const math::lanes<P>& second, Source source) {
  const P both[] = {first.value, second.value};
  return math::lanes<P>(math::detail::collected<2>(both, source));
}

/// Writes the lanes of x one by one. If the target is in registers, compilers then keep x as one packet. They do not if x goes through memory.
template <class V, class P>
TENURE_INLINE void write_lanes(V* to, const math::lanes<P>& x) {
  [&]<int... L>(std::integer_sequence<int, L...>) __attribute__((always_inline)) { ((to[L] = V(x.value[L])), ...); }(std::make_integer_sequence<int, math::width<P>>{});
}

/// Minor e of 3 x 3 is number [0][e] times number [1][e] less number [2][e] times number [3][e].
inline constexpr int factors_of_minors[4][8] = {{4, 2, 1, 5, 0, 2, 3, 1}, {8, 7, 5, 6, 8, 3, 7, 6}, {5, 1, 2, 3, 2, 0, 4, 0}, {7, 8, 4, 8, 6, 5, 6, 7}};
/// inverse_by_cofactors() of one matrix of 3 x 3, with the same bits: the first eight minors in the lanes of a packet.
template <class V>
TENURE_KERNEL_INLINE V inverse_of_3_in_8(const V* a, V* to, bool is_adjugate) {
  using P = math::packet_of<typename V::number>;
  using L = math::lanes<P>;
  const L numbers = math::load<P>(&a->value), ninth = math::set1<P>(a[8].value);
  const auto of = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
    return shuffled(numbers, ninth, [](int lane) { return factors_of_minors[K][lane]; });
  };
  const L all = minor_of(of(std::integral_constant<int, 0>{}), of(std::integral_constant<int, 1>{}), of(std::integral_constant<int, 2>{}), of(std::integral_constant<int, 3>{}));
  const V det = sum_of_products(a[0], V(all.value[0]), a[1], V(all.value[3]), a[2], V(all.value[6]));
  const V one = V(typename V::number(1)), factor = is_adjugate ? one : one / det;
  write_lanes(to, all * L(factor.value));
  to[8] = minor_of(a[0], a[4], a[1], a[3]) * factor;
  return det;
}

/// inverse_by_cofactors() of one matrix of 3 x 3, with the same bits: a row in a packet, whose last lane is not used. A column of the inverse is the cross product
/// of two rows.
template <class V>
TENURE_KERNEL_INLINE V inverse_of_3(const V* a, V* to, bool is_adjugate) {
  using T = typename V::number;
  using P = packet_of_4<T>;
  using L = math::lanes<P>;
  const P upper = math::load<P>(&a[0].value), middle = math::load<P>(&a[3].value), lower = math::load<P>(&a[5].value);
  const L rows[] = {upper, middle, P(__builtin_shufflevector(lower, lower, 1, 2, 3, 0))};
  const L turned[] = {P(__builtin_shufflevector(upper, upper, 1, 2, 0, 3)), P(__builtin_shufflevector(middle, middle, 1, 2, 0, 3)), P(__builtin_shufflevector(lower, lower, 2, 3, 1, 0))};
  const auto cross = [&](int r, int q) { return minor_of(rows[r], turned[q], turned[r], rows[q]).value; };
  const P x = cross(1, 2), y = cross(2, 0), z = cross(0, 1), z_twice = __builtin_shufflevector(z, z, 0, 1, 0, 1);  // minors 6 0 3, 7 1 4, 8 2 5
  const V det = sum_of_products(a[0], V(T(x[1])), a[1], V(T(x[2])), a[2], V(T(x[0]))), one = V(T(1)), factor = is_adjugate ? one : one / det;
  const P in_0_and_1 = __builtin_shufflevector(x, y, 1, 5, 3, 7), in_2_and_3 = __builtin_shufflevector(z_twice, x, 1, 4, 3, 6);
  const P in_4_and_5 = __builtin_shufflevector(y, z, 0, 4, 2, 6), in_6_and_7 = __builtin_shufflevector(x, y, 0, 4, 2, 6);
  write_lanes(to, L(P(__builtin_shufflevector(in_0_and_1, in_2_and_3, 0, 1, 6, 7))) * L(factor.value));
  write_lanes(to + 4, L(P(__builtin_shufflevector(in_4_and_5, in_6_and_7, 2, 3, 4, 5))) * L(factor.value));
  to[8] = V(T(z[0])) * factor;
  return det;
}

/// determinant() of one matrix of 4 x 4, with the same bits. A packet has two minors of the upper rows, each with that of the lower ones beside it.
template <class V>
TENURE_KERNEL_INLINE V determinant_of_4(const V* a) {
  using T = typename V::number;
  using P = packet_of_4<T>;
  using L = math::lanes<P>;
  const auto row = [&](int r) { return math::load<P>(&a[4 * r].value); };
  // The even columns of two rows, the odd ones, columns 0 and 1, 2 and 3, 3 and 2.
  struct columns {
    P even, odd, first, last, turned;
    TENURE_INLINE columns(P r, P q)
        : even(__builtin_shufflevector(r, q, 0, 4, 2, 6)), odd(__builtin_shufflevector(r, q, 1, 5, 3, 7)), first(__builtin_shufflevector(even, odd, 0, 1, 4, 5)),
          last(__builtin_shufflevector(even, odd, 2, 3, 6, 7)), turned(__builtin_shufflevector(odd, even, 2, 3, 6, 7)) {}
  };
  const columns x(row(0), row(2)), y(row(1), row(3));
  const L minors[] = {minor_of<L>(x.even, y.odd, y.even, x.odd), minor_of<L>(x.first, y.last, y.first, x.last), minor_of<L>(x.first, y.turned, y.first, x.turned)};
  const auto other = [&](int k) { return L(P(__builtin_shufflevector(minors[k].value, minors[k].value, 3, 2, 1, 0))); };
  const L sums = alternating(minors[0], other(0), minors[1], other(1), minors[2], other(2));
  return V(T(sums.value[0])) + V(T(sums.value[1]));
}
/// inverse_by_cofactors() of one matrix of 4 x 4, with the same bits: a row in a packet. Each minor stands twice in a packet, with that of the other rows.
template <class V>
TENURE_KERNEL_INLINE V inverse_of_4(const V* a, V* to, bool is_adjugate) {
  using T = typename V::number;
  using P = packet_of_4<T>;
  using L = math::lanes<P>;
  const L rows[] = {math::load<P>(&a[0].value), math::load<P>(&a[4].value), math::load<P>(&a[8].value), math::load<P>(&a[12].value)};
  L upper[4], lower[4], numbers[4], minors[6];
  V s[6], c[6];
  // Columns k and k + 1 of rows r and q.
  const auto halves = [&]<int K>(std::integral_constant<int, K>, int r, int q) { return P(__builtin_shufflevector(rows[r].value, rows[q].value, K, K + 1, K + 4, K + 5)); };
  const auto columns = [&]<int K>(std::integral_constant<int, K> k) {
    const P up = halves(k, 2, 0), low = halves(k, 3, 1), first = halves(k, 1, 3), second = halves(k, 0, 2);
    upper[K] = P(__builtin_shufflevector(up, up, 0, 0, 2, 2)), upper[K + 1] = P(__builtin_shufflevector(up, up, 1, 1, 3, 3));
    lower[K] = P(__builtin_shufflevector(low, low, 0, 0, 2, 2)), lower[K + 1] = P(__builtin_shufflevector(low, low, 1, 1, 3, 3));
    numbers[K] = P(__builtin_shufflevector(first, second, 0, 4, 2, 6)), numbers[K + 1] = P(__builtin_shufflevector(first, second, 1, 5, 3, 7));
  };
  columns(std::integral_constant<int, 0>{}), columns(std::integral_constant<int, 2>{});
  const auto minor = [&](int i, int j) {
    const int p = pair_of_columns(i, j);
    minors[p] = minor_of(upper[i], lower[j], lower[i], upper[j]);
    c[p] = V(T(minors[p].value[0])), s[p] = V(T(minors[p].value[2]));
  };
  minor(0, 1), minor(0, 2), minor(0, 3), minor(1, 2), minor(1, 3), minor(2, 3);
  static constexpr T signs[] = {1, -1, 1, -1};
  const V det = det_of_minors(s, c), one = V(T(1));
  const L even = L((is_adjugate ? one : one / det).value) * L(math::load<P>(signs)), odd = L(T(0)) - even;
  const auto row = [&](int i) {
    const int k = other_column(i, 0), l = other_column(i, 1), m = other_column(i, 2);
    const L all = alternating(numbers[k], minors[other_pair(i, 0)], numbers[l], minors[other_pair(i, 1)], numbers[m], minors[other_pair(i, 2)]);
    math::store<P>(&to[4 * i].value, (all * (i % 2 == 0 ? even : odd)).value);
  };
  row(0), row(1), row(2), row(3);
  return det;
}
#endif

/// The minors of rows r and r + 1 of 4 x 4, by pairs of columns.
template <class V>
TENURE_KERNEL_INLINE void minors_of_rows(const V* row, V* to) {
  const auto of = [&](int i, int j) { to[pair_of_columns(i, j)] = minor_of(row[i], row[4 + j], row[4 + i], row[j]); };
  of(0, 1), of(0, 2), of(0, 3), of(1, 2), of(1, 3), of(2, 3);
}

/// det(a). 1 <= n <= 4.
template <class V>
TENURE_KERNEL_INLINE V determinant(std::int64_t n, const V* a) {
  if (n == 1) return a[0];
  if (n == 2) return minor_of(a[0], a[3], a[1], a[2]);
  if (n == 3) return sum_of_products(a[0], minor_of(a[4], a[8], a[5], a[7]), a[1], minor_of(a[5], a[6], a[3], a[8]), a[2], minor_of(a[3], a[7], a[4], a[6]));
#if !defined(__CUDACC__)
  if constexpr (V::is_number && has_packets_of_4<typename V::number>) return determinant_of_4(a);
#endif
  V s[6], c[6];
  minors_of_rows(a, s), minors_of_rows(a + 8, c);
  return det_of_minors(s, c);
}
/// Writes the inverse of a, or the adjugate, which is det(a) times the inverse, and returns det(a). 1 <= n <= 4.
template <class V>
TENURE_KERNEL_INLINE V inverse_by_cofactors(std::int64_t n, const V* a, V* to, bool is_adjugate) {
#if !defined(__CUDACC__)
  if constexpr (V::is_number && has_packets_of_8<typename V::number>)
    if (n == 3) return inverse_of_3_in_8(a, to, is_adjugate);
  if constexpr (V::is_number && has_packets_of_4<typename V::number>) {
    if (n == 3) return inverse_of_3(a, to, is_adjugate);
    if (n == 4) return inverse_of_4(a, to, is_adjugate);
  }
#endif
  const V zero = V(typename V::number(0)), one = V(typename V::number(1));
  const auto factor_of = [&](V det) { return is_adjugate ? one : one / det; };
  if (n == 1) return to[0] = factor_of(a[0]), a[0];
  if (n == 2) {
    const V det = determinant(n, a), plus = factor_of(det), minus = zero - plus;
    to[0] = a[3] * plus, to[1] = a[1] * minus, to[2] = a[2] * minus, to[3] = a[0] * plus;
    return det;
  }
  if (n == 3) {
    const auto at = [&](int i, int j, int k, int l) { return minor_of(a[i], a[j], a[k], a[l]); };
    to[0] = at(4, 8, 5, 7), to[1] = at(2, 7, 1, 8), to[2] = at(1, 5, 2, 4);
    to[3] = at(5, 6, 3, 8), to[4] = at(0, 8, 2, 6), to[5] = at(2, 3, 0, 5);
    to[6] = at(3, 7, 4, 6), to[7] = at(1, 6, 0, 7), to[8] = at(0, 4, 1, 3);
    const V det = sum_of_products(a[0], to[0], a[1], to[3], a[2], to[6]), factor = factor_of(det);
    for (int e = 0; e < 9; ++e) to[e] = to[e] * factor;
    return det;
  }
  V s[6], c[6];
  minors_of_rows(a, s), minors_of_rows(a + 8, c);
  const V det = det_of_minors(s, c), plus = factor_of(det), minus = zero - plus;
  for_each_in(first_row, constant_extent<16>{}, [&](auto e) {
    constexpr int i = decltype(e)::value / 4, j = decltype(e)::value % 4;
    const V *const row = a + 4 * (j ^ 1), *const minors = j < 2 ? c : s;
    to[e] = alternating(row[other_column(i, 0)], minors[other_pair(i, 0)], row[other_column(i, 1)], minors[other_pair(i, 1)], row[other_column(i, 2)], minors[other_pair(i, 2)]) *
            ((i + j) % 2 == 0 ? plus : minus);
  });
  return det;
}

/// Where a product of inverse_by_cofactors() may have left the range of the type, or det(a) is so small that it matters; also for NaN. The numbers are compared
/// by four sums of squares, as a matrix stands in packets of four. The last one of an odd number is in all sums.
template <class V>
TENURE_KERNEL_INLINE auto is_out_of_range(std::int64_t n, const V* a, V det) {
  using T = typename V::number;
  constexpr bool is_double = sizeof(T) == 8;
  constexpr T largest = T(is_double ? 0x1p150 : 0x1p24), smallest = T(is_double ? 0x1p-500 : 0x1p-50);
  const std::int64_t count = n * n, in_fours = count / 4 * 4;
  const V last = count % 2 == 1 ? a[count - 1] : V(T(0));
  auto in_range = det * det > V(smallest * smallest);
#if !defined(__CUDACC__)
  if constexpr (V::is_number && has_packets_of_4<T>)
    if (n > 2) {
      using L = math::lanes<packet_of_4<T>>;
      L sums = L(last.value) * L(last.value);
      for (std::int64_t e = 0; e < in_fours; e += 4) {
        const L x = math::load<packet_of_4<T>>(&a[e].value);
        sums = math::product_plus(x, x, sums);
      }
      const bool are_small = math::all<packet_of_4<T>>((sums < L(largest * largest)).mask);
      return math::lanes_choice<T>{!(in_range.mask && are_small)};
    }
#endif
  for (std::int64_t k = 0; k < (in_fours > 0 ? 4 : 1); ++k) {
    V sum = last * last;
    for (std::int64_t e = k; e < in_fours; e += 4) sum = math::product_plus(a[e], a[e], sum);
    in_range = in_range && sum < V(largest * largest);
  }
  return !in_range;
}

/// Where a product of determinant() may have left the range of the type, or det(a) is so small that it matters; also for NaN. Up to 3 x 3 a minor may be off by
/// the least number of the type, and is multiplied by a number of the first row: so det(a) is compared with the size of this row. Beyond the range a product
/// is inf, and then det(a) is inf or NaN.
template <class V>
TENURE_KERNEL_INLINE auto is_wrong_determinant(std::int64_t n, const V* a, V det) {
  using T = typename V::number;
  constexpr bool is_double = sizeof(T) == 8;
  if (n == 4) return is_out_of_range(n, a, det);
  V sum = V(T(is_double ? 0x1p-900 : 0x1p-80));
  for (std::int64_t e = 0; e < n; ++e) sum = math::product_plus(a[e], a[e], sum);
  sum = math::product_plus(det, V(T(0)), sum);  // NaN where det is inf or NaN
  const V scaled = det * V(T(is_double ? 0x1p500 : 0x1p60));
  return !(sum < scaled * scaled);
}

/// A record whose samples of at most 4 x 4 are computed by cofactors:
///   run_in_range(n, operand, results, options)       // by cofactors; returns where they may be wrong
///   run_out_of_range(n, operand, results, options)   // by elimination, which overwrites the operand
/// One small sample in registers calls them by itself, so that the second one is the end of the call and takes no memory of the first one.
template <class Record>
struct by_cofactors {
  static constexpr bool has_range(const sample_sizes& sizes) { return sizes[0] >= 1 && sizes[0] <= most_cofactor_rows; }
  static constexpr bool overwrites(int, const sample_sizes& sizes) { return sizes[0] > most_cofactor_rows; }

  /// Both. 1 <= n <= 4.
  template <class V, class Options>
  static TENURE_KERNEL_INLINE void run_by_cofactors(const sample_sizes& sizes, V* const* operand, V* const* results, const Options& options) {
    const auto is_wrong = Record::run_in_range(sizes, operand, results, options);
    if (!math::any(is_wrong)) return;
    constexpr int most = most_cofactor_rows * most_cofactor_rows;
    V copy[most], other[Record::results][most];
    V *copies[] = {copy}, *others[Record::results];
    for (std::int64_t e = 0; e < sizes[0] * sizes[0]; ++e) copy[e] = operand[0][e];
    for (int r = 0; r < Record::results; ++r) others[r] = other[r];
    Record::run_out_of_range(sizes, copies, others, options);
    for (int r = 0; r < Record::results; ++r)
      for (std::int64_t e = 0; e < Record::elements_of_result(sizes, r); ++e) results[r][e] = math::choose(is_wrong, other[r][e], results[r][e]);
  }
};

}  // namespace tenure::ops
