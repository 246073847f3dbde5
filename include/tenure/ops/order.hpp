// SPDX-License-Identifier: BSL-1.0
// sort, argsort, topk, argtopk, median and quantile along an axis. A step computes the positions of the elements in sorted order
// (opaque/order.hpp). Reading at these positions gives the elements, and gradients go back to the positions.
// Cost: a step that sorts each row in O(n log n) on the CPU, and for topk finds k elements in O(n log k); on a GPU each thread reads a row.
// Then a gather.
#pragma once

#include <tenure/ops/opaque/order.hpp>
#include <tenure/ops/position.hpp>

namespace TENURE_NAMESPACE {

struct descending_t {};
/// sort(x, descending): from the largest element to the smallest.
inline constexpr descending_t descending{};
struct smallest_t {};
/// topk<K>(x, smallest): the smallest elements in place of the largest.
inline constexpr smallest_t smallest{};

namespace ops {
namespace detail {

/// The first `count` positions of the order. If they are a large part of the axis, the whole axis is sorted, because that takes less time.
constexpr value order_along(value x, int axis, bool falls, std::int64_t count) {
  const int last = x.shape().rank - 1;
  const std::int64_t length = x.shape()[axis];
  const bool are_few = count == length || !is_static(length) || 4 * count <= length;
  const value first = moved_axis(ordered(moved_axis(x, axis, last), falls, are_few ? count : length), last, axis);
  return are_few ? first : sliced(first, axis, 0, count, 1);
}
constexpr value order_along(value x, int axis, bool falls) { return order_along(x, axis, falls, x.shape()[axis]); }

template <class X>
constexpr bool is_sortable() {
  static_assert(X::shape_type::rank > 0, "tenure: sort, argsort, topk, argtopk: a scalar has no axis to sort along");
  return X::shape_type::rank > 0;
}

/// The arguments after the operand: an axis, which is the last one by default, and a flag.
template <class Flag, class... Option>
struct order_options {
  static constexpr bool are_known = sizeof...(Option) == 0, has_flag = false;
  static constexpr int at = -1;
};
template <class Flag, int A>
struct order_options<Flag, axis_list<A>> {
  static constexpr bool are_known = true, has_flag = false;
  static constexpr int at = A;
};
template <class Flag, int A>
struct order_options<Flag, axis_list<A>, Flag> {
  static constexpr bool are_known = true, has_flag = true;
  static constexpr int at = A;
};
template <class Flag>
struct order_options<Flag, Flag> {
  static constexpr bool are_known = true, has_flag = true;
  static constexpr int at = -1;
};

template <class Options>
constexpr bool are_sort_options() {
  static_assert(Options::are_known, "tenure: sort, argsort: the arguments after x are axis<A>, by default the last one, and then tn::descending");
  return Options::are_known;
}
template <class Options>
constexpr bool are_topk_options() {
  static_assert(Options::are_known, "tenure: topk, argtopk: the arguments after x are axis<A>, by default the last one, and then tn::smallest");
  return Options::are_known;
}
}  // namespace detail

/// The elements in order, or their positions.
template <int A, bool Falls, bool Positions>
struct sort {
  template <int Axis, int Rank>
  static constexpr void has_axis() {
    constexpr bool is_inside = -Rank <= Axis && Axis < Rank;
    static_assert(is_inside || Positions, "tenure: sort: the axis lies outside the tensor's rank");
    static_assert(is_inside || !Positions, "tenure: argsort: the axis lies outside the tensor's rank");
  }
  template <class X>
  static constexpr auto trace(const X& x) {
    using result = traced<std::conditional_t<Positions, std::int64_t, typename X::element_type>, typename X::shape_type>;
    if constexpr (!detail::is_sortable<X>()) {
      return result{x.graph, cast_to(x, dtype_v<typename result::element_type>).id};
    } else {
      constexpr int at = axis_position<sort, X::shape_type::rank, A>::value;
      const value order = detail::order_along(x, at, Falls);
      if constexpr (Positions) return result{x.graph, order.id};
      else return result{x.graph, detail::taken_along(x, order, at, "sort", true).id};
    }
  }
};

/// The first K elements of the order, or their positions.
template <std::int64_t K, int A, bool Falls, bool Positions>
struct first_of_order {
  template <int Axis, int Rank>
  static constexpr void has_axis() {
    constexpr bool is_inside = -Rank <= Axis && Axis < Rank;
    static_assert(is_inside || Positions, "tenure: topk: the axis lies outside the tensor's rank");
    static_assert(is_inside || !Positions, "tenure: argtopk: the axis lies outside the tensor's rank");
  }
  template <class X>
  static constexpr auto trace(const X& x) {
    if constexpr (!detail::is_sortable<X>()) {
      return x;
    } else {
      using S = typename X::shape_type;
      constexpr int at = axis_position<first_of_order, S::rank, A>::value;
      constexpr bool has_elements = K >= 0 && (!is_static(S::value[at]) || K <= S::value[at]);
      static_assert(has_elements, "tenure: topk, argtopk: the axis has fewer elements");
      using shape = shape_from<sliced_shape<S, at, K>>;
      using result = traced<std::conditional_t<Positions, std::int64_t, typename X::element_type>, shape>;
      if constexpr (!has_elements) {
        return x;
      } else {
        x.graph->require_at_least(value(x).shape()[at], K, Positions ? "argtopk" : "topk");
        const value first = detail::order_along(x, at, Falls, K);
        if constexpr (Positions) return result{x.graph, first.id};
        else return result{x.graph, detail::taken_along(x, first, at, "topk", true).id};
      }
    }
  }
};

namespace detail {
/// One element of the sorted order of each row along axis<A>, or of all elements. Op::of_row<At>(x) computes it, with extent 1 along the axis At.
template <class Op, bool Keep, int... A>
struct of_order {
  template <class X, class... Rest>
  static constexpr auto trace(const X& x, const Rest&... rest) {
    using S = typename X::shape_type;
    if constexpr (sizeof...(A) > 1 || !axis_mask<Op, S::rank, A...>::is_valid) {
      Op::template works_along<sizeof...(A)>();
      return x;
    } else {
      constexpr std::int64_t mask = axis_mask<Op, S::rank, A...>::value, n = detail::places<X, mask>::count;
      using result = traced<typename X::element_type, shape_from<reduced_shape<S, mask, Keep>>>;
      Op::template has_elements<n>();
      if constexpr (n == 0) {
        return x;
      } else {
        ir::builder& g = *x.graph;
        const std::int64_t count = elements_along(g, value(x).shape(), mask);
        g.require_at_least(count, 1, Op::name);
        const auto found = [&] {
          if constexpr (sizeof...(A) > 0) return Op::template of_row<axis_position<Op, S::rank, A...>::value>(x, rest...);
          else return Op::template of_row<0>(traced<typename X::element_type, shape<n>>{&g, reshape_to(x, {1, {count}}).id}, rest...);
        }();
        return result{&g, reshape_to(found, Keep ? with_ones(value(x).shape(), mask) : without_axes(value(x).shape(), mask)).id};
      }
    }
  }

