// SPDX-License-Identifier: BSL-1.0
// solve_triangular: systems whose matrix is triangular.
#pragma once

#include <vector>

#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/solve.hpp>
#include <tenure/ops/opaque/triangle.hpp>

namespace TENURE_NAMESPACE {

/// Which triangle of its matrix solve_triangular reads, and how: tn::lower, tn::upper. `.transposed()` solves a^T x = b, and `.unit()` takes the diagonal
/// as ones without reading it: tn::lower.transposed().unit().
template <bool IsUpper, bool IsTransposed, bool HasUnitDiagonal>
struct triangle_t {
  static constexpr triangle_t<IsUpper, !IsTransposed, HasUnitDiagonal> transposed() { return {}; }
  static constexpr triangle_t<IsUpper, IsTransposed, true> unit() { return {}; }
};
inline constexpr triangle_t<false, false, false> lower{};
inline constexpr triangle_t<true, false, false> upper{};

}  // namespace tenure

namespace TENURE_NAMESPACE::ops {

struct triangle_options {
  bool is_upper = false, is_transposed = false, has_unit_diagonal = false;
};

namespace nodes {
/// op(a) x = b, where op(a) is a or its transpose. With y = op(a)^-T g for the cotangent g of x: the cotangent of b is y, and that of op(a) is -y x^T.
struct solve_triangular : sample_operation<solve_triangular, 2, 1, triangle_options> {
  static constexpr const char* name = "solve_triangular";
  static constexpr signature takes = "(n,n),(n,m)->(n,m)";
  static constexpr const char* option_names[3] = {"upper", "transposed", "unit"};
  static constexpr int result_begins_as = 1, letter_of_columns = 1;

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* x, triangle_options of) {
    const V* const a = operand[0];
    const std::int64_t n = sizes[0], m = sizes[1];
    const std::int64_t along_row = of.is_transposed ? n : 1, along_column = of.is_transposed ? 1 : n;  // of op(a)
    const bool is_forward = of.is_upper == of.is_transposed;
    if (m == 1 && n > 4) return one_column(n, a, along_row, along_column, x, is_forward, of.has_unit_diagonal);
    for (std::int64_t s = 0; s < n; ++s) {
      const std::int64_t i = is_forward ? s : n - 1 - s;
      const std::int64_t first = is_forward ? 0 : n - 1, next = is_forward ? 1 : -1;
      math::subtract_products(m, x + i * m, s, a + i * along_column + first * along_row, next * along_row, x + first * m, next * m);
      if (of.has_unit_diagonal) continue;
      for (std::int64_t j = 0; j < m; ++j) x[i * m + j] = x[i * m + j] / a[i * n + i];
    }
  }
  /// The same for one column of numbers, with the same bits: an element that is found is taken off all the others at once, so no sum waits for its last term.
  template <class V>
  static TENURE_KERNEL_INLINE void one_column(std::int64_t n, const V* a, std::int64_t along_row, std::int64_t along_column, V* x, bool is_forward, bool has_unit_diagonal) {
    for (std::int64_t s = 0; s < n; ++s) {
      const std::int64_t k = is_forward ? s : n - 1 - s, first = is_forward ? k + 1 : 0, count = n - 1 - s;
      if (!has_unit_diagonal) x[k] = x[k] / a[k * n + k];
      const V* const column = a + k * along_row + first * along_column;
      if (along_column == 1) math::subtract_products(count, x + first, 1, x + k, 0, column, 0);
      else
        for (std::int64_t i = 0; i < count; ++i) x[first + i] = math::minus_product(x[first + i], column[i * along_column], x[k]);
    }
  }
  /// The inverse of op(a), column after column, times b.
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, triangle_options of) {
    const auto n = static_cast<std::size_t>(sizes[0]), m = static_cast<std::size_t>(sizes[1]);
    const auto at = [&](std::size_t i, std::size_t k) -> long double {
      if (of.is_transposed) std::swap(i, k);
      if (i == k && of.has_unit_diagonal) return 1;
      return (of.is_upper ? k >= i : k <= i) ? static_cast<long double>(operand[0][i * n + k]) : 0.0L;
    };
    std::vector<long double> column(n), sum(n * m);
    const bool from_top = of.is_upper == of.is_transposed;
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t s = 0; s < n; ++s) {
        const std::size_t i = from_top ? s : n - 1 - s;
        column[i] = i == c ? 1.0L : 0.0L;
        for (std::size_t t = 0; t < s; ++t) column[i] -= at(i, from_top ? t : n - 1 - t) * column[from_top ? t : n - 1 - t];
        column[i] /= at(i, i);
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) sum[i * m + j] += column[i] * static_cast<long double>(operand[1][c * m + j]);
    }
    for (std::size_t i = 0; i < n * m; ++i) to[i] = static_cast<T>(sum[i]);
  }

  /// What a cotangent or a tangent of the matrix has to do with the result: its triangle, without the diagonal where that is not read.
  static constexpr value part(value x, triangle_options of) { return in_triangle(x, of.is_upper, of.has_unit_diagonal ? 0 : 1); }
  template <class X>
  static constexpr X pull(X y, int i, X g) {
    const triangle_options of_y = options_of(y);
    const X of_b = of({of_y.is_upper, !of_y.is_transposed, of_y.has_unit_diagonal}, operand_of(y, 0), g);
    if (i == 1) return of_b;
    const X product = of_y.is_transposed ? matrix_product(y, transposed(of_b)) : matrix_product(of_b, transposed(y));
    return part(-product, of_y);
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const triangle_options of_y = options_of(y);
    const X a = operand_of(y, 0);
    if (tangents[0].id == ir::none) return of(of_y, a, tangents[1]);
    const X moves = part(tangents[0], of_y), moved = matrix_product(of_y.is_transposed ? X(transposed(moves)) : moves, y);
    return of(of_y, a, tangents[1].id == ir::none ? -moved : tangents[1] - moved);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return sizes[0] * sizes[0] * sizes[1]; }
};
}  // namespace nodes

