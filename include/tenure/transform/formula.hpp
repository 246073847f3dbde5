// SPDX-License-Identifier: BSL-1.0
// Spells the nodes of a graph as formulas that a reader of the traced function knows: "matmul(x, transpose(w1)) + b1".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tenure/passes/print.hpp>
#include <tenure/passes/roles.hpp>

namespace TENURE_NAMESPACE::detail {

class formulas {
 public:
  formulas(const ir::graph_view& g, std::vector<std::string> arguments) : g_(g), arguments_(std::move(arguments)) {}

  /// Such as "float32[32,96]".
  std::string shape(ir::node_id id) const {
    passes::writer w;
    w << tenure::name_of(g_[id].type);
    passes::print_shape(w, g_, g_.shape_of(id));
    return w.text();
  }

  std::string argument(std::int64_t i) const {
    return i < static_cast<std::int64_t>(arguments_.size()) ? arguments_[static_cast<std::size_t>(i)] : "input " + std::to_string(i);
  }

  /// What a view does to its operand, such as "transposed" or "[0:4] of axis 1". Empty where the elements stay as they are.
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
      default: return "";
    }
  }

  /// The name of a value: that of an argument, a number, or "%7". Nodes below `depth` further ones are spelled out.
  std::string operand(ir::node_id id, int depth = 0) const {
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
      case ir::opcode::slice: return operand(n.in[0], depth) + range(id);
      case ir::opcode::broadcast:
      case ir::opcode::reshape:
      case ir::opcode::stop_gradient:
      case ir::opcode::barrier: return operand(n.in[0], depth);
      default: break;
    }
    if (depth == 0 || n.op == ir::opcode::construct || n.op == ir::opcode::result) return '%' + std::to_string(id);
    return is_infix(n.op) ? '(' + of(id, depth - 1) + ')' : of(id, depth - 1);
  }

  /// The operation of a node on its operands, without its name and shape.
  std::string of(ir::node_id id, int depth = 0) const {
    const ir::node& n = g_[id];
    if (is_infix(n.op)) {
      constexpr const char* signs[] = {" + ", " - ", " * ", " / "};
      return operand(n.in[0], depth) + signs[static_cast<int>(n.op) - static_cast<int>(ir::opcode::add)] + operand(n.in[1], depth);
    }
    if (n.op == ir::opcode::construct) {
      passes::writer w;
      passes::print_construct(w, g_, g_.construct_of(n));
      return w.text().substr(2);
    }
    if (n.op == ir::opcode::result) return "result " + std::to_string(n.attr) + " of %" + std::to_string(n.in[0]);
    if (passes::is_view(n.op) || passes::is_source(n.op)) return operand(id, depth);
    std::string text = passes::name_of(n) + std::string("(");
    for (int k = 0; k < n.arity; ++k) text += (k ? ", " : "") + operand(n.in[k], depth);
    return text + ')' + axes(id);
  }

 private:
  static constexpr bool is_infix(ir::opcode op) { return op >= ir::opcode::add && op <= ir::opcode::div; }

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
  /// The axes of a reduction, unless it goes over all, and the axis of an operation along one.
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

}  // namespace tenure::detail
