// SPDX-License-Identifier: BSL-1.0
// solve: systems of linear equations.
#pragma once

#include <vector>

#include <tenure/ops/contraction.hpp>
#include <tenure/ops/opaque/elimination.hpp>
#include <tenure/ops/opaque/operation.hpp>

namespace TENURE_NAMESPACE::ops {

namespace nodes {
/// x = a^-1 b, so dx = a^-1 (db - da x).
struct solve : sample_operation<solve, 2> {
  static constexpr const char* name = "solve";
  static constexpr signature takes = "(n,n),(n,m)->(n,m)";
  static constexpr int result_begins_as = 1, letter_of_columns = 1;
  static constexpr bool overwrites(int operand, const sample_sizes&) { return operand == 0; }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* b, no_options) {
    eliminate(operand[0], sizes[0], b, sizes[1], false);
    substitute(operand[0], sizes[0], b, sizes[1], sizes[0]);
  }
  /// Gauss and Jordan: each column of the matrix becomes a column of the identity.
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]), m = static_cast<std::size_t>(sizes[1]), width = n + m;
    std::vector<long double> all(n * width);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < width; ++j) all[i * width + j] = static_cast<long double>(j < n ? operand[0][i * n + j] : operand[1][i * m + j - n]);
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t best = k;
      const auto size_at = [&](std::size_t i) { return all[i * width + k] < 0 ? -all[i * width + k] : all[i * width + k]; };
      for (std::size_t i = k; i < n; ++i)
        if (size_at(i) > size_at(best)) best = i;
      for (std::size_t j = 0; j < width; ++j) std::swap(all[k * width + j], all[best * width + j]);
      const long double pivot = all[k * width + k];
      for (std::size_t j = 0; j < width; ++j) all[k * width + j] /= pivot;
      for (std::size_t i = 0; i < n; ++i) {
        const long double factor = all[i * width + k];
        for (std::size_t j = 0; j < width && i != k; ++j) all[i * width + j] -= factor * all[k * width + j];
      }
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) to[i * m + j] = static_cast<T>(all[i * width + n + j]);
  }

  template <class X>
  static constexpr X pull(X y, int i, X g) {
    const X of_b = of({}, transposed(operand_of(y, 0)), g);
    return i == 1 ? of_b : -matrix_product(of_b, transposed(y));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    const X a = operand_of(y, 0);
    if (tangents[0].id == ir::none) return of({}, a, tangents[1]);
    const X moved = matrix_product(tangents[0], y);
    return of({}, a, tangents[1].id == ir::none ? -moved : tangents[1] - moved);
  }
  template <class B>
  static constexpr value batch(const B& b) {
    const extents right = b.sample(1);
    if (right.rank != 2 || !b.is_shared(0)) return b.same_node();
    // One matrix for all samples: their right-hand sides are columns of one.
    const std::int64_t columns = b.graph->derived(ir::symbol::kind::product, b.samples(), right[1]);
    const value in_one = reshape_to(moved_axis(b.given(1), 0, 1), {2, {right[0], columns}});
    return moved_axis(reshape_to(of({}, b.given(0), in_one), {3, {right[0], b.samples(), right[1]}}), 1, 0);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[0] / 3 + 2 * sizes[0] * sizes[0] * sizes[1]; }
};
}  // namespace nodes

/// The shapes of a square matrix and of a right-hand side, which may be a vector: what they have in common with each other and with other systems.
template <class A, class B>
struct system_shapes {
  static constexpr bool is_square = ops::is_square<A>;
  static constexpr bool is_vector = B::rank + 1 == A::rank;
  static constexpr bool fits = [] {
    bool agree = is_square && B::rank >= 1 && (is_vector || B::rank == A::rank);
    for (int i = 0; agree && i < A::rank - 1; ++i) agree = extents_may_agree(A::value[i], B::value[i]);
    return agree;
  }();
  /// Says that the extents of a call are equal, and appends the node. A vector becomes a column.
  template <class Record>
  static constexpr value solved(value a, value b, const typename Record::options& o) {
    ir::builder& g = *b.graph;
    const extents to = b.shape(), matrix = a.shape();
    const std::int16_t sa = g.intern(matrix), sb = g.intern(to);
    g.unify(matrix[matrix.rank - 1], matrix[matrix.rank - 2], Record::name, sa, sa);
    for (int i = 0; i < matrix.rank - 1; ++i) g.unify(matrix[i], to[i], Record::name, sa, sb);
    extents column = to;
    if (is_vector) column.push_back(1);
    return reshape_to(Record::of(o, a, reshape_to(b, column)), to);
  }
};

/// The nodes of Record solve the system: one of solve, or those of a factor.
template <class Record>
struct solve_by : rounds_once {
  static constexpr const char* name = "solve";

  template <class X, class Y>
  static constexpr auto trace(const X& a, const Y& b) {
    using shapes = system_shapes<typename X::shape_type, typename Y::shape_type>;
    static_assert(shapes::is_square, "tenure: solve: the last two axes of the first operand are not a square matrix");
    static_assert(!shapes::is_square || shapes::fits, "tenure: solve: the right-hand side is neither a vector nor a matrix with as many rows as the matrix of each batch");
    constexpr bool same_type = std::is_same_v<typename X::element_type, typename Y::element_type>;
    static_assert(same_type, "tenure: solve: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
    constexpr bool floats = is_floating(dtype_v<typename Y::element_type>);
    static_assert(floats, "tenure: solve: integers and bool have no quotients; convert first");
    if constexpr (shapes::fits && same_type && floats) return Y{b.graph, shapes::template solved<Record>(a, b, {}).id};
    else return b;
  }
};
using solve = solve_by<nodes::solve>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The x of a x = b. a is (..., n, n). b is (..., n), one right-hand side for each matrix, or (..., n, m) with a column for each. The batch
/// extents are equal, and so are the floating element types. A singular matrix gives inf and NaN.
/// Source: LU decomposition with partial pivoting. Cost: 2/3 n^3 operations a matrix. It is meant for small n and many matrices.
template <operand_or_scalar A, class B> constexpr auto solve(const A& a, const B& b) { return apply<ops::solve>(a, b); }

}  // namespace tenure
