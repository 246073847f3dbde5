// SPDX-License-Identifier: BSL-1.0
// A graph as text, one node a line: `%3 = mul %1, %2 : float32[5,3]`. Golden tests compare it, people read it.
#pragma once

#include <charconv>
#include <concepts>
#include <string>

#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::passes {

/// A text that grows by <<. <ostream> would do it too, and cost every .cu file 0.15 s of nvcc.
class writer {
 public:
  writer& operator<<(const char* s) { return text_ += s, *this; }
  writer& operator<<(char c) { return text_ += c, *this; }
  writer& operator<<(std::integral auto n) { return text_ += std::to_string(n), *this; }
  writer& operator<<(double x) {
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, x, std::chars_format::general, 6).ptr);
    return *this;
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

constexpr const char* name_of(const ir::node& n) {
  using ir::opcode;
  if (ops::is_pointwise(n.op)) return ops::record_of(n.op).name;
  switch (n.op) {
    case opcode::input: return "input";
    case opcode::constant: return "constant";
    case opcode::iota: return "iota";
    case opcode::extent: return "extent";
    case opcode::cast: return "cast";
    case opcode::broadcast: return "broadcast";
    case opcode::reshape: return "reshape";
    case opcode::permute: return "permute";
    case opcode::slice: return "slice";
    case opcode::pad: return "pad";
    case opcode::concat: return "concat";
    case opcode::reduce: return n.start == 0 ? "sum" : n.start == 1 ? "amax" : n.start == 2 ? "amin" : "amax_of_numbers";
    case opcode::matmul: return "matmul";
    case opcode::gather: return "gather";
    case opcode::scatter: return "scatter";
    case opcode::stop_gradient: return "stop_gradient";
    case opcode::copy: return "copy";
    case opcode::check: return "check";
    default: return "?";
  }
}

inline void print_extent(writer& out, const ir::graph_view& g, std::int64_t e) {
  if (is_static(e)) {
    out << e;
    return;
  }
  const ir::symbol& s = g.symbols[ir::symbol_of_extent(e)];
  if (s.name == 0) {
    out << 'd' << ir::symbol_of_extent(e);
    return;
  }
  for (int i = 0; i < 8; ++i)
    if (const char c = static_cast<char>((s.name >> (8 * i)) & 0x7f)) out << c;
}

inline void print_shape(writer& out, const ir::graph_view& g, const extents& s) {
  out << '[';
  for (int i = 0; i < s.rank; ++i) {
    if (i) out << ',';
    print_extent(out, g, s[i]);
  }
  out << ']';
}

inline void print_node(writer& out, const ir::graph_view& g, ir::node_id id) {
  using ir::opcode;
  const ir::node& n = g[id];
  out << '%' << id << " = " << name_of(n);
  for (int i = 0; i < n.arity; ++i) out << (i ? ", %" : " %") << n.in[i];
  switch (n.op) {
    case opcode::input: out << ' ' << n.attr; break;
    case opcode::constant: out << ' ' << ir::value_of(n); break;
    case opcode::extent:
      out << ' ';
      print_extent(out, g, n.attr);
      break;
    case opcode::iota:
    case opcode::concat:
    case opcode::gather:
    case opcode::scatter: out << " axis=" << n.attr; break;
    case opcode::slice:
    case opcode::pad: out << " axis=" << n.attr << " start=" << n.start << " step=" << n.step; break;
    case opcode::broadcast:
    case opcode::permute: {
      out << " axes=(";
      const int rank = g.shape_of(n.in[0]).rank;
      for (int i = 0; i < rank; ++i) out << (i ? "," : "") << ir::unpack_axis(n.attr, i);
      out << ')';
      break;
    }
    case opcode::reduce: {
      out << " axes=(";
      bool first = true;
      for (int i = 0; i < max_rank; ++i)
        if ((n.attr >> i) & 1) {
          out << (first ? "" : ",") << i;
          first = false;
        }
      out << ')';
      break;
    }
    default: break;
  }
  out << " : " << tenure::name_of(n.type);
  print_shape(out, g, g.shape_of(id));
}

inline void print_graph(writer& out, const ir::graph_view& g) {
  for (int i = 0; i < g.count; ++i) {
    print_node(out, g, i);
    out << '\n';
  }
  out << "return";
  for (int i = 0; i < g.output_count; ++i) out << (i ? ", %" : " %") << g.outputs[i];
  out << '\n';
}

inline std::string text_of(const ir::graph_view& g) {
  writer out;
  print_graph(out, g);
  return out.text();
}

}  // namespace tenure::passes
