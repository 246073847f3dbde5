// SPDX-License-Identifier: BSL-1.0
// gather, which reads at computed positions, its transpose scatter, which adds to zeros at computed positions, index_add, which adds to an array
// there, and update, which replaces a block.
#pragma once

#include <tenure/ops/structural/mark.hpp>
#include <tenure/ops/structural/source.hpp>
#include <tenure/ops/structural/view.hpp>

namespace TENURE_NAMESPACE::ops {

/// The extents of x, with one axis replaced by the extents of the indices.
constexpr extents gathered_extents(const extents& x, const extents& indices, int axis) {
  extents s;
  for (int i = 0; i < x.rank; ++i)
    if (i != axis) s.push_back(x[i]);
    else
      for (int j = 0; j < indices.rank; ++j) s.push_back(indices[j]);
  return s;
}
/// Verifies that the graph has a bound for the indices in operand k.
constexpr void verify_bounded(rule_check& c, int k) {
  const ir::node_id indices = ir::below_reshapes(c.graph, c.self().in[k]);
  bool is_bounded = false;
  for (int i = 0; i < c.graph.bound_count; ++i) is_bounded = is_bounded || c.graph.bounds[i].indices == indices;
  c.expect(is_bounded, "indices that no bound speaks of", c.self().in[k]);
}
/// Verifies that `many` has one block of `table` for each index, and that the graph has a bound for the indices: backends read and write
/// at these positions without a check of their own.
constexpr void verify_indexed(rule_check& c, int k, const extents& table, const extents& many) {
  c.is_integer(k);
  if (!c.axis_in(c.self().attr, table)) return;
  const extents& which = c.shape_of(k);
  c.expect(table.rank - 1 + which.rank <= max_rank, "a shape of impossible rank", table.rank - 1 + which.rank, max_rank);
  if (!c.found.ok()) return;
  c.extents_are(many, gathered_extents(table, which, static_cast<int>(c.self().attr)));
  verify_bounded(c, k);
}

// ---- for a batch of samples, each with its own indices: the indexed axes of all samples become one axis ----

/// The samples of x, with the axis of the samples and the axis of n elements merged into one: [samples * n, other axes].
constexpr value samples_along_axis(const auto& b, value x, std::int64_t n, int axis) {
  const value first = moved_axis(x, axis + 1, 1);
  extents rows{1, {b.graph->derived(ir::symbol::kind::product, b.samples(), n)}};
  for (int a = 2; a < first.shape().rank; ++a) rows.push_back(first.shape()[a]);
  return reshape_to(first, rows);
}
/// The positions along the merged axis. The indices themselves have a bound, so the positions lie inside.
template <class B, class V>
constexpr V indices_of_samples(const B& b, V indices, std::int64_t n) {
  ir::builder& g = *b.graph;
  const V wide = cast_to(indices, dtype::int64);
  const std::int16_t shape = wide.node().shape;
  const V sample = counting(g, dtype::int64, shape, 0), each = broadcast_to(number_of_extent(g, dtype::int64, n), shape);
  const V flat = sample * each + wide;
  const ir::bound inside{flat.id, g.derived(ir::symbol::kind::product, b.samples(), n), "vmap", true};  // nvcc 13 garbles g.check_bound({...})
  g.check_bound(inside);
  return flat;
}

constexpr value gathered(value x, value indices, int axis) {
  const extents to = gathered_extents(x.shape(), indices.shape(), axis);
  return {*x.graph, x.graph->emit({.op = ir::opcode::gather, .type = x.type(), .arity = 2, .shape = x.graph->intern(to), .in = {x.id, indices.id, ir::none}, .attr = axis})};
}

/// gathered() for a batch of samples, each with its own indices. `axis` is an axis of one sample.
constexpr value gathered_for_samples(const auto& b, value x, value indices, int axis) {
  const std::int64_t n = x.shape()[axis + 1];
  value y = gathered(samples_along_axis(b, x, n, axis), indices_of_samples(b, indices, n), 0);
  const int added = indices.shape().rank - 1;  // y: [samples, axes of the indices, other axes]
  for (int a = 0; a < axis; ++a) y = moved_axis(y, 1 + added + a, 1 + a);
  return y;
}

namespace nodes {
struct gather : structural<ir::opcode::gather, 2, lowering::step, attributes::axis> {
  static constexpr const char* name = "gather";
  template <class V>
  static constexpr V pull(V y, int, V g) {
    const V x = operand_of(y, 0), indices = operand_of(y, 1);
    return scattered(indices, g, static_cast<int>(y.node().attr), x.node().shape);
  }
  static constexpr value batch(const auto& b) {
    const int axis = static_cast<int>(b.node().attr);
    if (b.is_shared(1)) return gathered(b.given(0), b.given(1), axis + 1);
    if (b.is_shared(0)) return moved_axis(gathered(b.given(0), b.given(1), axis), axis, 0);
    return gathered_for_samples(b, b.given(0), b.given(1), axis);
  }
  static constexpr void verify(rule_check& c) {
    c.same_type(0);
    verify_indexed(c, 1, c.shape_of(0), c.shape());
  }
};
}  // namespace nodes

/// Zeros of the shape `to`, with the updates added at the indices along an axis.
constexpr value scattered(value indices, value updates, int axis, std::int16_t to) {
  return {*updates.graph, updates.graph->emit({.op = ir::opcode::scatter, .type = updates.type(), .arity = 2, .shape = to, .in = {indices.id, updates.id, ir::none}, .attr = axis})};
}

/// scattered(), or added_at(), for a batch of samples, each with its own indices. `one` is the shape of one result. updates: [samples, axes before,
/// axes of the indices, axes after]. add(updates, indices, shape) adds them to rows of that shape, along axis 0.
template <class B, class V, class Add>
constexpr V added_for_samples(const B& b, V indices, V updates, int axis, const extents& one, Add add) {
  ir::builder& g = *b.graph;
  const int added = indices.shape().rank - 1;
  for (int a = 0; a < axis; ++a) updates = moved_axis(updates, 1, axis + added);
  extents rows{1, {g.derived(ir::symbol::kind::product, b.samples(), one[axis])}}, split{2, {b.samples(), one[axis]}};
  for (int a = 0; a < one.rank; ++a)
    if (a != axis) rows.push_back(one[a]), split.push_back(one[a]);
  const V all = add(updates, indices_of_samples(b, indices, one[axis]), g.intern(rows));
  return moved_axis(reshape_to(all, split), 1, axis + 1);
}

namespace nodes {
struct scatter : structural<ir::opcode::scatter, 2, lowering::step, attributes::axis> {
  static constexpr const char* name = "scatter";
  static constexpr bool computes = true;
  template <class V>
  static constexpr V pull(V y, int, V g) { return gathered(g, operand_of(y, 0), static_cast<int>(y.node().attr)); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return with_operand(y, 1, tangents[1]); }
  static constexpr value batch(const auto& b) {
    ir::builder& g = *b.graph;
    const int axis = static_cast<int>(b.node().attr);
    const extents one = g.shape(b.node().shape), to = b.batch_of(one);
    if (b.is_shared(0)) return scattered(b.given(0), b.given(1), axis + 1, g.intern(to));
    const auto to_zeros = [](value updates, value indices, std::int16_t shape) { return scattered(indices, updates, 0, shape); };
    return added_for_samples(b, b.given(0), b.operand(1), axis, one, to_zeros);
  }
  static constexpr void verify(rule_check& c) {
    c.same_type(1);
    verify_indexed(c, 0, c.shape(), c.shape_of(1));
  }
};
}  // namespace nodes

/// x with the updates added at the indices along an axis.
constexpr value added_at(value x, value updates, value indices, int axis) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::index_add, .type = x.type(), .arity = 3, .shape = x.node().shape, .in = {updates.id, x.id, indices.id}, .attr = axis})};
}

