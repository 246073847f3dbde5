// SPDX-License-Identifier: BSL-1.0
// The derivatives of attention. The first cotangents come from a node, attention_gradient. Tangents, and the derivatives of that node, are products
// and pointwise operations, so they write the matrix P of all weights to memory. They compute P as a softmax, and not from `most` and `rest`, two
// numbers for each row that the node attention keeps: a product may round q k^T in another way than that node, and for 1e5 in q and k a difference of
// one ulp would make exponentials infinite. Both ways give the same function of q and k, so derivatives of any order are right.
#pragma once

#include <limits>

#include <tenure/ops/opaque/attention.hpp>
#include <tenure/ops/registry.hpp>
#include <tenure/ops/structure.hpp>

namespace TENURE_NAMESPACE::ops {
namespace detail {

/// A sum in which a value that does not exist counts as zero.
constexpr value plus(value a, value b) { return a.id == ir::none ? b : b.id == ir::none ? a : a + b; }
constexpr value columns(value x, std::int64_t first, std::int64_t length) { return sliced(x, x.shape().rank - 1, first, length, 1); }
constexpr value beside(value a, value b) { return concatenated(a, b, a.shape().rank - 1); }
/// The sums or largest elements of the rows, as one column.
constexpr value reduced_rows(value x, ir::reduction kind) {
  extents to = x.shape();
  to[to.rank - 1] = 1;
  return reshape_to(reduced(x, std::int64_t{1} << (x.shape().rank - 1), kind), to);
}
constexpr value sums_of_rows(value x) { return reduced_rows(x, ir::reduction::sum); }
/// A product that does not exist where an operand does not.
constexpr value product_or_none(value a, value b) { return a.id == ir::none || b.id == ir::none ? value() : matrix_product(a, b); }
constexpr value transposed_or_none(value x) { return x.id == ir::none ? x : transposed(x); }

/// q, k, v and the quantities of a row: the matrices of the formulas in opaque/attention.hpp.
struct attention_terms {
  value q, k, v, g, delta;
  bool causal = false;
  value ends = {};  // of attention_until
  std::int64_t width_seen = 0;

  /// x / sqrt(d), where d is the length of the rows of q.
  constexpr value scaled(value x) const { return x.id == ir::none ? x : x * broadcast_along(pointwise_value<rsqrt>(width(x)), x.node().shape, 0); }
  /// x sqrt(d).
  constexpr value unscaled(value x) const { return x * broadcast_along(pointwise_value<sqrt>(width(x)), x.node().shape, 0); }
  /// The matrix of the weights, P.
  constexpr value weights() const {
    const value products = matrix_product(q, transposed(k));
    const std::int16_t shape = products.node().shape;
    value s = scaled(products);
    if (const value mask = seen(s); mask.id != ir::none) s = pointwise_value<where>(mask, s, s.like(-std::numeric_limits<double>::infinity()));
    const value largest = instead_of_none(reduced_rows(s, ir::reduction::max_of_numbers), 0);
    const value e = pointwise_value<exp>(s - broadcast_to(stopped(largest), shape)), total = instead_of_none(sums_of_rows(e), 1);
    return e * broadcast_to(total.like(1) / total, shape);
  }
  /// g v^T - delta.
  constexpr value slopes() const {
    const value s = matrix_product(g, transposed(v));
    return s - broadcast_to(delta, s.node().shape);
  }

