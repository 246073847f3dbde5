// SPDX-License-Identifier: BSL-1.0
// A part of a convolution. The derivative by an image that stands between zeros is one: it computes the cotangents of the zeros too, which nothing reads, and for that the
// cotangent of the result stands between more zeros. The same holds for a transposed convolution with padding.
// Cost: only what is read is computed. Of 256 x 14 x 14 by 3 x 3 taps the derivative by the image takes three quarters of the operations.
#pragma once

#include <tenure/ops/opaque/convolution.hpp>
#include <tenure/passes/rules/values.hpp>

namespace TENURE_NAMESPACE::passes::rules {

/// The elements start, start + 1, ... of an axis. Of zeros around an array only so many are kept.
constexpr value narrowed(value x, int axis, std::int64_t start, std::int64_t length) {
  const ir::node n = x.node();
  if (n.op != opcode::pad || n.step != 1) return ops::sliced(x, axis, start, length, 1);
  const value inner = operand_of(x, 0);
  const int padded = static_cast<int>(n.attr);
  const std::int64_t own = inner.shape()[axis], all = x.shape()[padded];
  if (padded != axis) return ops::padded(narrowed(inner, axis, start, length), padded, n.start, all, 1);
  const std::int64_t first = start > n.start ? start - n.start : 0, end = start + length - n.start < own ? start + length - n.start : own;
  if (!is_static(own) || first >= end) return ops::sliced(x, axis, start, length, 1);
  const value kept = first == 0 && end == own ? inner : ops::sliced(inner, axis, first, end - first, 1);
  return end - first == length ? kept : ops::padded(kept, axis, n.start + first - start, length, 1);
}

/// Whether n is consecutive rows, or columns, of a convolution.
constexpr bool is_part_of_convolution(const ir::builder& g, const ir::node& n) {
  if (n.op != opcode::slice || n.step != 1 || g[n.in[0]].op != ops::opaque_code<ops::nodes::convolution>()) return false;
  const extents& s = g.shape(n.shape);
  const int axis = static_cast<int>(n.attr);
  return (axis == s.rank - 3 || axis == s.rank - 2) && is_static(s[axis]) && s[axis] > 0;
}
/// The same rows or columns, of the convolution of the elements that they read.
constexpr node_id convolution_of_part(ir::builder& g, const ir::node& n) {
  const value all{g, n.in[0]}, x = operand_of(all, 0), w = operand_of(all, 1);
  const ops::convolution_options o = ops::nodes::convolution::options_of(all);
  const int axis = static_cast<int>(n.attr), a = axis - (all.shape().rank - 3);
  const std::int64_t taps = w.shape()[w.shape().rank - 4 + a], length = g.shape(n.shape)[axis];
  const value part = narrowed(x, axis, n.start * o.stride[a], (length - 1) * o.stride[a] + ops::reach_of_taps(taps, o.dilation[a]));
  return ops::convolved(part, w, o).id;
}

}  // namespace tenure::passes::rules
