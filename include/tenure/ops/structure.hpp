// SPDX-License-Identifier: BSL-1.0
// Shape rules and the untyped structural operations: broadcast, reshape, permute, slice, pad, concat, cast, reduce,
// matmul, gather, scatter as functions on graph values. Each rule is written once, for types and for graphs.
#pragma once

#include <tenure/ops/value.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr bool is_pointwise(ir::opcode op) { return op >= ir::opcode::pointwise; }

// ---- arithmetic on nodes of equal shape; a plain number takes the other's shape -----------------------------------------

constexpr value arithmetic(ir::opcode op, value a, value b) {
  return {*a.graph, a.graph->emit({.op = op, .type = a.type(), .arity = 2, .shape = a.node().shape, .in = {a.id, b.id, ir::none}})};
}
constexpr value operator-(value a) {
  return {*a.graph, a.graph->emit({.op = ir::opcode::neg, .type = a.type(), .arity = 1, .shape = a.node().shape, .in = {a.id, ir::none, ir::none}})};
}
constexpr value operator+(value a, value b) { return arithmetic(ir::opcode::add, a, b); }
constexpr value operator-(value a, value b) { return arithmetic(ir::opcode::sub, a, b); }
constexpr value operator*(value a, value b) { return arithmetic(ir::opcode::mul, a, b); }
constexpr value operator/(value a, value b) { return arithmetic(ir::opcode::div, a, b); }
constexpr value operator+(value a, double b) { return a + a.like(b); }
constexpr value operator-(value a, double b) { return a - a.like(b); }
constexpr value operator-(double a, value b) { return b.like(a) - b; }
constexpr value operator*(value a, double b) { return a * a.like(b); }
constexpr value operator*(double a, value b) { return b.like(a) * b; }
constexpr value operator/(value a, double b) { return a / a.like(b); }
constexpr value operator/(double a, value b) { return b.like(a) / b; }

// ---- two extents that must agree -----------------------------------------------------------------------------------

/// In types: numbers must be equal, names must be equal, and what only the run can tell is left to it.
constexpr bool extents_may_agree(std::int64_t a, std::int64_t b) {
  return is_static(a) && is_static(b) ? a == b : !(is_named(a) && is_named(b)) || a == b;
}
constexpr std::int64_t agreed(std::int64_t a, std::int64_t b) {
  return is_static(a) ? a : is_static(b) ? b : is_named(a) ? a : b;
}

// ---- broadcasting: aligned at the last axis, a static 1 stretches, a run-time extent never does --------------------

constexpr std::int64_t extent_from_right(const extents& s, int i) { return i < s.rank ? s[s.rank - 1 - i] : 1; }

/// Position from the right of the first axis where two shapes can not broadcast, or -1.
constexpr int broadcast_conflict(const extents& a, const extents& b) {
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t x = extent_from_right(a, i), y = extent_from_right(b, i);
    if (x != 1 && y != 1 && !extents_may_agree(x, y)) return i;
  }
  return -1;
}

template <class Agree>
constexpr extents broadcast_with(const extents& a, const extents& b, Agree agree) {
  extents r;
  r.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < r.rank; ++i) {
    const std::int64_t x = extent_from_right(a, i), y = extent_from_right(b, i);
    r[r.rank - 1 - i] = x == 1 ? y : y == 1 ? x : agree(x, y);
  }
  return r;
}

/// The shape that shapes S have together, or the two extents that keep them apart. Those, as template arguments of
/// Op::agree<lhs, rhs>(), are what a compiler prints.
template <class... S>
struct broadcast_of {
  struct outcome {
    extents shape;
    std::int64_t lhs = 0, rhs = 0;
  };
  static constexpr outcome found = [] {
    const extents given[] = {S::value...};
    outcome r{given[0]};
    for (const extents& s : given) {
      const int at = broadcast_conflict(r.shape, s);
      if (at >= 0) return outcome{given[0], extent_from_right(r.shape, at), extent_from_right(s, at)};
      r.shape = broadcast_with(r.shape, s, agreed);
    }
    return r;
  }();
  static constexpr extents value = found.shape;
  static constexpr std::int64_t lhs = found.lhs, rhs = found.rhs;
  static constexpr bool exists = lhs == rhs;
  using type = shape_from<broadcast_of>;
};

