// SPDX-License-Identifier: BSL-1.0
// attention: scaled dot product attention, also causal, over the last rows, or with a mask. transform/attention_rows.hpp has the forms whose rows depend
// on a number of the run.
#pragma once

#include <tenure/ops/comparison.hpp>
#include <tenure/ops/contraction.hpp>
#include <tenure/ops/number.hpp>
#include <tenure/ops/opaque/attention.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE {

namespace detail {
/// Whether P is one integer, of C++ or of a trace. If not, a static_assert says so.
template <class P>
constexpr bool require_row_number() {
  constexpr bool is_number = [] {
    if constexpr (is_traced_v<P>) return std::is_integral_v<typename P::element_type> && !std::is_same_v<typename P::element_type, bool> && P::shape_type::rank == 0;
    else return std::is_integral_v<P> && !std::is_same_v<P, bool>;
  }();
  static_assert(is_number, "tenure: attention: the n of first_rows(n) and the p of causal.from(p) are one integer, of C++ or of the trace; of a tensor take n.item()");
  return is_number;
}
}  // namespace detail

/// The last argument of attention(q, k, v, causal.from(p)): row i of q stands at position p + i.
template <std::int64_t Last, class P>
struct causal_from {
  P position;
};
/// The last argument of attention(q, k, v, causal): row i of q sees the rows 0 ... i of k and v, or with Last > 0 the last ones of them.
template <std::int64_t Last>
struct causal_rows {
  /// Row i of q is row p + i of the sequence, and sees the rows 0 ... p + i of k and v. p is an integer, also of the run: the position in a cache.
  template <class P>
  constexpr auto from(const P& position) const {
    if constexpr (detail::require_row_number<P>()) return causal_from<Last, P>{position};
    else return *this;
  }
  /// Row i sees at most N rows, the last ones: a sliding window.
  template <std::int64_t N>
  static constexpr causal_rows<N> last() {
    static_assert(N > 0, "tenure: attention: causal.last<N>() sees N rows, and N is above 0");
    return {};
  }

  // Numbers in other places. They do not compile and give a message.
  template <class P>
  constexpr causal_rows operator()(const P&) const {
    static_assert(detail::never<P>, "tenure: attention: causal(n) is no call: row i of q at position p + i is causal.from(p), and the last W rows are causal.last<W>()");
    return *this;
  }
  template <class N>
  constexpr causal_rows last(const N&) const {
    static_assert(detail::never<N>, "tenure: attention: causal.last(n): the number of rows is a template argument: causal.last<5>()");
    return *this;
  }
};
struct causal_t : causal_rows<0> {};
inline constexpr causal_t causal{};

namespace ops {

/// The rows of k and v that row i of q sees: all, or the rows 0 ... i, and of these the last ones.
struct seeing {
  bool causal = false;
  std::int64_t last = 0;
};
template <seeing Rows>
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

