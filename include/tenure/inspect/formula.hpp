// SPDX-License-Identifier: BSL-1.0
// Spells the nodes of a graph as formulas that a reader of the traced function knows: "matmul(x, transpose(w1)) + b1".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tenure/inspect/names.hpp>
#include <tenure/passes/print.hpp>
#include <tenure/passes/roles.hpp>

namespace TENURE_NAMESPACE::detail {

class formulas {
 public:
  formulas(const ir::graph_view& g, std::vector<std::string> arguments) : g_(g), arguments_(std::move(arguments)) {}

  /// The type and the shape, such as "float32[32,96]".
  std::string shape(ir::node_id id) const {
    passes::writer w;
    w << tenure::name_of(g_[id].type);
    passes::print_shape(w, g_, g_.shape_of(id));
    return w.text();
  }

  std::string argument(std::int64_t i) const {
    return i < static_cast<std::int64_t>(arguments_.size()) ? arguments_[static_cast<std::size_t>(i)] : "input " + std::to_string(i);
  }

  /// What a view does to its operand, such as "transposed" or "[0:4] of axis 1". Empty if the elements stay as they are.
  std::string view(ir::node_id id) const {
    const ir::node& n = g_[id];
    passes::writer w;
    switch (n.op) {
      case ir::opcode::permute: {
        if (transposes(id)) return "transposed";
        w << "axes ";
        for (int i = 0; i < g_.shape_of(id).rank; ++i) w << (i ? "," : "") << ir::unpack_axis(n.attr, i);
        return w.text();
      }
      case ir::opcode::broadcast: return "repeated";
      case ir::opcode::reshape:
        if (passes::same_but_ones(g_.shape_of(n.in[0]), g_.shape_of(id))) return "";
        w << "as ";
        passes::print_shape(w, g_, g_.shape_of(id));
        return w.text();
      case ir::opcode::slice: return range(id) + " of axis " + std::to_string(n.attr);
      case ir::opcode::windows: return "windows of axis " + std::to_string(n.attr);
      default: return "";
    }
  }

  /// The name of a value: the name of an argument, a number, or "%7". Nodes up to `depth` levels below are spelled out. `within_infix`: a sum needs
  /// parentheses.
  std::string operand(ir::node_id id, int depth = 0, bool within_infix = false) const {
    const ir::node& n = g_[id];
    switch (n.op) {
      case ir::opcode::input: return argument(n.attr);
      case ir::opcode::constant: {
        passes::writer w;
        if (n.type == dtype::boolean) w << (n.attr ? "true" : "false");
        else w << ir::value_of(n);
        return w.text();
      }
      case ir::opcode::iota: return "index along axis " + std::to_string(n.attr);
      case ir::opcode::extent: {
        passes::writer w;
        passes::print_extent(w, g_, n.attr);
        return w.text();
      }
      case ir::opcode::permute:
        if (transposes(id)) return "transpose(" + operand(n.in[0], depth) + ')';
        return "permute(" + operand(n.in[0], depth) + ')';
      case ir::opcode::slice: return operand(n.in[0], depth, true) + range(id);
      case ir::opcode::windows: return "windows(" + operand(n.in[0], depth) + ')';
      case ir::opcode::broadcast:
      case ir::opcode::reshape:
      case ir::opcode::stop_gradient:
      case ir::opcode::instead:
      case ir::opcode::barrier: return operand(n.in[0], depth, within_infix);
      default: break;
    }
    const bool is_same = (n.op == ir::opcode::cast && g_[n.in[0]].type == n.type) || n.op == ir::opcode::copy;
    if (is_same) return operand(n.in[0], depth, within_infix);
    if (depth == 0 || n.op == ir::opcode::result || g_.find_control_flow(id) != nullptr) return '%' + std::to_string(id);
    return is_infix(n.op) && within_infix ? '(' + of(id, depth - 1) + ')' : of(id, depth - 1);
  }

