// SPDX-License-Identifier: BSL-1.0
// inverse: the inverse of a square matrix.
#pragma once

#include <cmath>
#include <vector>

#include <tenure/ops/contraction.hpp>
#include <tenure/ops/opaque/cofactors.hpp>
#include <tenure/ops/opaque/elimination.hpp>
#include <tenure/ops/opaque/of_matrix.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/solve.hpp>
#include <tenure/ops/structural/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

/// The adjugate is det(a) a^-1, the derivative of det, transposed. It exists where det(a) is 0.
struct inverse_options {
  bool is_adjugate = false;
};

/// The last two axes of a matrix, as a mask, and a number of each matrix stretched along them.
constexpr std::int64_t matrix_axes(value a) { return std::int64_t{3} << (a.shape().rank - 2); }
constexpr value along_matrix(value number, value a) { return stretched_like(number, a, matrix_axes(a)); }
constexpr value inner_product(value a, value b) { return reduced(a * b, matrix_axes(a), ir::reduction::sum); }

/// The diagonal of r in a = q r, where det(q) = 1, by Givens' rotations: a reference of determinants.
template <class T>
std::vector<long double> rotated_diagonal(std::size_t n, const T* a) {
  std::vector<long double> r(a, a + n * n), diagonal(n);
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = c + 1; i < n; ++i) {
      const long double length = std::hypot(r[c * n + c], r[i * n + c]);
      const long double x = length == 0 ? 1 : r[c * n + c] / length, y = length == 0 ? 0 : r[i * n + c] / length;
      for (std::size_t j = c; j < n; ++j) {
        const long double above = r[c * n + j], below = r[i * n + j];
        r[c * n + j] = x * above + y * below;
        r[i * n + j] = x * below - y * above;
      }
    }
    diagonal[c] = r[c * n + c];
  }
  return diagonal;
}

namespace nodes {
/// y = a^-1, so dy = -y da y. With i = a^-1, the adjugate has dy = tr(i da) y - i da y.
struct inverse : sample_operation<inverse, 1, 1, inverse_options>, by_cofactors<inverse> {
  static constexpr const char* name = "inverse";
  static constexpr signature takes = "(n,n)->(n,n)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: inverse: the last two axes are not a square matrix");
    static_assert(Floats, "tenure: inverse: integers and bool have no quotients; convert first");
  }
  static constexpr const char* option_names[1] = {"adjugate"};
  using by_cofactors::has_range, by_cofactors::overwrites;

  /// By cofactors up to 4 x 4, where they are in range, else by elimination.
  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* to, inverse_options of) {
    const std::int64_t n = sizes[0];
    if (n > most_cofactor_rows) return by_elimination(n, operand[0], to, of.is_adjugate);
    if (n == 0) return;
    V* const results[] = {to};
    run_by_cofactors(sizes, operand, results, of);
  }
  /// The adjugate has no other way.
  template <class V>
  static TENURE_KERNEL_INLINE auto run_in_range(const sample_sizes& sizes, V* const* operand, V* const* results, inverse_options of) {
    const V det = inverse_by_cofactors(sizes[0], operand[0], results[0], of.is_adjugate);
    using choice = decltype(is_out_of_range(sizes[0], operand[0], det));
    return of.is_adjugate ? choice{math::mask_set<typename V::packet>(false)} : is_out_of_range(sizes[0], operand[0], det);
  }
  template <class V>
  [[gnu::cold, gnu::noinline]] static TENURE_KERNEL void run_out_of_range(const sample_sizes& sizes, V* const* operand, V* const* results, inverse_options of) {
    by_elimination(sizes[0], operand[0], results[0], of.is_adjugate);
  }
  /// The last row of the adjugate needs no division by the last pivot, which is 0 where det(a) is.
  template <class V>
  static TENURE_KERNEL_INLINE void by_elimination(std::int64_t n, V* a, V* to, bool is_adjugate) {
    for (std::int64_t e = 0; e < n * n; ++e) to[e] = V(typename V::number(e % (n + 1) == 0 ? 1 : 0));
    V det = eliminate(a, n, to, n, false);
    if (!is_adjugate) return substitute(a, n, to, n, n);
    for (std::int64_t k = 0; k < n - 1; ++k) det = det * a[k * (n + 1)];
    for (std::int64_t j = 0; j < n; ++j) to[(n - 1) * n + j] = to[(n - 1) * n + j] * det;
    det = det * a[n * n - 1];
    for (std::int64_t e = 0; e < (n - 1) * n; ++e) to[e] = to[e] * det;
    substitute(a, n, to, n, n - 1);
  }
  /// The solution for the columns of the identity; the adjugate by the determinants of its minors.
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, inverse_options of) {
    const auto n = static_cast<std::size_t>(sizes[0]);
    if (of.is_adjugate) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          std::vector<long double> minor;
          for (std::size_t e = 0; e < n * n; ++e)
            if (e / n != i && e % n != j) minor.push_back(static_cast<long double>(operand[0][e]));
          long double det = (i + j) % 2 == 0 ? 1 : -1;
          for (const long double x : rotated_diagonal(n - 1, minor.data())) det *= x;
          to[j * n + i] = static_cast<T>(det);
        }
      return;
    }
    std::vector<T> identity(n * n);
    for (std::size_t i = 0; i < n; ++i) identity[i * n + i] = 1;
    sample_sizes square = sizes;
    square[1] = sizes[0];
    const T* const system[] = {operand[0], identity.data()};
    solve::reference(square, system, to, {});
  }

  template <class X>
  static constexpr X pull(X y, int, X g) {
    if (!options_of(y).is_adjugate) return -matrix_product(matrix_product(transposed(y), g), transposed(y));
    const X a = operand_of(y, 0), turned = transposed(of({}, a));
    return along_matrix(inner_product(g, y), a) * turned - matrix_product(matrix_product(turned, g), transposed(y));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    if (!options_of(y).is_adjugate) return -matrix_product(matrix_product(y, tangents[0]), y);
    const X a = operand_of(y, 0), of_a = of({}, a);
    return along_matrix(inner_product(transposed(of_a), tangents[0]), a) * y - matrix_product(matrix_product(of_a, tangents[0]), y);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[0]; }
};
}  // namespace nodes

struct inverse : of_matrix<nodes::inverse> {};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The inverse of a, (..., n, n), for each index of the batch. A singular matrix gives inf and NaN, and the other matrices of the batch are right. a has a
/// floating element type. For a^-1 b write solve(a, b), which is faster and more exact.
/// Source: cofactors up to 4 x 4, else LU decomposition with partial pivoting. Cost: 2 n^3 operations a matrix. It is meant for small n and many matrices.
template <operand A> constexpr auto inverse(const A& a) { return apply<ops::inverse>(a); }

}  // namespace tenure
