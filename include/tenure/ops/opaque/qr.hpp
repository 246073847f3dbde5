// SPDX-License-Identifier: BSL-1.0
// qr: a matrix as q r, where q has orthonormal columns and r is upper triangular.
#pragma once

#include <cmath>
#include <tuple>
#include <vector>

#include <tenure/math/lanes.hpp>
#include <tenure/math/packet/minimum.hpp>
#include <tenure/ops/opaque/of_matrix.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/reflections.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>

namespace TENURE_NAMESPACE::ops {

namespace nodes {
/// With k = min(n, m), u and gu the first k columns of r and of its cotangent gr, gq the cotangent of q, and f(x) = the lower triangle of x, mirrored: the
/// cotangent of the first k columns of a is (h + q f(u gu^T - h^T q)) u^-T. h is gq, and for n < m also the other columns of a, times those of gr
/// transposed. The cotangent of these other columns is q times those of gr.
/// Source: S. Walter and L. Lehmann, Algorithmic differentiation of linear algebra functions, 2010, arXiv:1001.1654.
struct qr : sample_operation<qr, 1, 2> {
  static constexpr const char* name = "qr";
  static constexpr signature takes = "(n,m)->(n,k),(k,m) k=min(n,m)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: qr: the operand has less than two axes");
    static_assert(Floats, "tenure: qr: integers and bool have no roots; convert first");
  }

  static constexpr bool overwrites(int, const sample_sizes&) { return true; }
  /// For each reflection: the diagonal of r, and the factor of v v^T. Then a row of sums, or a panel.
  static constexpr std::int64_t scratch(const sample_sizes& sizes) {
    const std::int64_t of_panel = panel<float>::numbers(sizes[0]);
    return 2 * sizes[2] + (sizes[1] > of_panel ? sizes[1] : of_panel);
  }

