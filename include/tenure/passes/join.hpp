// SPDX-License-Identifier: BSL-1.0
// Rewrites sums as concats. A sum of padded slices is a concat (assemble.hpp). A sum of matrix products is one product of concats:
// A B + C D = [A C] [B; D]. The gradient of a weight that many steps of a recurrence use is such a sum.
// A kernel computes operands of a concat directly in the memory of the concat (materialize.hpp), without a copy.
#pragma once

#include <tenure/passes/assemble.hpp>

namespace TENURE_NAMESPACE::passes {

class joiner {
 public:
  constexpr explicit joiner(const ir::graph_view& g)
      : g_(g), out_(g, rules::simplest), renamed_(g.count, none), uses_(g.count, 0), is_within_(g.count, 0), is_term_(g.count, 0) {
    for (int i = 0; i < g.count; ++i)
      for (int k = 0; k < g[i].arity; ++k) ++uses_[g[i].in[k]];
    for (int i = 0; i < g.output_count; ++i) ++uses_[g.outputs[i]];
    for (int i = 0; i < g.count; ++i)
      for (int k = 0; k < 2 && g[i].op == ir::opcode::add; ++k) is_within_[g[i].in[k]] = continues_sum(g[i].in[k]), is_term_[g[i].in[k]] = 1;
  }

  constexpr ir::builder run() {
    for (int i = 0; i < g_.count; ++i) {
      ir::node n = with_renamed_operands(g_[i], renamed_.data());
      for (int k = 0; k < 2 && n.op == ir::opcode::concat; ++k) n.in[k] = sliced_operations::of({out_, n.in[k]}).id;
      renamed_[i] = out_.append(n);
      if (g_[i].op == ir::opcode::add && !is_within_[i]) join_terms(i);
      if (g_[i].op == ir::opcode::pad && (!is_term_[i] || uses_[i] > 1)) fill(i);
    }
    finish(g_, renamed_, out_);
    return static_cast<ir::builder&&>(out_);
  }

 private:
  using value = ops::value;

  constexpr bool continues_sum(node_id id) const { return g_[id].op == ir::opcode::add && uses_[id] == 1; }

  constexpr void join_terms(node_id sum) {
    ir::array<node_id> left;
    ir::array<value> terms, products, pads;
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
      if (uses_[id] == 1 && joins_products(term, products)) products.push_back(term);
      else if (term.node().op == ir::opcode::pad) pads.push_back(term);
      else terms.push_back(term);
    }
    assembly assembled;
    const bool assembles = pads.size() > 0 && assembled.find(pads);
    if (products.size() < 2 && !assembles) return;
    if (products.size() > 0) terms.push_back(products.size() == 1 ? products[0] : one_product(products));
    if (pads.size() > 0) terms.push_back(assembled.sum);
    value all = terms[0];
    for (int i = 1; i < terms.size(); ++i) all = all + terms[i];
    renamed_[sum] = all.id;
  }

  /// Fills a pad that is not only a term of a sum.
  constexpr void fill(node_id pad) {
    ir::array<value> pads;
    pads.push_back({out_, renamed_[pad]});
    assembly assembled;
    if (pads[0].node().op == ir::opcode::pad && assembled.find(pads)) renamed_[pad] = assembled.sum.id;
  }

  // ---- products ----

  static constexpr bool is_transposed(const value& x) { return x.node().op == ir::opcode::permute; }
  static constexpr value untransposed(const value& x) { return is_transposed(x) ? ops::operand_of(x, 0) : x; }

  /// Whether x is a product that can be joined with the first product. Joining saves time if the operands are smaller than the result: the
  /// operands may need a copy, but the result is not written and read once more.
  static constexpr bool joins_products(const value& x, const ir::array<value>& products) {
    if (x.node().op != ir::opcode::matmul || x.shape().rank != 2) return false;
    const value a = ops::operand_of(x, 0), b = ops::operand_of(x, 1);
    const std::int64_t m = x.shape()[0], n = x.shape()[1], k = a.shape()[1];
    if (!is_static(m) || !is_static(n) || !is_static(k) || k * (m + n) > m * n) return false;
    if (products.size() == 0) return true;
    const value& first = products[0];
    return is_transposed(a) == is_transposed(ops::operand_of(first, 0)) && is_transposed(b) == is_transposed(ops::operand_of(first, 1));
  }

  constexpr value one_product(const ir::array<value>& products) {
    const value left = beside(products, 0, 1), right = beside(products, 1, 0);  // variables, so that all compilers evaluate them in this order
    return ops::matrix_product(left, right);
  }
  constexpr value beside(const ir::array<value>& products, int operand, int axis) {
    const auto part = [&](int i) { return untransposed(ops::operand_of(products[i], operand)); };
    const bool flips = is_transposed(ops::operand_of(products[0], operand));
    if (flips) axis = 1 - axis;
    // In reverse order: derivatives come with the last step first, and the concat then has the order of the steps.
    value all = part(0);
    for (int i = 1; i < products.size(); ++i) all = ops::concatenated(part(i), all, axis);
    return flips ? ops::transposed(all) : all;
  }

  ir::graph_view g_;
  ir::builder out_;
  ir::array<node_id> renamed_;
  ir::array<int> uses_;
  ir::array<char> is_within_, is_term_;  // is_within_: a sum that only another sum uses; is_term_: an operand of a sum
};

/// Whether join() may change the graph: it has a pad, a concat of slices of computed values, or a sum of two products. Other graphs skip join().
constexpr bool may_join(const ir::graph_view& g) {
  const auto is_product = [&](node_id id) { return g.nodes[id].op == ir::opcode::matmul; };
  const auto is_sum_or_product = [&](node_id id) { return is_product(id) || g.nodes[id].op == ir::opcode::add; };
  for (int i = 0; i < g.count; ++i) {
    const ir::node& n = g.nodes[i];
    if (n.op == ir::opcode::pad) return true;
    for (int k = 0; k < 2 && n.op == ir::opcode::concat; ++k)
      if (const ir::node& part = g.nodes[n.in[k]]; part.op == ir::opcode::slice && is_fused(g.nodes[part.in[0]].op)) return true;
    if (n.op != ir::opcode::add) continue;
    if ((is_sum_or_product(n.in[0]) && is_product(n.in[1])) || (is_product(n.in[0]) && is_sum_or_product(n.in[1]))) return true;
  }
  return false;
}

// Law: join keeps the meaning. Only the order of sums and the sign of zero may change.
constexpr ir::builder join(const ir::graph_view& g) {
  const ir::builder out = joiner(g).run();
  return dead_code(out.view());
}

}  // namespace tenure::passes
