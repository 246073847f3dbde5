// SPDX-License-Identifier: BSL-1.0
// Scaled dot product attention. Leading axes are batches, as in a matrix product.
// With P = softmax(q k^T / sqrt(d)) the result is P v. A causal P has zeros above its diagonal: row i reads the first i + 1 rows of k and v.
// The derivatives compute P again from two more results, with one number for each row: `most` is the largest element of the row of q k^T, and `rest` is
// the logarithm of the sum of exp((q k^T - most) / sqrt(d)), times sqrt(d). Then P is exp(((q k^T - most) - rest) / sqrt(d)). The sum most + rest, the
// log-sum-exp, would lose the digits of `rest` where products are large: two equal products of 1e8 would get the weights 1 and 1 in float. A backend
// rounds an element of q k^T in the same way in both nodes, so that q k^T - most is exact for the largest elements. Only most + rest is a smooth function
// of q and k. Derivatives treat `most` as a constant, and `rest` carries the derivative of the sum. The backends have steps of their own for all nodes.
// attention_until and its gradient have one more operand, the int64 number end[i] of each row of q: row i sees the rows end[i] - width ... end[i] - 1 of k
// and v, or all before end[i] if the width is 0. A backend moves both bounds into the rows that there are. Where a row sees none, its result and
// its gradients are 0.
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
struct attention_until_options {
  std::int64_t width = 0;

  constexpr std::int64_t packed() const { return width; }
  static constexpr TENURE_KERNEL attention_until_options unpacked(std::int64_t attr) { return {attr}; }
};

/// The rows first ... last - 1 of k and v.
struct seen_rows {
  std::int64_t first, last;

  constexpr TENURE_KERNEL bool has(std::int64_t j) const { return first <= j && j < last; }
};
/// Which of n rows of k and v each row of q sees. Rows without a mask see all, and `ends` is null unless the rows have bounds of their own.
struct sight {
  std::int64_t n = 0, width = 0;
  bool causal = false;
  const std::int64_t* ends = nullptr;
  std::int64_t stride = 1;

  /// The rows that row i sees. The bounds of later rows are not lower, except where the ends are lower.
  constexpr TENURE_KERNEL seen_rows of(std::int64_t i) const {
    if (ends == nullptr) return {0, causal && i + 1 < n ? i + 1 : n};
    const std::int64_t end = ends[i * stride], last = end < 0 ? 0 : end < n ? end : n, first = width > 0 && end > width ? end - width : 0;
    return {first < last ? first : last, last};
  }
};

namespace nodes {
/// What all four nodes have in common.
template <class Record, int Operands = 3, class Options = attention_options>
struct attending : sample_operation<Record, Operands, 3, Options> {
  static constexpr const char* option_names[1] = {Operands == 3 ? "causal" : "width"};
  static constexpr bool flows_to(int operand) { return operand < 3; }
  static constexpr dtype operand_type(int operand, dtype of_first) { return operand < 3 ? of_first : dtype::int64; }

