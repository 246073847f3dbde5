// SPDX-License-Identifier: BSL-1.0
// eigh and eigvalsh: the eigenvalues of a symmetric matrix, with its vectors or alone.
#pragma once

#include <tuple>

#include <tenure/ops/opaque/of_matrix.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/spectrum.hpp>
#include <tenure/ops/opaque/tridiagonal.hpp>

namespace TENURE_NAMESPACE::ops {

/// Cyclic rotations of Jacobi on the lower triangle of a, whose largest number is about 1. They are over when no rotation is needed in any lane. The rows of v,
/// unless it is null, are the vectors.
template <class V>
TENURE_KERNEL_INLINE void jacobi_eigenvalues(std::int64_t n, V* a, V* w, V* v) {
  using number = typename V::number;
  const V zero = V(number(0)), one = V(number(1)), most = V(std::numeric_limits<number>::epsilon() / number(256));
  for (std::int64_t i = 0; v != nullptr && i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) v[i * n + j] = i == j ? one : zero;
  for (int sweep = 0; sweep < most_jacobi_sweeps; ++sweep) {
    bool goes_on = false;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        V &beside = a[q * n + p], &first = a[p * n + p], &second = a[q * n + q];
        const auto large = math::abs(beside) > most;
        if (!math::any(large)) continue;
        goes_on = true;
        const auto by = jacobi_rotation<V>::of_scaled(first, beside, second, large);
        first = math::minus_product(first, by.tan, beside);
        second = second + by.tan * beside;
        beside = math::choose(large, zero, beside);
        for (std::int64_t r = 0; r < p; ++r) by.turn(a[p * n + r], a[q * n + r]);
        for (std::int64_t r = p + 1; r < q; ++r) by.turn(a[r * n + p], a[q * n + r]);
        for (std::int64_t r = q + 1; r < n; ++r) by.turn(a[r * n + p], a[r * n + q]);
        for (std::int64_t r = 0; v != nullptr && r < n; ++r) by.turn(v[p * n + r], v[q * n + r]);
      }
    if (!goes_on) break;
  }
  for (std::int64_t i = 0; i < n; ++i) w[i] = a[i * (n + 1)];
}
/// The eigenvalues w of the lower triangle of a, in ascending order, and with v != nullptr the vectors as its columns. `scratch` has tridiagonal_scratch(n) numbers.
template <class V>
TENURE_KERNEL_INLINE void symmetric_eigenvalues(std::int64_t n, V* a, V* w, V* v, V* scratch) {
  using number = typename V::number;
  const V zero = V(number(0)), one = V(number(1));
  V largest = zero;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) largest = V(math::max(largest.value, math::abs(a[i * n + j]).value));
  const V wrong = largest - largest, scale = math::choose(largest > zero, largest, one) + wrong;  // NaN if any element is inf or NaN
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) a[i * n + j] = a[i * n + j] / scale;
  if (n < least_tridiagonal_rows) jacobi_eigenvalues(n, a, w, v);
  else tridiagonal_eigenvalues(n, a, w, v, scratch);
  for (std::int64_t i = 0; i < n; ++i) w[i] = w[i] * scale;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j) {
      const auto is_less = w[j] < w[i];
      if (!math::any(is_less)) continue;
      math::exchange(is_less, w[i], w[j]);
      for (std::int64_t r = 0; v != nullptr && r < n; ++r) math::exchange(is_less, v[i * n + r], v[j * n + r]);
    }
  for (std::int64_t c = 0; v != nullptr && c < n; ++c) {
    const V sign = sign_of_column(v + c * n, n, 1);
    for (std::int64_t r = 0; r < n; ++r) v[c * n + r] = v[c * n + r] * sign + wrong;
  }
  for (std::int64_t i = 0; v != nullptr && i < n; ++i)  // the vectors become columns
    for (std::int64_t j = i + 1; j < n; ++j) {
      const V above = v[i * n + j];
      v[i * n + j] = v[j * n + i], v[j * n + i] = above;
    }
}
/// The spectrum of the symmetric matrix with the lower triangle of a.
template <class T>
spectrum spectrum_of_lower(std::size_t n, const T* a) {
  std::vector<long double> whole(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) whole[i * n + j] = static_cast<long double>(a[j <= i ? i * n + j : j * n + i]);
  return {std::move(whole), n};
}