template <bool IsUpper, bool IsTransposed, bool HasUnitDiagonal>
struct solve_triangular : rounds_once {
  static constexpr const char* name = "solve_triangular";

  template <class X, class Y>
  static constexpr auto trace(const X& a, const Y& b) {
    using shapes = system_shapes<typename X::shape_type, typename Y::shape_type>;
    static_assert(shapes::is_square, "tenure: solve_triangular: the last two axes of the first operand are not a square matrix");
    static_assert(!shapes::is_square || shapes::fits, "tenure: solve_triangular: the right-hand side is neither a vector nor a matrix with as many rows as the matrix of each batch");
    constexpr bool same_type = std::is_same_v<typename X::element_type, typename Y::element_type>;
    static_assert(same_type, "tenure: solve_triangular: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
    constexpr bool floats = is_floating(dtype_v<typename Y::element_type>);
    static_assert(floats, "tenure: solve_triangular: integers and bool have no quotients; convert first");
    if constexpr (shapes::fits && same_type && floats) return Y{b.graph, shapes::template solved<nodes::solve_triangular>(a, b, {IsUpper, IsTransposed, HasUnitDiagonal}).id};
    else return b;
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The x of a x = b, where a is triangular: with tn::lower the lower triangle of a is read, with tn::upper the upper one, and the other half is not.
/// tn::lower.transposed() solves a^T x = b. tn::lower.unit() takes the diagonal as ones without reading it.
/// a is (..., n, n). b is (..., n), one right-hand side for each matrix, or (..., n, m) with a column for each. The batch extents are equal, and so are the
/// floating element types. A zero on the diagonal gives inf and NaN. The gradient to a is zero in the half that is not read.
/// Source: substitution. Cost: n^2 m operations a matrix.
template <operand_or_scalar A, class B, bool IsUpper, bool IsTransposed, bool HasUnitDiagonal>
constexpr auto solve_triangular(const A& a, const B& b, triangle_t<IsUpper, IsTransposed, HasUnitDiagonal>) {
  return apply<ops::solve_triangular<IsUpper, IsTransposed, HasUnitDiagonal>>(a, b);
}
/// Does not compile: the triangle is named, and the message says so.
template <operand_or_scalar A, class B>
constexpr auto solve_triangular(const A&, const B&) {
  static_assert(detail::never<A>, "tenure: solve_triangular: the third argument names the triangle: solve_triangular(a, b, tn::lower), or tn::upper");
  return after_error();
}
/// Does not compile: solve takes no triangle, and the message says so.
template <operand_or_scalar A, class B, bool IsUpper, bool IsTransposed, bool HasUnitDiagonal>
constexpr auto solve(const A&, const B&, triangle_t<IsUpper, IsTransposed, HasUnitDiagonal>) {
  static_assert(detail::never<A>, "tenure: solve: with a triangular matrix it is solve_triangular(a, b, tn::lower), and with a Cholesky factor of a cholesky_solve(b, l)");
  return after_error();
}

}  // namespace tenure
