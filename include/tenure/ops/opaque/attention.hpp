// SPDX-License-Identifier: BSL-1.0
// Scaled dot product attention. Leading axes are batches, as in a matrix product.
// With P = softmax(q k^T / sqrt(d)) the result is P v. A causal P has zeros above its diagonal: row i reads the first i + 1 rows of k and v.
// The derivatives compute P again from two more results, with one number for each row: `most` is the largest element of the row of q k^T, and `rest` is
// the logarithm of the sum of exp((q k^T - most) / sqrt(d)), times sqrt(d). Then P is exp(((q k^T - most) - rest) / sqrt(d)). The sum most + rest, the
// log-sum-exp, would lose the digits of `rest` where products are large: two equal products of 1e8 would get the weights 1 and 1 in float. A backend
// rounds an element of q k^T in the same way in both nodes, so that q k^T - most is exact for the largest elements. Only most + rest is a smooth function
// of q and k. Derivatives treat `most` as a constant, and `rest` carries the derivative of the sum. The backends have steps of their own for both nodes.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <tenure/ops/opaque/operation.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr std::int64_t last_extent(value x) { return x.shape()[x.shape().rank - 1]; }
constexpr std::int64_t row_count(value x) { return x.shape()[x.shape().rank - 2]; }

struct attention_options {
  bool causal = false;
};

namespace nodes {
/// What both nodes have in common.
template <class Record>
struct attending : sample_operation<Record, 3, 3, attention_options> {
  static constexpr const char* option_names[1] = {"causal"};

 protected:
  static constexpr void verify_columns(rule_check& c, std::int64_t more) {
    sample_operation<Record, 3, 3, attention_options>::verify(c);
    if (!c.found.ok()) return;
    const std::int64_t d = c.shape_of(1)[c.shape_of(1).rank - 1], e = c.shape_of(2)[c.shape_of(2).rank - 1];
    c.expect(is_static(d) && is_static(e), "attention over rows whose extents are not static");
    if (c.found.ok() && more > 0) c.extent_is(c.shape_of(0)[c.shape_of(0).rank - 1], d + e + more);
  }
  /// The multiplications and additions of by_d products of length d and by_e of length e. A causal product counts only the columns that a row sees.
  static constexpr std::int64_t flops_of(const ir::graph_view& g, ir::node_id id, std::int64_t by_d, std::int64_t by_e) {
    const extents &k = g.shape_of(g[id].in[1]), &v = g.shape_of(g[id].in[2]), &q = g.shape_of(g[id].in[0]);
    const int last = q.rank - 1;
    const std::int64_t batches = count(without_axes(q, std::int64_t{3} << (last - 1))), m = q[last - 1], n = k[last - 1];
    const std::int64_t scores = g[id].attr == 0 ? m * n : m <= n ? m * (m + 1) / 2 : n * (n + 1) / 2 + (m - n) * n;
    return 2 * batches * scores * (by_d * k[last] + by_e * v[last]);
  }
  /// Row i of q k^T, for q in rows of `width` numbers. If the attention is causal, the row ends after column i.
  template <class T>
  static std::vector<long double> scores(const T* q, std::int64_t width, const T* k, std::int64_t n, std::int64_t d, std::int64_t i, bool causal) {
    std::vector<long double> s(static_cast<std::size_t>(causal && i + 1 < n ? i + 1 : n));
    for (std::size_t j = 0; j < s.size(); ++j)
      for (std::int64_t c = 0; c < d; ++c) s[j] += static_cast<long double>(q[i * width + c]) * static_cast<long double>(k[static_cast<std::int64_t>(j) * d + c]);
    return s;
  }
};

/// The results are P v, `most` and `rest`. The extents d and e are static.
struct attention : attending<attention> {
  static constexpr const char* name = "attention";
  static constexpr signature takes = "(m,d),(n,d),(n,e)->(m,e),(m),(m)";

