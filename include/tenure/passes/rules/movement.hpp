// SPDX-License-Identifier: BSL-1.0
// The rules of operations that only move, repeat or convert elements.
#pragma once

#include <limits>

#include <tenure/passes/rules/positions.hpp>

namespace TENURE_NAMESPACE::passes::rules {

/// Consecutive rows of an array: a slice along the first axis, or a reshape of such a slice, as x[0] is.
struct row_slice {
  node_id from = none;
  std::int64_t start = 0, length = 0;
};
constexpr row_slice rows_of(const value& x) {
  const value s = x.node().op == opcode::reshape ? operand_of(x, 0) : x;
  if (s.node().op != opcode::slice || s.node().attr != 0 || s.node().step != 1) return {};
  return {s.node().in[0], s.node().start, s.shape()[0]};
}

/// Rewrites a concat of consecutive rows of one array as one slice of this array.
constexpr node_id joint(ir::builder& g, const ir::node& n) {
  const row_slice a = rows_of({g, n.in[0]}), b = rows_of({g, n.in[1]});
  const bool continues = a.from != none && a.from == b.from && is_static(a.length) && is_static(b.length) && a.start + a.length == b.start;
  if (n.attr != 0 || !continues) return g.append(n);
  const extents to = g.shape(n.shape);  // a copy, because `sliced` may add a shape and move the table
  return ops::reshape_to(ops::sliced({g, a.from}, 0, a.start, a.length + b.length, 1), to).id;
}

/// Rounds x to a floating type. Returns false if x is NaN or overflows, because constant evaluation does not allow this.
constexpr bool round_to(dtype type, double& x) {
  bool fits = false;
  visit_floating(type, [&]<class T>(element_tag<T>) {
    constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
    fits = -largest <= x && x <= largest;
    if (fits) x = static_cast<double>(static_cast<T>(x));
  });
  return fits;
}

/// Computes the value of a constant after a cast. Returns false if the cast must be done at run time.
constexpr bool cast_constant(const ir::node& constant, dtype to, double& value) {
  value = ir::value_of(constant);
  const bool is_exact = is_floating(constant.type) ? -0x1p53 <= value && value <= 0x1p53 : tenure::number::is_exact_in_double(constant.attr);
  static_cast<void>(round_to(constant.type, value));
  if (to == dtype::boolean) value = value != 0;
  if (to == dtype::boolean || constant.type == dtype::boolean) return true;
  if (is_floating(to)) {
    if (!is_floating(constant.type)) return is_exact && round_to(to, value);
    return size_of(constant.type) <= size_of(to) || round_to(to, value);
  }
  return is_exact && (to == dtype::int64 || (-0x1p31 < value && value < 0x1p31));
}

/// The part of a concat along the axis of a slice that has all elements of the slice, and there the slice's start. A stack of numbers is a concat of concats,
/// so this goes down to the innermost one.
constexpr row_slice part_of(const ir::builder& g, const ir::node& slice) {
  const int axis = static_cast<int>(slice.attr);
  const std::int64_t length = g.shape(slice.shape)[axis];
  row_slice in{slice.in[0], slice.start, length};
  if (slice.step != 1 || !is_static(length)) return in;
  while (g[in.from].op == opcode::concat && g[in.from].attr == slice.attr) {
    const ir::node& both = g[in.from];
    const std::int64_t first = g.shape_of(both.in[0])[axis];
    if (!is_static(first) || (in.start < first && in.start + length > first)) break;
    const bool is_first = in.start < first;
    in = {both.in[is_first ? 0 : 1], is_first ? in.start : in.start - first, length};
  }
  return in;
}

constexpr node_id movement(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  const ir::node from = x.node();
  const bool moves = n.op == opcode::broadcast || n.op == opcode::reshape || n.op == opcode::permute || n.op == opcode::slice || n.op == opcode::windows;
  if (moves && from.op == opcode::constant) return g.constant_bits(n.type, n.shape, from.attr);
  const int rank = x.shape().rank;
  switch (n.op) {
    case opcode::cast:
      if (from.type == n.type) return x.id;
      if (double known = 0; from.op == opcode::constant && cast_constant(from, n.type, known)) return g.constant(n.type, n.shape, known);
      if (from.type == dtype::boolean) return of_mask(g, n);
      break;
    case opcode::broadcast:
      if (from.shape == n.shape && is_identity(n.attr, rank)) return x.id;
      if (from.op == opcode::broadcast) {
        const value source = operand_of(x, 0);
        std::int64_t axes = 0;
        for (int i = 0; i < source.shape().rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(n.attr, ir::unpack_axis(from.attr, i)));
        return ops::broadcast_along(source, n.shape, axes).id;
      }
      break;
    case opcode::reshape:
      if (from.shape == n.shape) return x.id;
      if (from.op == opcode::reshape) return ops::reshape_to(operand_of(x, 0), g.shape(n.shape)).id;
      break;
    case opcode::permute: {
      if (is_identity(n.attr, rank)) return x.id;
      if (from.op == opcode::permute) {
        std::int64_t axes = 0;
        for (int i = 0; i < rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(from.attr, ir::unpack_axis(n.attr, i)));
        return ops::permuted(operand_of(x, 0), axes).id;
      }
      if (from.op == opcode::broadcast) {
        const value source = operand_of(x, 0);
        const std::int64_t place = ops::inverse_axes(n.attr, rank);
        std::int64_t axes = 0;
        for (int i = 0; i < source.shape().rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(place, ir::unpack_axis(from.attr, i)));
        return ops::broadcast_along(source, n.shape, axes).id;
      }
      break;
    }
    case opcode::slice:
      if (from.op == opcode::concat && from.attr == n.attr)
        if (const row_slice part = part_of(g, n); part.from != x.id) return ops::sliced({g, part.from}, static_cast<int>(n.attr), part.start, part.length, 1).id;
      if (from.op == opcode::slice && from.attr == n.attr) {
        ir::node composed = n;
        composed.in[0] = from.in[0];
        composed.start = from.start + n.start * from.step;
        composed.step = from.step * n.step;
        return g.emit(composed);
      }
      // A slice of a pad. If all its elements are from the operand of the pad, it is a slice of this operand. If all are padding, it is a constant.
      if (from.op == opcode::pad && from.attr == n.attr && from.step == 1 && n.step == 1) {
        const int axis = static_cast<int>(n.attr);
        const std::int64_t own = g.shape_of(from.in[0])[axis], length = g.shape(n.shape)[axis], first = n.start - from.start;
        if (is_static(own) && is_static(length)) {
          if (first >= 0 && first + length <= own) return ops::sliced({g, from.in[0]}, axis, first, length, 1).id;
          if (first >= own || first + length <= 0) return g.constant(n.type, n.shape, 0);
        }
      }
      [[fallthrough]];
    case opcode::pad:
      if (from.shape == n.shape && n.step == 1 && n.start == 0) return x.id;
      break;
    default: break;
  }
  return g.append(n);
}

}  // namespace tenure::passes::rules
