// SPDX-License-Identifier: BSL-1.0
// lu: a matrix as p l u, where p is a permutation, l is lower triangular with ones on its diagonal, and u is upper triangular.
#pragma once

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/extent.hpp>
#include <tenure/ops/opaque/of_matrix.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>

namespace TENURE_NAMESPACE::ops {

namespace nodes {
/// With l and u continued by the identity to n x n and m x m, and x = l^-1 p^T da u^-1: dl = l s(x) and du = t(x) u, where s(x) is the part of x below its
/// diagonal and t(x) = x - s(x). The cotangent of a is p l^-T (s(l^T gl) + t(gu u^T)) u^-T. p is constant.
/// Source: S. Walter and L. Lehmann, Algorithmic differentiation of linear algebra functions, 2010, arXiv:1001.1654.
struct lu : sample_operation<lu, 1, 3> {
  static constexpr const char* name = "lu";
  static constexpr signature takes = "(n,m)->(n,n),(n,k),(k,m) k=min(n,m)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: lu: the operand has less than two axes");
    static_assert(Floats, "tenure: lu: integers and bool have no quotients; convert first");
  }
  static constexpr bool overwrites(int, const sample_sizes&) { return true; }

  /// The row that stands in each place, beside the matrices.
  static constexpr std::int64_t scratch(const sample_sizes& sizes) { return sizes[0]; }

  template <class V, class Sizes>
  static TENURE_KERNEL_INLINE void run(const Sizes& sizes, V* const* operand, V* const* results, no_options) {
    using number = typename V::number;
    const auto n = extent_of<0>(sizes);
    const auto m = extent_of<1>(sizes);
    const auto count = extent_of<2>(sizes);
    V *const a = operand[0], *const order = operand[1], *const p = results[0], *const l = results[1], *const u = results[2];
    const V zero = V(number(0)), one = V(number(1));
    for_each_in(first_row, n, [&](auto i) __attribute__((always_inline)) { order[i] = V(static_cast<number>(i)); });
    factorize(n, m, count, a, [&](auto c, const auto& rows) __attribute__((always_inline)) { rows.of(order, c); });
    for_each_in(first_row, n, [&](auto j) __attribute__((always_inline)) {
      for_each_in(first_row, n, [&](auto i) __attribute__((always_inline)) { p[j * n + i] = math::choose(order[i] == V(static_cast<number>(j)), one, zero); });
    });
    for_each_in(first_row, n, [&](auto i) __attribute__((always_inline)) {
      for_each_in(first_row, count, [&](auto j) __attribute__((always_inline)) { l[i * count + j] = j < i ? a[i * m + j] : j == i ? one : zero; });
    });
    for_each_in(first_row, count, [&](auto i) __attribute__((always_inline)) {
      for_each_in(first_row, m, [&](auto j) __attribute__((always_inline)) { u[i * m + j] = j < i ? zero : a[i * m + j]; });
    });
  }
  /// The factors in the place of a: l below its diagonal, u on and above it. Step c exchanges row c with the row that has the largest number in column c; of equal
  /// ones the first counts. LAPACK does the same, so p is that of LAPACK. A column of zeros stays as it is. note(c, exchange) gets each exchange.
  template <class V>
  static TENURE_KERNEL_INLINE void factorize(auto n, auto m, auto count, V* a, const auto& note) {
    using number = typename V::number;
    const V zero = V(number(0)), one = V(number(1));
    for_each_in(first_row, count, [&](auto c) __attribute__((always_inline)) {
      V largest = math::abs(a[c * m + c]), row = V(static_cast<number>(c));
      for_each_in(after(c), n, [&](auto i) __attribute__((always_inline)) {
        const V size = math::abs(a[i * m + c]);
        const auto is_larger = size > largest;
        row = math::choose(is_larger, V(static_cast<number>(i)), row);
        largest = math::choose(is_larger, size, largest);
      });
      const exchange<V, decltype(n)> rows{n, m, row};
      note(c, rows);
      constexpr bool by_rows = V::is_number && std::is_integral_v<decltype(c)>;
      if constexpr (by_rows) rows.exchange_numbers(a, m, c);
      else rows.template in_columns<1>(a, m, c, c);
      const V pivot = math::choose(largest > zero, a[c * m + c], a[c * m + c] + one);  // NaN stays NaN
      for_each_in(after(c), n, [&](auto i) __attribute__((always_inline)) { a[i * m + c] = a[i * m + c] / pivot; });
      if constexpr (by_rows) {
        for (std::int64_t i = c + 1; i < n; ++i) math::subtract_products(m - c - 1, a + i * m + c + 1, 1, a + i * m + c, 1, a + c * m + c + 1, m);
      } else {
        rows.template in_range<false>(a, first_row, c, c);
        rows.template in_range<true>(a, after(c), m, c);
      }
    });
  }
  /// The exchange of row c with a later row, and its elimination. A row below is stored once for both: exchanges that store each row for themselves took twice as
  /// long in packets.
  template <class V, class Extent>
  struct exchange {
    Extent n;
    std::int64_t m;
    V row;