  template <class V>
  static constexpr V pull(V y, int i, const V* g) { return attention_pull(y, i, g); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return attention_push(y, tangents); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) { return first_of_step(g, id) == id ? flops_of(g, id, 1, 1) : 0; }
  static constexpr void verify(rule_check& c) { verify_columns(c, 0); }

  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, attention_options o) {
    const std::int64_t m = sizes[0], d = sizes[1], n = sizes[2], e = sizes[3];
    const long double root = std::sqrt(static_cast<long double>(d));
    for (std::int64_t i = 0; i < m; ++i) {
      std::vector<long double> s = attending::scores(operand[0], d, operand[1], n, d, i, o.causal);
      long double most = -std::numeric_limits<long double>::infinity(), total = 0;
      for (const long double x : s) most = x > most ? x : most;
      for (long double& x : s) total += x = std::exp((x - most) / root);
      for (std::int64_t c = 0; c < e; ++c) {
        long double sum = 0;
        for (std::size_t j = 0; j < s.size(); ++j) sum += s[j] * static_cast<long double>(operand[2][static_cast<std::int64_t>(j) * e + c]);
        to[0][i * e + c] = static_cast<T>(s.empty() ? sum : sum / total);
      }
      // The gradient computes products more exactly than in T, so the second number includes the rounding error of the first.
      to[1][i] = static_cast<T>(most);
      to[2][i] = static_cast<T>(most - static_cast<long double>(to[1][i]) + std::log(total) * root);
    }
  }
};

/// The cotangents of q, k and v, given rows = [q | g | most | rest | delta]. g is the cotangent of P v, and h is the cotangent of `rest`. delta is the sum
/// of g * (P v) along each row, minus h / s:
///   s = 1 / sqrt(d), P = exp(((q k^T - most) - rest) s), D = P (g v^T - delta) s
///   dq = D k, dk = D^T q, dv = P^T g
struct attention_gradient : attending<attention_gradient> {
  static constexpr const char* name = "attention_gradient";
  static constexpr signature takes = "(m,w),(n,d),(n,e)->(m,d),(n,d),(n,e)";

  template <class V>
  static constexpr V pull(V y, int i, const V* g) { return attention_gradient_pull(y, i, g); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return attention_gradient_push(y, tangents); }
  /// dk and dv need the same products.
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) {
    if (first_of_step(g, id) != id) return 0;
    bool of_q = false, of_k_and_v = false;
    for (ir::node_id r = id; r < g.count; ++r)
      if (are_of_one_step(g[r], g[id])) (g[r].start == 0 ? of_q : of_k_and_v) = true;
    return flops_of(g, id, 1 + of_q + of_k_and_v, 1 + of_k_and_v);
  }
  static constexpr void verify(rule_check& c) { verify_columns(c, 3); }

  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, attention_options o) {
    const std::int64_t m = sizes[0], width = sizes[1], n = sizes[2], d = sizes[3], e = sizes[4];
    const long double scale = 1 / std::sqrt(static_cast<long double>(d));
    std::vector<long double> dq(static_cast<std::size_t>(m * d)), dk(static_cast<std::size_t>(n * d)), dv(static_cast<std::size_t>(n * e));
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t i = 0; i < m; ++i) {
      const std::vector<long double> s = attending::scores(operand[0], width, operand[1], n, d, i, o.causal);
      const auto row = [&](std::int64_t c) { return static_cast<long double>(operand[0][i * width + c]); };
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(s.size()); ++j) {
        const long double p = std::exp(((s[at(j)] - row(d + e)) - row(d + e + 1)) * scale);
        long double slope = -row(d + e + 2);
        for (std::int64_t c = 0; c < e; ++c) slope += row(d + c) * static_cast<long double>(operand[2][j * e + c]);
        for (std::int64_t c = 0; c < d; ++c) dq[at(i * d + c)] += p * slope * scale * static_cast<long double>(operand[1][j * d + c]);
        for (std::int64_t c = 0; c < d; ++c) dk[at(j * d + c)] += p * slope * scale * row(c);
        for (std::int64_t c = 0; c < e; ++c) dv[at(j * e + c)] += p * row(d + c);
      }
    }
    for (std::size_t c = 0; c < dq.size(); ++c) to[0][c] = static_cast<T>(dq[c]);
    for (std::size_t c = 0; c < dk.size(); ++c) to[1][c] = static_cast<T>(dk[c]);
    for (std::size_t c = 0; c < dv.size(); ++c) to[2][c] = static_cast<T>(dv[c]);
  }
};
}  // namespace nodes

constexpr bool is_attention(ir::opcode op) { return op == nodes::attention::code || op == nodes::attention_gradient::code; }

}  // namespace tenure::ops
