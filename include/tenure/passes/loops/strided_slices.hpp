// SPDX-License-Identifier: BSL-1.0
// Scans read slices of a view in place. vmap of a scan moves the axis of the samples: xs [samples, time] becomes a transposed view, and its slices are
// columns. An operand of a loop is row-major, so the view would be copied before the loop. Instead the loop takes the array itself, and its body moves
// along an axis: in iteration i it sees the array from element i of this axis on, and takes slice 0 of the view of that (ir/node.hpp, moving_axis).
// Law: strided_slices keeps the bits of all values.
// A view whose rows are short is read so only by elementwise bodies. Other bodies read whole rows, one after the other.
#pragma once

#include <tenure/passes/layout.hpp>
#include <tenure/passes/loops/hoist.hpp>

namespace TENURE_NAMESPACE::passes {

/// How a scan may read its operand in place: the array below the views, and the axis of the array along which the slices lie. none: it is not possible,
/// or the operand is row-major anyway.
struct moving_operand {
  node_id array = none;
  int axis = 0;
};

constexpr bool keeps_strides(const ir::graph_view& g, node_id id) {
  const ir::node& n = g[id];
  if (n.op == ir::opcode::reshape) return same_but_ones(g.shape_of(n.in[0]), g.shape_of(id));
  return n.op == ir::opcode::permute || n.op == ir::opcode::broadcast;
}

constexpr moving_operand moving_operand_of(const ir::graph_view& g, node_id operand, bool reads_numbers) {
  node_id array = operand;
  while (keeps_strides(g, array)) array = g[array].in[0];
  const ir::opcode op = g[array].op;
  const bool has_memory = op == ir::opcode::input ? g[array].start == 0 && g[array].step == 1 : !is_source(op) && !is_view(op);
  if (array == operand || !has_memory) return {};
  const extents &s = g.shape_of(operand), &whole = g.shape_of(array);
  if (s[0] == 0) return {};  // a scan without iterations: there is no slice 0
  const layout found = layout_of(g, operand), rows = row_major(operand, s), of_array = row_major(array, whole);
  bool is_row_major = true;
  for (int a = 0; a < s.rank; ++a) is_row_major = is_row_major && (s[a] == 1 || found.stride[a] == rows.stride[a]);
  const std::int64_t row = s.rank > 1 ? s[s.rank - 1] : 1;
  const bool has_rows = s.rank > 1 && found.stride[s.rank - 1] == symbolic_size{1, 0} && (!is_static(row) || row >= costs::wide_row);
  if (is_row_major || !(reads_numbers || has_rows)) return {};
  for (int a = 0; a < whole.rank; ++a)
    if (whole[a] != 1 && whole[a] == s[0] && of_array.stride[a] == found.stride[0]) return {array, a};
  return {};
}

/// Whether a body computes each element by itself, so that it becomes one kernel.
constexpr bool is_elementwise(const ir::graph_view& body) {
  for (int i = 0; i < body.count; ++i) {
    const ir::node& n = body[i];
    const bool moves = n.op == ir::opcode::cast || n.op == ir::opcode::broadcast || n.op == ir::opcode::reshape || n.op == ir::opcode::slice;
    if (!is_source(n.op) && !ops::is_pointwise(n.op) && !moves) return false;
  }
  return true;
}

/// The scanned operands that a scan reads in place, by number. Empty for another node.
struct moving_operands {
  ir::array<moving_operand> at;
  bool any = false;

  constexpr moving_operands(const ir::graph_view& g, node_id id, bool in_each_body) {
    const ir::found_control_flow c = g.find_control_flow(id);
    if (c == nullptr || c->what != ir::control_flow::kind::scan || c->scanned == 0 || g.inner.bodies[c->bodies[0]].backward_from != 0) return;
    const bool each = in_each_body || is_elementwise(g.body_at(c->bodies[0]));
    const int first = c->carries, last = c->carries + c->scanned;
    int i = 0;
    ir::for_each_operand(g.nodes, g[id].in[0], [&](node_id operand) {
      at.push_back(i >= first && i < last ? moving_operand_of(g, operand, each) : moving_operand{});
      any = any || at.back().array != none;
      ++i;
    });
  }
};

class strided_slices {
 public:
  /// in_each_body: also where a copy is likely to be faster.
  constexpr explicit strided_slices(const ir::graph_view& g, bool in_each_body = false) : g_(g), out_(g), in_each_body_(in_each_body) {}

  /// Whether a scan outside of bodies reads slices of a view.
  static constexpr bool finds(const ir::graph_view& g, bool in_each_body = false) {
    for (node_id id = 0; id < g.count && g.inner.control_flow_count > 0; ++id)
      if (moving_operands(g, id, in_each_body).any) return true;
    return false;
  }

  constexpr ir::builder run() {
    id_list renamed(g_.count, none);
    for (node_id id = 0; id < g_.count; ++id) {
      const moving_operands moving(g_, id, in_each_body_);
      renamed[id] = moving.any ? rewritten(id, moving, renamed) : out_.append(with_renamed_operands(g_[id], renamed.data()));
    }
    finish(g_, renamed, out_);
    return static_cast<ir::builder&&>(out_);
  }

 private:
  constexpr node_id rewritten(node_id id, const moving_operands& moving, const id_list& renamed) {
    ir::control_flow c = g_.control_flow_of(g_[id]);
    const ir::graph_view body = g_.body_at(c.bodies[0]);
    id_list operands, old, own, inputs, outputs, captured;
    ir::for_each_operand(g_.nodes, g_[id].in[0], [&](node_id operand) { old.push_back(operand), operands.push_back(renamed[operand]); });
    const int count = c.own_operands();
    const node_id first = out_.count();
    for (int i = 0; i < count + c.counts; ++i) own.push_back(input_like(body, i)), inputs.push_back(own.back());
    for (int i = count; i < operands.size(); ++i) inputs.push_back(operands[i]);
    for (int i = 0; i < count; ++i) {
      const moving_operand& m = moving.at[i];
      if (m.array == none) continue;
      operands[i] = renamed[m.array];
      own[i] = out_.body_input(g_[m.array].type, g_[m.array].shape, m.axis);
      inputs[i] = first_slice(old[i], m.array, own[i]);
    }
    const id_list nodes = out_.inline_body(c.bodies[0], inputs, ir::builder::bounds::as_written);
    for (int i = 0; i < body.output_count; ++i) outputs.push_back(nodes[body.outputs[i]]);
    c.bodies[0] = out_.outline(first, own, outputs, captured);
    c.captures[0] = captured.size();
    operands.resize(count, none);
    for (const node_id x : captured) operands.push_back(x);
    return out_.add_control_flow(c, operands);
  }
  constexpr node_id input_like(const ir::graph_view& body, int i) {
    for (int k = 0; k < body.count; ++k)
      if (body[k].op == ir::opcode::input && body[k].attr == i) return out_.body_input(body[k].type, body[k].shape);
    return none;
  }
  /// Slice 0 of the same view of another array.
  constexpr node_id first_slice(node_id view, node_id array, node_id of) {
    const ops::value all(out_, replayed(view, array, of));
    const extents s = all.shape();
    return ops::reshape_to(ops::sliced(all, 0, 0, 1, 1), ops::without_axes(s, 1)).id;
  }
  constexpr node_id replayed(node_id view, node_id array, node_id of) {
    if (view == array) return of;
    ir::node n = g_[view];
    n.in[0] = replayed(n.in[0], array, of);
    return out_.append(n);
  }

  ir::graph_view g_;
  ir::builder out_;
  bool in_each_body_;
};

}  // namespace tenure::passes
