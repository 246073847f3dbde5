// SPDX-License-Identifier: BSL-1.0
// cholesky: a symmetric positive definite matrix as l l^T.
#pragma once

#include <cmath>
#include <vector>

#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/extent.hpp>
#include <tenure/ops/opaque/of_matrix.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>

namespace TENURE_NAMESPACE {

/// The option that throws where there would be NaN: cholesky(a, tn::checked).
struct checked_t {};
inline constexpr checked_t checked{};

}  // namespace tenure

namespace TENURE_NAMESPACE::ops {

namespace nodes {
/// With P(x) = the lower triangle of x, its diagonal halved: dl = l P(l^-1 da l^-T). The cotangent of a is the symmetric part of l^-T P(l^T g) l^-1.
/// Source: I. Murray, Differentiation of the Cholesky decomposition, 2016, arXiv:1602.07527.
struct cholesky : sample_operation<cholesky, 1> {
  static constexpr const char* name = "cholesky";
  static constexpr signature takes = "(n,n)->(n,n)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: cholesky: the last two axes are not a square matrix");
    static_assert(Floats, "tenure: cholesky: integers and bool have no roots; convert first");
  }
  static constexpr int result_begins_as = 0;

  /// A matrix that is not positive definite has a negative number or NaN under a root: NaN goes through the columns from there on.
  template <class V, class Sizes>
  static TENURE_KERNEL_INLINE void run(const Sizes& sizes, V* const*, V* l, no_options) {
    const auto n = extent_of<0>(sizes);
    if constexpr (V::is_number)
      if (n > 8) return by_rows(n, l);
    for_each_in(first_row, n, [&](auto i) __attribute__((always_inline)) {
      for_each_in(first_row, i, [&](auto j) __attribute__((always_inline)) {
        V rest = l[i * n + j];
        for_each_in(first_row, j, [&](auto k) __attribute__((always_inline)) { rest = math::minus_product(rest, l[i * n + k], l[j * n + k]); });
        l[i * n + j] = rest / l[j * n + j];
      });
      V rest = l[i * n + i];
      for_each_in(first_row, i, [&](auto k) __attribute__((always_inline)) { rest = math::minus_product(rest, l[i * n + k], l[i * n + k]); });
      l[i * n + i] = math::sqrt(rest);
      for_each_in(after(i), n, [&](auto j) __attribute__((always_inline)) { l[i * n + j] = V(typename V::number(0)); });
    });
  }
  /// The same for one matrix, with the same bits: l^T row after row above the diagonal, of which many numbers fit in a packet.
  template <class V>
  static TENURE_KERNEL_INLINE void by_rows(std::int64_t n, V* l) {
    const V zero = V(typename V::number(0));
    for (std::int64_t i = 0; i < n; ++i) {
      V* const row = l + i * n;
      for (std::int64_t j = i + 1; j < n; ++j) row[j] = l[j * n + i];
      math::subtract_products(n - i, row + i, i, l + i, n, l + i, n);
      row[i] = math::sqrt(row[i]);
      for (std::int64_t j = i + 1; j < n; ++j) row[j] = row[j] / row[i];
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = i + 1; j < n; ++j) l[j * n + i] = l[i * n + j], l[i * n + j] = zero;
  }
  /// Column after column, each of which is taken off the rest of the matrix.
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]);
    std::vector<long double> rest(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) rest[i * n + j] = static_cast<long double>(operand[0][i > j ? i * n + j : j * n + i]);
    for (std::size_t k = 0; k < n; ++k) {
      const long double root = std::sqrt(rest[k * n + k]);
      std::vector<long double> column(n);
      for (std::size_t i = k; i < n; ++i) column[i] = i == k ? root : rest[i * n + k] / root;
      for (std::size_t i = 0; i < n; ++i) to[i * n + k] = static_cast<T>(column[i]);
      for (std::size_t i = k; i < n; ++i)
        for (std::size_t j = k; j < n; ++j) rest[i * n + j] -= column[i] * column[j];
    }
  }

  template <class X>
  static constexpr X pull(X l, int, X g) {
    const X middle = in_triangle(matrix_product(transposed(l), g), false, 0.5);
    const X right = transposed(nodes::solve_triangular::of({false, true, false}, l, transposed(middle)));  // P l^-1
    return symmetric_part(nodes::solve_triangular::of({false, true, false}, l, right));
  }
  template <class X>
  static constexpr X push(X l, const X* tangents) {
    const X left = nodes::solve_triangular::of({}, l, symmetric_part(tangents[0]));
    const X both = nodes::solve_triangular::of({}, l, transposed(left));  // symmetric
    return matrix_product(l, in_triangle(both, false, 0.5));
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return sizes[0] * sizes[0] * sizes[0] / 3; }
};
}  // namespace nodes

struct cholesky : of_matrix<nodes::cholesky> {};

/// The check is a bound on the number of elements of the diagonal that are not above 0, because bounds are what backends check before they write a result.
struct checked_cholesky : rounds_once {
  static constexpr const char* name = "cholesky";

  template <class X>
  static constexpr auto trace(const X& a) {
    const auto l = cholesky::trace(a);
    if constexpr (is_square<typename X::shape_type> && is_floating(dtype_v<typename X::element_type>)) {
      constexpr int rank = X::shape_type::rank;
      // A matrix that is singular to the last bit has a 0 there, and one that is not definite NaN.
      const value diagonal = reduced(on_diagonal(l), std::int64_t{1} << (rank - 1), ir::reduction::sum);
      const value are_wrong = pointwise_value<where>(pointwise_value<less>(diagonal.like(0), diagonal), diagonal.like(0), diagonal.like(1));
      const value wrong = cast_to(reduced(are_wrong, std::int64_t{1} << (rank - 2), ir::reduction::sum), dtype::int64);
      const ir::bound definite{wrong.id, 1, name, false, false, 1, "is not positive definite"};  // nvcc 13 garbles g.check_bound({...})
      a.graph->check_bound(definite);
    }
    return l;
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The lower triangular l with l l^T = a, for a symmetric positive definite a of shape (..., n, n): one factor for each index of the batch. Only the lower
/// triangle of a is read. The gradient is symmetric. The derivative in a direction x is the derivative in the direction (x + x^T) / 2. Where a matrix is not
/// positive definite, l is NaN from the failing column on, and the other matrices of the batch are right. a has a floating element type.
/// Source: Golub and Van Loan, Matrix Computations, 4.2. Cost: n^3 / 3 operations a matrix. It is meant for small n and many matrices.
template <operand A> constexpr auto cholesky(const A& a) { return apply<ops::cholesky>(a); }
/// cholesky(a) that throws tenure::error where a matrix is not positive definite, before a result is written: "matrix 3 of the batch", counted in row-major order,
/// with the axes of vmap. On a GPU the call waits for the check, and names any of several matrices.
template <operand A> constexpr auto cholesky(const A& a, checked_t) { return apply<ops::checked_cholesky>(a); }

}  // namespace tenure
