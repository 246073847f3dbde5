// SPDX-License-Identifier: BSL-1.0
// Views: operations that read the memory of their operand through other strides: broadcast, reshape, permute, slice.
#pragma once

#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

/// Stretches x to a shape. Axis i of x becomes axis unpack(axes, i) of the result.
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

namespace nodes {
/// The transpose of a broadcast is a sum along the axes that were added or stretched.
struct broadcast : structural<ir::opcode::broadcast, 1, lowering::view, attributes::packed_axes> {
  static constexpr const char* name = "broadcast";
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const extents from = operand_of(y, 0).shape(), to = y.shape();
    const std::int64_t axes = y.node().attr;
    std::int64_t mask = all_axes(to.rank);
    for (int a = 0; a < from.rank; ++a) {
      const int at = ir::unpack_axis(axes, a);
      const bool stretched = from[a] == 1 && to[at] != 1;  // a run-time extent never stretches
      if (!stretched) mask &= ~(std::int64_t{1} << at);
    }
    return reshape_to(reduced(g, mask, ir::reduction::sum), from);
  }
  static constexpr value batch(const auto& b) { return b.node_with(b.shifted(b.node().attr, b.sample(0).rank)); }
  static constexpr void verify(rule_check& c) {
    const extents &from = c.shape_of(0), &to = c.shape();
    c.same_type(0);
    std::int64_t seen = 0;
    for (int a = 0; a < from.rank; ++a) {
      const int at = ir::unpack_axis(c.self().attr, a);
      if (!c.axis_in(at, to)) return;
      c.expect(((seen >> at) & 1) == 0, "two axes stretch into one", a, at);
      seen |= std::int64_t{1} << at;
      c.expect(from[a] == 1 || from[a] == to[at], "an extent that can not stretch", from[a], to[at]);
    }
  }
};
}  // namespace nodes

constexpr value reshape_to(value x, const extents& to) {
  const std::int16_t shape = x.graph->intern(to);
  if (x.node().shape == shape) return x;
  return {*x.graph, x.graph->emit({.op = ir::opcode::reshape, .type = x.type(), .arity = 1, .shape = shape, .in = {x.id, ir::none, ir::none}})};
}

namespace nodes {
/// The row-major order of the elements is kept.
struct reshape : structural<ir::opcode::reshape, 1, lowering::view> {
  static constexpr const char* name = "reshape";
  template <class V>
  static constexpr V pull(V y, int, V g) { return reshape_to(g, extents(operand_of(y, 0).shape())); }
  static constexpr value batch(const auto& b) { return b.same_node(); }
  static constexpr void verify(rule_check& c) {
    c.same_type(0);
    if (all_static(c.shape()) && all_static(c.shape_of(0)))
      c.expect(count(c.shape()) == count(c.shape_of(0)), "another number of elements", count(c.shape_of(0)), count(c.shape()));
  }
};
}  // namespace nodes

/// Axis i of the result is axis unpack(axes, i) of x.
constexpr value permuted(value x, std::int64_t axes) {
  extents to;
  for (int i = 0; i < x.shape().rank; ++i) to.push_back(x.shape()[ir::unpack_axis(axes, i)]);
  return {*x.graph, x.graph->emit({.op = ir::opcode::permute, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = axes})};
}
/// Axis `from` of x becomes axis `to`. The other axes keep their order.
constexpr value moved_axis(value x, int from, int to) {
  if (from == to) return x;
  std::int64_t axes = 0;
  for (int i = 0, other = 0; i < x.shape().rank; ++i) {
    if (i == to) {
      axes = ir::pack_axis(axes, i, from);
      continue;
    }
    if (other == from) ++other;
    axes = ir::pack_axis(axes, i, other++);
  }
  return permuted(x, axes);
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
  // A shorter path for matrices, because derivatives of matrix products transpose very often. It saves compile time.
  const extents to{2, {s.extent[1], s.extent[0]}};
  return {*x.graph, x.graph->emit({.op = ir::opcode::permute, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = 1})};
}

namespace nodes {
struct permute : structural<ir::opcode::permute, 1, lowering::view, attributes::packed_axes> {
  static constexpr const char* name = "permute";
  template <class V>
  static constexpr V pull(V y, int, V g) { return permuted(g, inverse_axes(y.node().attr, y.shape().rank)); }
  static constexpr value batch(const auto& b) { return b.node_with(b.shifted(b.node().attr, b.sample(0).rank)); }
  static constexpr void verify(rule_check& c) {
    const extents &from = c.shape_of(0), &to = c.shape();
    c.same_type(0);
    c.rank_is(to, from.rank);
    std::int64_t seen = 0;
    for (int a = 0; a < from.rank && c.found.ok(); ++a) {
      const int at = ir::unpack_axis(c.self().attr, a);
      if (!c.axis_in(at, from)) return;
      c.expect(((seen >> at) & 1) == 0, "an axis comes twice", a, at);
      seen |= std::int64_t{1} << at;
      c.extent_is(to[a], from[at]);
    }
  }
};
}  // namespace nodes

constexpr value sliced(value x, int axis, std::int64_t start, std::int64_t length, std::int64_t step) {
  extents to = x.shape();
  to[axis] = length;
  return {*x.graph, x.graph->emit({.op = ir::opcode::slice, .type = x.type(), .arity = 1, .shape = x.graph->intern(to), .in = {x.id, ir::none, ir::none}, .attr = axis, .start = start, .step = step})};
}

namespace nodes {
struct slice : structural<ir::opcode::slice, 1, lowering::view, attributes::axis_start_step> {
  static constexpr const char* name = "slice";
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const ir::node n = y.node();
    const int axis = static_cast<int>(n.attr);
    return padded(g, axis, n.start, operand_of(y, 0).shape()[axis], n.step);
  }
  static constexpr value batch(const auto& b) { return b.node_with(b.node().attr + 1); }
  static constexpr void verify(rule_check& c) {
    c.same_type(0);
    c.strided(c.shape_of(0), c.shape());
  }
};
}  // namespace nodes

}  // namespace tenure::ops
