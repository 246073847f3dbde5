// SPDX-License-Identifier: BSL-1.0
// solve: systems of linear equations.
#pragma once

#include <tenure/ops/contraction.hpp>

namespace TENURE_NAMESPACE::ops {

struct solve {
  static constexpr const char* name = "solve";

  template <class X, class Y>
  static constexpr auto trace(const X& a, const Y& b) {
    using A = typename X::shape_type;
    using B = typename Y::shape_type;
    constexpr bool are_matrices = A::rank >= 2 && extents_may_agree(A::value[A::rank >= 2 ? A::rank - 1 : 0], A::value[A::rank >= 2 ? A::rank - 2 : 0]);
    static_assert(are_matrices, "tenure: solve: the last two axes of the first operand are not a square matrix");
    constexpr bool is_vector = B::rank + 1 == A::rank, has_rows = B::rank >= 1 && (is_vector || B::rank == A::rank);
    constexpr bool fits = has_rows && rows_agree<A, B>();
    static_assert(!are_matrices || fits, "tenure: solve: the right-hand side is neither a vector nor a matrix with as many rows as the matrix of each batch");
    constexpr bool same_type = std::is_same_v<typename X::element_type, typename Y::element_type>;
    static_assert(std::is_same_v<typename X::element_type, typename Y::element_type>, "tenure: solve: operands have different element types");
    constexpr bool floats = is_floating(dtype_v<typename Y::element_type>);
    static_assert(floats, "tenure: solve: integers and bool have no quotients; convert first");
    if constexpr (are_matrices && fits && same_type && floats) return traced<typename Y::element_type, B>{b.graph, solved(a, b, is_vector).id};
    else return b;
  }

 private:
  template <class A, class B>
  static constexpr bool rows_agree() {
    for (int i = 0; i < A::rank - 1; ++i)
      if (i >= B::rank || !extents_may_agree(A::value[i], B::value[i])) return false;
    return true;
  }
  static constexpr value solved(value a, value b, bool is_vector) {
    ir::builder& g = *b.graph;
    const extents to = b.shape(), matrix = a.shape();
    const std::int16_t sa = g.intern(matrix), sb = g.intern(to);
    g.unify(matrix[matrix.rank - 1], matrix[matrix.rank - 2], name, sa, sa);
    for (int i = 0; i < matrix.rank - 1; ++i) g.unify(matrix[i], to[i], name, sa, sb);
    extents column = to;
    if (is_vector) column.push_back(1);
    return reshape_to(solution(a, reshape_to(b, column)), to);
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The x of a x = b. a is (..., n, n). b is (..., n), one right-hand side for each matrix, or (..., n, m) with a column for each. The batch
/// extents are equal, and so are the floating element types. A singular matrix gives inf and NaN.
/// Source: LU decomposition with partial pivoting. Cost: 2/3 n^3 operations a matrix. It is meant for small n and many matrices.
template <operand_or_scalar A, class B> constexpr auto solve(const A& a, const B& b) { return apply<ops::solve>(a, b); }

}  // namespace tenure
