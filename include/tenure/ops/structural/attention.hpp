// SPDX-License-Identifier: BSL-1.0
// Scaled dot product attention. Leading axes are batches, as in a matrix product.
// With P = softmax(q k^T / sqrt(d)) the result is P v. A causal P has zeros above its diagonal: row i reads the first i + 1 rows of k and v.
// The derivatives compute P again from two numbers for each row: `most` is the largest element of the row of q k^T, and `rest` is the logarithm of
// the sum of exp((q k^T - most) / sqrt(d)), times sqrt(d). Then P is exp(((q k^T - most) - rest) / sqrt(d)). The sum most + rest, the log-sum-exp,
// would lose the digits of `rest` where products are large: two equal products of 1e8 would get the weights 1 and 1 in float. A backend rounds an
// element of q k^T in the same way in both nodes, so that q k^T - most is exact for the largest elements. Only most + rest is a smooth function of q
// and k. Derivatives treat `most` as a constant, and `rest` carries the derivative of the sum.
#pragma once

#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr bool is_attention(ir::opcode op) { return op == ir::opcode::attention || op == ir::opcode::attention_gradient; }

constexpr std::int64_t last_extent(value x) { return x.shape()[x.shape().rank - 1]; }
constexpr std::int64_t row_count(value x) { return x.shape()[x.shape().rank - 2]; }

/// [..., q, e + 2]: P v, and in the last two columns `most` and `rest`. The extents d and e are static.
constexpr value attended(value q, value k, value v, bool causal) {
  extents to = q.shape();
  to[to.rank - 1] = last_extent(v) + 2;
  const std::int16_t shape = q.graph->intern(to);
  return {*q.graph, q.graph->emit({.op = ir::opcode::attention, .type = q.type(), .arity = 3, .shape = shape, .in = {q.id, k.id, v.id},
                                   .attr = causal})};
}

/// Which cotangents a node attention_gradient computes. They are side by side in its result. `all` needs as many rows of q as of k.
enum class attention_part : std::int64_t { all, of_q, of_k_and_v };
/// The number of columns of this result.
constexpr std::int64_t columns_of(attention_part part, std::int64_t d, std::int64_t e) {
  return part == attention_part::all ? 2 * d + e : part == attention_part::of_q ? d : d + e;
}

//// Given rows = [q | g | most | rest | delta]. g is the cotangent of P v, and h is the cotangent of `rest`. delta is the sum of g * (P v) along each row,
//// minus h / s:
///   s = 1 / sqrt(d), P = exp(((q k^T - most) - rest) s), D = P (g v^T - delta) s
///   dq = D k, dk = D^T q, dv = P^T g
constexpr value attention_cotangents(value rows, value k, value v, bool causal, attention_part part) {
  extents to = part == attention_part::of_k_and_v ? k.shape() : rows.shape();
  to[to.rank - 1] = columns_of(part, last_extent(k), last_extent(v));
  const std::int16_t shape = k.graph->intern(to);
  return {*k.graph, k.graph->emit({.op = ir::opcode::attention_gradient, .type = k.type(), .arity = 3, .shape = shape, .in = {rows.id, k.id, v.id},
                                   .attr = causal, .start = static_cast<std::int64_t>(part)})};
}

namespace nodes {
/// The checks and the sizes of both nodes.
template <ir::opcode Code>
struct attending : structural<Code, 3, lowering::step, attributes::causal> {
  template <class B>
  static constexpr value batch(const B& b) { return b.same_node(); }

 protected:
  static constexpr void verify_operands(rule_check& c, std::int64_t more_columns) {
    const extents &q = c.shape_of(0), &k = c.shape_of(1), &v = c.shape_of(2), &to = c.shape();
    for (int i = 0; i < 3; ++i) c.same_type(i);
    c.expect(is_floating(c.self().type), "attention of integers or bool");
    c.expect(to.rank >= 2, "attention of less than matrices", to.rank, 2);
    c.rank_is(q, to.rank);
    c.rank_is(k, to.rank);
    c.rank_is(v, to.rank);
    if (!c.found.ok()) return;
    const int last = to.rank - 1;
    for (int i = 0; i < last - 1; ++i) c.extent_is(q[i], to[i]), c.extent_is(k[i], to[i]), c.extent_is(v[i], to[i]);
    c.expect(is_static(k[last]) && is_static(v[last]), "attention over rows whose extents are not static");
    c.extent_is(q[last], k[last] + more_columns);
    c.extent_is(v[last - 1], k[last - 1]);
  }
  /// The multiplications and additions of by_d products of length d and by_e of length e. A causal product counts only the columns that a row sees.
  static constexpr std::int64_t flops_of(const ir::graph_view& g, ir::node_id id, std::int64_t by_d, std::int64_t by_e) {
    const extents &k = g.shape_of(g[id].in[1]), &v = g.shape_of(g[id].in[2]), &q = g.shape_of(g[id].in[0]);
    const int last = q.rank - 1;
    const std::int64_t batches = count(without_axes(q, std::int64_t{3} << (last - 1))), m = q[last - 1], n = k[last - 1];
    const std::int64_t scores = g[id].attr == 0 ? m * n : m <= n ? m * (m + 1) / 2 : n * (n + 1) / 2 + (m - n) * n;
    return 2 * batches * scores * (by_d * k[last] + by_e * v[last]);
  }
};

struct attention : attending<ir::opcode::attention> {
  static constexpr const char* name = "attention";
  template <class V>
  static constexpr V pull(V y, int i, V g) { return attention_pull(y, i, g); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return attention_push(y, tangents); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) { return flops_of(g, id, 1, 1); }
  static constexpr void verify(rule_check& c) {
    verify_operands(c, 0);
    if (!c.found.ok()) return;
    const int last = c.shape().rank - 1;
    c.extent_is(c.shape()[last - 1], c.shape_of(0)[last - 1]);
    c.extent_is(c.shape()[last], c.shape_of(2)[last] + 2);
  }
};

struct attention_gradient : attending<ir::opcode::attention_gradient> {
  static constexpr const char* name = "attention_gradient";
  template <class V>
  static constexpr V pull(V y, int i, V g) { return attention_gradient_pull(y, i, g); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return attention_gradient_push(y, tangents); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) {
    const auto part = static_cast<attention_part>(g[id].start);
    return flops_of(g, id, part == attention_part::all ? 3 : 2, part == attention_part::of_q ? 1 : 2);
  }
  static constexpr void verify(rule_check& c) {
    const extents& v = c.shape_of(2);
    verify_operands(c, v.rank > 0 ? v[v.rank - 1] + 3 : 0);
    const bool is_part = c.self().start >= 0 && c.self().start <= static_cast<std::int64_t>(attention_part::of_k_and_v);
    c.expect(is_part, "no such part of a gradient", c.self().start);
    if (!c.found.ok()) return;
    const auto part = static_cast<attention_part>(c.self().start);
    const extents &k = c.shape_of(1), &to = c.shape();
    const int last = to.rank - 1;
    if (part != attention_part::of_k_and_v) c.extent_is(to[last - 1], c.shape_of(0)[last - 1]);
    if (part != attention_part::of_q) c.extent_is(to[last - 1], k[last - 1]);
    c.extent_is(to[last], columns_of(part, k[last], v[last]));
  }
};
}  // namespace nodes

}  // namespace tenure::ops
