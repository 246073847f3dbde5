// SPDX-License-Identifier: BSL-1.0
// Functions of a symmetric positive definite matrix a by its Cholesky factor l: their values come from l, and their derivatives go to a at once. By way of l
// they would pass the derivative of cholesky, which is a product and two systems with n columns: several times the work of the function.
// The records of_definite read only l where they run. They are there for their derivatives: a program computes the values by `instead_of`.
#pragma once

#include <vector>

#include <tenure/ops/opaque/cholesky.hpp>
#include <tenure/ops/opaque/determinant.hpp>
#include <tenure/ops/structural/mark.hpp>

namespace TENURE_NAMESPACE::ops::nodes {

/// (l l^T)^-1 of the lower triangle of l, and dy = -(y dl l^-1 + its transpose).
struct inverse_of_factor : sample_operation<inverse_of_factor, 1> {
  static constexpr const char* name = "inverse_of_factor";
  static constexpr signature takes = "(n,n)->(n,n)";

  /// The inverse w of l row after row, then w^T w in its place: a row of the product reads no row above it. Both in blocks of columns, where numbers above the
  /// diagonal are zeros, or are written over at the end.
  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* y, no_options) {
    constexpr std::int64_t block = 32;
    const V* const l = operand[0];
    const std::int64_t n = sizes[0];
    const V zero = V(typename V::number(0)), one = V(typename V::number(1));
    const auto columns = [&](std::int64_t i, std::int64_t first) { return (first + block <= i ? block : i - first); };
    for (std::int64_t i = 0; i < n; ++i) {
      V* const row = y + i * n;
      for (std::int64_t j = 0; j < n; ++j) row[j] = zero;
      for (std::int64_t j = 0; j < i; j += block) math::subtract_products(columns(i, j), row + j, i - j, l + i * n + j, 1, y + j * n + j, n);
      const V over = one / l[i * n + i];
      for (std::int64_t j = 0; j < i; ++j) row[j] = row[j] * over;
      row[i] = over;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      V* const row = y + i * n;
      const V own = zero - row[i];
      for (std::int64_t j = 0; j <= i; ++j) row[j] = row[j] * own;
      for (std::int64_t j = 0; j <= i; j += block) math::subtract_products(columns(i + 1, j), row + j, n - 1 - i, y + (i + 1) * n + i, n, y + (i + 1) * n + j, n);
      for (std::int64_t j = 0; j <= i; ++j) y[j * n + i] = row[j] = zero - row[j];
    }
  }
  /// Column after column, by two substitutions.
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]);
    const auto at = [&](std::size_t i, std::size_t j) { return static_cast<long double>(operand[0][i * n + j]); };
    std::vector<long double> x(n);
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = i == c ? 1 : 0;
        for (std::size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
        x[i] /= at(i, i);
      }
      for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) x[i] -= at(k, i) * x[k];
        x[i] /= at(i, i);
        to[i * n + c] = static_cast<T>(x[i]);
      }
    }
  }

  template <class X>
  static constexpr X pull(X y, int, X g) {
    const value both = matrix_product(y, g + transposed(g));
    return in_triangle(-value(transposed(solve_triangular::of({}, operand_of(y, 0), transposed(both)))), false, 1);
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const value moves = matrix_product(y, in_triangle(tangents[0], false, 1));
    const value half = solve_triangular::of({false, true, false}, operand_of(y, 0), transposed(moves));
    return -(half + transposed(half));
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[0] / 3; }
};

/// The operands are a, l, and others. No derivative flows to l.
template <class Record, int Operands>
struct of_definite : sample_operation<Record, Operands> {
  static constexpr bool flows_to(int operand) { return operand != 1; }
};

/// dy = -y da y.
struct definite_inverse : of_definite<definite_inverse, 2> {
  static constexpr const char* name = "definite_inverse";
  static constexpr signature takes = "(n,n),(n,n)->(n,n)";