 protected:
  /// For each row along At the element of x at `position`, or the first NaN if the row has one. The result has extent 1 along At.
  template <int At, class X>
  static constexpr value element_or_nan(const X& x, value position) {
    if constexpr (is_floating(dtype_v<typename X::element_type>)) {
      const value largest = reduce<ir::reduction::max, true, At>::trace(x), first = arg_extremum<ir::reduction::max, true, At>::trace(x);
      position = pointwise_value<where>(pointwise_value<not_equal>(largest, largest), first, position);
    }
    return taken_along(x, position, At, Op::name, true);
  }
  /// For each row the position that stands at `place` of its order. The result has extent 1 along `at`.
  static constexpr value positions_at(const value& order, int at, const value& place, bool is_inside) {
    extents to = order.shape();
    to[at] = 1;
    return taken_along(order, broadcast_to(place, order.graph->intern(to)), at, Op::call, is_inside);
  }
};
}  // namespace detail

/// The middle element of the sorted order, the lower one of two middle elements, or the first NaN if there is one.
template <bool Keep, int... A>
struct median : detail::of_order<median<Keep, A...>, Keep, A...> {
  static constexpr const char *name = "median", *call = name;
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: median: the axis lies outside the tensor's rank"); }
  template <std::size_t Axes>
  static constexpr void works_along() { static_assert(Axes <= 1, "tenure: median: it works along one axis, or over all elements"); }
  template <std::int64_t N>
  static constexpr void has_elements() { static_assert(N != 0, "tenure: median: the axis is empty"); }
  template <int At, class X>
  static constexpr value of_row(const X& x) {
    const value order = detail::order_along(x, At, false);
    const std::int64_t n = order.shape()[At];
    if (is_static(n)) return median::template element_or_nan<At>(x, sliced(order, At, (n - 1) / 2, 1, 1));
    const value last = number_of_extent(*x.graph, dtype::int64, n) - 1.0;
    return median::template element_or_nan<At>(x, median::positions_at(order, At, pointwise_value<floor_divide>(last, last.like(2)), true));
  }
};

/// The element at place q (n - 1) of the sorted order, interpolated linearly between two elements.
template <bool Keep, int... A>
struct quantile : detail::of_order<quantile<Keep, A...>, Keep, A...> {
  static constexpr const char *name = "quantile", *call = "quantile: q lies outside [0, 1]";  // `call` is for messages about an index
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: quantile: the axis lies outside the tensor's rank"); }
  template <std::size_t Axes>
  static constexpr void works_along() { static_assert(Axes <= 1, "tenure: quantile: it works along one axis, or over all elements"); }
  template <std::int64_t N>
  static constexpr void has_elements() { static_assert(N != 0, "tenure: quantile: the axis is empty"); }

