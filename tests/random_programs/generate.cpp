// SPDX-License-Identifier: BSL-1.0
// generate <first seed> <how many> <file>: writes random graphs as tables of constants, each a Source of tenure::program.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>

#include "seeds.hpp"

namespace {

using namespace fuzz;

std::string number(std::int64_t n) {
  if (n == std::numeric_limits<std::int64_t>::min()) return "std::numeric_limits<std::int64_t>::min()";
  return std::to_string(n);
}
std::string text(const ir::node& n) {
  std::ostringstream s;
  s << "{static_cast<ir::opcode>(" << static_cast<int>(n.op) << "), static_cast<dtype>(" << static_cast<int>(n.type) << "), " << int{n.arity} << ", " << n.shape << ", {"
    << n.in[0] << ", " << n.in[1] << ", " << n.in[2] << "}, " << number(n.attr) << ", " << number(n.start) << ", " << number(n.step) << "}";
  return s.str();
}
std::string text(const extents& e) {
  std::string s = "{" + std::to_string(e.rank) + ", {";
  for (int a = 0; a < e.rank; ++a) s += (a > 0 ? ", " : "") + number(e[a]);
  return s + "}}";
}
std::string text(const ir::symbol& x) {
  return "{static_cast<ir::symbol::kind>(" + std::to_string(static_cast<int>(x.what)) + "), " + number(x.a) + ", " + number(x.b) + ", " + number(x.name) + "}";
}
std::string text(const ir::constraint& c) {
  return "{" + number(c.a) + ", " + number(c.b) + ", \"" + c.call + "\", " + std::to_string(c.lhs) + ", " + std::to_string(c.rhs) + ", " + (c.at_least ? "true" : "false") + "}";
}
std::string text(bool b) { return b ? "true" : "false"; }
std::string text(const ir::bound& b) { return "{" + std::to_string(b.indices) + ", " + number(b.extent) + ", \"" + b.call + "\", " + text(b.is_checked) + ", " + text(b.if_read) + ", " + number(b.block) + "}"; }
std::string text(const ir::body& b) {
  std::ostringstream s;
  s << "{" << b.first_node << ", " << b.node_count << ", " << b.first_output << ", " << b.output_count << ", " << b.first_bound << ", " << b.bound_count << ", " << b.input_count << "}";
  return s.str();
}
/// A loop, a branch or a custom derivative. No graph here calls a function.
std::string text(const ir::control_flow& c) {
  std::ostringstream s;
  s << "{.what = static_cast<ir::control_flow::kind>(" << static_cast<int>(c.what) << "), .reverse = " << text(c.reverse) << ", .counts = " << text(c.counts)
    << ", .counts_iterations = " << text(c.counts_iterations) << ", .of_results = " << text(c.of_results) << ", .is_taken = " << text(c.is_taken) << ", .carries = " << c.carries << ", .scanned = " << c.scanned
    << ", .residuals = " << c.residuals << ", .captures = {" << c.captures[0] << ", " << c.captures[1] << "}, .bodies = {" << c.bodies[0] << ", " << c.bodies[1] << "}, .length = " << number(c.length)
    << ", .refused = static_cast<ir::diagnostic::kind>(" << static_cast<int>(c.refused) << ")}";
  return s.str();
}
std::string text(ir::node_id id) { return std::to_string(id); }

/// An array, and its name for the view; C++ has no array of none.
template <class T>
std::string table(std::ostream& out, const char* type, const char* name, const T* from, int count) {
  if (count == 0) return "nullptr, 0";
  out << "  static constexpr " << type << " " << name << "[] = {\n";
  for (int i = 0; i < count; ++i) out << "      " << text(from[i]) << ",\n";
  out << "  };\n";
  return std::string(name) + ", " + std::to_string(count);
}

/// Run-time extents along which arrays are taken for samples, as by vmap.
ir::sample_extents samples_of(const ir::graph_view& g) {
  ir::sample_extents found;
  for (int i = 0; i < g.count; ++i)
    if (const extents& s = g.shape_of(i); s.rank > 1 && !tenure::is_static(s[0])) found.add(s[0]);
  return found;
}
std::string text(const ir::sample_extents& s) {
  std::string all;
  for (const std::int64_t e : s.at) all += (all.empty() ? "" : ", ") + number(e);
  return "{{" + all + "}, " + std::to_string(s.count) + "}";
}

void write(std::ostream& out, std::uint64_t seed) {
  const sample s = written_of(seed);
  const ir::graph_view g = s.graph.view();
  out << "struct graph_" << seed << " {\n";
  std::string view = table(out, "ir::node", "nodes", g.nodes, g.count);
  view += ", " + table(out, "extents", "shapes", g.shapes, g.shape_count);
  view += ", " + table(out, "ir::symbol", "symbols", g.symbols, g.symbol_count);
  view += ", " + table(out, "ir::constraint", "constraints", g.constraints, g.constraint_count);
  view += ", " + table(out, "ir::bound", "bounds", g.bounds, g.bound_count);
  view += ", " + table(out, "ir::node_id", "outputs", g.outputs, g.output_count);
  std::string inner = table(out, "ir::node", "body_nodes", g.inner.nodes, g.inner.node_count);
  inner += ", " + table(out, "ir::node_id", "body_outputs", g.inner.outputs, g.inner.output_count);
  inner += ", " + table(out, "ir::bound", "body_bounds", g.inner.bounds, g.inner.bound_count);
  inner += ", " + table(out, "ir::body", "bodies", g.inner.bodies, g.inner.count);
  inner += ", " + table(out, "ir::control_flow", "control_flows", g.inner.control_flows, g.inner.control_flow_count);
  out << "  static constexpr ir::builder trace() { return " << (is_gradient(seed) ? "fuzz::with_cotangents" : "passes::dead_code") << "({" << view << ", " << g.input_count << ", {}, {" << inner << "}, false, " << text(samples_of(g)) << "}); }\n};\n"
      << "TEST_CASE(\"random program " << seed << "\") { fuzz::check<graph_" << seed << ">(" << seed << "); }\n\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::cerr << "generate <first seed> <how many> <file>\n", 2;
  const auto first = static_cast<std::uint64_t>(std::atoll(arguments[1])), end = first + static_cast<std::uint64_t>(std::atoll(arguments[2]));
  std::ofstream out(arguments[3]);
  out << "#include \"run.hpp\"\n\nnamespace {\n\nusing namespace tenure;\n\n";
  for (std::uint64_t seed = first; seed < end; ++seed) write(out, seed);
  out << "}  // namespace\n";
  return out.good() ? 0 : 1;
}