    /// The columns from j on, before `end`: four at a time, so that a comparison serves four.
    template <bool Eliminates, class J, class End>
    TENURE_KERNEL_INLINE void in_range(V* a, J first, End end, auto c) const {
      if constexpr (!std::is_integral_v<J> && !std::is_integral_v<End>) {
        for_each_in(first, end, [&](auto j) __attribute__((always_inline)) { in_columns<1, Eliminates>(a, m, j, c); });
      } else {
        std::int64_t j = first;
        for (; j + 4 <= end; j += 4) in_columns<4, Eliminates>(a, m, j, c);
        for (; j < end; ++j) in_columns<1, Eliminates>(a, m, j, c);
      }
    }
    template <int Columns, bool Eliminates = false>
    TENURE_KERNEL_INLINE void in_columns(V* a, std::int64_t width, std::int64_t j, auto c) const {
      V before[Columns], now[Columns];
      for (int k = 0; k < Columns; ++k) now[k] = before[k] = a[c * width + j + k];
      const auto is_here = [&](std::int64_t i) { return row == V(static_cast<typename V::number>(i)); };
      for_each_in(after(c), n, [&](auto i) __attribute__((always_inline)) {
        for (int k = 0; k < Columns; ++k) now[k] = math::choose(is_here(i), a[i * width + j + k], now[k]);
      });
      for (int k = 0; k < Columns; ++k) a[c * width + j + k] = now[k];
      for_each_in(after(c), n, [&](auto i) __attribute__((always_inline)) {
        for (int k = 0; k < Columns; ++k) {
          V rest = math::choose(is_here(i), before[k], a[i * width + j + k]);
          if constexpr (Eliminates) rest = math::minus_product(rest, a[i * m + c], now[k]);
          a[i * width + j + k] = rest;
        }
      });
    }
    /// The rows of a vector.
    TENURE_KERNEL_INLINE void of(V* x, auto c) const {
      if constexpr (V::is_number && std::is_integral_v<decltype(c)>) exchange_numbers(x, 1, c);
      else in_columns<1>(x, 1, 0, c);
    }
    /// The rows of one matrix, of which many numbers fit in a packet, with the same bits.
    TENURE_KERNEL_INLINE void exchange_numbers(V* a, std::int64_t width, std::int64_t c) const {
      const auto other = static_cast<std::int64_t>(row.value);
      if (other == c) return;
      for (std::int64_t j = 0; j < width; ++j) {
        const V before = a[c * width + j];
        a[c * width + j] = a[other * width + j], a[other * width + j] = before;
      }
    }
  };
  /// Column after column: each is computed from the columns before it, when its turn comes.
  struct reference_factors {
    std::vector<std::size_t> from, exchanged;  // the row of a in each place, and the row that each step exchanges with its own
    std::vector<long double> all;

