// SPDX-License-Identifier: BSL-1.0
// Nodes without operands: arguments, constants, positions, run-time extents.
#pragma once

#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

namespace nodes {
struct input : handing_on<ir::opcode::input, 0, lowering::source, attributes::argument> {
  static constexpr const char* name = "input";
  static constexpr void verify(rule_check& c) { c.expect(c.self().attr >= 0 && c.self().attr < c.graph.input_count, "no such argument", c.self().attr, c.graph.input_count); }
};

struct constant : handing_on<ir::opcode::constant, 0, lowering::source, attributes::number> {
  static constexpr const char* name = "constant";
  static constexpr void verify(rule_check&) {}
};
}  // namespace nodes

/// The largest extent for which T represents every position along an axis exactly.
template <class T>
inline constexpr std::int64_t exact_positions = INT64_MAX;  // no array in memory is as long
template <>
inline constexpr std::int64_t exact_positions<float> = std::int64_t{1} << 24;
template <>
inline constexpr std::int64_t exact_positions<std::int32_t> = std::int64_t{1} << 31;

/// 0, 1, 2, ... along one axis of a shape.
constexpr value counting(ir::builder& g, dtype type, std::int16_t shape, int axis) {
  return {g, g.emit({.op = ir::opcode::iota, .type = type, .shape = shape, .attr = axis})};
}

namespace nodes {
struct iota : handing_on<ir::opcode::iota, 0, lowering::source, attributes::axis> {
  static constexpr const char* name = "iota";
  static constexpr bool computes = true;
  static constexpr void verify(rule_check& c) { c.axis_in(c.self().attr, c.shape()); }
};
}  // namespace nodes

/// An extent as a scalar value. It is a constant where the extent is static.
constexpr value number_of_extent(ir::builder& g, dtype type, std::int64_t extent) {
  const std::int16_t scalar = g.intern({});
  if (is_static(extent)) return {g, g.constant(type, scalar, static_cast<double>(extent))};
  return {g, g.emit({.op = ir::opcode::extent, .type = type, .shape = scalar, .attr = extent})};
}

namespace nodes {
struct extent : handing_on<ir::opcode::extent, 0, lowering::source, attributes::extent> {
  static constexpr const char* name = "extent";
  static constexpr bool computes = true;
  static constexpr void verify(rule_check& c) { c.expect(c.is_extent(c.self().attr), "an extent is no symbol", c.self().attr, c.graph.symbol_count); }
};
}  // namespace nodes

}  // namespace tenure::ops