/// Whether two shapes are one, as far as the types know. A static 1 is no run-time extent, even where that is 1 when it runs.
template <class A, class B>
inline constexpr bool are_alike = [] {
  constexpr extents a = A::value, b = B::value;
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i) {
    const bool both_known = is_static(a[i]) && is_static(b[i]);
    if (both_known ? a[i] != b[i] : a[i] == 1 || b[i] == 1) return false;
  }
  return true;
}();

template <class... Rest>
constexpr extents broadcast_extents([[maybe_unused]] ir::builder& g, [[maybe_unused]] const char* call, const extents& a, const Rest&... rest) {
  extents r = a;
  ((r = broadcast_with(r, rest,
                       [&](std::int64_t x, std::int64_t y) { return x == y ? x : g.unify(x, y, call, g.intern(a), g.intern(rest)); })),
   ...);
  return r;
}

// ---- values --------------------------------------------------------------------------------------------------------

constexpr value cast_to(value x, dtype type) {
  if (x.type() == type) return x;
  return {*x.graph, x.graph->emit({.op = ir::opcode::cast, .type = type, .arity = 1, .shape = x.node().shape, .in = {x.id, ir::none, ir::none}})};
}

/// Stretches x to a shape; its axis i becomes axis unpack(axes, i) of the result.
constexpr value broadcast_along(value x, std::int16_t to, std::int64_t axes) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::broadcast, .type = x.type(), .arity = 1, .shape = to, .in = {x.id, ir::none, ir::none}, .attr = axes})};
}
/// The usual broadcast, aligned at the last axis.
constexpr value broadcast_to(value x, std::int16_t to) {
  if (x.node().shape == to) return x;
  const int rank = x.shape().rank, shift = x.graph->shape(to).rank - rank;
  std::int64_t axes = 0;
  for (int i = 0; i < rank; ++i) axes = ir::pack_axis(axes, i, i + shift);
  return broadcast_along(x, to, axes);
}

constexpr value reshape_to(value x, const extents& to) {
  const std::int16_t shape = x.graph->intern(to);
  if (x.node().shape == shape) return x;
  return {*x.graph, x.graph->emit({.op = ir::opcode::reshape, .type = x.type(), .arity = 1, .shape = shape, .in = {x.id, ir::none, ir::none}})};
}

/// Result axis i is operand axis unpack(axes, i).
constexpr value permuted(value x, std::int64_t axes) {
  extents to;
  for (int i = 0; i < x.shape().rank; ++i) to.push_back(x.shape()[ir::unpack_axis(axes, i)]);
  return {*x.graph, x.graph->emit({.op = ir::opcode::permute, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = axes})};
}
constexpr std::int64_t inverse_axes(std::int64_t axes, int rank) {
  std::int64_t inverse = 0;
  for (int i = 0; i < rank; ++i) inverse = ir::pack_axis(inverse, ir::unpack_axis(axes, i), i);
  return inverse;
}
constexpr std::int64_t swapped_last_axes(int rank) {
  std::int64_t axes = 0;
  for (int i = 0; i < rank; ++i) axes = ir::pack_axis(axes, i, i == rank - 1 ? rank - 2 : i == rank - 2 ? rank - 1 : i);
  return axes;
}
constexpr value transposed(value x) {
  const extents& s = x.shape();
  if (s.rank != 2) return permuted(x, swapped_last_axes(s.rank));
  // Derivatives of matrix products ask for this one all the time.
  const extents to{2, {s.extent[1], s.extent[0]}};
  return {*x.graph, x.graph->emit({.op = ir::opcode::permute, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = 1})};
}

constexpr value sliced(value x, int axis, std::int64_t start, std::int64_t length, std::int64_t step) {
  extents to = x.shape();
  to[axis] = length;
  return {*x.graph, x.graph->emit({.op = ir::opcode::slice, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = axis, .start = start, .step = step})};
}
/// The transpose of sliced: x at start, start + step, ... of an axis of extent `length`, zeros elsewhere.
constexpr value padded(value x, int axis, std::int64_t start, std::int64_t length, std::int64_t step) {
  extents to = x.shape();
  to[axis] = length;
  return {*x.graph, x.graph->emit({.op = ir::opcode::pad, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = axis, .start = start, .step = step})};
}