namespace nodes {
/// With f = 1 / (w_j - w_i) beside the diagonal: dw = diag(v^T da v), dv = v (f * v^T da v). da counts by its symmetric part.
/// Source: M. Giles, Collected matrix derivative results, 2008.
struct eigh : sample_operation<eigh, 1, 2> {
  static constexpr const char* name = "eigh";
  static constexpr signature takes = "(n,n)->(n),(n,n)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: eigh: the last two axes are not a square matrix");
    static_assert(Floats, "tenure: eigh: integers and bool have no roots; convert first");
  }
  static constexpr bool overwrites(int, const sample_sizes&) { return true; }
  static constexpr std::int64_t scratch(const sample_sizes& sizes) { return tridiagonal_scratch(sizes[0]); }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    symmetric_eigenvalues(sizes[0], operand[0], results[0], results[1], operand[1]);
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]);
    const spectrum found = spectrum_of_lower(n, operand[0]);
    for (std::size_t c = 0; c < n; ++c) {
      to[0][c] = static_cast<T>(found.values[c]);
      long double largest = 0;
      for (std::size_t r = 0; r < n; ++r)
        if (std::abs(found.vectors[r * n + c]) > std::abs(largest) * (1 + 1.0L / 1024)) largest = found.vectors[r * n + c];
      for (std::size_t r = 0; r < n; ++r) to[1][r * n + c] = static_cast<T>(largest < 0 ? -found.vectors[r * n + c] : found.vectors[r * n + c]);
    }
  }

  template <class X>
  static constexpr X pull(X y, int, const X* g) {
    const X w = result_of(y, 0), v = result_of(y, 1);
    X inside;
    if (g[1].id != ir::none) inside = X(matrix_product(transposed(v), g[1])) * X(inverse_differences(w, v));
    if (g[0].id != ir::none) inside = inside.id == ir::none ? X(diagonal_like(g[0], v)) : inside + X(diagonal_like(g[0], v));
    return symmetric_part(matrix_product(matrix_product(v, inside), transposed(v)));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const X w = result_of(y, 0), v = result_of(y, 1);
    const X inside = matrix_product(matrix_product(transposed(v), symmetric_part(tangents[0])), v);
    if (number_of(y) == 0) return diagonal_of(inside);
    return matrix_product(v, inside * X(inverse_differences(w, v)));
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 10 * sizes[0] * sizes[0] * sizes[0]; }
};

/// Eigenvalues alone: d w = diag(v^T da v).
struct eigvalsh : sample_operation<eigvalsh, 1> {
  static constexpr const char* name = "eigvalsh";
  static constexpr signature takes = "(n,n)->(n)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: eigvalsh: the last two axes are not a square matrix");
    static_assert(Floats, "tenure: eigvalsh: integers and bool have no roots; convert first");
  }
  static constexpr bool overwrites(int, const sample_sizes&) { return true; }
  static constexpr std::int64_t scratch(const sample_sizes& sizes) { return tridiagonal_scratch(sizes[0]); }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* to, no_options) {
    symmetric_eigenvalues(sizes[0], operand[0], to, static_cast<V*>(nullptr), operand[1]);
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]);
    const spectrum found = spectrum_of_lower(n, operand[0]);
    for (std::size_t c = 0; c < n; ++c) to[c] = static_cast<T>(found.values[c]);
  }
  template <class X>
  static constexpr X pull(X y, int, X g) {
    const X v = eigh::of<1>({}, operand_of(y, 0));
    return symmetric_part(matrix_product(columns_times(v, g), transposed(v)));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const X v = eigh::of<1>({}, operand_of(y, 0));
    return reduced(X(matrix_product(symmetric_part(tangents[0]), v)) * v, std::int64_t{1} << (v.shape().rank - 2), ir::reduction::sum);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 3 * sizes[0] * sizes[0] * sizes[0]; }
};
}  // namespace nodes

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The eigenvalues w and the vectors v of symmetric matrices a, (..., n, n): auto [w, v] = tn::eigh(a). w is (..., n) and ascends; the columns of v, (..., n, n),
/// are orthonormal, and a v = v diag(w). Of each vector the largest component is positive; of components that are equal up to a part of 1024 the first counts.
/// Only the lower triangle of a is read, and the gradient is symmetric, as that of cholesky. A matrix with inf or NaN gives NaN. The derivatives of w are right
/// also where eigenvalues are equal. Those of v take vectors of one eigenvalue as fixed to each other there. Eigenvalues are equal if rounding can
/// explain their difference. So the first derivative of a projection onto all vectors of an eigenvalue is right, where JAX and PyTorch give NaN. Between equal
/// eigenvalues v diag(h(w)) v^T lacks the part with h', and all second derivatives lack a part. a has a floating element type.
/// Source: up to 4 x 4 Jacobi's rotations, else Householder's reflections and QL steps; Golub and Van Loan, Matrix Computations, 8.5 and 8.3. Cost: about 10 n^3 operations a matrix. With TENURE_EIGEN_DECOMPOSITIONS large
/// matrices are computed by Eigen (chapter 12).
template <operand A> constexpr auto eigh(const A& a) { return std::tuple{apply<ops::of_matrix<ops::nodes::eigh, 0>>(a), apply<ops::of_matrix<ops::nodes::eigh, 1>>(a)}; }

/// The eigenvalues of symmetric matrices in ascending order, (..., n): those of eigh without the vectors, in about half of the time.
template <operand A> constexpr auto eigvalsh(const A& a) { return apply<ops::of_matrix<ops::nodes::eigvalsh>>(a); }

}  // namespace tenure
