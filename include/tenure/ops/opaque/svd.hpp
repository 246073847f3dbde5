// SPDX-License-Identifier: BSL-1.0
// svd and pinv: a matrix as u diag(s) vt with orthonormal vectors, and the pseudoinverse.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <tenure/ops/opaque/of_matrix.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/spectrum.hpp>

namespace TENURE_NAMESPACE::ops {

/// The product of two vectors: four sums, so that an addition need not wait for the one before.
template <class V>
TENURE_KERNEL_INLINE V product_of_vectors(std::int64_t n, const V* x, const V* y) {
  const V zero = V(typename V::number(0));
  V sum[] = {zero, zero, zero, zero};
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::int64_t k = 0; k < 4; ++k) sum[k] = math::product_plus(x[i + k], y[i + k], sum[k]);
  for (; i < n; ++i) sum[0] = math::product_plus(x[i], y[i], sum[0]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Makes vector j of x, with rows of n numbers, a unit vector that is orthogonal to those before, in the lanes where it is zero: what is left of the axis that they
/// reach least.
template <class V, class Choice>
TENURE_KERNEL_INLINE void complete(std::int64_t n, V* x, std::int64_t j, Choice is_zero) {
  using number = typename V::number;
  const V zero = V(number(0)), one = V(number(1));
  V best = zero, least = V(number(2));
  for (std::int64_t i = 0; i < n; ++i) {
    V reached = zero;
    for (std::int64_t p = 0; p < j; ++p) reached = reached + x[p * n + i] * x[p * n + i];
    const auto is_less = reached < least;
    least = math::choose(is_less, reached, least), best = math::choose(is_less, V(number(i)), best);
  }
  V* const vector = x + j * n;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto is_axis = !(best < V(number(i))) && !(best > V(number(i)));
    vector[i] = math::choose(is_zero, math::choose(is_axis, one, zero), vector[i]);
  }
  for (int twice = 0; twice < 2; ++twice) {
    for (std::int64_t p = 0; p < j; ++p) {
      const V along = math::choose(is_zero, product_of_vectors(n, x + p * n, vector), zero);
      for (std::int64_t i = 0; i < n; ++i) vector[i] = math::minus_product(vector[i], along, x[p * n + i]);
    }
    const V size = math::choose(is_zero, math::sqrt(product_of_vectors(n, vector, vector)), one);
    for (std::int64_t i = 0; i < n; ++i) vector[i] = vector[i] / size;
  }
}

/// Cyclic rotations of Jacobi from one side: they make the columns of a tall matrix orthogonal, which become the columns of u, and the rows of a wide one, which
/// become the rows of vt. s descends. The vectors are rows: those of u stand in a until the end. In their columns, with rows of samples a power of two apart,
/// svd of 32 x 32 took three times as long.
template <class V>
TENURE_KERNEL_INLINE void jacobi_singular_values(std::int64_t n, std::int64_t m, V* a, V* u, V* s, V* vt) {
  using number = typename V::number;
  const V zero = V(number(0)), one = V(number(1));
  const std::int64_t k = n < m ? n : m, turned = n < m ? m : n, other = k;
  V *const x = n < m ? vt : a, *const y = n < m ? a : vt;
  const V close = V(std::numeric_limits<number>::epsilon() * number(turned));
  V largest = zero;
  for (std::int64_t i = 0; i < n * m; ++i) largest = V(math::max(largest.value, math::abs(a[i]).value));
  const V wrong = largest - largest, scale = math::choose(largest > zero, largest, one) + wrong;  // NaN if any element is inf or NaN
  if (n < m) {
    for (std::int64_t i = 0; i < n * m; ++i) x[i] = a[i] / scale;
  } else {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) u[j * n + i] = a[i * m + j] / scale;
    for (std::int64_t i = 0; i < n * m; ++i) x[i] = u[i];
  }
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < k; ++j) y[i * k + j] = (i == j ? one : zero) + wrong;
  const auto product = [&](std::int64_t p, std::int64_t q) { return product_of_vectors(turned, x + p * turned, x + q * turned); };
  for (int sweep = 0; sweep < most_jacobi_sweeps; ++sweep) {
    bool goes_on = false;
    for (std::int64_t p = 0; p < k; ++p) s[p] = product(p, p);
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t q = p + 1; q < k; ++q) {
        const V beside = product(p, q);
        const auto large = math::abs(beside) > close * (math::sqrt(s[p]) * math::sqrt(s[q]));
        if (!math::any(large)) continue;
        goes_on = true;
        const jacobi_rotation<V> by(s[p], beside, s[q], large);
        by.turn_rows(turned, x + p * turned, x + q * turned);
        by.turn_rows(other, y + p * other, y + q * other);
        // The squares of the lengths lose digits in a sweep, so that one may fall below 0. A sweep without rotations ends with those of its beginning.
        s[p] = V(math::max(math::minus_product(s[p], by.tan, beside).value, zero.value));
        s[q] = V(math::max(math::product_plus(by.tan, beside, s[q]).value, zero.value));
      }
    if (!goes_on) break;
  }
  for (std::int64_t j = 0; j < k; ++j) s[j] = math::sqrt(product(j, j));
  // Of a smaller vector the square has lost its digits, so the vector counts as 0.
  const V least = V(std::sqrt(std::numeric_limits<number>::min()) / std::numeric_limits<number>::epsilon());
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = i + 1; j < k; ++j) {
      const auto is_more = s[j] > s[i];
      if (!math::any(is_more)) continue;
      math::exchange(is_more, s[i], s[j]);
      for (std::int64_t r = 0; r < turned; ++r) math::exchange(is_more, x[i * turned + r], x[j * turned + r]);
      for (std::int64_t r = 0; r < other; ++r) math::exchange(is_more, y[i * other + r], y[j * other + r]);
    }
  for (std::int64_t j = 0; j < k; ++j) {
    V* const vector = x + j * turned;
    const auto is_zero = s[j] < least;
    const V size = math::choose(is_zero, one, s[j]);
    for (std::int64_t i = 0; i < turned; ++i) vector[i] = vector[i] / size;
    if (math::any(is_zero)) complete(turned, x, j, is_zero);
    const V sign = sign_of_column(a + j * n, n, 1);
    for (std::int64_t i = 0; i < turned; ++i) vector[i] = vector[i] * sign;
    for (std::int64_t i = 0; i < other; ++i) y[j * other + i] = y[j * other + i] * sign;
    s[j] = math::choose(is_zero, zero, s[j]) * scale;
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < k; ++j) u[i * k + j] = a[j * n + i];
}

