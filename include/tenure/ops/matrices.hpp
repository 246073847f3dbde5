// SPDX-License-Identifier: BSL-1.0
// Functions of matrices that are composed of other operations: trace, matrix_power, matrix_norm, skew.
#pragma once

#include <tenure/ops/contraction.hpp>
#include <tenure/ops/norm.hpp>
#include <tenure/ops/opaque/inverse.hpp>
#include <tenure/ops/opaque/svd.hpp>
#include <tenure/ops/products.hpp>
#include <tenure/ops/rearrangement.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

struct matrix_trace : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool is_matrix = X::shape_type::rank >= 2;
    static_assert(is_matrix, "tenure: trace: the operand has less than two axes");
    if constexpr (!is_matrix) return sum<false>::trace(x);
    else if constexpr (X::shape_type::rank == 2 && X::shape_type::is_static) return sum<false>::trace(diagonal<0>::trace(x));
    else return sum<false, -2, -1>::trace(X{x.graph, on_diagonal(x).id});
  }
};

/// x^N by squares.
template <int N>
struct matrix_power : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool is_matrix = is_square<typename X::shape_type>;
    static_assert(is_matrix, "tenure: matrix_power: the last two axes are not a square matrix");
    constexpr bool is_possible = N >= 0 || is_floating(dtype_v<typename X::element_type>);
    static_assert(is_possible, "tenure: matrix_power: integers and bool have no inverse; convert first");
    if constexpr (!is_matrix || !is_possible) {
      return x;
    } else {
      const extents s = value(x).shape();
      const std::int16_t shape = x.graph->intern(s);
      x.graph->unify(s[s.rank - 1], s[s.rank - 2], "matrix_power", shape, shape);
      if constexpr (N == 0) return X{x.graph, on_diagonal(value(x).like(1)).id};
      else if constexpr (N < 0) return power<-N>(inverse::trace(x));
      else return power<N>(x);
    }
  }

 private:
  template <int M, class X>
  static constexpr X power(const X& x) {
    if constexpr (M == 1) {
      return x;
    } else {
      const X half = power<M / 2>(x), square{x.graph, matrix_product(half, half).id};
      if constexpr (M % 2 == 0) return square;
      else return X{x.graph, matrix_product(square, x).id};
    }
  }
};

/// P is 0 for the root of the sum of squares.
template <int P>
struct matrix_norm : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool is_matrix = X::shape_type::rank >= 2;
    static_assert(is_matrix, "tenure: matrix_norm: the operand has less than two axes");
    constexpr bool is_known = P == 0 || P == 1 || P == 2 || P == static_cast<int>(inf) || P == static_cast<int>(nuclear);
    static_assert(is_known, "tenure: matrix_norm: it is matrix_norm(x), the root of the sum of squares, or matrix_norm<P>(x), with 1, 2, tn::inf or tn::nuclear for P");
    if constexpr (!is_matrix || !is_known) return x;
    else if constexpr (P == 0) return norm<2, false, -2, -1>::trace(x);
    else if constexpr (P == 2) return amax<false, -1>::trace(of_matrix<nodes::svd, 1, 1>::trace(x));
    else if constexpr (P == static_cast<int>(nuclear)) return sum<false, -1>::trace(of_matrix<nodes::svd, 1, 1>::trace(x));
    else return amax<false, -1>::trace(sum<false, P == 1 ? -2 : -1>::trace(abs::trace(x)));
  }
};

/// The matrix whose product with y is cross(x, y).
struct skew : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool holds = cross::has_three<typename X::shape_type>;
    static_assert(holds, "tenure: skew: the last axis does not have the static extent 3");
    if constexpr (holds) {
      const auto a = select<-1, 0>::trace(x), b = select<-1, 1>::trace(x), c = select<-1, 2>::trace(x);
      const decltype(a) zero{x.graph, value(a).like(0).id};
      const auto row = [](const auto&... parts) { return stack<-1>::trace(parts...); };
      return stack<-2>::trace(row(zero, neg::trace(c), b), row(c, zero, neg::trace(a)), row(neg::trace(b), a, zero));
    } else {
      return x;
    }
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The sum of the diagonals of x, (..., n, m): one number for each index of the batch. The sum of integers and bool is int64.
template <operand X> constexpr auto trace(const X& x) { return apply<ops::matrix_trace>(x); }
/// The product of N matrices x, (..., n, n). For N = 0 it is the identity, and for N < 0 the product of -N inverses.
/// Cost: at most 2 log2(N) products.
template <int N, operand X> constexpr auto matrix_power(const X& x) { return apply<ops::matrix_power<N>>(x); }
/// Norms of matrices, (..., n, m): matrix_norm(x) is the root of the sum of squares (Frobenius), matrix_norm<1>(x) the largest sum of |x| of a column, and
/// matrix_norm<tn::inf>(x) that of a row; matrix_norm<2>(x) is the largest singular value, and matrix_norm<tn::nuclear>(x) the sum of all. The gradient where sums are equal is shared, as in amax. Where the norm is 0, the gradient is 0.
template <int P = 0, operand X> constexpr auto matrix_norm(const X& x) { return apply<ops::matrix_norm<P>>(x); }
/// The skew-symmetric matrices of vectors along the last axis, whose extent is 3: matmul(skew(x), y) = cross(x, y).
template <operand X> constexpr auto skew(const X& x) { return apply<ops::skew>(x); }

}  // namespace tenure
