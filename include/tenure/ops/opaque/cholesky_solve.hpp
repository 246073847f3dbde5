// SPDX-License-Identifier: BSL-1.0
// Functions of a symmetric positive definite matrix by its Cholesky factor: cholesky_solve, and solve, inverse and slogdet with tn::positive_definite.
#pragma once

#include <limits>
#include <tuple>

#include <tenure/ops/opaque/cholesky.hpp>
#include <tenure/ops/opaque/definite.hpp>
#include <tenure/ops/opaque/solve.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>

namespace TENURE_NAMESPACE {

/// The option of solve, inverse and slogdet for a symmetric positive definite matrix: solve(a, b, tn::positive_definite).
struct positive_definite_t {};
inline constexpr positive_definite_t positive_definite{};

}  // namespace tenure

namespace TENURE_NAMESPACE::ops {

namespace nodes {
/// l l^T x = b.
struct by_factor {
  static constexpr const char* name = "cholesky_solve";
  using options = no_options;
  static constexpr value of(no_options, value l, value b) { return definite_solve::substituted(l, b); }
};
struct by_cholesky {
  static constexpr const char* name = "solve";
  using options = no_options;
  static constexpr value of(no_options, value a, value b) { return definite_solve::by_factor(a, cholesky::of({}, a), b); }
};
}  // namespace nodes

/// What does not fit, the functions of other matrices say.
struct inverse_by_cholesky : rounds_once {
  static constexpr const char* name = "inverse";
  template <class X>
  static constexpr auto trace(const X& a) {
    if constexpr (is_square<typename X::shape_type> && is_floating(dtype_v<typename X::element_type>)) return X{a.graph, nodes::definite_inverse::by_factor(a, cholesky::trace(a)).id};
    else return inverse::trace(a);
  }
};
/// Result number Result of slogdet.
template <int Result>
struct slogdet_by_cholesky : rounds_once {
  static constexpr const char* name = "slogdet";
  template <class X>
  static constexpr auto trace(const X& a) {
    if constexpr (is_square<typename X::shape_type> && is_floating(dtype_v<typename X::element_type>)) {
      using to = shape_from<sample_shape<nodes::slogdet, Result, typename X::shape_type>>;
      const value size = nodes::definite_log_det::by_factor(a, cholesky::trace(a));
      return traced<typename X::element_type, to>{a.graph, Result == 0 ? sign_of(stopped(size)).id : size.id};
    } else {
      return of_matrix<nodes::slogdet, Result>::trace(a);
    }
  }

 private:
  /// 1, 0 where the logarithm is -inf, and NaN where it is NaN.
  static constexpr value sign_of(value size) {
    const value least = size.like(-std::numeric_limits<double>::infinity()), is_singular = pointwise_value<equal>(size, least);
    return pointwise_value<where>(pointwise_value<less>(least, size), size.like(1), pointwise_value<where>(is_singular, size.like(0), size));
  }
};

struct cholesky_solve : rounds_once {
  static constexpr const char* name = "cholesky_solve";

  template <class Y, class X>
  static constexpr auto trace(const Y& b, const X& l) {
    using shapes = system_shapes<typename X::shape_type, typename Y::shape_type>;
    static_assert(shapes::is_square, "tenure: cholesky_solve: the last two axes of the second operand, the factor, are not a square matrix");
    static_assert(!shapes::is_square || shapes::fits, "tenure: cholesky_solve: the right-hand side is neither a vector nor a matrix with as many rows as the factor of each batch");
    constexpr bool same_type = std::is_same_v<typename X::element_type, typename Y::element_type>;
    static_assert(same_type, "tenure: cholesky_solve: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
    constexpr bool floats = is_floating(dtype_v<typename Y::element_type>);
    static_assert(floats, "tenure: cholesky_solve: integers and bool have no quotients; convert first");
    if constexpr (shapes::fits && same_type && floats) return Y{b.graph, shapes::template solved<nodes::by_factor>(l, b, {}).id};
    else return b;
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The x of l l^T x = b, for the factor l = cholesky(a). The order of the operands is PyTorch's: the right-hand side, then the factor. l is (..., n, n), and
/// its lower triangle is read. b is (..., n), one right-hand side for each matrix, or (..., n, m) with a column for each. The batch extents are equal, and so
/// are the floating element types. The gradient to l is lower triangular.
/// Source: two substitutions. Cost: 2 n^2 m operations a matrix.
template <operand_or_scalar B, class L> constexpr auto cholesky_solve(const B& b, const L& l) { return apply<ops::cholesky_solve>(b, l); }
/// The x of a x = b for a symmetric positive definite a, of which the lower triangle is read: half of the operations of solve(a, b), and a symmetric
/// gradient. Where a matrix is not positive definite, x is NaN, and the other systems of the batch are right. Shapes: as solve(a, b).
/// Source: cholesky and two substitutions. Cost: n^3 / 3 + 2 n^2 m operations a matrix.
template <operand_or_scalar A, class B> constexpr auto solve(const A& a, const B& b, positive_definite_t) { return apply<ops::solve_by<ops::nodes::by_cholesky>>(a, b); }

/// The inverse of a symmetric positive definite a, of which the lower triangle is read, with a symmetric gradient. Where a matrix is not positive definite, the
/// inverse is NaN, and those of the other matrices are right. Shapes: as inverse(a). Source: cholesky, and the inverse of its factor. Cost: n^3 operations a matrix.
template <operand A> constexpr auto inverse(const A& a, positive_definite_t) { return apply<ops::inverse_by_cholesky>(a); }
/// The sign, which is 1, and log det(a) of a symmetric positive definite a, of which the lower triangle is read: the gradient of the logarithm is the inverse, which is symmetric.
/// Where a matrix is not positive definite, both are NaN. Shapes: as slogdet(a). Source: cholesky. Cost: n^3 / 3 operations a matrix, and n^3 for the gradient.
template <operand A> constexpr auto slogdet(const A& a, positive_definite_t) {
  return std::tuple{apply<ops::slogdet_by_cholesky<0>>(a), apply<ops::slogdet_by_cholesky<1>>(a)};
}

}  // namespace tenure