/// The decomposition of a matrix in long double, from the symmetric matrix [[0, a], [a^T, 0]], whose eigenvalues are s and -s.
struct singular_spectrum {
  std::size_t n, m, k;
  std::vector<long double> u, s, v;  // the vectors are columns

  template <class T>
  singular_spectrum(std::size_t rows, std::size_t columns, const T* a) : n(rows), m(columns), k(std::min(rows, columns)), u(n * k), s(k), v(m * k) {
    const std::size_t all = n + m;
    std::vector<long double> whole(all * all);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) whole[i * all + n + j] = whole[(n + j) * all + i] = static_cast<long double>(a[i * m + j]);
    const spectrum found(std::move(whole), all);
    for (std::size_t c = 0; c < k; ++c) {
      const std::size_t from = all - 1 - c;
      s[c] = found.values[from];
      long double largest = 0, of_u = 0, of_v = 0;
      for (std::size_t r = 0; r < n; ++r) of_u = std::hypot(of_u, found.vectors[r * all + from]);
      for (std::size_t r = 0; r < m; ++r) of_v = std::hypot(of_v, found.vectors[(n + r) * all + from]);
      for (std::size_t r = 0; r < n; ++r)
        if (std::abs(found.vectors[r * all + from]) > std::abs(largest) * (1 + 1.0L / 1024)) largest = found.vectors[r * all + from];
      const long double sign = largest < 0 ? -1 : 1;
      for (std::size_t r = 0; r < n; ++r) u[r * k + c] = sign * found.vectors[r * all + from] / of_u;
      for (std::size_t r = 0; r < m; ++r) v[r * k + c] = sign * found.vectors[(n + r) * all + from] / of_v;
    }
  }
};

