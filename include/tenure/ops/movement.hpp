// SPDX-License-Identifier: BSL-1.0
// Movement of elements without arithmetic: transpose, permute, reshape, slice, concat, stack; stop_gradient; casts.
#pragma once

#include <tuple>

#include <tenure/ops/axes.hpp>
#include <tenure/ops/pointwise.hpp>
#include <tenure/ops/structural/assembly.hpp>
#include <tenure/ops/structural/indexing.hpp>
#include <tenure/tensor/view_rules.hpp>

namespace TENURE_NAMESPACE::ops {

template <int... A>
struct permute {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: permute: an axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr bool names_all = sizeof...(A) == S::rank;
    static_assert(names_all, "tenure: permute: the number of axes differs from the rank of the tensor");
    if constexpr (!names_all) {
      return x;
    } else if constexpr (!names_each_once<S>()) {
      return x;
    } else {
      std::int64_t axes = 0;
      int i = 0;
      ((axes = ir::pack_axis(axes, i++, axis_position<permute, S::rank, A>::value)), ...);
      return traced<typename X::element_type, shape_from<tenure::detail::permuted_shape<S, axis_position<permute, S::rank, A>::value...>>>{x.graph, permuted(x, axes).id};
    }
  }

 private:
  template <class S>
  static constexpr bool names_each_once() {
    constexpr bool are_inside = (axis_position<permute, S::rank, A>::is_inside && ...), holds = are_distinct<axis_position<permute, S::rank, A>::value...>;
    static_assert(!are_inside || holds, "tenure: permute: each axis must be named exactly once");
    return are_inside && holds;
  }
};

template <int A, int B>
struct transpose {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: transpose: an axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr bool has_two = S::rank >= 2;
    static_assert(has_two, "tenure: transpose: needs at least two axes: the product of two vectors is outer(x, y)");
    if constexpr (has_two) {
      constexpr int a = axis_position<transpose, S::rank, A>::value, b = axis_position<transpose, S::rank, B>::value;
      std::int64_t axes = 0;
      for (int i = 0; i < S::rank; ++i) axes = ir::pack_axis(axes, i, i == a ? b : i == b ? a : i);
      return traced<typename X::element_type, shape_from<tenure::detail::transposed_shape<S, a, b>>>{x.graph, permuted(x, axes).id};
    } else {
      return x;
    }
  }
};

namespace detail {
template <std::int64_t From, std::int64_t To>
struct same_count {
  static constexpr bool value = From == To;
};

/// Arithmetic with the extents of a trace, which may be symbols.
struct symbolic_extents {
  ir::builder* graph;

  constexpr std::int64_t product(std::int64_t a, std::int64_t b) const { return graph->derived(ir::symbol::kind::product, a, b); }
  constexpr std::int64_t product(const extents& s) const {
    std::int64_t all = 1;
    for (int i = 0; i < s.rank; ++i) all = product(all, s[i]);
    return all;
  }
  constexpr std::int64_t rest(const extents& s, std::int64_t others) const { return graph->derived(ir::symbol::kind::quotient, product(s), others); }
  static constexpr std::int64_t given() { return dyn; }  // a trace takes no integers: the rule asks for none
};
}  // namespace detail

template <std::int64_t... E>
struct reshape {
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    using rule = tenure::detail::reshape_rule<S, 0, E...>;
    static_assert(rule::is_complete, "tenure: reshape: at most one extent can be left open");
    constexpr bool holds_all = !rule::is_complete || rule::counts_agree || detail::same_count<S::size, rule::known>::value;
    static_assert(holds_all || detail::same_count<S::size, rule::known>::value, "tenure: reshape: the new shape has a different number of elements");
    if constexpr (rule::is_complete && !holds_all && ((E >= 0) && ...)) {
      using T = typename X::element_type;  // of the shape that was asked for, so that no further errors follow
      return traced<T, shape<E...>>{x.graph, x.graph->constant(dtype_v<T>, x.graph->intern(shape<E...>::value), 0)};
    } else if constexpr (!rule::is_complete || !holds_all) {
      return x;
    } else {
      const detail::symbolic_extents on{x.graph};
      const extents to = rule::bound(x.shape(), on);
      if constexpr (!S::is_static) {
        const std::int16_t from = x.graph->intern(extents(x.shape())), into = x.graph->intern(to);
        x.graph->unify(on.product(x.shape()), on.product(to), "reshape", from, into);
      }
      return traced<typename X::element_type, shape_from<rule>>{x.graph, reshape_to(x, to).id};
    }
  }
};