  static constexpr value by_factor(value a, value l) { return instead_of(of({}, a, l), inverse_of_factor::of({}, l)); }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* y, no_options o) { inverse_of_factor::run(sizes, operand + 1, y, o); }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options o) { inverse_of_factor::reference(sizes, operand + 1, to, o); }
  template <class X>
  static constexpr X pull(X y, int, X g) {
    const value found = by_factor(operand_of(y, 0), operand_of(y, 1));
    return -matrix_product(matrix_product(found, symmetric_part(g)), found);
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) { return pull(y, 0, tangents[0]); }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return inverse_of_factor::flops_of_sample(sizes); }
};

/// a x = b, and dx = a^-1 (db - da x).
struct definite_solve : of_definite<definite_solve, 3> {
  static constexpr const char* name = "definite_solve";
  static constexpr signature takes = "(n,n),(n,n),(n,m)->(n,m)";
  static constexpr int result_begins_as = 2, letter_of_columns = 1;

  static constexpr value substituted(value l, value b) { return solve_triangular::of({false, true, false}, l, solve_triangular::of({}, l, b)); }
  static constexpr value by_factor(value a, value l, value b) { return instead_of(of({}, a, l, b), substituted(l, b)); }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* x, no_options) {
    solve_triangular::run(sizes, operand + 1, x, {});
    solve_triangular::run(sizes, operand + 1, x, {false, true, false});
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    std::vector<T> between(static_cast<std::size_t>(sizes[0] * sizes[1]));
    solve_triangular::reference(sizes, operand + 1, between.data(), {});
    const T* const second[] = {operand[1], between.data()};
    solve_triangular::reference(sizes, second, to, {false, true, false});
  }
  template <class X>
  static constexpr X pull(X y, int k, X g) {
    const value a = operand_of(y, 0), l = operand_of(y, 1), of_b = by_factor(a, l, g);
    if (k == 2) return of_b;
    return -symmetric_part(matrix_product(of_b, transposed(by_factor(a, l, operand_of(y, 2)))));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const value a = operand_of(y, 0), l = operand_of(y, 1), of_b = tangents[2];
    if (tangents[0].id == ir::none) return by_factor(a, l, of_b);
    const value moved = matrix_product(symmetric_part(tangents[0]), by_factor(a, l, operand_of(y, 2)));
    return by_factor(a, l, of_b.id == ir::none ? value(-moved) : of_b - moved);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[1]; }
};

/// d log det(a) = tr(a^-1 da).
struct definite_log_det : of_definite<definite_log_det, 2> {
  static constexpr const char* name = "definite_log_det";
  static constexpr signature takes = "(n,n),(n,n)->()";

  /// size: the sum of the logarithms of the diagonal of l.
  static constexpr value by_factor(value a, value l) {
    const std::int64_t last = std::int64_t{1} << (l.shape().rank - 1);
    const value diagonal = reduced(on_diagonal(l), last, ir::reduction::sum);
    return instead_of(of({}, a, l), reduced(pointwise_value<log>(diagonal), last >> 1, ir::reduction::sum) * 2.0);
  }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* to, no_options) {
    V sum = V(typename V::number(0));
    for (std::int64_t i = 0; i < sizes[0]; ++i) sum = sum + slogdet::log_size(operand[1][i * (sizes[0] + 1)]);
    to[0] = sum + sum;
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    long double sum = 0;
    for (std::int64_t i = 0; i < sizes[0]; ++i) sum += std::log(static_cast<long double>(operand[1][i * (sizes[0] + 1)]));
    to[0] = static_cast<T>(2 * sum);
  }
  template <class X>
  static constexpr X pull(X y, int, X g) {
    const value a = operand_of(y, 0);
    return along_matrix(g, a) * definite_inverse::by_factor(a, operand_of(y, 1));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const value a = operand_of(y, 0);
    return inner_product(definite_inverse::by_factor(a, operand_of(y, 1)), tangents[0]);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0]; }
};

}  // namespace tenure::ops::nodes