  /// Householder's reflections 1 - factor v v^T, whose v replace the columns of a.
  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    const std::int64_t n = sizes[0], m = sizes[1], count = sizes[2];
    V *const a = operand[0], *const diagonal = operand[1], *const factors = operand[1] + count, *const sums = factors + count, *const q = results[0], *const r = results[1];
    const V zero = V(typename V::number(0));
    if constexpr (!V::is_number)
      if (n > 2 * panel<V>::width) return by_panels({sums, n}, m, count, a, diagonal, factors, q, r);
    for (std::int64_t c = 0; c < count; ++c) {
      factors[c] = reflection(a + c * (m + 1), m, n - c, diagonal[c]);
      reflect(a + c * (m + 1), m, a + c * (m + 1) + 1, m, n - c, m - c - 1, factors[c], sums);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const V sign = sign_of(diagonal[i]);
      for (std::int64_t j = 0; j < m; ++j) r[i * m + j] = j < i ? zero : j == i ? math::abs(diagonal[i]) : a[i * m + j] * sign;
      for (std::int64_t j = 0; j < n; ++j) q[j * count + i] = i == j ? sign : zero;
    }
    for (std::int64_t c = count - 1; c >= 0; --c) reflect(a + c * (m + 1), m, q + c * (count + 1), count, n - c, count - c, factors[c], sums);
  }
  /// The same, four columns at a time. The vectors stand in the rows of q until r is there, and then in those of a.
  template <class V>
  static TENURE_KERNEL_INLINE void by_panels(panel<V> x, std::int64_t m, std::int64_t count, V* a, V* diagonal, V* factors, V* q, V* r) {
    const V zero = V(typename V::number(0));
    const std::int64_t n = x.rows;
    for (std::int64_t j = 0; j < m; j += x.width) {
      const std::int64_t used = m - j < x.width ? m - j : x.width;
      x.load(a, m, j, used);
      x.reflect(q, factors, 0, j < count ? j : count, 1);
      for (std::int64_t c = j; c < j + used && c < count; ++c) {
        factors[c] = reflection(&x(c, c - j), x.width, n - c, diagonal[c]);
        for (std::int64_t i = c; i < n; ++i) q[c * n + i] = x(i, c - j);
        x.reflect_from(c - j + 1, q + c * n, factors[c], c);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const V sign = i < j + used ? sign_of(diagonal[i]) : zero;
        for (std::int64_t k = 0; k < used; ++k) r[i * m + j + k] = j + k < i ? zero : j + k == i ? math::abs(diagonal[i]) : x(i, k) * sign;
      }
    }
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t i = c; i < n; ++i) a[c * n + i] = q[c * n + i];
    for (std::int64_t j = 0; j < count; j += x.width) {
      const std::int64_t used = count - j < x.width ? count - j : x.width;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < x.width; ++k) x(i, k) = i == j + k && k < used ? sign_of(diagonal[i]) : zero;
      for (std::int64_t c = j + used - 1; c > j; --c) x.reflect_from(c - j, a + c * n, factors[c], c);
      x.reflect(a, factors, j, -1, -1);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < used; ++k) q[i * count + j + k] = x(i, k);
    }
  }
  /// Makes a column the vector of a reflection, and returns its factor. The diagonal gets the first element of the reflected column. A column is divided by its
  /// largest element, so no square overflows.
  template <class V>
  static TENURE_KERNEL_INLINE V reflection(V* column, std::int64_t step, std::int64_t rows, V& diagonal) {
    const V zero = V(typename V::number(0)), one = V(typename V::number(1));
    V largest = zero, squares = zero;
    for (std::int64_t i = 0; i < rows; ++i) largest = V(math::max(largest.value, math::abs(column[i * step]).value));
    const V scale = math::choose(largest > zero, largest, one);
    for (std::int64_t i = 0; i < rows; ++i) {
      column[i * step] = column[i * step] / scale;
      squares = squares + column[i * step] * column[i * step];
    }
    const V length = math::sqrt(squares), first = column[0], reflected = math::choose(first < zero, length, zero - length);
    column[0] = first - reflected;
    diagonal = reflected * scale;
    return math::choose(largest > zero, one, squares) / math::choose(largest > zero, length * (length + math::abs(first)), one);  // NaN stays NaN
  }
  /// The signs make the diagonal of r positive.
  template <class V>
  static TENURE_KERNEL_INLINE V sign_of(V diagonal) {
    const V zero = V(typename V::number(0)), one = V(typename V::number(1));
    return math::choose(diagonal < zero, zero - one, one);
  }
  /// Reflects columns of x, of `rows` elements, at v. A large matrix alone goes by rows, of which many numbers fit in a packet, with the same bits: 32 x 32 take a
  /// third of the time.
  template <class V>
  static TENURE_KERNEL_INLINE void reflect(const V* v, std::int64_t step_of_v, V* x, std::int64_t step, std::int64_t rows, std::int64_t columns, V factor, V* sums) {
    const V zero = V(typename V::number(0));
    factor = zero - factor;
    if constexpr (V::is_number)
      if (rows > 8 && columns > 1) {
        for (std::int64_t j = 0; j < columns; ++j) sums[j] = zero;
        math::subtract_products(columns, sums, rows, v, step_of_v, x, step);
        for (std::int64_t j = 0; j < columns; ++j) sums[j] = sums[j] * factor;
        for (std::int64_t i = 0; i < rows; ++i) math::subtract_products(columns, x + i * step, 1, v + i * step_of_v, 1, sums, columns);
        return;
      }
    for (std::int64_t j = 0; j < columns; ++j) {
      V sum = zero;
      for (std::int64_t i = 0; i < rows; ++i) sum = math::minus_product(sum, v[i * step_of_v], x[i * step + j]);
      sum = sum * factor;
      for (std::int64_t i = 0; i < rows; ++i) x[i * step + j] = math::minus_product(x[i * step + j], v[i * step_of_v], sum);
    }
  }
  /// Givens' rotations: each makes one element below the diagonal zero.
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]), m = static_cast<std::size_t>(sizes[1]), count = static_cast<std::size_t>(sizes[2]);
    std::vector<long double> r(n * m), q(n * n);  // q is transposed
    for (std::size_t e = 0; e < n * m; ++e) r[e] = static_cast<long double>(operand[0][e]);
    for (std::size_t i = 0; i < n; ++i) q[i * n + i] = 1;
    for (std::size_t c = 0; c < count; ++c) {
      for (std::size_t i = c + 1; i < n; ++i) {
        const long double length = std::hypot(r[c * m + c], r[i * m + c]);
        const long double x = length == 0 ? 1 : r[c * m + c] / length, y = length == 0 ? 0 : r[i * m + c] / length;
        const auto rotate = [&](long double& above, long double& below) {
          const long double turned = x * above + y * below;
          below = x * below - y * above;
          above = turned;
        };
        for (std::size_t j = 0; j < m; ++j) rotate(r[c * m + j], r[i * m + j]);
        for (std::size_t j = 0; j < n; ++j) rotate(q[c * n + j], q[i * n + j]);
      }
      const long double sign = r[c * m + c] < 0 ? -1 : 1;
      for (std::size_t j = 0; j < m; ++j) to[1][c * m + j] = j < c ? T(0) : static_cast<T>(sign * r[c * m + j]);
      for (std::size_t j = 0; j < n; ++j) to[0][j * count + c] = static_cast<T>(sign * q[c * n + j]);
    }
  }

  /// m and min(n, m).
  struct sides {
    std::int64_t m, count;
    constexpr explicit sides(value r) : m(r.shape()[r.shape().rank - 1]), count(r.shape()[r.shape().rank - 2]) {}
    constexpr bool is_tall() const { return count == m; }
    /// The first `count` columns of x.
    constexpr value first_columns(value x) const { return is_tall() ? x : sliced(x, x.shape().rank - 1, 0, count, 1); }
    /// x without these columns: zeros.
    constexpr value other_columns(value x) const {
      ir::builder& g = *x.graph;
      const std::int16_t shape = x.node().shape;
      const value column = counting(g, x.type(), shape, x.shape().rank - 1), end = broadcast_to(number_of_extent(g, x.type(), count), shape);
      return pointwise_value<where>(pointwise_value<less>(column, end), x.like(0), x);
    }
  };
  /// x u^-1, or x u^-T.
  static constexpr value divided(value x, value u, bool by_transposed) {
    return transposed(nodes::solve_triangular::of({true, !by_transposed, false}, u, transposed(x)));
  }

  template <class X>
  static constexpr X pull(X y, int, const X* g) {
    const X q = result_of(y, 0), r = result_of(y, 1), a = operand_of(y, 0);
    const sides at(r);
    const bool has_others = !at.is_tall() && g[1].id != ir::none;
    X h = g[0], middle;
    if (has_others) {
      const X more = matrix_product(a, transposed(at.other_columns(g[1])));
      h = h.id == ir::none ? more : h + more;
    }
    if (g[1].id != ir::none) middle = matrix_product(at.first_columns(r), transposed(at.first_columns(g[1])));
    if (h.id != ir::none) {
      const X product = matrix_product(transposed(h), q);
      middle = middle.id == ir::none ? -product : middle - product;
    }
    const X lower = in_triangle(middle, false, 0.5), inside = matrix_product(q, lower + X(transposed(lower)));
    const X first = divided(h.id == ir::none ? inside : h + inside, at.first_columns(r), true);
    if (at.is_tall()) return first;
    const X all = padded(first, first.shape().rank - 1, 0, at.m, 1);
    return has_others ? all + matrix_product(q, at.other_columns(g[1])) : all;
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const X q = result_of(y, 0), r = result_of(y, 1), moves = tangents[0];
    const sides at(r);
    const X right = divided(at.first_columns(moves), at.first_columns(r), false), inside = matrix_product(transposed(q), right);
    const X lower = in_triangle(inside, false, 0), turn = lower - X(transposed(lower));
    if (number_of(y) == 0) return right - matrix_product(q, inside - turn);
    return in_triangle(matrix_product(transposed(q), moves) - matrix_product(turn, r), true, 1);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) {
    const std::int64_t larger = sizes[0] > sizes[1] ? sizes[0] : sizes[1];
    return 4 * sizes[2] * sizes[2] * larger;
  }
};
}  // namespace nodes

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The reduced factors of a, (..., n, m), one pair for each index of the batch: auto [q, r] = tn::qr(a). With k = min(n, m), q is (..., n, k) with
/// orthonormal columns, r is (..., k, m) and upper triangular, q r = a, and no element of the diagonal of r is negative. Both have derivatives, also for
/// n < m. Where the first k columns of a matrix are linearly dependent, the factors are not unique and their derivatives are inf or NaN. a has a floating
/// element type. A compiled function computes both factors at once. Outside of one, q and r are two expressions, and each computes the factors.
/// Source: Householder's reflections; Golub and Van Loan, Matrix Computations, 5.2. Cost: about 4 k^2 max(n, m) operations a matrix.
template <operand A> constexpr auto qr(const A& a) { return std::tuple{apply<ops::of_matrix<ops::nodes::qr, 0>>(a), apply<ops::of_matrix<ops::nodes::qr, 1>>(a)}; }

}  // namespace tenure