/// Axis A, of M * k elements, as two axes of M and k elements. The extent of the axis is static.
template <class S, int A, std::int64_t M>
struct split_axis {
  static constexpr extents of(const extents& from) {
    extents to;
    for (int d = 0; d < S::rank; ++d) {
      to.push_back(d == A ? M : from[d]);
      if (d == A) to.push_back(from[d] / M);
    }
    return to;
  }
  static constexpr extents value = of(S::value);
  template <class X>
  static constexpr auto trace(const X& x) { return traced<typename X::element_type, shape_from<split_axis>>{x.graph, reshape_to(x, of(x.shape())).id}; }
};

template <class S, int A, std::int64_t Length>
struct sliced_shape {
  static constexpr extents with(extents s) {
    s[A] = Length;
    return s;
  }
  static constexpr extents value = with(S::value);
};

/// The Length elements First, First + Step, ... of an axis.
template <int A, std::int64_t First, std::int64_t Length, std::int64_t Step>
struct slice {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: slice: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr int at = axis_position<slice, S::rank, A>::value;
    constexpr std::int64_t extent = S::value[at], last = Length == 0 ? First : First + (Length - 1) * Step;
    static_assert(First >= 0 && last >= 0 && (!is_static(extent) || (First <= extent && (Length == 0 || (last < extent && First < extent)))),
                  "tenure: slice: reaches outside its axis");
    x.graph->require_at_least(value(x).shape()[at], Length == 0 ? First : (First > last ? First : last) + 1, "slice");
    return traced<typename X::element_type, shape_from<sliced_shape<S, at, Length>>>{x.graph, sliced(x, at, First, Length, Step).id};
  }
};

template <class S, int A>
struct dropped_axis {
  static constexpr extents value = without_axes(S::value, std::int64_t{1} << A);
};

/// The element I of an axis. The axis is dropped.
template <int A, std::int64_t I>
struct select {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: select: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr int at = axis_position<select, S::rank, A>::value;
    constexpr std::int64_t index = I < 0 && S::value[at] >= 0 ? I + S::value[at] : I;
    const auto one = slice<at, index, 1, 1>::trace(x);
    return traced<typename X::element_type, shape_from<dropped_axis<S, at>>>{x.graph, reshape_to(one, without_axes(x.shape(), std::int64_t{1} << at)).id};
  }
};

namespace detail {
template <int A, class L, class R>
struct concat_shape {
  static constexpr bool ranks_agree = L::rank == R::rank;
  static constexpr extents joined() {
    extents s = L::value;
    for (int i = 0; i < s.rank; ++i)
      s[i] = i == A ? (is_static(s[i]) && is_static(R::value[i]) ? s[i] + R::value[i] : dyn) : agreed(s[i], R::value[i]);
    return s;
  }
  static constexpr bool others_agree() {
    for (int i = 0; i < L::rank; ++i)
      if (i != A && !extents_may_agree(L::value[i], R::value[i])) return false;
    return true;
  }
  static constexpr extents value = joined();
};
/// x and y along an axis of which x has a run-time extent. A concat reads its second operand behind a constant number of elements, so y is written into a copy of x
/// with zeros behind it.
constexpr value appended(value x, value y, int axis) {
  ir::builder& g = *x.graph;
  const std::int64_t before = x.shape()[axis], extent = g.derived(ir::symbol::kind::sum, before, y.shape()[axis]);
  const value start = number_of_extent(g, dtype::int64, before);
  know_starts(start, extent, y.shape()[axis]);
  return updated(padded(x, axis, 0, extent, 1), y, start, axis);
}
}  // namespace detail

