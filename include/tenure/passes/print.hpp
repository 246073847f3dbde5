// SPDX-License-Identifier: BSL-1.0
// A graph as text, with one node in each line: `%3 = mul %1, %2 : float32[5,3]`. People read this text, and golden tests compare it.
#pragma once

#include <iterator>

#include <charconv>
#include <concepts>
#include <string>

#include <tenure/ops/registry.hpp>
#include <tenure/ops/structural/registry.hpp>

namespace TENURE_NAMESPACE::passes {

/// A text to which << appends. <ostream> could replace this class, but it costs nvcc 0.15 s for every .cu file.
class writer {
 public:
  writer& operator<<(const char* s) { return text_ += s, *this; }
  writer& operator<<(const std::string& s) { return text_ += s, *this; }
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
  constexpr const char* reductions[] = {"sum", "amax", "amin", "amax_of_numbers"};
  if (ops::is_pointwise(n.op)) return ops::record_of(n.op).name;
  return n.op == ir::opcode::reduce ? reductions[n.start] : ops::structural_record_of(n.op).name;
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

/// Prints the kind of a control-flow operation, and for a scan the number and the direction of the iterations.
inline void print_control_flow(writer& out, const ir::graph_view& g, const ir::control_flow& c) {
  out << ": " << c.name();
  if (c.function.name != nullptr) out << ' ' << c.function.name;
  for (const ir::printed_property& p : ir::printed_properties)
    if (c.*p.value) out << p.text;
  if (c.what != ir::control_flow::kind::scan) return;
  out << " of ";
  print_extent(out, g, c.length);
  out << (c.reverse ? " iterations, from the last one" : " iterations");
}

inline void print_node(writer& out, const ir::graph_view& g, ir::node_id id) {
  const ir::node& n = g[id];
  out << '%' << id << " = " << name_of(n);
  for (int i = 0; i < n.arity; ++i) out << (i ? ", %" : " %") << n.in[i];
  if (n.op == ir::opcode::tuple) return;
  const int rank = n.arity > 0 ? g.shape_of(n.in[0]).rank : 0;
  const auto in_parentheses = [&](int count, auto value_at) {
    const char* between = " axes=(";
    for (int i = 0; i < count; ++i)
      if (const int value = value_at(i); value >= 0) {
        out << between << value;
        between = ",";
      }
    out << (between[0] == ',' ? ")" : " axes=()");
  };
  switch (ops::is_pointwise(n.op) ? ops::attributes::none : ops::structural_record_of(n.op).shows) {
    case ops::attributes::none: break;
    case ops::attributes::argument: out << ' ' << n.attr; break;
    case ops::attributes::number: out << ' ' << ir::value_of(n); break;
    case ops::attributes::extent:
      out << ' ';
      print_extent(out, g, n.attr);
      break;
    case ops::attributes::position: out << ' ' << n.attr; break;
    case ops::attributes::control_flow: print_control_flow(out, g, g.control_flow_of(n)); return;
    case ops::attributes::options:
      ops::opaque_operations::visit(n.op, [&]<class Record>() {
        if constexpr (requires { Record::option_names; })
          for (int i = 0; i < static_cast<int>(std::size(Record::option_names)); ++i)
            if ((n.attr >> i & 1) != 0) out << ' ' << Record::option_names[i];
        if constexpr (Record::results > 1) out << " result " << n.start;
      });
      break;
    case ops::attributes::axis: out << " axis=" << n.attr; break;
    case ops::attributes::axis_step: out << " axis=" << n.attr << " step=" << n.step; break;
    case ops::attributes::axis_start_step: out << " axis=" << n.attr << " start=" << n.start << " step=" << n.step; break;
    case ops::attributes::packed_axes: in_parentheses(rank, [&](int i) { return ir::unpack_axis(n.attr, i); }); break;
    case ops::attributes::mask_of_axes: in_parentheses(max_rank, [&](int i) { return (n.attr >> i) & 1 ? i : -1; }); break;
  }
  out << " : " << tenure::name_of(n.type);
  print_shape(out, g, g.shape_of(id));
}

/// Prints a graph. The bodies of a control-flow operation are printed below it, indented, as traced: the passes rewrite each body separately, later.
inline void print_graph(writer& out, const ir::graph_view& g, int depth = 0) {
  const auto indent = [&](int by) {
    for (int i = 0; i < by; ++i) out << "  ";
  };
  for (int i = 0; i < g.count; ++i) {
    indent(depth);
    print_node(out, g, i);
    out << '\n';
    const ir::found_control_flow c = g.find_control_flow(i);
    for (int b = 0; c != nullptr && b < c->printed_bodies(); ++b) {
      indent(depth + 1);
      out << c->name_of_body(b) << ":\n";
      print_graph(out, g.body_at(c->bodies[b]), depth + 2);
    }
  }
  indent(depth);
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
