// SPDX-License-Identifier: BSL-1.0
// Parts of matrices in the derivatives of factorizations: a triangle, a symmetric part.
#pragma once

#include <tenure/ops/indexing.hpp>

namespace TENURE_NAMESPACE::ops {

/// x with zeros outside a triangle of the last two axes, and the diagonal times `diagonal`.
constexpr value in_triangle(value x, bool is_upper, double diagonal) {
  ir::builder& g = *x.graph;
  const int rank = x.shape().rank;
  const std::int16_t shape = x.node().shape;
  const value row = counting(g, x.type(), shape, rank - 2), column = counting(g, x.type(), shape, rank - 1);
  const value inside = is_upper ? pointwise_value<less>(row, column) : pointwise_value<less>(column, row);
  const value beside = diagonal == 0 ? x.like(0) : pointwise_value<where>(pointwise_value<equal>(row, column), diagonal == 1 ? x : x * diagonal, x.like(0));
  return pointwise_value<where>(inside, x, beside);
}
/// x on the diagonal of its last two axes, and 0 beside it.
constexpr value on_diagonal(value x) {
  ir::builder& g = *x.graph;
  const int rank = x.shape().rank;
  const std::int16_t shape = x.node().shape;
  const value row = counting(g, dtype::int64, shape, rank - 2), column = counting(g, dtype::int64, shape, rank - 1);
  return pointwise_value<where>(pointwise_value<equal>(row, column), x, x.like(0));
}
/// (x + x^T) / 2.
constexpr value symmetric_part(value x) { return (x + transposed(x)) * 0.5; }

}  // namespace tenure::ops
