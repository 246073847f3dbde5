// SPDX-License-Identifier: BSL-1.0
// Values of a batch of unit vectors that are 0 for most samples. The samples of a Jacobian are unit vectors: a slice of the argument is 0 for each unit
// vector that has its 1 elsewhere, and so is everything that is linear in it. Such a value is computed for its own samples only. For example, a chain of n
// joints needs half of the operations, because the first k joints move with the first k angles only.
// Law: a sample that an element of the argument does not reach is 0, also where a value on the way is infinite or NaN.
#pragma once

#include <tenure/ops/comparison.hpp>
#include <tenure/ops/derivative.hpp>

#include <algorithm>

namespace TENURE_NAMESPACE::passes {

/// A value within a body that is computed for a batch.
struct batch_value {
  ir::node_id id = ir::none;
  bool is_mapped = false;  // whether axis 0 of the value is the axis of the samples
  /// Whether axis 0 holds only the samples first, first + 1, ... The value is 0 for the others.
  bool is_part = false;
  std::int64_t first = 0;
  /// Whether sample i is the unit vector whose element first + i is 1.
  bool is_unit = false;
};

/// The unit vectors in the space of arrays of this shape, along a new axis 0. The result has the shape [elements, shape...].
constexpr ops::value unit_vectors(ir::builder& g, const extents& shape, dtype type) {
  const std::int64_t n = ops::elements_along(g, shape, ops::all_axes(shape.rank));
  extents all{1, {n}};
  for (int a = 0; a < shape.rank; ++a) all.push_back(shape[a]);
  if (n == 1) return {g, g.constant(type, g.intern(all), 1)};
  const std::int16_t square = g.intern({2, {n, n}});
  const ops::value row = ops::counting(g, dtype::int64, square, 0), column = ops::counting(g, dtype::int64, square, 1);
  return ops::reshape_to(ops::cast_to(ops::pointwise_value<ops::equal>(row, column, {}), type), all);
}

/// Whether a slice of an array begins a part: its elements are neighbours, and at most half of the array. More are no gain, and neither are parts of
/// two or three samples.
constexpr bool begins_part(const ir::node& slice, const extents& to, const extents& from) {
  if (slice.op != ir::opcode::slice || slice.step != 1 || !all_static(to) || !all_static(from)) return false;
  for (int a = 0; a < slice.attr; ++a)
    if (from[a] != 1) return false;
  return count(from) >= 4 && count(to) > 0 && 2 * count(to) <= count(from);
}
/// Whether a trace reads a value only by slices that begin parts. Then its tangents are 0 in about half of the samples, if each part is used in turn.
constexpr bool is_read_by_parts(const ir::builder& g, ir::node_id x) {
  bool any = false;
  for (ir::node_id id = x + 1; id < g.count(); ++id)
    for (int k = 0; k < g[id].arity; ++k) {
      if (g[id].in[k] != x) continue;
      if (!begins_part(g[id], g.shape_of(id), g.shape_of(x))) return false;
      any = true;
    }
  return any;
}

class parts_of_samples {
 public:
  constexpr parts_of_samples(ir::builder& g, std::int64_t samples) : g_(g), samples_(samples) {}

  /// The value with all samples.
  constexpr batch_value whole(const batch_value& x) const {
    return x.is_part ? batch_value{ops::padded({g_, x.id}, 0, x.first, samples_, 1).id, true} : x;
  }