namespace nodes {
struct index_add : structural<ir::opcode::index_add, 3, lowering::step, attributes::axis> {
  static constexpr const char* name = "index_add";
  static constexpr bool computes = true;
  static constexpr int changes = 1;
  template <class V>
  static constexpr V pull(V y, int i, V g) { return i == 1 ? g : gathered(g, operand_of(y, 2), static_cast<int>(y.node().attr)); }
  template <class V>
  static constexpr V push(V y, const V* tangents) {
    const int axis = static_cast<int>(y.node().attr);
    if (tangents[0].id == ir::none) return tangents[1];
    if (tangents[1].id == ir::none) return scattered(operand_of(y, 2), tangents[0], axis, y.node().shape);
    return added_at(tangents[1], tangents[0], operand_of(y, 2), axis);
  }
  static constexpr value batch(const auto& b) {
    const int axis = static_cast<int>(b.node().attr);
    if (b.is_shared(2)) return added_at(b.operand(1), b.operand(0), b.given(2), axis + 1);
    const value x = samples_along_axis(b, b.operand(1), b.sample(1)[axis], axis);
    const auto to_x = [x](value updates, value indices, std::int16_t) { return added_at(x, updates, indices, 0); };
    return added_for_samples(b, b.given(2), b.operand(0), axis, b.sample(1), to_x);
  }
  static constexpr void verify(rule_check& c) {
    c.same_type(0);
    c.same_type(1);
    c.same_shape(1);
    verify_indexed(c, 2, c.shape_of(1), c.shape_of(0));
  }
};
}  // namespace nodes

