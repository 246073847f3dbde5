// SPDX-License-Identifier: BSL-1.0
// matmul with PyTorch's rules: vectors, matrices, and batches over leading axes, which broadcast. linear uses matmul. outer is a product of broadcast
// vectors.
#pragma once

#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/movement.hpp>

namespace TENURE_NAMESPACE::ops {

template <std::int64_t Lhs, std::int64_t Rhs>
struct inner_extents {
  static constexpr bool agree = extents_may_agree(Lhs, Rhs);
};

struct matmul {
  static constexpr const char* name = "matmul";

  /// The shape of the result, for types and for graphs. A vector operand adds no axis to the result.
  static constexpr extents result(const extents& a, const extents& b, auto agree) {
    extents batch_a, batch_b;
    for (int i = 0; i < a.rank - 2; ++i) batch_a.push_back(a[i]);
    for (int i = 0; i < b.rank - 2; ++i) batch_b.push_back(b[i]);
    extents r = broadcast_with(batch_a, batch_b, agree);
    if (a.rank > 1) r.push_back(a[a.rank - 2]);
    if (b.rank > 1) r.push_back(b[b.rank - 1]);
    return r;
  }
  template <class A, class B>
  struct rule {
    static constexpr extents value = result(A::value, B::value, agreed);
  };

  template <class S>
  struct batch {
    static constexpr extents value = [] {
      extents s = S::value;
      s.rank = s.rank > 2 ? s.rank - 2 : 0;
      return s;
    }();
  };
  template <class A, class B>
  using batch_of = broadcast_of<batch<A>, batch<B>>;

  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    using A = typename X::shape_type;
    using B = typename Y::shape_type;
    static_assert(A::rank > 0 && B::rank > 0, "tenure: matmul: an operand is a scalar; use *");
    static_assert(std::is_same_v<typename X::element_type, typename Y::element_type>, "tenure: matmul: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
    constexpr bool has_axes = A::rank > 0 && B::rank > 0;
    constexpr std::int64_t lhs = has_axes ? A::value[A::rank > 0 ? A::rank - 1 : 0] : 0, rhs = has_axes ? B::value[B::rank > 1 ? B::rank - 2 : 0] : 0;
    static_assert(inner_extents<lhs, rhs>::agree, "tenure: matmul: the last extent of lhs is not the second last (or only) extent of rhs");
    static_assert(!has_axes || batch_of<A, B>::exists, "tenure: matmul: the batch extents differ and neither of them is 1");
    static_assert(dtype_v<typename X::element_type> != dtype::boolean, "tenure: matmul: bool has no product; convert first");
    using result_shape = shape_from<rule<A, B>>;

    return traced<typename X::element_type, result_shape>{x.graph, product(x, y).id};
  }

 private:
  static constexpr value product(value x, value y) {
    ir::builder& g = *x.graph;
    const extents a = x.shape(), b = y.shape();
    if (a.rank == 2 && b.rank == 2 && a[1] == b[0]) return matrix_product(x, y);
    const std::int16_t sa = g.intern(a), sb = g.intern(b);
    g.unify(a[a.rank - 1], b[b.rank > 1 ? b.rank - 2 : 0], name, sa, sb);
    const extents to = result(a, b, [&](std::int64_t p, std::int64_t q) { return g.unify(p, q, name, sa, sb); });

    value l = x, r = y;
    const std::int64_t k = a[a.rank - 1];
    if (a.rank == 1) l = reshape_to(l, {2, {1, k}});
    if (b.rank == 1) r = reshape_to(r, {2, {k, 1}});
    if (b.rank <= 2 && a.rank > 2) {
      // All batches use one right-hand matrix, so one product computes all rows.
      l = reshape_to(l, {2, {elements_along(g, a, all_axes(a.rank - 1)), k}});
    } else if (l.shape().rank > 2 || r.shape().rank > 2) {
      const extents el = l.shape(), er = r.shape();
      extents batch = to;
      batch.rank = to.rank - (a.rank > 1) - (b.rank > 1);
      extents tl = batch, tr = batch;
      for (int i = 2; i > 0; --i) tl.push_back(el[el.rank - i]), tr.push_back(er[er.rank - i]);
      l = broadcast_to(l, g.intern(tl));
      r = broadcast_to(r, g.intern(tr));
    }
    return reshape_to(matrix_product(l, r), to);
  }
};

/// x w^T + b. The shape of w is (out, in), as in PyTorch: a row holds the weights of one output. linear checks the inputs and the bias itself, so
/// that messages name linear, and not matmul with a transposed operand. Batches: as in matmul.
struct linear : rounds_once {
  static constexpr const char* name = "linear";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: linear: the extents of x w^T and of the bias differ and neither of them is 1"); }