  template <class X, class Q>
  static constexpr auto trace(const X& x, const Q& q) {
    constexpr bool is_number = Q::shape_type::rank == 0;
    static_assert(is_number, "tenure: quantile: q is one number");
    using E = std::conditional_t<is_floating(dtype_v<typename X::element_type>), typename X::element_type, float>;
    const traced<E, typename X::shape_type> elements{x.graph, cast_to(x, dtype_v<E>).id};
    if constexpr (!is_number) return elements;
    else return quantile::of_order::trace(elements, q);
  }
  template <int At, class X, class Q>
  static constexpr value of_row(const X& x, const Q& q) {
    using E = typename X::element_type;
    const value last = number_of_extent(*x.graph, dtype::float64, value(x).shape()[At]) - 1.0;
    const value place = cast_to(q, dtype::float64) * last, low = pointwise_value<floor>(place);
    const value order = detail::order_along(x, At, false);
    const auto at = [&](const value& p) { return quantile::template element_or_nan<At>(x, quantile::positions_at(order, At, cast_to(p, dtype::int64), false)); };
    const value a = at(low), b = at(pointwise_value<ceil>(place));
    const value part = broadcast_to(cast_to(place - low, dtype_v<E>), a.node().shape);
    // Equal infinities are not interpolated, because their difference is NaN. Equal finite elements are, so that they share the gradient.
    const value difference = b - a, is_infinite = pointwise_value<not_equal>(difference, difference);
    const value between = pointwise_value<where>(pointwise_value<logical_and>(pointwise_value<equal>(a, b), is_infinite), a, a + part * difference);
    return pointwise_value<where>(pointwise_value<not_equal>(part, part), part, between);
  }
};

}  // namespace ops

/// sort gives the elements along axis<A>, by default the last one, in ascending order; with tn::descending after the axis, in descending order.
/// argsort gives their int64 positions. Equal elements stay in the order of their positions. NaN is above every number, as in PyTorch. The gradient
/// of an element goes to its old position. To get both for a tensor: i = tn::eval(argsort(x)), then take_along<A>(x, i).
template <operand_or_scalar X, class... Option>
constexpr auto sort(const X& x, const Option&...) {
  using options = ops::detail::order_options<descending_t, Option...>;
  if constexpr (!ops::detail::are_sort_options<options>()) return apply<ops::sort<-1, false, false>>(x);
  else return apply<ops::sort<options::at, options::has_flag, false>>(x);
}
template <operand_or_scalar X, class... Option>
constexpr auto argsort(const X& x, const Option&...) {
  using options = ops::detail::order_options<descending_t, Option...>;
  if constexpr (!ops::detail::are_sort_options<options>()) return apply<ops::sort<-1, false, true>>(x);
  else return apply<ops::sort<options::at, options::has_flag, true>>(x);
}
/// topk gives the K largest elements along axis<A>, by default the last one, in descending order; with tn::smallest, the K smallest in ascending
/// order. argtopk gives their positions. Equal elements, NaN and gradients: as sort. Errors: an axis with fewer elements does not compile, or throws
/// shape_error if its extent is a run-time one.
template <std::int64_t K, operand_or_scalar X, class... Option>
constexpr auto topk(const X& x, const Option&...) {
  using options = ops::detail::order_options<smallest_t, Option...>;
  if constexpr (!ops::detail::are_topk_options<options>()) return apply<ops::first_of_order<K, -1, true, false>>(x);
  else return apply<ops::first_of_order<K, options::at, !options::has_flag, false>>(x);
}
template <std::int64_t K, operand_or_scalar X, class... Option>
constexpr auto argtopk(const X& x, const Option&...) {
  using options = ops::detail::order_options<smallest_t, Option...>;
  if constexpr (!ops::detail::are_topk_options<options>()) return apply<ops::first_of_order<K, -1, true, true>>(x);
  else return apply<ops::first_of_order<K, options::at, !options::has_flag, true>>(x);
}
// The number of elements as an argument: it decides the shape, so it is in the type.
template <operand_or_scalar X, class... Rest>
constexpr auto topk(const X&, const Rest&...) {
  static_assert(detail::never<X>, "tenure: topk, argtopk: the number of elements is a template argument: topk<3>(x), and tn::axis<A> after x");
  return after_error();
}
template <operand_or_scalar X, class... Rest>
constexpr auto argtopk(const X& x, const Rest&... rest) { return topk(x, rest...); }
/// The middle element of the sorted order of all elements, or along axis<A>. The axis is dropped; keepdim keeps it with extent 1. If the number of
/// elements is even, it is the lower of the two middle elements, as in PyTorch. A NaN among the elements gives NaN. The gradient goes to that
/// element; of equal elements, to the first one (over all elements PyTorch shares it among equals). Errors: no elements do not compile, or throw
/// shape_error if the extent is a run-time one.
template <operand_or_scalar X, class... Along> constexpr auto median(const X& x, const Along&...) { return apply<typename ops::along<ops::median, Along...>::type>(x); }
/// The element at place q (n - 1) of the sorted order of n elements: of all elements, or along axis<A>, as in median. Between two elements it is
/// interpolated linearly, as in NumPy and PyTorch. Between equal elements it is that element, also for infinities. q is a number or a scalar value
/// from 0 to 1. The gradient in q is the slope of the interpolation, and 0 at an element. Integers and bool become float32. A NaN among the elements,
/// or as q, gives NaN. Errors: as median; a q outside [0, 1] throws index_error.
template <operand_or_scalar X, class Q, class... Along>
constexpr auto quantile(const X& x, const Q& q, const Along&...) { return apply<typename ops::along<ops::quantile, Along...>::type>(x, q); }

}  // namespace tenure