constexpr value concatenated(value a, value b, int axis) {
  extents to = a.shape();
  to[axis] = a.graph->derived(ir::symbol::kind::sum, a.shape()[axis], b.shape()[axis]);
  return {*a.graph, a.graph->emit({.op = ir::opcode::concat, .type = a.type(), .arity = 2, .shape = a.graph->intern(to), .in = {a.id, b.id, ir::none}, .attr = axis})};
}

constexpr extents without_axes(const extents& s, std::int64_t mask) {
  extents r;
  for (int i = 0; i < s.rank; ++i)
    if (!((mask >> i) & 1)) r.push_back(s[i]);
  return r;
}
constexpr extents with_ones(const extents& s, std::int64_t mask) {
  extents r = s;
  for (int i = 0; i < s.rank; ++i)
    if ((mask >> i) & 1) r[i] = 1;
  return r;
}
constexpr std::int64_t all_axes(int rank) { return (std::int64_t{1} << rank) - 1; }

constexpr value reduced(value x, std::int64_t mask, ir::reduction kind) {
  if (mask == 0) return x;
  return {*x.graph, x.graph->emit({.op = ir::opcode::reduce, .type = x.type(), .arity = 1, .shape = x.graph->intern(without_axes(x.shape(), mask)), .in = {x.id, ir::none, ir::none}, .attr = mask, .start = static_cast<std::int64_t>(kind)})};
}
/// Undoes the dropping of axes by a reduction: r gets the shape of x again by stretching.
constexpr value stretched_like(value r, value x, std::int64_t mask) {
  std::int64_t axes = 0;
  int i = 0;
  for (int a = 0; a < x.shape().rank; ++a)
    if (!((mask >> a) & 1)) axes = ir::pack_axis(axes, i++, a);
  return broadcast_along(r, x.node().shape, axes);
}

constexpr value matrix_product(value a, value b) {
  extents to = a.shape();
  to[to.rank - 1] = b.shape()[b.shape().rank - 1];
  return {*a.graph, a.graph->emit({.op = ir::opcode::matmul, .type = a.type(), .arity = 2, .shape = a.graph->intern(to), .in = {a.id, b.id, ir::none}})};
}

/// x with an axis replaced by the shape of the indices into it.
constexpr extents gathered_extents(const extents& x, const extents& indices, int axis) {
  extents s;
  for (int i = 0; i < x.rank; ++i)
    if (i != axis) s.push_back(x[i]);
    else
      for (int j = 0; j < indices.rank; ++j) s.push_back(indices[j]);
  return s;
}
constexpr value gathered(value x, value indices, int axis) {
  const extents to = gathered_extents(x.shape(), indices.shape(), axis);
  return {*x.graph, x.graph->emit({.op = ir::opcode::gather, .type = x.type(), .arity = 2, .shape = x.graph->intern(to), .in = {x.id, indices.id, ir::none}, .attr = axis})};
}
/// Zeros of a shape with updates added at indices along axis.
constexpr value scattered(value indices, value updates, int axis, std::int16_t to) {
  return {*updates.graph, updates.graph->emit({.op = ir::opcode::scatter, .type = updates.type(), .arity = 2, .shape = to, .in = {indices.id, updates.id, ir::none}, .attr = axis})};
}

constexpr value stopped(value x) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::stop_gradient, .type = x.type(), .arity = 1, .shape = x.node().shape, .in = {x.id, ir::none, ir::none}})};
}

/// 0, 1, 2, ... along one axis of a shape.
constexpr value counting(ir::builder& g, dtype type, std::int16_t shape, int axis) {
  return {g, g.emit({.op = ir::opcode::iota, .type = type, .shape = shape, .attr = axis})};
}

/// An extent as a number: a constant where it is known.
constexpr value number_of_extent(ir::builder& g, dtype type, std::int64_t extent) {
  const std::int16_t scalar = g.intern({});
  if (is_static(extent)) return {g, g.constant(type, scalar, static_cast<double>(extent))};
  return {g, g.emit({.op = ir::opcode::extent, .type = type, .shape = scalar, .attr = extent})};
}

}  // namespace tenure::ops