/// The positions of the operands of scatter and of index_add.
struct adding_operands {
  int indices, updates;
};
constexpr adding_operands adding_operands_of(ir::opcode op) { return op == ir::opcode::scatter ? adding_operands{0, 1} : adding_operands{2, 0}; }

/// x with a block in the place of its elements from `start` on along an axis. `start` is one integer, or a vector with one integer for each sample.
/// The samples are then along axis 0 of x and of the block. The graph has a bound for `start`.
constexpr value updated(value x, value block, value start, int axis) {
  return {*x.graph, x.graph->emit({.op = ir::opcode::update, .type = x.type(), .arity = 3, .shape = x.node().shape, .in = {block.id, x.id, start.id}, .attr = axis})};
}
/// The bound of starts: a block of this length that begins there lies inside an axis of this extent.
constexpr ir::bound bound_of_starts(value start, std::int64_t extent, std::int64_t length, const char* call, bool is_checked = false) {
  ir::builder& g = *start.graph;
  const std::int64_t starts = is_static(length) && length > 0 ? g.derived(ir::symbol::kind::difference, extent, length - 1)
                                                              : g.derived(ir::symbol::kind::sum, g.derived(ir::symbol::kind::difference, extent, length), 1);
  return {start.id, starts, call, is_checked, false, length};
}
/// Notes in the graph that the starts were checked, or follow from starts that were checked.
constexpr void know_starts(value start, std::int64_t extent, std::int64_t length) {
  start.graph->check_bound(bound_of_starts(start, extent, length, "dynamic_update", true));
}
/// The positions start ... start + length - 1, for gather and scatter along an axis of this extent. They lie inside if the block does.
template <class V>
constexpr V positions_from(V start, std::int64_t length, std::int64_t extent, const char* call) {
  ir::builder& g = *start.graph;
  const extents line{1, {length}};
  const std::int16_t shape = g.intern(line);
  const V found = length == 1 ? V(reshape_to(start, line)) : V(counting(g, dtype::int64, shape, 0)) + V(broadcast_along(cast_to(start, dtype::int64), shape, 0));
  const ir::bound inside{found.id, extent, call, true};
  g.check_bound(inside);
  return found;
}