namespace nodes {
/// With f = 1 / (s_j^2 - s_i^2) beside the diagonal and p = u^T da v: ds = diag(p), du = u (f * (p s + s p^T)) + (1 - u u^T) da v / s,
/// dv = v (f * (s p + p^T s)) + (1 - v v^T) da^T u / s.
/// Source: J. Townsend, Differentiating the singular value decomposition, 2016.
struct svd : sample_operation<svd, 1, 3> {
  static constexpr const char* name = "svd";
  static constexpr signature takes = "(n,m)->(n,k),(k),(k,m) k=min(n,m)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: svd: the operand has less than two axes");
    static_assert(Floats, "tenure: svd: integers and bool have no roots; convert first");
  }
  static constexpr bool overwrites(int, const sample_sizes&) { return true; }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    jacobi_singular_values(sizes[0], sizes[1], operand[0], results[0], results[1], results[2]);
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, no_options) {
    const singular_spectrum found(static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1]), operand[0]);
    for (std::size_t c = 0; c < found.k; ++c) {
      to[1][c] = static_cast<T>(found.s[c]);
      for (std::size_t r = 0; r < found.n; ++r) to[0][r * found.k + c] = static_cast<T>(found.u[r * found.k + c]);
      for (std::size_t r = 0; r < found.m; ++r) to[2][c * found.m + r] = static_cast<T>(found.v[r * found.k + c]);
    }
  }

  /// f for a matrix like `matrix`.
  static constexpr value inverse_differences_of_squares(value s, value matrix) {
    const int rank = matrix.shape().rank;
    const value sum = stretched_like(s, matrix, std::int64_t{1} << (rank - 2)) + stretched_like(s, matrix, std::int64_t{1} << (rank - 1));
    return inverse_differences(s, matrix) / pointwise_value<where>(pointwise_value<equal>(sum, sum.like(0)), sum.like(1), sum);
  }
  /// The part of the columns of x that is orthogonal to the columns of q. The second time takes away what rounding left, which 1 / s would raise: all of it where
  /// q is square and its extents, of run time, do not say so.
  template <class X>
  static constexpr X beyond(X q, X qt, X x) {
    const X once = x - X(matrix_product(q, matrix_product(qt, x)));
    return once - X(matrix_product(q, matrix_product(qt, once)));
  }
  static constexpr bool is_square(value x) { return x.shape()[x.shape().rank - 1] == x.shape()[x.shape().rank - 2]; }

  template <class X>
  static constexpr X pull(X y, int, const X* g) {
    const X u = result_of(y, 0), s = result_of(y, 1), vt = result_of(y, 2);
    const auto both = [](X x) { return X(x + X(transposed(x))); };
    X inside, beside;
    const auto add = [](X& to, X x) { to = to.id == ir::none ? x : to + x; };
    if (g[0].id != ir::none) {
      const X x = matrix_product(transposed(u), g[0]);
      add(inside, columns_times(both(x * X(inverse_differences_of_squares(s, x))), s));
      if (!is_square(u)) add(beside, matrix_product(columns_times(beyond(u, transposed(u), g[0]), s.like(1) / s), vt));
    }
    if (g[2].id != ir::none) {
      const X x = matrix_product(vt, transposed(g[2]));
      add(inside, rows_times(both(x * X(inverse_differences_of_squares(s, x))), s));
      if (!is_square(vt)) add(beside, matrix_product(u, rows_times(transposed(beyond(transposed(vt), vt, transposed(g[2]))), s.like(1) / s)));
    }
    if (g[1].id != ir::none) {
      if (inside.id == ir::none) return with(matrix_product(columns_times(u, g[1]), vt), beside);
      add(inside, diagonal_like(g[1], inside));
    }
    return with(matrix_product(matrix_product(u, inside), vt), beside);
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const X u = result_of(y, 0), s = result_of(y, 1), vt = result_of(y, 2), da = tangents[0];
    const X moved = matrix_product(da, transposed(vt)), p = matrix_product(transposed(u), moved), pt = transposed(p);
    if (number_of(y) == 1) return diagonal_of(p);
    const X f = inverse_differences_of_squares(s, p);
    if (number_of(y) == 0) {
      const X turned = matrix_product(u, f * (X(columns_times(p, s)) + X(rows_times(pt, s))));
      return is_square(u) ? turned : turned + X(columns_times(beyond(u, transposed(u), moved), s.like(1) / s));
    }
    const X turned = matrix_product(transposed(f * (X(rows_times(p, s)) + X(columns_times(pt, s)))), vt);
    if (is_square(vt)) return turned;
    return turned + X(rows_times(transposed(beyond(transposed(vt), vt, matrix_product(transposed(da), u))), s.like(1) / s));
  }
  template <class X>
  static constexpr X with(X x, X more) { return more.id == ir::none ? x : x + more; }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 40 * sizes[0] * sizes[1] * sizes[2]; }
};