  /// number: none, the position of the first row of q, or how many rows of k and v count.
  template <class X, class Y, class Z, class... N>
  static constexpr auto trace(const X& q, const Y& k, const Z& v, const N&... number) {
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
      static_assert(batches::exists, "tenure: attention: the batch extents differ and none of them is 1: groups of queries that share keys are q [kv, group, rows, d] with k [kv, 1, rows, d]");
      if constexpr (is_static(d) && is_static(of_k) && is_static(e) && same_columns && same_rows && batches::exists) {
        using queries = with_batch<batches, Q>;
        return traced<T, shape_from<attended_shape<queries, V>>>{q.graph, attended_over_batches(q, k, v, number...).id};
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
  template <class... N>
  static constexpr value attended_over_batches(value q, value k, value v, const N&... number) {
    ir::builder& g = *q.graph;
    const std::int16_t sk = g.intern(k.shape()), sv = g.intern(v.shape());
    g.unify(row_count(k), row_count(v), name, sk, sv);
    const extents batch = broadcast_extents(g, name, batch_of(q.shape()), batch_of(k.shape()), batch_of(v.shape()));
    const value x = over(q, batch), y = over(k, batch), z = over(v, batch);
    if constexpr (sizeof...(N) == 0 && Rows.last == 0) {
      return nodes::attention::of({Rows.causal}, x, y, z);
    } else {
      extents to = batch;
      to.push_back(row_count(q));
      return nodes::attention_until::of({Rows.last}, x, y, z, ends(g, g.intern(to), row_count(q), row_count(k), value(number)...));
    }
  }
  /// end[..., m], see ops/opaque/attention.hpp.
  static constexpr value ends(ir::builder& g, std::int16_t shape, std::int64_t, std::int64_t) {
    return counting(g, dtype::int64, shape, g.shape(shape).rank - 1) + 1.0;
  }
  /// A number of the run is refused where the rows of which it speaks do not lie in k. An argument is checked when the call begins.
  static constexpr value ends(ir::builder& g, std::int16_t shape, std::int64_t m, std::int64_t n, value number) {
    const value wide = broadcast_along(cast_to(number, dtype::int64), shape, 0);
    if (number.node().op == ir::opcode::constant) {
      const std::int64_t end = number.node().attr + (Rows.causal ? m : 0);
      if (number.node().attr < 0 || (is_static(n) && is_static(end) && end > n)) g.refuse({ir::diagnostic::kind::index, number.node().attr, is_static(n) ? n : 0});
    } else {
      g.check_bound(Rows.causal ? bound_of_starts(number, n, m, "attention: causal.from(p)")
                                : ir::bound{number.id, g.derived(ir::symbol::kind::sum, n, 1), "attention: first_rows(n)", false, false, -1});
    }
    return Rows.causal ? wide + ends(g, shape, m, n) : wide;
  }
};

/// attention with a mask for each score: products and a softmax.
struct masked_attention : rounds_once {
  static constexpr const char* name = "attention";
  static constexpr bool reaches(int operand) { return operand < 3; }

  template <class X, class Y, class Z, class M>
  static constexpr auto trace(const X& q, const Y& k, const Z& v, const M& mask) {
    using B = typename M::element_type;
    constexpr bool is_mask = std::is_same_v<B, bool> || is_floating(dtype_v<B>);
    static_assert(is_mask, "tenure: attention: a mask is bool, true where a row of q sees a row of k, or floating, and is added to the scores");
    if constexpr (!is_mask) {
      return q;
    } else {
      using result = decltype(attention<seeing{}>::trace(q, k, v));  // its assertions speak of q, k and v
      const auto by_scale = [](const auto& x) { return x * (1 / tenure::sqrt(static_cast<double>(X::shape_type::value[X::shape_type::rank - 1]))); };
      const auto scores = by_scale(tenure::matmul(q, tenure::transpose<-1, -2>(k)));
      using S = typename decltype(scores)::shape_type;
      using both = broadcast_of<S, typename M::shape_type>;
      constexpr bool fits = both::exists && std::is_same_v<typename both::type, S>;
      static_assert(fits, "tenure: attention: the mask does not broadcast to the scores, [..., rows of q, rows of k]");
      if constexpr (fits) return result(weighed(scores, mask, v));
      else return q;
    }
  }

 private:
  /// Of a row that sees nothing the largest score is -inf, and the sum of the weights is 0.
  template <class S, class M, class Z>
  static constexpr auto weighed(const S& scores, const M& mask, const Z& v) {
    const auto s = [&] {
      if constexpr (std::is_same_v<typename M::element_type, bool>) return tenure::where(mask, scores, -std::numeric_limits<double>::infinity());
      else return scores + cast<typename S::element_type>::trace(mask);
    }();
    const auto largest = tenure::stop_gradient(tenure::amax(s, axis<-1>, keepdim));
    const auto e = tenure::exp(s - tenure::where(largest == -std::numeric_limits<double>::infinity(), 0.0, largest));
    const auto total = tenure::sum(e, axis<-1>, keepdim);
    return tenure::matmul(e / tenure::where(total == 0.0, 1.0, total), v);
  }
};

}  // namespace ops

/// softmax(q k^T / sqrt(d)) v, for q [..., m, d], k [..., n, d] and v [..., n, e]: scaled dot product attention. Leading axes are batches, and they
/// broadcast. d and e are static; other extents may be known at run time only. Element types are equal and floating. With `causal`, row i of q sees
/// the rows 0 ... i of k and v, with `causal.last<W>()` at most W of them, the last ones. A NaN or an infinity in a later row does not reach row i of the result, nor its gradient. It may reach tangents and
/// second derivatives, because they multiply whole matrices. A row whose scores are all -inf is NaN. If k has no rows, the result is 0.
/// Cost: 2 m n (d + e) operations, half of them if causal. For m = n a gradient takes 2.5 times as many. Neither writes the m x n weights to memory;
/// the gradient reads q, k, v, the result and two numbers for each row. Tangents and second derivatives do write the weights to memory.
template <operand_or_scalar Q, class K, class V>
constexpr auto attention(const Q& q, const K& k, const V& v) {
  return apply<ops::attention<ops::seeing{}>>(q, k, v);
}
template <operand_or_scalar Q, class K, class V, std::int64_t Last>
constexpr auto attention(const Q& q, const K& k, const V& v, const causal_rows<Last>&) {
  return apply<ops::attention<ops::seeing{true, Last}>>(q, k, v);
}
/// A mask of bool, [..., m, n] or what broadcasts to it, is true where row i of q sees row j of k and v. A mask of floating numbers is added to the scores, as
/// PyTorch's attn_mask. A row that sees nothing is 0. This form writes the weights to memory.
template <operand_or_scalar Q, class K, class V, operand M>
constexpr auto attention(const Q& q, const K& k, const V& v, const M& mask) {
  return apply<ops::masked_attention>(q, k, v, mask);
}

// The arguments of other libraries. They do not compile and give a message.
template <operand_or_scalar Q, class K, class V, scalar N>
constexpr auto attention(const Q& q, const K&, const V&, const N&) {
  constexpr bool is_flag = std::is_same_v<N, bool>;
  static_assert(!is_flag, "tenure: attention: the fourth argument is a bool: tn::causal in its place, attention(q, k, v, tn::causal), or no fourth argument");
  static_assert(is_flag, "tenure: attention: the fourth argument is a number, and the scale is always 1 / sqrt(d), for q [..., m, d]: for the scale s take attention(q * (s * std::sqrt(d)), k, v)");
  return detail::stand_in(q);
}
template <operand_or_scalar Q, class... K>
  requires(sizeof...(K) < 2)
constexpr auto attention(const Q& q, const K&...) {
  static_assert(detail::never<Q>, "tenure: attention: fewer than three arguments: queries, keys and values; write attention(q, k, v), and attention(x, x, x) of one tensor");
  return detail::stand_in(q);
}
template <operand_or_scalar Q, class K, class V, class M, class N, class... Rest>
constexpr auto attention(const Q& q, const K&, const V&, const M&, const N&, const Rest&...) {
  static_assert(detail::never<N>, "tenure: attention: more than four arguments: after q, k and v comes one of causal, causal.from(p), causal.last<W>(), first_rows(n) and a mask");
  return detail::stand_in(q);
}

}  // namespace tenure