/// The number of samples along axis 0. gathered_for_samples() takes this in place of a batch_call.
struct samples_of_row {
  ir::builder* graph;
  std::int64_t count;

  constexpr std::int64_t samples() const { return count; }
};
/// positions_from() for each sample, from the start of that sample on.
template <class V>
constexpr V positions_of_samples(const samples_of_row& samples, V start, std::int64_t length, std::int64_t extent) {
  ir::builder& g = *samples.graph;
  const extents lines{2, {samples.count, length}};
  const std::int16_t shape = g.intern(lines);
  const V found = V(counting(g, dtype::int64, shape, 1)) + V(broadcast_along(cast_to(start, dtype::int64), shape, 0));
  const ir::bound inside{found.id, extent, "dynamic_update", true};
  g.check_bound(inside);
  return found;
}
/// x with its first two axes merged into one: the samples of all batches.
constexpr value in_one_row(value x) {
  extents to{1, {x.graph->derived(ir::symbol::kind::product, x.shape()[0], x.shape()[1])}};
  for (int a = 2; a < x.shape().rank; ++a) to.push_back(x.shape()[a]);
  return reshape_to(x, to);
}

namespace nodes {
struct update : structural<ir::opcode::update, 3, lowering::step, attributes::axis> {
  static constexpr const char* name = "update";
  static constexpr int changes = 1;
  /// The cotangent of the block is computed first, because it reads g, and the cotangent of x may be written over g.
  template <class V>
  static constexpr V pull(V y, int i, V g) {
    const int axis = static_cast<int>(y.node().attr);
    const V block = operand_of(y, 0), start = operand_of(y, 2);
    const std::int64_t length = block.shape()[axis], extent = y.shape()[axis];
    if (i == 1) return updated(g, block.like(0), start, axis);
    if (start.shape().rank == 0) return gathered(g, positions_from(start, length, extent, "dynamic_update"), axis);
    const samples_of_row samples{y.graph, y.shape()[0]};
    return gathered_for_samples(samples, g, positions_of_samples(samples, start, length, extent), axis - 1);
  }
  template <class V>
  static constexpr V push(V y, const V* tangents) {
    const V of_block = tangents[0].id != ir::none ? tangents[0] : V(operand_of(y, 0).like(0)), of_x = tangents[1].id != ir::none ? tangents[1] : V(y.like(0));
    return updated(of_x, of_block, operand_of(y, 2), static_cast<int>(y.node().attr));
  }
  /// A batch of batches is one batch.
  static constexpr value batch(const auto& b) {
    const int axis = static_cast<int>(b.node().attr);
    if (b.sample(2).rank == 0) return updated(b.operand(1), b.operand(0), b.given(2), axis + 1);
    const value x = b.operand(1), start = in_one_row(b.operand(2));
    know_starts(start, b.sample(1)[axis], b.sample(0)[axis]);
    return reshape_to(updated(in_one_row(x), in_one_row(b.operand(0)), start, axis), extents(x.shape()));
  }
  static constexpr void verify(rule_check& c) {
    const extents &y = c.shape_of(0), &x = c.shape_of(1);
    c.same_type(0);
    c.same_type(1);
    c.same_shape(1);
    c.is_integer(2);
    const extents& start = c.shape_of(2);
    if (start.rank != 0) c.rank_is(start, 1);
    c.rank_is(y, x.rank);
    if (!c.axis_in(c.self().attr, x) || !c.found.ok()) return;
    c.expect(c.self().attr >= start.rank, "a block along the axis of the samples", c.self().attr, start.rank);
    if (start.rank == 1) c.extent_is(start[0], x[0]);
    for (int a = 0; a < x.rank; ++a)
      if (a != c.self().attr) c.extent_is(y[a], x[a]);
    verify_bounded(c, 2);
  }
};
}  // namespace nodes

}  // namespace tenure::ops
