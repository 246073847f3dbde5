// SPDX-License-Identifier: BSL-1.0
// attention: scaled dot product attention, also causal.
#pragma once

#include <tenure/ops/contraction.hpp>
#include <tenure/ops/opaque/attention.hpp>

namespace TENURE_NAMESPACE {

/// The last argument of attention(q, k, v, causal): row i of q sees the rows 0 ... i of k and v.
struct causal_t {};
inline constexpr causal_t causal{};

namespace ops {

template <bool Causal>
struct attention : rounds_once {
  static constexpr const char* name = "attention";

  template <class A, class B>
  struct attended_shape {
    static constexpr extents value = [] {
      extents s = A::value;
      s[s.rank - 1] = B::value[B::rank - 1];
      return s;
    }();
  };

  template <class X, class Y, class Z>
  static constexpr auto trace(const X& q, const Y& k, const Z& v) {
    using Q = typename X::shape_type;
    using K = typename Y::shape_type;
    using V = typename Z::shape_type;
    using T = typename X::element_type;
    constexpr bool same_types = std::is_same_v<T, typename Y::element_type> && std::is_same_v<T, typename Z::element_type>;
    static_assert(same_types, "tenure: attention: q, k and v have different element types");
    static_assert(is_floating(dtype_v<T>), "tenure: attention: integers and bool have no softmax; convert first");
    constexpr bool are_matrices = Q::rank >= 2 && K::rank >= 2 && V::rank >= 2;
    static_assert(are_matrices, "tenure: attention: an operand has less than two axes: [..., rows, columns]");
    if constexpr (!same_types || !is_floating(dtype_v<T>) || !are_matrices) {
      return q;
    } else {
      constexpr std::int64_t d = Q::value[Q::rank - 1], of_k = K::value[K::rank - 1], e = V::value[V::rank - 1];
      static_assert(is_static(d) && is_static(of_k) && is_static(e), "tenure: attention: the last extents of q, k and v must be static");
      constexpr bool same_columns = inner_extents<d, of_k>::agree;
      static_assert(inner_extents<d, of_k>::agree, "tenure: attention: the last extent of q is not the last extent of k");
      constexpr std::int64_t of_rows = K::value[K::rank - 2], of_values = V::value[V::rank - 2];
      constexpr bool same_rows = inner_extents<of_rows, of_values>::agree;
      static_assert(inner_extents<of_rows, of_values>::agree, "tenure: attention: v has another number of rows than k");
      using batches = broadcast_of<matmul::batch<Q>, matmul::batch<K>, matmul::batch<V>>;
      static_assert(batches::exists, "tenure: attention: the batch extents differ and none of them is 1");
      if constexpr (is_static(d) && is_static(of_k) && is_static(e) && same_columns && same_rows && batches::exists) {
        using queries = with_batch<batches, Q>;
        return traced<T, shape_from<attended_shape<queries, V>>>{q.graph, attended_over_batches(q, k, v).id};
      } else {
        return q;
      }
    }
  }

 private:
  template <class Batches, class S>
  struct with_batch {
    static constexpr extents value = [] {
      extents s = Batches::value;
      for (int i = S::rank - 2; i < S::rank; ++i) s.push_back(S::value[i]);
      return s;
    }();
  };
  static constexpr extents batch_of(const extents& s) {
    extents b = s;
    b.rank -= 2;
    return b;
  }
  static constexpr value over(value x, extents batch) {
    const extents s = x.shape();
    for (int i = s.rank - 2; i < s.rank; ++i) batch.push_back(s[i]);
    return broadcast_to(x, x.graph->intern(batch));
  }
  static constexpr value attended_over_batches(value q, value k, value v) {
    ir::builder& g = *q.graph;
    const std::int16_t sk = g.intern(k.shape()), sv = g.intern(v.shape());
    g.unify(row_count(k), row_count(v), name, sk, sv);
    const extents batch = broadcast_extents(g, name, batch_of(q.shape()), batch_of(k.shape()), batch_of(v.shape()));
    return nodes::attention::of({Causal}, over(q, batch), over(k, batch), over(v, batch));
  }
};

}  // namespace ops

/// softmax(q k^T / sqrt(d)) v, for q [..., m, d], k [..., n, d] and v [..., n, e]: scaled dot product attention. Leading axes are batches, and they
/// broadcast. d and e are static; other extents may be known at run time only. Element types are equal and floating. With `causal`, row i of q sees
/// the rows 0 ... i of k and v. A NaN or an infinity in a later row does not reach row i of the result, nor its gradient. It may reach tangents and
/// second derivatives, because they multiply whole matrices. A row whose scores are all -inf is NaN. If k has no rows, the result is 0.
/// Cost: 2 m n (d + e) operations, half of them if causal. For m = n a gradient takes 2.5 times as many. Neither writes the m x n weights to memory;
/// the gradient reads q, k, v, the result and two numbers for each row. Tangents and second derivatives do write the weights to memory.
template <operand_or_scalar Q, class K, class V>
constexpr auto attention(const Q& q, const K& k, const V& v) {
  return apply<ops::attention<false>>(q, k, v);
}
template <operand_or_scalar Q, class K, class V>
constexpr auto attention(const Q& q, const K& k, const V& v, causal_t) {
  return apply<ops::attention<true>>(q, k, v);
}

}  // namespace tenure
