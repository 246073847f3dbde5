// SPDX-License-Identifier: BSL-1.0
// lstsq: the least squares solution of a system with any number of rows, by qr.
#pragma once

#include <tenure/ops/opaque/qr.hpp>
#include <tenure/ops/opaque/solve.hpp>
#include <tenure/ops/opaque/svd.hpp>

namespace TENURE_NAMESPACE::ops {

/// The shape of x in a x = b, where a is (..., n, m): that of b with m in place of n.
template <class A, class B>
struct lstsq_shape {
  static constexpr bool is_vector = B::rank == A::rank - 1;
  static constexpr bool fits = [] {
    if (A::rank < 2 || !(is_vector || B::rank == A::rank)) return false;
    for (int i = 0; i < A::rank - 1; ++i)
      if (!extents_may_agree(A::value[i], B::value[i])) return false;
    return true;
  }();
  static constexpr extents value = [] {
    extents s = B::value;
    if constexpr (fits) s[A::rank - 2] = A::value[A::rank - 1];
    return s;
  }();
};

struct lstsq : rounds_once {
  static constexpr const char* name = "lstsq";

  template <class A, class B>
  static constexpr auto trace(const A& a, const B& b) {
    using shape = lstsq_shape<typename A::shape_type, typename B::shape_type>;
    static_assert(A::shape_type::rank >= 2, "tenure: lstsq: the first operand has less than two axes");
    static_assert(A::shape_type::rank < 2 || shape::fits, "tenure: lstsq: the right-hand side is neither a vector nor a matrix with as many rows as the matrix of each batch");
    constexpr bool same_type = std::is_same_v<typename A::element_type, typename B::element_type>;
    static_assert(same_type, "tenure: lstsq: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
    constexpr bool floats = is_floating(dtype_v<typename B::element_type>);
    static_assert(floats, "tenure: lstsq: integers and bool have no quotients; convert first");
    if constexpr (shape::fits && same_type && floats) return traced<typename B::element_type, shape_from<shape>>{b.graph, solved(a, b, shape::is_vector).id};
    else return b;
  }

 private:
  static constexpr value solved(value a, value b, bool is_vector) {
    ir::builder& g = *b.graph;
    const extents matrix = a.shape();
    const int rank = matrix.rank;
    const std::int64_t n = matrix[rank - 2], m = matrix[rank - 1];
    const std::int16_t sa = g.intern(matrix), sb = g.intern(b.shape());
    for (int i = 0; i < rank - 1; ++i) g.unify(matrix[i], b.shape()[i], name, sa, sb);
    extents column = b.shape();
    if (is_vector) column.push_back(1);
    const value right = reshape_to(b, column);
    value x;
    if (!is_static(n) || !is_static(m)) {
      x = matrix_product(nodes::pinv::of({}, a), right);
    } else if (n >= m) {
      const value q = nodes::qr::of<0>({}, a), r = nodes::qr::of<1>({}, a);
      x = nodes::solve_triangular::of({true, false, false}, r, matrix_product(transposed(q), right));
    } else {
      const value turned = transposed(a), q = nodes::qr::of<0>({}, turned), r = nodes::qr::of<1>({}, turned);
      x = matrix_product(q, nodes::solve_triangular::of({true, true, false}, r, right));
    }
    extents to = b.shape();
    to[rank - 2] = m;
    return reshape_to(x, to);
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The x with the least sum of squares of a x - b, and of several such x the one with the least sum of squares itself. a is (..., n, m), b is (..., n) or
/// (..., n, k), x is (..., m) or (..., m, k). The rank of a is min(n, m): otherwise x is inf or NaN, and pinv(a) times b is the answer, which is also what a
/// matrix with run-time extents takes. The element types are equal and floating. It has derivatives of any order.
/// Source: qr and a substitution. Cost: 4 k^2 max(n, m) operations a matrix, k = min(n, m).
template <operand A, class B> constexpr auto lstsq(const A& a, const B& b) { return apply<ops::lstsq>(a, b); }

}  // namespace tenure
