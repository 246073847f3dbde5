// SPDX-License-Identifier: BSL-1.0
// attention over rows that a number of the run says: the first n rows of a cache of keys and values, or those up to the position of a query.
// Law: attention over the first n rows is attention over the slice of these rows, in the same bits. Attention at a position is causal attention
// over the whole sequence.
// Cost: that of the rows that count, and not of all rows of k and v.
#pragma once

#include <tenure/ops/attention.hpp>
#include <tenure/transform/dynamic_slice.hpp>

namespace TENURE_NAMESPACE {

/// The last argument of attention(q, k, v, first_rows(n)).
template <class N>
struct first_rows_of {
  N count;
};
/// Only the rows 0 ... n - 1 of k and v count. n is an integer, also of the run.
template <class N>
constexpr auto first_rows(const N& n) {
  if constexpr (detail::require_row_number<N>()) return first_rows_of<N>{n};
  else return causal;
}

namespace detail {

template <ops::seeing Rows>
struct attention_call {
  template <class Q, class K, class V, class N>
  constexpr auto operator()(const Q& q, const K& k, const V& v, const N& n) const {
    using number = decltype(ops::as_index(n));
    return called<ops::attention<Rows>, Q, K, V, number>::trace(q, k, v, ops::as_index(n));  // narrow types in their lanes
  }
};

template <ops::seeing Rows, class Q, class K, class V, class N>
constexpr auto attention_over(const Q& q, const K& k, const V& v, const N& n) { return call_by_trace<attention_call<Rows>>(q, k, v, n); }

}  // namespace detail

/// attention(q, k, v) over the first n rows of k and v: attention(q, k[range(0, n)], v[range(0, n)]), in the same bits, for an n of the run. If n is 0 the result
/// is 0. Later rows are not read. A gradient is 0 there. Errors: index_error before any result is written, unless 0 <= n <= rows of k.
template <class Q, class K, class V, class N>
constexpr auto attention(const Q& q, const K& k, const V& v, const first_rows_of<N>& rows) {
  return detail::attention_over<ops::seeing{}>(q, k, v, rows.count);
}
/// Causal attention where row i of q is row p + i of the sequence: it sees the rows 0 ... p + i of k and v, with causal.last<W>().from(p) at most W of them. Later
/// rows are not read. Errors: index_error before any result is written, unless the rows p ... p + m - 1 of m rows of q lie inside k.
template <class Q, class K, class V, std::int64_t Last, class P>
constexpr auto attention(const Q& q, const K& k, const V& v, const causal_from<Last, P>& rows) {
  return detail::attention_over<ops::seeing{true, Last}>(q, k, v, rows.position);
}

}  // namespace tenure