/// With p the pseudoinverse, where the rank does not change: dp = -p da p + p p^T da^T (1 - a p) + (1 - p a) da^T p^T p.
/// Source: G. Golub and V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate, 1973.
struct pinv : sample_operation<pinv, 1> {
  static constexpr const char* name = "pinv";
  static constexpr signature takes = "(n,m)->(m,n)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: pinv: the operand has less than two axes");
    static_assert(Floats, "tenure: pinv: integers and bool have no quotients; convert first");
  }
  static constexpr bool overwrites(int, const sample_sizes&) { return true; }
  static constexpr std::int64_t scratch(const sample_sizes& sizes) {
    const std::int64_t k = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    return k * (sizes[0] + sizes[1] + 1);
  }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* to, no_options) {
    using number = typename V::number;
    const V zero = V(number(0)), one = V(number(1));
    const std::int64_t n = sizes[0], m = sizes[1], k = n < m ? n : m;
    V *const u = operand[1], *const vt = u + n * k, *const s = vt + k * m;
    jacobi_singular_values(n, m, operand[0], u, s, vt);
    const V least = k == 0 ? zero : s[0] * V(std::numeric_limits<number>::epsilon() * number(n < m ? m : n));
    for (std::int64_t j = 0; j < k; ++j) {
      const auto counts = s[j] > least;
      s[j] = math::choose(counts, one, s[j] - s[j]) / math::choose(counts, s[j], one);  // NaN stays NaN
    }
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t r = 0; r < n; ++r) {
        V sum = zero;
        for (std::int64_t j = 0; j < k; ++j) sum = sum + vt[j * m + i] * s[j] * u[r * k + j];
        to[i * n + r] = sum;
      }
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    const singular_spectrum found(static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1]), operand[0]);
    const long double least = found.k == 0 ? 0 : found.s[0] * std::numeric_limits<T>::epsilon() * static_cast<long double>(std::max(found.n, found.m));
    for (std::size_t i = 0; i < found.m; ++i)
      for (std::size_t r = 0; r < found.n; ++r) {
        long double sum = 0;
        for (std::size_t j = 0; j < found.k; ++j)
          if (!(found.s[j] <= least)) sum += found.v[i * found.k + j] * found.u[r * found.k + j] / found.s[j];
        to[i * found.n + r] = static_cast<T>(sum);
      }
  }

  template <class X>
  static constexpr X pull(X p, int, X g) {
    const X a = operand_of(p, 0), pt = transposed(p);
    const X left = g - X(matrix_product(matrix_product(p, a), g)), right = g - X(matrix_product(g, matrix_product(a, p)));
    return X(matrix_product(matrix_product(transposed(right), p), pt)) + X(matrix_product(matrix_product(pt, p), transposed(left))) -
           X(matrix_product(matrix_product(pt, g), pt));
  }
  template <class X>
  static constexpr X push(X p, const X* tangents) {
    const X a = operand_of(p, 0), da = tangents[0], dat = transposed(da), pt = transposed(p);
    const X first = matrix_product(matrix_product(p, pt), dat), second = matrix_product(dat, matrix_product(pt, p));
    return first - X(matrix_product(matrix_product(first, a), p)) + second - X(matrix_product(p, matrix_product(a, second))) -
           X(matrix_product(matrix_product(p, da), p));
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) {
    return 40 * sizes[0] * sizes[1] * (sizes[0] < sizes[1] ? sizes[0] : sizes[1]);
  }
};
}  // namespace nodes

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The reduced decomposition of matrices a, (..., n, m): auto [u, s, vt] = tn::svd(a). With k = min(n, m), u is (..., n, k) with orthonormal columns, vt is
/// (..., k, m) with orthonormal rows, s is (..., k), not negative and descends, and u diag(s) vt = a. vt is transposed already, as NumPy's, JAX's and
/// torch.linalg.svd's. Of each column of u the largest component is positive, as in eigh. A matrix with inf or NaN gives NaN. The first derivative of s is right
/// also where values are equal up to rounding. Those of u and vt take vectors of one value as fixed to each other there: that of u vt is right, that of
/// u diag(h(s)) vt and second derivatives lack a part. Where a value is 0 they are inf or NaN, unless the type says that n = m. a has a floating element type.
/// Source: Jacobi's rotations from one side; Golub and Van Loan, Matrix Computations, 8.6. Cost: about 40 n m k operations a matrix. With
/// TENURE_EIGEN_DECOMPOSITIONS large matrices are computed by Eigen (chapter 12).
template <operand A> constexpr auto svd(const A& a) {
  using record = ops::nodes::svd;
  return std::tuple{apply<ops::of_matrix<record, 0>>(a), apply<ops::of_matrix<record, 1>>(a), apply<ops::of_matrix<record, 2>>(a)};
}

/// The singular values of matrices, (..., min(n, m)), descending: s of svd. Their largest is the norm of the matrix, their sum its nuclear norm.
template <operand A> constexpr auto svdvals(const A& a) { return apply<ops::of_matrix<ops::nodes::svd, 1, 1>>(a); }

/// The pseudoinverse of Moore and Penrose of matrices (..., n, m): (..., m, n). Singular values below epsilon max(n, m) s_0 count as 0, as in PyTorch. It has
/// derivatives of any order where the rank does not change, also for matrices without full rank. a has a floating element type.
template <operand A> constexpr auto pinv(const A& a) { return apply<ops::of_matrix<ops::nodes::pinv>>(a); }

}  // namespace tenure
