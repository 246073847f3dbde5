// SPDX-License-Identifier: BSL-1.0
// Recognizes while_loops that iterate until each element is done: a carry is a flag for each element, the loop goes on while any flag is true, and an
// iteration changes only elements whose flag is true. vmap makes such loops (batch.hpp). If no element depends on another, a backend can run a few
// elements until they are done, and then the next ones: no element waits for the slowest of all.
#pragma once

#include <tenure/ops/registry.hpp>
#include <tenure/ops/structural/registry.hpp>

namespace TENURE_NAMESPACE::passes {

/// The node without copies and without broadcasts of the same number of axes.
constexpr ir::node_id without_copies(const ir::graph_view& g, ir::node_id id) {
  const auto is_same = [&](const ir::node& n) { return n.op == ir::opcode::copy || (n.op == ir::opcode::broadcast && n.shape == g[n.in[0]].shape); };
  while (is_same(g[id])) id = g[id].in[0];
  return id;
}
constexpr bool is_input(const ir::graph_view& g, ir::node_id id, int number) {
  const ir::node& n = g[without_copies(g, id)];
  return n.op == ir::opcode::input && n.attr == number;
}

/// The carry that is the flag, or -1: the condition counts the flags that are true.
constexpr int flag_of_condition(const ir::graph_view& condition, int carries) {
  const auto operand = [&](const ir::node& n, int k) -> const ir::node& { return condition[without_copies(condition, n.in[k])]; };
  const ir::node& last = condition[without_copies(condition, condition.outputs[0])];
  if (last.op != ops::code_of<ops::greater>()) return -1;
  const ir::node& count = operand(last, 0);
  const ir::node& zero = operand(last, 1);
  const bool counts = count.op == ir::opcode::reduce && static_cast<ir::reduction>(count.start) == ir::reduction::sum;
  if (!counts || zero.op != ir::opcode::constant || zero.attr != 0) return -1;
  const ir::node& each = operand(count, 0);
  if (each.op != ir::opcode::cast) return -1;
  const ir::node& flag = operand(each, 0);
  return flag.op == ir::opcode::input && flag.type == dtype::boolean && flag.attr < carries ? static_cast<int>(flag.attr) : -1;
}

/// Whether an iteration keeps the elements of carry i whose flag is false: where(flag, next, carry), or the same for bool, (flag && next) || (!flag && carry).
constexpr bool keeps_done(const ir::graph_view& g, int flag, int i) {
  const ir::node_id next = without_copies(g, g.outputs[i]);
  const auto is = [&](ir::node_id id, ir::opcode op) { return g[without_copies(g, id)].op == op; };
  const auto operand = [&](ir::node_id id, int k) { return g[without_copies(g, id)].in[k]; };
  constexpr ir::opcode both = ops::code_of<ops::logical_and>(), either = ops::code_of<ops::logical_or>();
  const auto is_flag_itself = [&](ir::node_id id) { return is_input(g, id, flag); };
  // The flag, or the flag and a condition that is false for more elements.
  const auto is_flag = [&](ir::node_id id) { return is_flag_itself(id) || (is(id, both) && (is_flag_itself(operand(id, 0)) || is_flag_itself(operand(id, 1)))); };
  const auto is_not_flag = [&](ir::node_id id) { return is(id, ops::code_of<ops::logical_not>()) && is_flag(operand(id, 0)); };
  const auto is_masked = [&](ir::node_id id) { return is(id, both) && (is_flag(operand(id, 0)) || is_flag(operand(id, 1))); };
  const auto is_rest = [&](ir::node_id id) { return is(id, both) && is_not_flag(operand(id, 0)) && is_input(g, operand(id, 1), i); };
  if (is_input(g, next, i)) return true;
  if (i == flag) return is_masked(next);
  if (is(next, either)) return is_masked(operand(next, 0)) && is_rest(operand(next, 1));
  return is(next, ops::code_of<ops::where>()) && is_flag(operand(next, 0)) && is_input(g, operand(next, 2), i);
}
/// The same for all carries.
constexpr bool keep_done(const ir::graph_view& iteration, int flag, int carries) {
  for (int i = 0; i < carries; ++i)
    if (!keeps_done(iteration, flag, i)) return false;
  return true;
}

}  // namespace tenure::passes