 private:
  /// Whether a row sees a column, for all elements of s, or none if all rows see all columns.
  constexpr value seen(value s) const {
    if (!causal && ends.id == ir::none) return {};
    const std::int16_t shape = s.node().shape;
    const int last = s.shape().rank - 1;
    const auto is_exact = [](std::int64_t extent) { return is_static(extent) && extent <= exact_positions<float>; };  // then the mask fuses
    if (causal) {
      const dtype type = is_exact(s.shape()[last]) && is_exact(s.shape()[last - 1]) ? s.type() : dtype::int64;
      return pointwise_value<less_equal>(counting(*s.graph, type, shape, last), counting(*s.graph, type, shape, last - 1));
    }
    const value at = counting(*s.graph, dtype::int64, shape, last), end = broadcast_to(ends_as_column(), shape);
    const value before = pointwise_value<less>(at, end);
    if (width_seen == 0) return before;
    return pointwise_value<logical_and>(before, pointwise_value<greater_equal>(at, end - static_cast<double>(width_seen)));
  }
  constexpr value ends_as_column() const {
    extents column = ends.shape();
    column.push_back(1);
    return reshape_to(ends, column);
  }
  /// x, one number for each row, with another number for rows that see nothing.
  constexpr value instead_of_none(value x, double number) const {
    if (ends.id == ir::none) return x;
    const value end = ends_as_column();
    return pointwise_value<where>(pointwise_value<less>(end, end.like(1)), x.like(number), x);
  }
  constexpr value width(value x) const { return number_of_extent(*x.graph, x.type(), last_extent(k)); }
};

/// The same terms with the mask of a node.
template <class Record>
constexpr attention_terms masked_as(value y, attention_terms at) {
  if constexpr (Record::arity == 3) at.causal = Record::options_of(y).causal;
  else at.ends = operand_of(y, 3), at.width_seen = Record::options_of(y).width;
  return at;
}
template <class Record>
constexpr attention_terms terms_of_gradient(value y) {
  const value rows = operand_of(y, 0), k = operand_of(y, 1), v = operand_of(y, 2);
  const std::int64_t d = last_extent(k), e = last_extent(v);
  return masked_as<Record>(y, {columns(rows, 0, d), k, v, columns(rows, d, e), columns(rows, d + e + 2, 1)});
}

}  // namespace detail

/// The cotangents come from one operation, attention_gradient. g has the cotangents of P v, `most` and `rest`.
template <class Record>
constexpr value attention_pull(value y, int i, const value* g) {
  using detail::beside;
  using node = Record;
  const value q = operand_of(y, 0), k = operand_of(y, 1), v = operand_of(y, 2), result = node::result_of(y, 0);
  const auto column = [](value x) {
    extents to = x.shape();
    to.push_back(1);
    return reshape_to(x, to);
  };
  const value of_result = g[0].id == ir::none ? result.like(0) : g[0];
  const detail::attention_terms at{q, k, v, of_result, {}};
  value delta = detail::sums_of_rows(of_result * result);
  if (g[2].id != ir::none) delta = delta - at.unscaled(column(g[2]));
  const value statistics = beside(column(node::result_of(y, 1)), column(node::result_of(y, 2)));
  const value rows = beside(beside(q, of_result), beside(statistics, delta));
  using gradient = typename node::gradient;
  if constexpr (node::arity == 3) return gradient::result_of(gradient::of(node::options_of(y), rows, k, v), i);
  else return gradient::result_of(gradient::of(node::options_of(y), rows, k, v, operand_of(y, 3)), i);
}

/// S' is the tangent of q k^T. rest' = the row sums of P S', most' = 0, P' = P (S' - rest') s, and the tangent of the result is P' v + P v'.
template <class Record>
constexpr value attention_push(value y, const value* tangents) {
  using namespace detail;
  const value q = operand_of(y, 0), k = operand_of(y, 1), v = operand_of(y, 2);
  const int number = Record::number_of(y);
  const attention_terms at = masked_as<Record>(y, {q, k, v, {}, {}});
  const value p = at.weights();
  const value scores = plus(product_or_none(tangents[0], transposed(k)), product_or_none(q, transposed_or_none(tangents[1])));
  const value by_v = product_or_none(p, tangents[2]);
  if (number == 1 || (number == 2 && scores.id == ir::none)) return y.like(0);
  if (scores.id == ir::none) return by_v;
  const value rest = sums_of_rows(p * scores);
  if (number == 2) return reshape_to(rest, extents(y.shape()));
  return plus(matrix_product(p * at.scaled(scores - broadcast_to(rest, scores.node().shape)), v), by_v);
}

/// The cotangents for the formulas in opaque/attention.hpp. a, b and c are the cotangents of dq, dk and dv. P depends on the sum of `most` and
/// `rest`, so both get the same cotangent; attention_pull() then passes on only the cotangent of `rest`.
template <class Record>
constexpr value attention_gradient_pull(value y, int i, const value* g) {
  using namespace detail;
  const attention_terms at = terms_of_gradient<Record>(y);
  const value a = g[0], b = g[1], c = g[2];
  const value p = at.weights(), slopes = at.slopes();
  const value of_scaled = plus(product_or_none(a, transposed(at.k)), product_or_none(at.q, transposed_or_none(b)));
  const value of_slopes = of_scaled.id == ir::none ? p.like(0) : at.scaled(p * of_scaled);
  const value of_scores = of_slopes * slopes + (c.id == ir::none ? p.like(0) : p * matrix_product(at.g, transposed(c)));
  const value ds = at.scaled(p * slopes);
  if (i == 1) return plus(product_or_none(transposed(ds), a), matrix_product(transposed(at.scaled(of_scores)), at.q));
  if (i == 2) return matrix_product(transposed(of_slopes), at.g);
  const value of_q = plus(product_or_none(ds, b), matrix_product(at.scaled(of_scores), at.k));
  const value of_g = plus(product_or_none(p, c), matrix_product(of_slopes, at.v));
  const value of_rest = -sums_of_rows(at.scaled(of_scores));
  return beside(beside(of_q, of_g), beside(beside(of_rest, of_rest), -sums_of_rows(of_slopes)));
}

template <class Record>
constexpr value attention_gradient_push(value y, const value* tangents) {
  using namespace detail;
  const attention_terms at = terms_of_gradient<Record>(y);
  const int number = Record::number_of(y);
  const std::int64_t d = last_extent(at.k), e = last_extent(at.v);
  const bool of_rows = tangents[0].id != ir::none;
  const value tq = of_rows ? columns(tangents[0], 0, d) : value(), tg = of_rows ? columns(tangents[0], d, e) : value();
  const value tk = tangents[1], tv = tangents[2], p = at.weights(), slopes = at.slopes();
  const auto stretched = [&](value column) { return broadcast_to(column, p.node().shape); };
  value scores = plus(product_or_none(tq, transposed(at.k)), product_or_none(at.q, transposed_or_none(tk)));
  value of_slopes = plus(product_or_none(tg, transposed(at.v)), product_or_none(at.g, transposed_or_none(tv)));
  if (of_rows) {
    scores = scores - stretched(columns(tangents[0], d + e, 1) + columns(tangents[0], d + e + 1, 1));
    of_slopes = of_slopes - stretched(columns(tangents[0], d + e + 2, 1));
  }
  const value tp = scores.id == ir::none ? scores : p * at.scaled(scores);
  const value ds = at.scaled(p * slopes);
  const value tds = at.scaled(plus(tp.id == ir::none ? tp : tp * slopes, of_slopes.id == ir::none ? of_slopes : p * of_slopes));
  const auto or_zero = [&](value x) { return x.id == ir::none ? y.like(0) : x; };
  if (number == 0) return or_zero(plus(product_or_none(tds, at.k), product_or_none(ds, tk)));
  if (number == 1) return or_zero(plus(product_or_none(transposed_or_none(tds), at.q), product_or_none(transposed(ds), tq)));
  return or_zero(plus(product_or_none(transposed_or_none(tp), at.g), product_or_none(transposed(p), tg)));
}

}  // namespace tenure::ops