 protected:
  static constexpr void verify_columns(rule_check& c, std::int64_t more) {
    sample_operation<Record, Operands, 3, Options>::verify(c);
    if (!c.found.ok()) return;
    const std::int64_t d = c.shape_of(1)[c.shape_of(1).rank - 1], e = c.shape_of(2)[c.shape_of(2).rank - 1];
    c.expect(is_static(d) && is_static(e), "attention over rows whose extents are not static");
    if (c.found.ok() && more > 0) c.extent_is(c.shape_of(0)[c.shape_of(0).rank - 1], d + e + more);
  }
  /// The multiplications and additions of by_d products of length d and by_e of length e. A causal product counts only the columns that a row sees, and
  /// bounds that only the run knows count as all.
  static constexpr std::int64_t flops_of(const ir::graph_view& g, ir::node_id id, std::int64_t by_d, std::int64_t by_e) {
    const extents &k = g.shape_of(g[id].in[1]), &v = g.shape_of(g[id].in[2]), &q = g.shape_of(g[id].in[0]);
    const int last = q.rank - 1;
    const std::int64_t batches = count(without_axes(q, std::int64_t{3} << (last - 1))), m = q[last - 1], n = k[last - 1];
    const bool is_causal = Operands == 3 && g[id].attr != 0;
    const std::int64_t scores = !is_causal ? m * n : m <= n ? m * (m + 1) / 2 : n * (n + 1) / 2 + (m - n) * n;
    return 2 * batches * scores * (by_d * k[last] + by_e * v[last]);
  }
  template <class T>
  static sight sight_of(const T* const* operand, std::int64_t n, Options o) {
    if constexpr (Operands == 3) return {n, 0, o.causal};
    else return {n, o.width, false, reinterpret_cast<const std::int64_t*>(operand[3])};
  }
  /// The seen columns of a row of q k^T.
  template <class T>
  static std::vector<long double> scores(const T* row, const T* k, std::int64_t d, seen_rows seen) {
    std::vector<long double> s(static_cast<std::size_t>(seen.last - seen.first));
    for (std::int64_t j = seen.first; j < seen.last; ++j)
      for (std::int64_t c = 0; c < d; ++c) s[static_cast<std::size_t>(j - seen.first)] += static_cast<long double>(row[c]) * static_cast<long double>(k[j * d + c]);
    return s;
  }
  /// The definition, for the backend that judges the others.
  template <class T>
  static void attend(const sample_sizes& sizes, const T* const* operand, T* const* to, Options o) {
    const std::int64_t m = sizes[0], d = sizes[1], n = sizes[2], e = sizes[3];
    const long double root = std::sqrt(static_cast<long double>(d));
    const sight seen_by = sight_of(operand, n, o);
    for (std::int64_t i = 0; i < m; ++i) {
      const seen_rows seen = seen_by.of(i);
      std::vector<long double> s = scores(operand[0] + i * d, operand[1], d, seen);
      long double most = -std::numeric_limits<long double>::infinity(), total = 0;
      for (const long double x : s) most = x > most ? x : most;
      for (long double& x : s) total += x = std::exp((x - most) / root);
      for (std::int64_t c = 0; c < e; ++c) {
        long double sum = 0;
        for (std::size_t j = 0; j < s.size(); ++j) sum += s[j] * static_cast<long double>(operand[2][(static_cast<std::int64_t>(j) + seen.first) * e + c]);
        to[0][i * e + c] = static_cast<T>(s.empty() ? sum : sum / total);
      }
      // The gradient computes products more exactly than in T, so the second number includes the rounding error of the first.
      to[1][i] = static_cast<T>(most);
      to[2][i] = static_cast<T>(most - static_cast<long double>(to[1][i]) + std::log(total) * root);
    }
  }
  template <class T>
  static void pull_by_definition(const sample_sizes& sizes, const T* const* operand, T* const* to, Options o) {
    const std::int64_t m = sizes[0], width = sizes[1], n = sizes[2], d = sizes[3], e = sizes[4];
    const long double scale = 1 / std::sqrt(static_cast<long double>(d));
    const sight seen_by = sight_of(operand, n, o);
    std::vector<long double> dq(static_cast<std::size_t>(m * d)), dk(static_cast<std::size_t>(n * d)), dv(static_cast<std::size_t>(n * e));
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t i = 0; i < m; ++i) {
      const seen_rows seen = seen_by.of(i);
      const std::vector<long double> s = scores(operand[0] + i * width, operand[1], d, seen);
      const auto row = [&](std::int64_t c) { return static_cast<long double>(operand[0][i * width + c]); };
      for (std::int64_t j = seen.first; j < seen.last; ++j) {
        const long double p = std::exp(((s[at(j - seen.first)] - row(d + e)) - row(d + e + 1)) * scale);
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

 public:
  /// dk and dv need the same products.
  static constexpr std::int64_t flops_of_gradient(const ir::graph_view& g, ir::node_id id) {
    if (first_of_step(g, id) != id) return 0;
    bool of_q = false, of_k_and_v = false;
    for (ir::node_id r = id; r < g.count; ++r)
      if (are_of_one_step(g[r], g[id])) (g[r].start == 0 ? of_q : of_k_and_v) = true;
    return flops_of(g, id, 1 + of_q + of_k_and_v, 1 + of_k_and_v);
  }
};

/// The results are P v, `most` and `rest`. The extents d and e are static.
template <class Record, int Operands = 3, class Options = attention_options>
struct attending_forward : attending<Record, Operands, Options> {
  template <class V>
  static constexpr V pull(V y, int i, const V* g) { return attention_pull<Record>(y, i, g); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return attention_push<Record>(y, tangents); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) { return first_of_step(g, id) == id ? attending_forward::flops_of(g, id, 1, 1) : 0; }
  static constexpr void verify(rule_check& c) { attending_forward::verify_columns(c, 0); }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, Options o) { attending_forward::attend(sizes, operand, to, o); }
};
/// The cotangents of q, k and v, given rows = [q | g | most | rest | delta]. g is the cotangent of P v, and h is the cotangent of `rest`. delta is the sum
/// of g * (P v) along each row, minus h / s:
///   s = 1 / sqrt(d), P = exp(((q k^T - most) - rest) s), D = P (g v^T - delta) s
///   dq = D k, dk = D^T q, dv = P^T g
template <class Record, int Operands = 3, class Options = attention_options>
struct attending_backward : attending<Record, Operands, Options> {
  template <class V>
  static constexpr V pull(V y, int i, const V* g) { return attention_gradient_pull<Record>(y, i, g); }
  template <class V>
  static constexpr V push(V y, const V* tangents) { return attention_gradient_push<Record>(y, tangents); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) { return attending_backward::flops_of_gradient(g, id); }
  static constexpr void verify(rule_check& c) { attending_backward::verify_columns(c, 3); }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, Options o) { attending_backward::pull_by_definition(sizes, operand, to, o); }
};

struct attention_gradient : attending_backward<attention_gradient> {
  static constexpr const char* name = "attention_gradient";
  static constexpr signature takes = "(m,w),(n,d),(n,e)->(m,d),(n,d),(n,e)";
};
struct attention : attending_forward<attention> {
  static constexpr const char* name = "attention";
  static constexpr signature takes = "(m,d),(n,d),(n,e)->(m,e),(m),(m)";
  using gradient = attention_gradient;
};
struct attention_until_gradient : attending_backward<attention_until_gradient, 4, attention_until_options> {
  static constexpr const char* name = "attention_until_gradient";
  static constexpr signature takes = "(m,w),(n,d),(n,e),(m)->(m,d),(n,d),(n,e)";
};
struct attention_until : attending_forward<attention_until, 4, attention_until_options> {
  static constexpr const char* name = "attention_until";
  static constexpr signature takes = "(m,d),(n,d),(n,e),(m)->(m,e),(m),(m)";
  using gradient = attention_until_gradient;
};
}  // namespace nodes

constexpr bool is_attention(ir::opcode op) {
  return op == nodes::attention::code || op == nodes::attention_gradient::code || op == nodes::attention_until::code || op == nodes::attention_until_gradient::code;
}

}  // namespace tenure::ops