/// Joins operands along axis A.
template <int A>
struct concat {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: concat: the axis lies outside the tensor's rank"); }
  static constexpr auto trace(const auto& x) { return x; }
  template <class X, class Y, class... Rest>
  static constexpr auto trace(const X& x, const Y& y, const Rest&... rest) {
    using L = typename X::shape_type;
    using R = typename Y::shape_type;
    static_assert(L::rank == R::rank, "tenure: concat: operands have different ranks: tn::unsqueeze<0>(x) makes a vector of a number");
    static_assert(std::is_same_v<typename X::element_type, typename Y::element_type>, "tenure: concat: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
    constexpr int at = axis_position<concat, L::rank, A>::value;
    using rule = detail::concat_shape<at, L, R>;
    static_assert(!rule::ranks_agree || rule::others_agree(), "tenure: concat: extents beside the joined axis differ");
    for (int i = 0; i < L::rank; ++i)
      if (i != at) x.graph->unify(value(x).shape()[i], value(y).shape()[i], "concat", x.graph->intern(extents(x.shape())), x.graph->intern(extents(y.shape())));
    const traced<typename X::element_type, shape_from<rule>> joined{x.graph, (is_static(L::value[at]) ? concatenated(x, y, at) : detail::appended(x, y, at)).id};
    return concat<at>::trace(joined, rest...);
  }
};

/// Joins operands of equal shapes along a new axis.
template <int A>
struct stack {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: stack: the axis lies outside the result's rank"); }
  template <class S>
  struct unsqueezed {
    static constexpr int at = axis_position<stack, S::rank + 1, A>::value;
    static constexpr extents value = tenure::detail::with_axis(S::value, at, 1);
  };
  template <class X, class...>
  static constexpr int at = unsqueezed<typename X::shape_type>::at;
  template <class X>
  static constexpr auto unsqueeze(const X& x) {
    using rule = unsqueezed<typename X::shape_type>;
    return traced<typename X::element_type, shape_from<rule>>{x.graph, reshape_to(x, tenure::detail::with_axis(value(x).shape(), rule::at, 1)).id};
  }
  template <class X, class Y>
  static constexpr bool have_equal_ranks = X::shape_type::rank == Y::shape_type::rank;
  template <class X, class Y>
  static constexpr bool have_equal_types = std::is_same_v<typename X::element_type, typename Y::element_type>;
  template <class L, class R>
  static constexpr bool are_equal = detail::concat_shape<-1, L, R>::others_agree();
  /// Whether the operands have one shape and one element type. If not, a static_assert gives the reason.
  template <class X, class... Rest>
  static constexpr bool are_alike() {
    static_assert((have_equal_ranks<X, Rest> && ...), "tenure: stack: operands have different ranks: it puts arrays of one shape along a new axis, and concat joins them along an axis that they have");
    static_assert((have_equal_types<X, Rest> && ...), "tenure: stack: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
    if constexpr (!(have_equal_ranks<X, Rest> && ...) || !(have_equal_types<X, Rest> && ...)) {
      return false;
    } else {
      constexpr bool holds = (are_equal<typename X::shape_type, typename Rest::shape_type> && ...);
      static_assert((are_equal<typename X::shape_type, typename Rest::shape_type> && ...), "tenure: stack: operands have different shapes");
      return holds;
    }
  }
  template <class X, class... Rest>
  static constexpr auto trace(const X& x, const Rest&... rest) {
    if constexpr (are_alike<X, Rest...>()) {
      (unify(x, rest), ...);  // here, so that the error of a call names stack and not concat
      return concat<at<X>>::trace(unsqueeze(x), unsqueeze(rest)...);
    } else {
      return unsqueeze(x);
    }
  }

 private:
  template <class X, class Y>
  static constexpr void unify(const X& x, const Y& y) {
    for (int i = 0; i < X::shape_type::rank; ++i)
      x.graph->unify(value(x).shape()[i], value(y).shape()[i], "stack", x.graph->intern(extents(x.shape())), x.graph->intern(extents(y.shape())));
  }
};

struct stop_gradient {
  static constexpr bool reaches(int) { return false; }
  template <class X>
  static constexpr auto trace(const X& x) { return X{x.graph, stopped(x).id}; }
};

template <class To>
struct cast {
  template <class X>
  static constexpr auto trace(const X& x) { return traced<To, typename X::shape_type>{x.graph, cast_to(x, dtype_v<To>).id}; }
};

template <std::int64_t... E>
struct expand {
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    using rule = tenure::detail::expand_rule<S, 0, E...>;
    static_assert(rule::is_complete, "tenure: expand: one integer is needed for each run-time extent");
    static_assert(rule::broadcasts, "tenure: expand: only axes of static extent 1 and new leading axes expand");
    if constexpr (!rule::is_complete || !rule::broadcasts) {
      return x;
    } else {
      const extents to = rule::bind(x.shape(), nullptr);
      const std::int16_t from = x.graph->intern(extents(x.shape())), into = x.graph->intern(to);
      for (int i = 0; i < S::rank; ++i)
        if (S::value[i] != 1) x.graph->unify(value(x).shape()[i], to[i + rule::lead], "expand", from, into);
      return traced<typename X::element_type, shape_from<rule>>{x.graph, broadcast_to(x, into).id};
    }
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Views without arithmetic. transpose swaps the last two axes, or the axes A and B. permute<A...>: axis i of the result is axis A[i] of x.
/// A negative axis counts from the end. Errors: a wrong axis or number of axes does not compile.
template <operand_or_scalar X> constexpr auto transpose(const X& x) { return apply<ops::transpose<-2, -1>>(x); }
namespace detail {
/// The results of a decomposition in place of an operand.
template <class X>
constexpr after_error refused_tuple() {
  static_assert(never<X>, "tenure: transpose, matmul: an operand is a tuple: a decomposition has several results, auto [q, r] = tn::qr(a)");
  return {};
}
}  // namespace detail
/// Does not compile: the results of a decomposition are no operand, and the message says so.
template <class... X> constexpr auto transpose(const std::tuple<X...>&) { return detail::refused_tuple<std::tuple<X...>>(); }
template <int A, int B, operand_or_scalar X> constexpr auto transpose(const X& x) { return apply<ops::transpose<A, B>>(x); }
template <int... A, operand_or_scalar X> constexpr auto permute(const X& x) { return apply<ops::permute<A...>>(x); }
/// x in the shape E, in row-major order. A named extent is the extent of the axis of x with this name. One other extent may be open; it follows from
/// the number of elements. Errors: another number of elements does not compile, or throws shape_error if only the call knows the extents.
template <std::int64_t... E, operand_or_scalar X> constexpr auto reshape(const X& x) { return apply<ops::reshape<E...>>(x); }
/// x broadcast to the shape E. Only new leading axes and axes of static extent 1 stretch. A run-time extent is the extent of that axis of x.
/// Errors: as for reshape.
template <std::int64_t... E, operand_or_scalar X> constexpr auto expand(const X& x) { return apply<ops::expand<E...>>(x); }
/// slice: the Length elements First, First + Step, ... of axis A. Step may be negative. select: the element I of axis A, which is dropped;
/// a negative I counts from the end of a static extent. Errors: a position outside the axis does not compile, or throws at the call where
/// the extent is a run-time one.
template <int A, std::int64_t First, std::int64_t Length, std::int64_t Step = 1, operand_or_scalar X>
constexpr auto slice(const X& x) {
  static_assert(Length >= 0 && Step != 0, "tenure: slice: needs a length of at least 0 and a step that is not 0");
  return apply<ops::slice<A, First, (Length >= 0 ? Length : 0), (Step != 0 ? Step : 1)>>(x);
}
/// Does not compile: the positions are template arguments, and the message says so.
template <operand_or_scalar X, class... N>
constexpr auto slice(const X& x, const N&...) {
  static_assert(detail::never<X>, "tenure: slice: axis, first and length are template arguments: slice<0, 1, 2>(x) has x[1], x[2]; positions of the run are x.at(tn::range(i, j)) and dynamic_slice(x, i, lengths)");
  return detail::stand_in(x);
}
template <int A, std::int64_t I, operand_or_scalar X> constexpr auto select(const X& x) { return apply<ops::select<A, I>>(x); }
/// concat joins along axis A. The other extents and the element types must be equal. Cost: kernels compute the operands where they stand in the result, but those
/// behind an operand with a run-time extent along A are computed first and then copied, and so are those before them. stack joins operands of equal shapes along a new axis A.
template <int A = 0, class... X> requires some_operand<X...> constexpr auto concat(const X&... x) { return apply<ops::concat<A>>(x...); }
template <int A = 0, class... X> requires some_operand<X...> constexpr auto stack(const X&... x) { return apply<ops::stack<A>>(x...); }
/// The value of x. Derivatives treat it as a constant.
template <operand X> constexpr auto stop_gradient(const X& x) { return apply<ops::stop_gradient>(x); }
/// A floating number becomes an integer without its fraction. A number outside the range becomes the nearest end of the range, and NaN
/// becomes 0. As bool, NaN is true.
template <element To, operand X> constexpr auto cast(const X& x) { return apply<ops::cast<To>>(x); }

}  // namespace tenure
