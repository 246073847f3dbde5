// SPDX-License-Identifier: BSL-1.0
// What a node is to the schedule: a source, a view of its operand, memory that its operands fill, a step of its own, or a part of a
// kernel.
#pragma once

#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::passes {

constexpr bool is_source(ir::opcode op) {
  return op == ir::opcode::input || op == ir::opcode::constant || op == ir::opcode::iota || op == ir::opcode::extent;
}
constexpr bool is_view(ir::opcode op) {
  return op == ir::opcode::broadcast || op == ir::opcode::reshape || op == ir::opcode::permute || op == ir::opcode::slice;
}
constexpr bool is_opaque(ir::opcode op) {
  return op == ir::opcode::matmul || op == ir::opcode::gather || op == ir::opcode::scatter || op == ir::opcode::pad ||
         op == ir::opcode::check;
}
/// Computed inside kernels.
constexpr bool is_fused(ir::opcode op) {
  return ops::is_pointwise(op) || op == ir::opcode::reduce || op == ir::opcode::cast || op == ir::opcode::copy;
}

/// Do two shapes differ in extents of 1 only?
constexpr bool same_but_ones(const extents& a, const extents& b) {
  int i = 0, j = 0;
  while (true) {
    while (i < a.rank && a[i] == 1) ++i;
    while (j < b.rank && b[j] == 1) ++j;
    if (i == a.rank || j == b.rank) return i == a.rank && j == b.rank;
    if (a[i++] != b[j++]) return false;
  }
}

}  // namespace tenure::passes