    template <class T>
    reference_factors(const sample_sizes& sizes, const T* a) {
      const auto n = static_cast<std::size_t>(sizes[0]), m = static_cast<std::size_t>(sizes[1]), count = static_cast<std::size_t>(sizes[2]);
      from.resize(n), all.resize(n * m);
      for (std::size_t i = 0; i < n; ++i) from[i] = i;
      for (std::size_t j = 0; j < m; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
          long double rest = static_cast<long double>(a[from[i] * m + j]);
          for (std::size_t k = 0; k < i && k < j; ++k) rest -= all[i * m + k] * all[k * m + j];
          all[i * m + j] = rest;
        }
        if (j >= count) continue;
        std::size_t best = j;
        for (std::size_t i = j + 1; i < n; ++i)
          if (std::abs(all[i * m + j]) > std::abs(all[best * m + j])) best = i;
        exchanged.push_back(best);
        std::swap(from[j], from[best]);
        for (std::size_t k = 0; k <= j; ++k) std::swap(all[j * m + k], all[best * m + k]);
        for (std::size_t i = j + 1; i < n; ++i)
          if (all[j * m + j] != 0) all[i * m + j] /= all[j * m + j];
      }
    }
  };
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]), m = static_cast<std::size_t>(sizes[1]), count = static_cast<std::size_t>(sizes[2]);
    const reference_factors found(sizes, operand[0]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) to[0][j * n + i] = T(found.from[i] == j ? 1 : 0);
      for (std::size_t j = 0; j < count; ++j) to[1][i * count + j] = j < i ? static_cast<T>(found.all[i * m + j]) : T(i == j ? 1 : 0);
      for (std::size_t j = 0; j < m && i < count; ++j) to[2][i * m + j] = j < i ? T(0) : static_cast<T>(found.all[i * m + j]);
    }
  }

  /// The factors, and l and u continued by the identity.
  struct factors {
    value p, l, u;
    std::int64_t n, m, count;

    constexpr explicit factors(value y) : p(result_of(y, 0)), l(result_of(y, 1)), u(result_of(y, 2)), n(extent(l, 2)), m(extent(u, 1)), count(extent(l, 1)) {
      l = continued(l, 1, n);
      u = continued(u, 2, m);
    }
    /// The extent of the last axis but `from_end` - 1.
    static constexpr std::int64_t extent(value x, int from_end) { return x.shape()[x.shape().rank - from_end]; }
    /// x with zeros behind it, or its beginning.
    static constexpr value grown(value x, int from_end, std::int64_t to) {
      return extent(x, from_end) == to ? x : padded(x, x.shape().rank - from_end, 0, to, 1);
    }
    static constexpr value begun(value x, int from_end, std::int64_t to) { return extent(x, from_end) == to ? x : sliced(x, x.shape().rank - from_end, 0, to, 1); }

   private:
    constexpr value continued(value x, int from_end, std::int64_t to) const {
      if (extent(x, from_end) == to) return x;
      const value all = grown(x, from_end, to);
      ir::builder& g = *all.graph;
      const std::int16_t shape = all.node().shape;
      const value column = counting(g, all.type(), shape, all.shape().rank - 1), end = broadcast_to(number_of_extent(g, all.type(), count), shape);
      return all + pointwise_value<where>(pointwise_value<less>(column, end), all.like(0), on_the_diagonal(all));
    }
    /// Ones on the diagonal.
    static constexpr value on_the_diagonal(value x) {
      ir::builder& g = *x.graph;
      const std::int16_t shape = x.node().shape;
      const value row = counting(g, x.type(), shape, x.shape().rank - 2), column = counting(g, x.type(), shape, x.shape().rank - 1);
      return pointwise_value<where>(pointwise_value<equal>(row, column), x.like(1), x.like(0));
    }
  };

  template <class X>
  static constexpr X pull(X y, int, const X* g) {
    if (g[1].id == ir::none && g[2].id == ir::none) return operand_of(y, 0).like(0);
    const factors of(y);
    X inside;
    if (g[1].id != ir::none) inside = in_triangle(matrix_product(transposed(of.l), factors::grown(g[1], 1, of.m)), false, 0);
    if (g[2].id != ir::none) {
      const X upper = in_triangle(matrix_product(factors::grown(g[2], 2, of.n), transposed(of.u)), true, 1);
      inside = inside.id == ir::none ? upper : inside + upper;
    }
    const X right = transposed(nodes::solve_triangular::of({true, false, false}, of.u, transposed(inside)));
    return matrix_product(of.p, nodes::solve_triangular::of({false, true, true}, of.l, right));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    if (number_of(y) == 0) return y.like(0);
    const factors of(y);
    const X left = nodes::solve_triangular::of({false, false, true}, of.l, matrix_product(transposed(of.p), tangents[0]));
    const X both = transposed(nodes::solve_triangular::of({true, true, false}, of.u, transposed(left)));
    if (number_of(y) == 1) return factors::begun(matrix_product(of.l, in_triangle(both, false, 0)), 1, of.count);
    return factors::begun(matrix_product(in_triangle(both, true, 1), of.u), 2, of.count);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return sizes[2] * sizes[0] * sizes[1]; }
};
}  // namespace nodes

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The factors of a, (..., n, m), for each index of the batch: auto [p, l, u] = tn::lu(a), with p l u = a. With k = min(n, m), p is a permutation, (..., n, n),
/// l is (..., n, k), lower triangular with ones on its diagonal, and u is (..., k, m), upper triangular. p is that of LAPACK, and the derivative of p is 0. A
/// singular matrix has factors too; where one of the first k pivots is 0, the derivatives are inf or NaN. a has a floating element type.
/// A compiled function computes the factors at once. Outside of one, they are three expressions, and each computes the factors.
/// Source: elimination with partial pivoting; Golub and Van Loan, Matrix Computations, 3.4. Cost: 2/3 n^3 operations a square matrix.
template <operand A> constexpr auto lu(const A& a) { return std::tuple{apply<ops::of_matrix<ops::nodes::lu, 0>>(a), apply<ops::of_matrix<ops::nodes::lu, 1>>(a), apply<ops::of_matrix<ops::nodes::lu, 2>>(a)}; }

}  // namespace tenure
