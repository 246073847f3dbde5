// SPDX-License-Identifier: BSL-1.0
// Products of vectors that are composed of others: dot, vdot, cross, kron. outer is in contraction.hpp.
#pragma once

#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/contraction.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

/// The sum of x[i] * y[i].
struct dot : rounds_once {
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    constexpr bool are_vectors = X::shape_type::rank == 1 && Y::shape_type::rank == 1;
    static_assert(are_vectors, "tenure: dot: an operand is not a vector: matmul(x, y) is the product of matrices, and vdot(x, y) the sum of all x * y");
    if constexpr (are_vectors) return matmul::trace(x, y);
    else return x;
  }
};

/// The sum of all x * y.
struct vdot : rounds_once {
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    constexpr bool holds = are_alike<typename X::shape_type, typename Y::shape_type>;
    static_assert(holds, "tenure: vdot: the operands have different shapes");
    if constexpr (!holds) {
      return sum<false>::trace(x);
    } else {
      const extents of_x = value(x).shape(), of_y = value(y).shape();
      for (int a = 0; a < of_x.rank; ++a) x.graph->unify(of_x[a], of_y[a], "vdot", x.graph->intern(of_x), x.graph->intern(of_y));
      return sum<false>::trace(mul::trace(x, y));
    }
  }
};

/// x2 y3 - x3 y2, x3 y1 - x1 y3, x1 y2 - x2 y1 along the last axis.
struct cross : rounds_once {
  template <class S>
  static constexpr bool has_three = S::rank > 0 && S::value[S::rank > 0 ? S::rank - 1 : 0] == 3;
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    constexpr bool holds = has_three<typename X::shape_type> && has_three<typename Y::shape_type>;
    static_assert(holds, "tenure: cross: the last axis of an operand does not have the static extent 3");
    if constexpr (holds) return stack<-1>::trace(component<1, 2>(x, y), component<2, 0>(x, y), component<0, 1>(x, y));
    else return x;
  }

 private:
  template <int I, int J>
  static constexpr auto component(const auto& x, const auto& y) {
    return sub::trace(mul::trace(select<-1, I>::trace(x), select<-1, J>::trace(y)), mul::trace(select<-1, J>::trace(x), select<-1, I>::trace(y)));
  }
};

/// The blocks x[i, j] * y.
struct kron : rounds_once {
  static constexpr extents joined(const extents& s, auto product) {
    extents to = s;
    to.rank = s.rank - 4;
    to.push_back(product(s.rank - 4));
    to.push_back(product(s.rank - 2));
    return to;
  }
  template <class S>
  struct rule {
    static constexpr extents value = joined(S::value, [](int a) {
      const std::int64_t one = S::value[a], other = S::value[a + 1];
      return is_static(one) && is_static(other) ? one * other : dyn;
    });
  };
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    constexpr bool are_matrices = X::shape_type::rank >= 2 && Y::shape_type::rank >= 2;
    static_assert(are_matrices, "tenure: kron: an operand has less than two axes");
    if constexpr (are_matrices) {
      const auto all = mul::trace(stack<-1>::unsqueeze(stack<-2>::unsqueeze(x)), stack<-2>::unsqueeze(stack<-3>::unsqueeze(y)));
      using blocks = typename decltype(all)::shape_type;
      const extents s = value(all).shape();
      const extents to = joined(s, [&](int a) { return elements_along(*x.graph, s, std::int64_t{3} << a); });
      return traced<typename decltype(all)::element_type, shape_from<rule<blocks>>>{x.graph, reshape_to(all, to).id};
    } else {
      return x;
    }
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The sum of x[i] * y[i] of two vectors of one element type.
template <operand_or_scalar X, class Y> constexpr auto dot(const X& x, const Y& y) { return apply<ops::dot>(x, y); }
/// The sum of all x * y of two operands of equal shapes. Element types promote as in x * y. The sum of integers is int64.
template <operand_or_scalar X, class Y> constexpr auto vdot(const X& x, const Y& y) { return apply<ops::vdot>(x, y); }
/// The cross product of vectors along the last axis, whose extent is 3. The other axes broadcast, and element types promote as in x * y.
template <operand_or_scalar X, class Y> constexpr auto cross(const X& x, const Y& y) { return apply<ops::cross>(x, y); }
/// The Kronecker product of matrices: for x of (..., n, m) and y of (..., p, q) it is (..., n p, m q), and its blocks are x[i, j] * y. Batches broadcast, and
/// element types promote as in x * y.
template <operand_or_scalar X, class Y> constexpr auto kron(const X& x, const Y& y) { return apply<ops::kron>(x, y); }

}  // namespace tenure
