// SPDX-License-Identifier: BSL-1.0
// Checks the rules of a graph on which every pass and backend relies. Operands come before their users. Arities, element types and shapes
// follow the rule of each operation (ops/structural/). Outputs exist. Run-time extents are not checked here, but at run time.
// Cost: one sweep.
#pragma once

#include <tenure/ir/index.hpp>
#include <tenure/ops/registry.hpp>
#include <tenure/ops/structural/registry.hpp>

namespace TENURE_NAMESPACE::passes {

class verifier {
 public:
  constexpr explicit verifier(const ir::graph_view& g) : g_(g), c_(g) {}

  constexpr ops::verdict run() {
    shapes();
    ir::array<char> is_read(g_.input_count, 0);
    for (c_.at = 0; c_.at < g_.count && c_.found.ok(); ++c_.at) {
      operands();
      if (!c_.found.ok()) break;
      const ir::node& n = c_.self();
      if (ops::is_pointwise(n.op)) pointwise();
      else ops::structural_record_of(n.op).verify(c_);
      if (n.op != ir::opcode::input || !c_.found.ok()) continue;
      c_.expect(!is_read[static_cast<int>(n.attr)], "two inputs read one argument", n.attr);
      is_read[static_cast<int>(n.attr)] = 1;
    }
    c_.at = ir::none;
    for (int i = 0; i < g_.output_count; ++i) c_.expect(exists(g_.outputs[i]), "an output is no node", g_.outputs[i], g_.count);
    for (int i = 0; i < g_.bound_count; ++i) c_.expect(exists(g_.bounds[i].indices), "a bound of no node", g_.bounds[i].indices, g_.count);
    for (int i = 0; i < g_.constraint_count; ++i) {
      const ir::constraint& k = g_.constraints[i];
      c_.expect(k.lhs < g_.shape_count && k.rhs < g_.shape_count, "a constraint of no shape", k.lhs, k.rhs);
      c_.expect(c_.is_extent(k.a) && c_.is_extent(k.b), "a constraint of no symbol", k.a, k.b);
    }
    for (int i = 0; i < g_.inner.count && !g_.is_body && c_.found.ok(); ++i) c_.found = verifier(g_.body_at(i)).run();
    return c_.found;
  }

 private:
  constexpr bool exists(ir::node_id id) const { return id >= 0 && id < g_.count; }

  constexpr void shapes() {
    ir::index known;
    for (int i = 0; i < g_.shape_count; ++i) {
      const extents& s = g_.shapes[i];
      c_.expect(s.rank >= 0 && s.rank <= max_rank, "a shape of impossible rank", s.rank, max_rank);
      if (!c_.found.ok()) return;
      for (int a = 0; a < s.rank; ++a) c_.expect(c_.is_extent(s[a]), "an extent is no symbol", s[a], g_.symbol_count);
      const std::uint64_t hash = ir::builder::hash_of(s);
      const int same = known.find(hash, [&](int j) { return g_.shapes[j] == s; });
      c_.expect(same < 0, "one shape has two ids", same, i);
      known.enter(hash, i);
    }
  }

  constexpr void operands() {
    const ir::node& n = c_.self();
    const int code = static_cast<int>(n.op), codes = static_cast<int>(ir::opcode::pointwise) + ops::records::count;
    const int structural = static_cast<int>(ir::opcode::opaque) + ops::opaque_operations::count;
    c_.expect(code < codes && (code < structural || ops::is_pointwise(n.op)), "no such operation", code, codes);
    if (!c_.found.ok()) return;
    const int arity = ops::is_pointwise(n.op) ? ops::record_of(n.op).arity : ops::structural_record_of(n.op).arity;
    c_.expect(static_cast<int>(n.type) < tenure::detail::element_types::count, "no such element type", static_cast<int>(n.type), tenure::detail::element_types::count - 1);
    c_.expect(n.shape >= 0 && n.shape < g_.shape_count, "no such shape", n.shape, g_.shape_count);
    c_.expect(n.arity == arity || (arity == ops::any_arity && n.arity >= 0 && n.arity <= 3), "another number of operands than the operation has", n.arity, arity);
    for (int k = 0; k < 3 || k < n.arity; ++k)
      if (k < n.arity) c_.expect(n.in[k] >= 0 && n.in[k] < c_.at, "an operand does not come before its user", n.in[k], c_.at);
      else c_.expect(n.in[k] == ir::none, "an operand that the operation does not have", k, n.in[k]);
  }

  constexpr void pointwise() {
    const ir::node& n = c_.self();
    for (int k = 0; k < n.arity; ++k) c_.same_shape(k);
    switch (ops::record_of(n.op).types) {
      case ops::typing::comparison:
        c_.is_type(n, dtype::boolean);
        c_.expect(c_.operand(0).type == c_.operand(1).type, "element types differ", static_cast<int>(c_.operand(0).type), static_cast<int>(c_.operand(1).type));
        return;
      case ops::typing::selection:
        c_.is_type(c_.operand(0), dtype::boolean);
        c_.same_type(1);
        return c_.same_type(2);
      case ops::typing::logical:
        c_.is_type(n, dtype::boolean);
        break;
      case ops::typing::floating:
        c_.expect(is_floating(n.type), "a floating operation on another type", static_cast<int>(n.type));
        break;
      case ops::typing::arithmetic: break;
    }
    for (int k = 0; k < n.arity; ++k) c_.same_type(k);
  }

  ir::graph_view g_;
  ops::rule_check c_;
};

// Law: every traced graph verifies. If a graph verifies, the result of each pass verifies too.
using verdict = ops::verdict;
constexpr verdict verify(const ir::graph_view& g) { return verifier(g).run(); }

}  // namespace tenure::passes
