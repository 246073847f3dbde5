// SPDX-License-Identifier: BSL-1.0
// Element types that are only a format in memory, such as bfloat16. An operation on them becomes casts of its operands to the type of a lane, the
// operation in that type, and a cast of its result, which rounds. The casts are loads, stores and roundings of a fused kernel, so values stay in
// registers. Views, gathers and other operations that only move elements keep the narrow type.
// Law: legalize keeps every bit; afterwards only casts between a narrow type and its lane compute with a narrow type. Each operation is rounded once, as
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

constexpr ir::builder legalize(const ir::graph_view& g) {
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  const auto in_lane = [&](node_id id) { return ops::cast_to({out, id}, lane_of(out[id].type)).id; };
  for (node_id id = 0; id < g.count; ++id) {
    ir::node n = with_renamed_operands(g[id], renamed);
    const dtype type = n.type;
    if (n.op == ir::opcode::cast) {
      renamed[id] = ops::cast_to(ops::cast_to({out, in_lane(n.in[0])}, lane_of(type)), type).id;
    } else if (!computes(n.op)) {
      renamed[id] = out.emit(n);
    } else {
      for (int k = 0; k < n.arity; ++k) n.in[k] = in_lane(n.in[k]);
      n.type = lane_of(type);
      renamed[id] = ops::cast_to({out, out.emit(n)}, type).id;
    }
  }
  finish(g, renamed, out);
  return out;
}

}  // namespace tenure::passes
