// SPDX-License-Identifier: BSL-1.0
// Element types that are only a format in memory, such as bfloat16. An operation on them becomes casts of its operands to the type of a lane, the
// operation in that type, and a cast of its result, which rounds. The casts are loads, stores and roundings of a fused kernel, so values stay in
// registers. Views, gathers and other operations that only move elements keep the narrow type.
// Law: legalize keeps every bit; afterwards only casts compute with a narrow type. Each operation is rounded once, as
// it is written: a sum or a product of matrices is rounded after its last addition.
// Cost: one sweep. The pass is skipped for graphs without such types.
#pragma once

#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

constexpr bool is_narrow(dtype type) { return lane_of(type) != type; }

/// Whether a node is or reads a value of a narrow type.
constexpr bool needs_legalize(const ir::graph_view& g) {
  for (node_id id = 0; id < g.count; ++id)
    if (is_narrow(g[id].type)) return true;
  return false;
}

constexpr bool computes(ir::opcode op) { return ops::is_pointwise(op) || ops::structural_record_of(op).computes; }

/// A floating number within the range of integers of a narrow type, so that it becomes the nearest of them. NaN stays, and becomes 0 later.
constexpr ops::value within_integers(const ops::value& x, dtype type) {
  ops::value y = x;
  visit_dtype(type, [&]<class T>(element_tag<T>) {
    if constexpr (std::is_integral_v<T>) {
      using limits = std::numeric_limits<T>;
      y = ops::pointwise_value<ops::minimum>(ops::pointwise_value<ops::maximum>(x, x.like(static_cast<double>(limits::min()))), x.like(static_cast<double>(limits::max())));
    }
  });
  return y;
}

/// Whether an operation on numbers of a narrow type gives such numbers, so that its result in lanes is not rounded before another operation reads it.
constexpr bool is_exact(ir::opcode op, dtype type) {
  if (is_any_of<ops::neg, ops::abs>(op)) return is_floating(type);  // -1 is no uint8, and 128 no int8
  return is_any_of<ops::where, ops::sign, ops::relu, ops::maximum, ops::minimum, ops::fmax, ops::fmin, ops::floor, ops::ceil, ops::round, ops::trunc>(op);
}

constexpr ir::builder legalize(const ir::graph_view& g) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none), exact(g.count, none);
  const auto in_lane = [&](node_id id) { return exact[id] != none ? exact[id] : ops::cast_to({out, renamed[id]}, lane_of(g[id].type)).id; };
  for (node_id id = 0; id < g.count; ++id) {
    ir::node n = with_renamed_operands(g[id], renamed.data());
    const dtype type = n.type;
    if (n.op == ir::opcode::cast) {
      // A kernel of other lanes loads the narrow number itself. A kernel of its lanes would write it to memory first.
      const node_id from = g[id].in[0];
      const bool changes_lane = exact[from] == none && lane_of(type) != lane_of(g[from].type) && type != dtype::boolean;
      ops::value x{out, changes_lane ? renamed[from] : in_lane(from)};
      if (is_narrow(type) && !is_floating(type) && is_floating(g[from].type)) {
        if (is_narrow(x.type())) x = ops::cast_to(x, lane_of(x.type()));
        x = within_integers(x, type);
      }
      renamed[id] = ops::cast_to(ops::cast_to(x, lane_of(type)), type).id;
    } else if (!computes(n.op)) {
      renamed[id] = out.emit(n);
    } else {
      for (int k = 0; k < n.arity; ++k) n.in[k] = in_lane(g[id].in[k]);
      n.type = lane_of(type);
      const node_id lane = out.emit(n);
      renamed[id] = ops::cast_to({out, lane}, type).id;
      if (is_narrow(type) && is_exact(n.op, type)) exact[id] = lane;
    }
  }
  finish(g, renamed, out);
  return out;
}

}  // namespace tenure::passes