  template <class X, class W>
  static constexpr bool takes() {
    using A = typename X::shape_type;
    using B = typename W::shape_type;
    constexpr bool have_axes = A::rank > 0 && B::rank > 1;
    static_assert(have_axes, "tenure: linear: x needs an axis of the inputs, and w two axes: (out, in)");
    constexpr bool are_alike = std::is_same_v<typename X::element_type, typename W::element_type>;
    static_assert(are_alike, "tenure: linear: x and w have different element types");
    constexpr std::int64_t of_x = have_axes ? A::value[A::rank > 0 ? A::rank - 1 : 0] : 0, of_w = have_axes ? B::value[B::rank > 0 ? B::rank - 1 : 0] : 0;
    static_assert(inner_extents<of_x, of_w>::agree, "tenure: linear: the last extent of x is not the last extent of w, which is (out, in)");
    return have_axes && are_alike && inner_extents<of_x, of_w>::agree;
  }
  template <class X, class W>
  static constexpr auto trace(const X& x, const W& w) {
    if constexpr (!takes<X, W>()) {
      return x;
    } else {
      const extents in_x = value(x).shape(), in_w = value(w).shape();
      x.graph->unify(in_x[in_x.rank - 1], in_w[in_w.rank - 1], name, x.graph->intern(in_x), x.graph->intern(in_w));
      return matmul::trace(x, transpose<-2, -1>::trace(w));
    }
  }
  template <class X, class W, class B>
  static constexpr auto trace(const X& x, const W& w, const B& b) {
    if constexpr (!takes<X, W>()) {
      return x;
    } else {
      const auto y = trace(x, w);
      using together = broadcast_of<typename decltype(y)::shape_type, typename B::shape_type>;
      if constexpr (!together::exists) {
        agree<together::lhs, together::rhs>();
        return y;
      } else {
        broadcast_extents(*x.graph, name, value(y).shape(), value(b).shape());
        return add::trace(y, b);
      }
    }
  }
};

/// x[i] * y[j].
struct outer {
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    constexpr bool are_vectors = X::shape_type::rank == 1 && Y::shape_type::rank == 1;
    static_assert(are_vectors, "tenure: outer: an operand is not a vector");
    if constexpr (are_vectors) return mul::trace(stack<-1>::unsqueeze(x), y);
    else return x;
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The matrix product. The last axis of x is contracted with the second last axis of y, or with the only axis of a vector y. Leading axes
/// are batches, and they broadcast. Element types must be equal, and bool does not compile. A scalar operand does not compile.
template <operand_or_scalar X, class Y> constexpr auto matmul(const X& x, const Y& y) { return apply<ops::matmul>(x, y); }
/// Does not compile: the results of a decomposition are no operand, and the message says so.
template <class... X, class Y> constexpr auto matmul(const std::tuple<X...>&, const Y&) { return detail::refused_tuple<std::tuple<X...>>(); }
template <operand_or_scalar X, class... Y> constexpr auto matmul(const X&, const std::tuple<Y...>&) { return detail::refused_tuple<std::tuple<Y...>>(); }
/// x w^T, and x w^T + b. w is (out, in), x is (..., in), b broadcasts against (..., out).
template <operand_or_scalar X, class W> constexpr auto linear(const X& x, const W& w) { return apply<ops::linear>(x, w); }
template <operand_or_scalar X, class W, class B> constexpr auto linear(const X& x, const W& w, const B& b) { return apply<ops::linear>(x, w, b); }
/// x[i] * y[j] of two vectors. Element types promote as in x * y.
template <operand_or_scalar X, class Y> constexpr auto outer(const X& x, const Y& y) { return apply<ops::outer>(x, y); }

}  // namespace tenure