  /// Whether the node takes a part of unit vectors, or computes with parts. If not, all samples are computed.
  constexpr bool applies_to(const ir::node& n, const batch_value* operands) const {
    bool any = keeps_units(n, operands[0]);
    for (int k = 0; k < n.arity; ++k) any = any || operands[k].is_part;
    return any && keeps_zeros(n, operands);
  }
  /// The value of such a node.
  constexpr batch_value node(const ir::node& n, const batch_value* operands) const {
    if (keeps_units(n, operands[0])) return n.op == ir::opcode::slice ? slice_of_units(n, operands[0]) : units(operands[0].first, g_.shape(n.shape), n.type);
    std::int64_t first = samples_, end = 0;
    for (int k = 0; k < n.arity; ++k) {
      if (!operands[k].is_mapped) continue;
      first = std::min(first, operands[k].first);
      end = std::max(end, operands[k].first + count(operands[k]));
    }
    if (n.op == ir::opcode::add && are_adjacent(operands[0], operands[1])) return part(ops::concatenated({g_, operands[0].id}, {g_, operands[1].id}, 0), first);
    if (n.op == ir::opcode::add && are_adjacent(operands[1], operands[0])) return part(ops::concatenated({g_, operands[1].id}, {g_, operands[0].id}, 0), first);
    ops::batch_call of_part(g_, end - first, n);
    for (int k = 0; k < n.arity; ++k) of_part.operand(k, {g_, operands[k].is_mapped ? extended(operands[k], first, end) : operands[k].id}, !operands[k].is_mapped);
    return part(ops::batched(of_part), first);
  }

 private:
  constexpr std::int64_t count(const batch_value& x) const { return g_.shape_of(x.id)[0]; }
  constexpr bool are_adjacent(const batch_value& x, const batch_value& y) const { return x.is_mapped && y.is_mapped && x.first + count(x) == y.first; }
  constexpr ir::node_id extended(const batch_value& x, std::int64_t first, std::int64_t end) const {
    return count(x) == end - first ? x.id : ops::padded({g_, x.id}, 0, x.first - first, end - first, 1).id;
  }

  /// Whether the result is unit vectors too: a reshape, or a slice whose ones lie in neighbouring samples.
  constexpr bool keeps_units(const ir::node& n, const batch_value& x) const {
    return x.is_unit && (n.op == ir::opcode::reshape || begins_part(n, g_.shape(n.shape), of_one(x)));
  }
  constexpr extents of_one(const batch_value& x) const { return ops::without_axes(g_.shape_of(x.id), 1); }
  constexpr batch_value slice_of_units(const ir::node& n, const batch_value& x) const {
    const extents s = of_one(x);
    return units(x.first + n.start * (tenure::count(s) / s[static_cast<int>(n.attr)]), g_.shape(n.shape), n.type);
  }
  constexpr batch_value part(const ops::value& x, std::int64_t first) const { return {x.id, true, x.shape()[0] != samples_, first}; }
  constexpr batch_value units(std::int64_t first, const extents& shape, dtype type) const {
    batch_value unit = part(unit_vectors(g_, shape, type), first);
    unit.is_unit = true;
    return unit;
  }

  /// Whether the result is 0 for the samples for which all operands are 0.
  constexpr bool keeps_zeros(const ir::node& n, const batch_value* operands) const {
    using ir::opcode;
    const auto is_zero = [&](const batch_value& x) { return x.is_mapped || (g_[x.id].op == opcode::constant && ir::value_of(g_[x.id]) == 0); };
    switch (n.op) {
      case opcode::slice:
      case opcode::windows:
      case opcode::overlap_add:
      case opcode::pad:
      case opcode::reshape:
      case opcode::permute:
      case opcode::broadcast:
      case opcode::neg:
      case opcode::mul:
      case opcode::matmul: return true;
      case opcode::gather: return !operands[1].is_mapped;
      case opcode::cast: return is_floating(n.type);
      case opcode::reduce: return static_cast<ir::reduction>(n.start) == ir::reduction::sum;
      case opcode::concat:
      case opcode::add:
      case opcode::sub: return is_zero(operands[0]) && is_zero(operands[1]);
      default: break;
    }
    if (n.op == ops::code_of<ops::where>()) return !operands[0].is_mapped && is_zero(operands[1]) && is_zero(operands[2]);
    return n.op == ops::code_of<ops::div>() && !operands[1].is_mapped;
  }

  ir::builder& g_;
  std::int64_t samples_;
};

}  // namespace tenure::passes