  /// The operation of a node on its operands, without its name and shape.
  std::string of(ir::node_id id, int depth = 0) const {
    const ir::node& n = g_[id];
    if (is_infix(n.op)) {
      return operand(n.in[0], depth, true) + sign_of(n.op) + operand(n.in[1], depth, true);
    }
    if (const ir::found_control_flow c = g_.find_control_flow(id); c != nullptr) {
      passes::writer w;
      passes::print_control_flow(w, g_, *c);
      return w.text().substr(2);
    }
    if (n.op == ir::opcode::result) return "result " + std::to_string(n.attr) + " of %" + std::to_string(n.in[0]);
    if (passes::is_view(n.op) || passes::is_source(n.op)) return operand(id, depth);
    std::string text = passes::name_of(n) + std::string("(");
    for (int k = 0; k < n.arity; ++k) text += (k ? ", " : "") + operand(n.in[k], depth);
    if (ops::result_count(n.op) > 1) return text + ")[" + std::to_string(n.start) + ']';
    return text + ')' + axes(id);
  }

  /// A node on a line: "%7 = tanh(%6)  float32[4]".
  std::string line(ir::node_id id) const {
    std::string text = "%";
    text += std::to_string(id) + " = " + of(id);
    return g_.find_control_flow(id) != nullptr ? text : text + "  " + shape(id);
  }

  /// Whether the sign of an operation stands between its operands.
  static constexpr bool is_infix(ir::opcode op) { return op >= ir::opcode::add && op <= ir::opcode::div; }
  static constexpr const char* sign_of(ir::opcode op) {
    constexpr const char* signs[] = {" + ", " - ", " * ", " / "};
    return signs[static_cast<int>(op) - static_cast<int>(ir::opcode::add)];
  }

 private:

  bool transposes(ir::node_id id) const {
    const ir::node& n = g_[id];
    const int rank = g_.shape_of(id).rank;
    bool is_so = n.op == ir::opcode::permute && rank >= 2;
    for (int i = 0; is_so && i < rank; ++i) is_so = ir::unpack_axis(n.attr, i) == (i < rank - 2 ? i : 2 * rank - 3 - i);
    return is_so;
  }
  std::string range(ir::node_id id) const {
    const ir::node& n = g_[id];
    const std::int64_t extent = g_.shape_of(id)[static_cast<int>(n.attr)];
    std::string text = '[' + std::to_string(n.start) + ':';
    if (is_static(extent) && n.step > 0) text += std::to_string(n.start + (extent - 1) * n.step + 1);
    return text + (n.step == 1 ? "]" : ':' + std::to_string(n.step) + ']');
  }
  /// The axes of a reduction, unless it is over all axes, and the axis of an operation along one axis.
  std::string axes(ir::node_id id) const {
    const ir::node& n = g_[id];
    if (n.op == ir::opcode::reduce) {
      if (g_.shape_of(id).rank == 0) return "";
      std::string list;
      int count = 0;
      for (int a = 0; a < max_rank; ++a)
        if ((n.attr >> a) & 1) list += (count++ ? ", " : " ") + std::to_string(a);
      return (count == 1 ? " over axis" : " over axes") + list;
    }
    if (ops::is_pointwise(n.op) || ops::structural_record_of(n.op).shows != ops::attributes::axis) return "";
    return " along axis " + std::to_string(n.attr);
  }

  ir::graph_view g_;
  std::vector<std::string> arguments_;
};

/// The names of the inputs of body b of a control-flow operation: the carries, the slices and the captures.
inline leaf_names names_of_body(const ir::graph_view& g, const formulas& around, ir::node_id control_flow, int b) {
  using type = ir::port_group::type;
  const ir::control_flow& c = g.control_flow_of(g[control_flow]);
  name_list operands;
  ir::for_each_operand(g.nodes, g[control_flow].in[0], [&](ir::node_id id) { operands.push_back(around.operand(id)); });
  leaf_names names;
  for (const ir::port_group& p : g.ports_of(c)) {
    const bool is_carry = p.operand >= 0 && (p.output[0] >= 0 || p.output[1] >= 0);
    const char* const of_iteration = p.what == type::slice ? "[iteration]" : "";
    for (int i = 0; i < p.count && p.input[b] >= 0; ++i)
      names.arguments.push_back(is_carry                 ? "carry " + std::to_string(p.input[b] + i)
                                : p.what == type::number ? "iteration"
                                                         : operands[static_cast<std::size_t>(p.operand + i)] + of_iteration);
    for (int i = 0; i < p.count && p.output[b] >= 0; ++i)
      names.results.push_back(p.decides() ? "goes on" : (is_carry ? "next carry " : "result ") + std::to_string(p.output[b] + i) + of_iteration);
  }
  return names;
}

}  // namespace tenure::detail
