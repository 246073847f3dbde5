// SPDX-License-Identifier: BSL-1.0
// Rewrites sums as concats. A sum of slices that are padded beside each other is a concat. A sum of matrix products is one product of
// concats: A B + C D = [A C] [B; D]. Such a sum is the gradient of a weight that many steps of a recurrence use.
// Operands of a concat that a kernel computes are computed in their place (materialize.hpp). Then no copy is made.
#pragma once

#include <tenure/passes/algebra.hpp>

namespace TENURE_NAMESPACE::passes {

class joiner {
 public:
  constexpr explicit joiner(const ir::graph_view& g) : g_(g), out_(g, rules::simplest), renamed_(g.count, none), uses_(g.count, 0), is_within_(g.count, 0) {
    for (int i = 0; i < g.count; ++i)
      for (int k = 0; k < g[i].arity; ++k) ++uses_[g[i].in[k]];
    for (int i = 0; i < g.output_count; ++i) ++uses_[g.outputs[i]];
    for (int i = 0; i < g.count; ++i)
      for (int k = 0; k < 2 && g[i].op == ir::opcode::add; ++k) is_within_[g[i].in[k]] = continues_sum(g[i].in[k]);
  }

  constexpr ir::builder run() {
    for (int i = 0; i < g_.count; ++i) {
      renamed_[i] = out_.append(with_renamed_operands(g_[i], renamed_));
      if (g_[i].op == ir::opcode::add && !is_within_[i]) join_terms(i);
    }
    finish(g_, renamed_, out_);
    return static_cast<ir::builder&&>(out_);
  }

 private:
  using value = ops::value;

  constexpr bool continues_sum(node_id id) const { return g_[id].op == ir::opcode::add && uses_[id] == 1; }

  constexpr void join_terms(node_id sum) {
    ir::array<node_id> left;
    ir::array<value> terms, products;
    ir::array<piece> pieces;
    int pads = 0;
    left.push_back(g_[sum].in[1]);
    left.push_back(g_[sum].in[0]);
    while (left.size() > 0) {
      const node_id id = left[left.size() - 1];
      left.resize(left.size() - 1);
      if (continues_sum(id)) {
        left.push_back(g_[id].in[1]);
        left.push_back(g_[id].in[0]);
        continue;
      }
      const value term{out_, renamed_[id]};
      const ir::node n = term.node();
      const int axis = static_cast<int>(n.attr);
      if (uses_[id] == 1 && joins_products(term, products)) products.push_back(term);
      else if (n.op == ir::opcode::pad && n.step == 1) ++pads, put_back(pieces, {{out_, n.in[0]}, axis, n.start, term.shape()[axis]});
      else terms.push_back(term);
    }
    if (products.size() < 2 && pieces.size() == pads) return;
    if (products.size() > 0) terms.push_back(products.size() == 1 ? products[0] : one_product(products));
    for (const piece& p : pieces) terms.push_back(ops::padded(p.parts, p.axis, p.start, p.length, 1));
    value all = terms[0];
    for (int i = 1; i < terms.size(); ++i) all = all + terms[i];
    renamed_[sum] = all.id;
  }

  // ---- slices put back ----

  /// The parts that one pad, or several pads beside each other, put between zeros.
  struct piece {
    value parts;
    int axis = 0;
    std::int64_t start = 0, length = 0;  // length: the extent of the axis with the zeros

    constexpr bool is_before(const piece& x) const {
      const std::int64_t n = parts.shape()[axis];
      return axis == x.axis && is_static(n) && start + n == x.start;
    }
  };

  /// Joins `fresh` with its neighbours. Only the last 16 pieces are searched, so the cost of a piece is constant. This is enough, because
  /// derivatives come in the order of the slices or in the reverse order.
  static constexpr void put_back(ir::array<piece>& pieces, piece fresh) {
    for (int i = pieces.size() - 1; i >= 0 && i >= pieces.size() - 16; --i) {
      const bool before = pieces[i].is_before(fresh), behind = fresh.is_before(pieces[i]);
      if (!before && !behind) continue;
      const piece &first = before ? pieces[i] : fresh, &second = before ? fresh : pieces[i];
      fresh = {ops::concatenated(first.parts, second.parts, first.axis), first.axis, first.start, first.length};
      pieces[i] = pieces[pieces.size() - 1];
      pieces.resize(pieces.size() - 1);
      i = pieces.size();
    }
    pieces.push_back(fresh);
  }

  // ---- products ----

  static constexpr bool is_transposed(const value& x) { return x.node().op == ir::opcode::permute; }
  static constexpr value untransposed(const value& x) { return is_transposed(x) ? ops::operand_of(x, 0) : x; }

  /// Whether x is a product that can be joined with the first one. Joining pays where the operands are smaller than the result: the
  /// operands may need a copy, and the result is not written and read again.
  static constexpr bool joins_products(const value& x, const ir::array<value>& products) {
    if (x.node().op != ir::opcode::matmul || x.shape().rank != 2) return false;
    const value a = ops::operand_of(x, 0), b = ops::operand_of(x, 1);
    const std::int64_t m = x.shape()[0], n = x.shape()[1], k = a.shape()[1];
    if (!is_static(m) || !is_static(n) || !is_static(k) || k * (m + n) > m * n) return false;
    if (products.size() == 0) return true;
    const value& first = products[0];
    return is_transposed(a) == is_transposed(ops::operand_of(first, 0)) && is_transposed(b) == is_transposed(ops::operand_of(first, 1));
  }

  constexpr value one_product(const ir::array<value>& products) { return ops::matrix_product(beside(products, 0, 1), beside(products, 1, 0)); }
  constexpr value beside(const ir::array<value>& products, int operand, int axis) {
    const auto part = [&](int i) { return untransposed(ops::operand_of(products[i], operand)); };
    const bool flips = is_transposed(ops::operand_of(products[0], operand));
    if (flips) axis = 1 - axis;
    // In reverse, because derivatives come with the last step first. The concat then has the order of the steps.
    value all = part(0);
    for (int i = 1; i < products.size(); ++i) all = ops::concatenated(part(i), all, axis);
    return flips ? ops::transposed(all) : all;
  }

  ir::graph_view g_;
  ir::builder out_;
  ir::array<node_id> renamed_;
  ir::array<int> uses_;
  ir::array<char> is_within_;  // a sum that only another sum uses
};

/// Whether the graph may contain a sum of two pads or of two products. Most graphs contain none and skip the sweep.
constexpr bool may_join(const ir::graph_view& g) {
  const auto is_term = [&](node_id id) { return g.nodes[id].op == ir::opcode::pad || g.nodes[id].op == ir::opcode::matmul; };
  const auto is_sum_or_term = [&](node_id id) { return is_term(id) || g.nodes[id].op == ir::opcode::add; };
  for (int i = 0; i < g.count; ++i)
    if (const ir::node& n = g.nodes[i]; n.op == ir::opcode::add && ((is_sum_or_term(n.in[0]) && is_term(n.in[1])) || (is_term(n.in[0]) && is_sum_or_term(n.in[1]))))
      return true;
  return false;
}

// Law: join keeps the meaning. Only the order of sums and the sign of zero may change.
constexpr ir::builder join(const ir::graph_view& g) {
  const ir::builder out = joiner(g).run();
  return dead_code(out.view());
}

}  // namespace tenure::passes
