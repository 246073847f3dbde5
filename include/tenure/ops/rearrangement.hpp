// SPDX-License-Identifier: BSL-1.0
// Movements that are composed of other movements: unsqueeze, squeeze, pad, flip, roll, repeat, windows, diagonal, diag, hstack, vstack, block.
#pragma once

#include <tuple>
#include <utility>

#include <tenure/ops/movement.hpp>
#include <tenure/ops/opaque/triangle.hpp>
#include <tenure/ops/structural/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

/// x with a new axis of extent 1 before axis A (-1: after the last axis).
template <int A>
struct unsqueeze {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: unsqueeze: the axis lies outside the result's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) { return stack<axis_position<unsqueeze, X::shape_type::rank + 1, A>::value>::trace(x); }
};

/// x without axis A, whose extent must be 1.
template <int A>
struct squeeze {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: squeeze: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr int at = axis_position<squeeze, S::rank, A>::value;
    static_assert(S::value[at] == 1, "tenure: squeeze: the extent of the axis is not 1");
    return select<at, 0>::trace(x);
  }
};

/// x with `Before` zeros in front of an axis and `After` zeros behind it.
template <int A, std::int64_t Before, std::int64_t After>
struct pad {
  static_assert(Before >= 0 && After >= 0, "tenure: pad: cannot pad by less than 0; slice instead");
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: pad: the axis lies outside the tensor's rank"); }

  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr int at = axis_position<pad, S::rank, A>::value;
    static_assert(is_static(S::value[at]), "tenure: pad: the axis needs a static extent");
    constexpr std::int64_t extent = S::value[at] + Before + After;
    return traced<typename X::element_type, shape_from<sliced_shape<S, at, extent>>>{x.graph, padded(x, at, Before, extent, 1).id};
  }

  /// pad with a scalar in place of the zeros. The parts are concatenated and not added, so an infinite fill value does not affect elements of x.
  template <class X, class C>
  static constexpr auto trace(const X& x, const C& fill) {
    constexpr bool is_scalar = C::shape_type::rank == 0;
    constexpr bool fits = is_floating(dtype_v<typename X::element_type>) || !is_floating(dtype_v<typename C::element_type>);
    static_assert(is_scalar, "tenure: pad: the value is not a number or a scalar");
    static_assert(!is_scalar || fits, "tenure: pad: the value is floating, x holds integers or bool");
    const auto zeros = pad::trace(x);
    if constexpr (!is_scalar || !fits) {
      return zeros;
    } else {
      constexpr int at = axis_position<pad, X::shape_type::rank, A>::value;
      ir::builder& g = *x.graph;
      const value of_type = cast_to(fill, dtype_v<typename X::element_type>);
      const auto beside = [&](std::int64_t length) {
        extents s = x.shape();
        s[at] = length;
        return broadcast_to(of_type, g.intern(s));
      };
      value joined = x;
      if constexpr (Before > 0) joined = concatenated(beside(Before), joined, at);
      if constexpr (After > 0) joined = concatenated(joined, beside(After), at);
      return std::remove_const_t<decltype(zeros)>{&g, joined.id};
    }
  }
};

namespace detail {
/// Applies operations one after the other.
template <class First, class... Rest, class X>
constexpr auto one_after_another(const X& x) {
  if constexpr (sizeof...(Rest) == 0) return First::trace(x);
  else return one_after_another<Rest...>(First::trace(x));
}
template <int At>
struct reversed {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr std::int64_t extent = X::shape_type::value[At];
    static_assert(is_static(extent), "tenure: flip: the axis needs a static extent");
    return slice<At, (extent > 0 ? extent - 1 : 0), extent, -1>::trace(x);
  }
};
}  // namespace detail

/// x with the elements of each axis A in reverse order.
template <int... A>
struct flip {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: flip: an axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    static_assert(sizeof...(A) > 0, "tenure: flip: no axis is named");
    if constexpr (sizeof...(A) == 0) return x;
    else if constexpr (!(axis_position<flip, X::shape_type::rank, A>::is_inside && ...)) return x;
    else return one_after_another<axis_position<flip, X::shape_type::rank, A>::value...>(x);
  }

 private:
  template <int... At, class X>
  static constexpr auto one_after_another(const X& x) {
    static_assert(are_distinct<At...>, "tenure: flip: an axis is named twice");
    return detail::one_after_another<detail::reversed<At>...>(x);
  }
};

/// x with the elements of an axis moved by Shift positions. Elements that leave the axis at its end come back at its front.
template <int A, std::int64_t Shift>
struct roll {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: roll: an axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr int at = axis_position<roll, S::rank, A>::value;
    constexpr std::int64_t extent = S::value[at];
    static_assert(is_static(extent), "tenure: roll: the axis needs a static extent");
    constexpr std::int64_t shift = extent > 0 ? (Shift % extent + extent) % extent : 0;
    if constexpr (shift == 0) return x;
    else return concat<at>::trace(slice<at, extent - shift, shift, 1>::trace(x), slice<at, 0, extent - shift, 1>::trace(x));
  }
};

/// roll along several axes, each with its own shift.
template <class Axes, std::int64_t... Shift>
struct roll_axes;
template <int... A, std::int64_t... Shift>
struct roll_axes<axis_list<A...>, Shift...> {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool are_pairs = sizeof...(A) == sizeof...(Shift) && sizeof...(A) > 0;
    static_assert(are_pairs, "tenure: roll: the number of shifts differs from the number of axes");
    if constexpr (!are_pairs) return x;
    else if constexpr (!(axis_position<roll<A, Shift>, X::shape_type::rank, A>::is_inside && ...)) return x;
    else return one_after_another<axis_position<roll<A, Shift>, X::shape_type::rank, A>::value...>(x);
  }

 private:
  template <int... At, class X>
  static constexpr auto one_after_another(const X& x) {
    static_assert(are_distinct<At...>, "tenure: roll: an axis is named twice");
    return detail::one_after_another<roll<At, Shift>...>(x);
  }
};

/// Copies of x beside each other. Times... is the number of copies along each axis.
template <std::int64_t... Times>
struct repeat {
  template <class S>
  struct repeated_shape {
    static constexpr extents with(extents s) {
      int i = 0;
      ((s[i++] *= Times), ...);
      return s;
    }
    static constexpr extents value = with(S::value);
  };
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr bool is_complete = sizeof...(Times) == S::rank && ((Times >= 0) && ...), is_small = S::is_static && 2 * S::rank <= max_rank;
    static_assert(is_complete, "tenure: repeat: needs one number, at least 0, for each axis");
    static_assert(is_small, "tenure: repeat: needs static extents and at most 4 axes");
    if constexpr (is_complete && is_small) return repeated(x);
    else return x;
  }

 private:
  template <class X>
  static constexpr auto repeated(const X& x) {
    using S = typename X::shape_type;
    constexpr std::int64_t times[] = {Times...};
    extents apart;
    std::int64_t axes = 0;
    for (int i = 0; i < S::rank; ++i) {
      apart.push_back(times[i]);
      apart.push_back(S::value[i]);
      axes = ir::pack_axis(axes, i, 2 * i + 1);
    }
    using rule = repeated_shape<S>;
    return traced<typename X::element_type, shape_from<rule>>{x.graph, reshape_to(broadcast_along(x, x.graph->intern(apart), axes), rule::value).id};
  }
};

template <class S, int A, std::int64_t Size, std::int64_t Step>
struct windowed_shape {
  static constexpr extents value = [] {
    extents s = S::value;
    if (is_static(s[A])) s[A] = (s[A] - Size) / Step + 1;
    s.push_back(Size);
    return s;
  }();
};

/// All windows of Size elements along an axis. Their starts are Step elements apart. The axis counts the windows, and a new last axis
/// holds their elements (PyTorch's unfold). A view: nothing is copied.
template <int A, std::int64_t Size, std::int64_t Step>
struct windows {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: windows: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr int at = axis_position<windows, S::rank, A>::value;
    constexpr std::int64_t extent = S::value[at];
    constexpr bool fits = Size >= 1 && Step >= 1 && (!is_static(extent) || Size <= extent);
    static_assert(fits, "tenure: windows: does not fit its axis");
    if constexpr (fits) {
      x.graph->require_at_least(value(x).shape()[at], Size, "windows");
      return traced<typename X::element_type, shape_from<windowed_shape<S, at, Size, Step>>>{x.graph, windowed(x, at, Size, Step).id};
    } else {
      return x;
    }
  }
};

namespace detail {
/// s with one axis of such a length in place of the last two.
constexpr extents one_axis_less(extents s, std::int64_t length) {
  s = tenure::detail::without_axis(s, s.rank - 1);
  s[s.rank - 1] = length;
  return s;
}
template <class S, std::int64_t Length>
struct diagonal_shape {
  static constexpr extents value = one_axis_less(S::value, Length);
};
}  // namespace detail

/// The elements x[..., i, i + K] of matrices. Of static matrices they are a slice. Of run-time ones, which are square, a sum over each row: a pass over x.
template <int K>
struct diagonal {
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr bool is_matrix = S::rank >= 2;
    static_assert(is_matrix, "tenure: diagonal: the operand has less than two axes: the matrix with a vector v on its diagonal is diag(v)");
    if constexpr (!is_matrix) {
      return x;
    } else {
      constexpr std::int64_t rows = S::value[S::rank - 2], columns = S::value[S::rank - 1];
      if constexpr (is_static(rows) && is_static(columns)) return of_static<rows, columns>(x);
      else return of_run_time<rows, columns>(x);
    }
  }

 private:
  template <class X, std::int64_t Length>
  using result = traced<typename X::element_type, shape_from<detail::diagonal_shape<typename X::shape_type, Length>>>;

  template <std::int64_t Rows, std::int64_t Columns, class X>
  static constexpr auto of_static(const X& x) {
    constexpr std::int64_t below = Rows + (K < 0 ? K : 0), beside = Columns - (K > 0 ? K : 0);
    static_assert(below >= 0 && beside >= 0, "tenure: diagonal: the offset lies outside the matrix");
    constexpr std::int64_t shorter = below < beside ? below : beside, length = shorter > 0 ? shorter : 0;
    constexpr std::int64_t first = length == 0 ? 0 : K < 0 ? -K * Columns : K;
    const value all = reshape_to(x, detail::one_axis_less(value(x).shape(), Rows * Columns));
    return result<X, length>{x.graph, sliced(all, all.shape().rank - 1, first, length, Columns + 1).id};
  }
  template <std::int64_t Rows, std::int64_t Columns, class X>
  static constexpr auto of_run_time(const X& x) {
    constexpr bool is_main = K == 0;
    static_assert(is_main, "tenure: diagonal: of a run-time extent only the main diagonal is taken: beside it sum(where(index_along<0>(x) + K == index_along<1>(x), x, 0), axis<1>)");
    const extents s = value(x).shape();
    const std::int16_t shape = x.graph->intern(s);
    const std::int64_t n = x.graph->unify(s[s.rank - 2], s[s.rank - 1], "diagonal", shape, shape);
    // One element of each row is summed, so the sum is exact, also as a small integer.
    const dtype type = dtype_v<typename X::element_type>, summed = type == dtype::boolean ? dtype::int32 : type;
    const value each = reduced(on_diagonal(cast_to(x, summed)), std::int64_t{1} << (s.rank - 1), ir::reduction::sum);
    return result<X, is_static(Rows) ? Rows : Columns>{x.graph, cast_to(reshape_to(each, detail::one_axis_less(s, n)), type).id};
  }
};

/// The matrix with x on its diagonal K, as large as x needs.
template <int K>
struct diag {
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr bool is_vector = S::rank == 1;
    static_assert(is_vector, "tenure: diag: it takes a vector: of a matrix m the vector is diagonal(m)");
    static_assert(!is_vector || S::is_static,
                  "tenure: diag: the vector has a run-time extent: write where(index_along<0>(v) == unsqueeze<1>(index_along<0>(v)), v, 0)");
    if constexpr (is_vector && S::is_static) {
      constexpr std::int64_t n = S::value[0] + (K < 0 ? -K : K), first = K < 0 ? -K * n : K;
      return traced<typename X::element_type, shape<n, n>>{x.graph, reshape_to(padded(x, 0, first, n * n, n + 1), {2, {n, n}}).id};
    } else {
      return x;
    }
  }
};

/// Joins along axis 1, and vectors along their only axis.
struct hstack {
  template <class X, class... Rest>
  static constexpr auto trace(const X& x, const Rest&... rest) { return concat<X::shape_type::rank < 2 ? 0 : 1>::trace(x, rest...); }
};
/// Joins along axis 0. A vector is a row.
struct vstack {
  template <class X>
  static constexpr auto row(const X& x) {
    if constexpr (X::shape_type::rank == 1) return stack<0>::unsqueeze(x);
    else return x;
  }
  template <class... X>
  static constexpr auto trace(const X&... x) { return concat<0>::trace(row(x)...); }
};

/// Rows * Columns matrices as one.
template <int Rows, int Columns>
struct block_matrix {
  template <class X, class... Rest>
  static constexpr auto trace(const X& x, const Rest&... rest) {
    constexpr bool holds = Rows > 0 && Columns > 0 && 1 + sizeof...(Rest) == static_cast<std::size_t>(Rows) * static_cast<std::size_t>(Columns);
    static_assert(holds, "tenure: block: block<R, C>(x...) takes R * C matrices, row by row");
    constexpr bool are_matrices = X::shape_type::rank >= 2 && (... && (Rest::shape_type::rank >= 2));
    static_assert(are_matrices, "tenure: block: an operand has less than two axes");
    if constexpr (holds && are_matrices) return joined(std::tie(x, rest...), std::make_index_sequence<static_cast<std::size_t>(Rows)>{});
    else return x;
  }

 private:
  template <std::size_t... Row>
  static constexpr auto joined(const auto& all, std::index_sequence<Row...>) {
    return concat<-2>::trace(row<Row>(all, std::make_index_sequence<static_cast<std::size_t>(Columns)>{})...);
  }
  template <std::size_t Row, std::size_t... Column>
  static constexpr auto row(const auto& all, std::index_sequence<Column...>) {
    return concat<-1>::trace(std::get<Row * sizeof...(Column) + Column>(all)...);
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Movements of elements. None changes a value or the element type, and gradients move back the same way. unsqueeze adds an axis of extent
/// 1 before axis A (-1: after the last); squeeze drops axis A of static extent 1. All others but windows need static extents along the axis.
template <int A, operand_or_scalar X> constexpr auto unsqueeze(const X& x) { return apply<ops::unsqueeze<A>>(x); }
template <int A, operand_or_scalar X> constexpr auto squeeze(const X& x) { return apply<ops::squeeze<A>>(x); }
/// pad adds `Before` zeros, or copies of a value, in front of axis A and `After` behind it. The value is a number or a scalar, which takes the
/// element type of x; a floating value for integers does not compile. The gradient of the value is the sum over its copies.
template <int A, std::int64_t Before, std::int64_t After = Before, operand_or_scalar X> constexpr auto pad(const X& x) { return apply<ops::pad<A, Before, After>>(x); }
template <int A, std::int64_t Before, std::int64_t After = Before, operand_or_scalar X, class C> constexpr auto pad(const X& x, const C& value) { return apply<ops::pad<A, Before, After>>(x, value); }
/// flip reverses axis A, or several: flip<A, B>(x), flip(x, axes<A, B>). roll moves the elements of axis A by Shift positions, and what leaves
/// the axis comes back at its other end; roll<1, 2>(x, axes<0, 1>) moves axis 0 by 1 and axis 1 by 2.
template <int A = 0, int... More, operand_or_scalar X> constexpr auto flip(const X& x) { return apply<ops::flip<A, More...>>(x); }
template <operand_or_scalar X, int... A> constexpr auto flip(const X& x, const axis_list<A...>&) { return apply<ops::flip<A...>>(x); }
template <std::int64_t Shift, int A = 0, operand_or_scalar X> constexpr auto roll(const X& x) { return apply<ops::roll<A, Shift>>(x); }
template <std::int64_t... Shift, operand_or_scalar X, int... A> constexpr auto roll(const X& x, const axis_list<A...>&) { return apply<ops::roll_axes<axis_list<A...>, Shift...>>(x); }
/// hstack joins along axis 1, and vectors along axis 0; vstack joins along axis 0, and vectors are rows (NumPy). Extents and types: as in concat.
template <class... X> requires some_operand<X...> constexpr auto hstack(const X&... x) { return apply<ops::hstack>(x...); }
template <class... X> requires some_operand<X...> constexpr auto vstack(const X&... x) { return apply<ops::vstack>(x...); }
/// block<R, C>(x...) is one matrix of R * C matrices, row by row: block<2, 2>(a, b, c, d). Axes before the last two are batches, and all have equal ones.
template <int Rows, int Columns, class... X> requires some_operand<X...> constexpr auto block(const X&... x) { return apply<ops::block_matrix<Rows, Columns>>(x...); }
/// repeat<Times...> copies x Times[i] times along axis i (NumPy's tile); x has at most 4 axes. windows<A, Size, Step> (PyTorch's unfold) is a
/// view of Size elements from each Step-th of axis A on, along a new last axis. Error: shape_error if a run-time axis is shorter than a window. Its gradient is the sum of
/// the windows at their places, one pass over them.
template <std::int64_t... Times, operand_or_scalar X> constexpr auto repeat(const X& x) { return apply<ops::repeat<Times...>>(x); }
template <int A, std::int64_t Size, std::int64_t Step = 1, operand_or_scalar X> constexpr auto windows(const X& x) { return apply<ops::windows<A, Size, Step>>(x); }
/// diagonal<K> takes the vectors x[..., i, i + K] from matrices of static extents, or of square ones of run-time extents if K is 0. diag<K> puts a vector on the diagonal K of a square matrix of zeros.
template <int K = 0, operand_or_scalar X> constexpr auto diagonal(const X& x) { return apply<ops::diagonal<K>>(x); }
template <int K = 0, operand_or_scalar X> constexpr auto diag(const X& x) { return apply<ops::diag<K>>(x); }

// Calls with extents or axes after the operand, as in PyTorch and NumPy. They do not compile and give a message.
namespace detail {
template <class X>
constexpr auto movement_by_arguments() {
  static_assert(never<X>, "tenure: reshape, expand, permute, transpose, unsqueeze, squeeze: extents and axes are template arguments: write reshape<2, 3>(x), permute<1, 0>(x)");
  return after_error();
}
template <class... To>
concept some_arguments = sizeof...(To) > 0;
}  // namespace detail
/// Does not compile: extents and axes are template arguments, and the message says so.
template <operand X, class... To> requires detail::some_arguments<To...> constexpr auto reshape(const X&, const To&...) { return detail::movement_by_arguments<X>(); }
template <operand X, class... To> requires detail::some_arguments<To...> constexpr auto expand(const X&, const To&...) { return detail::movement_by_arguments<X>(); }
template <operand X, class... To> requires detail::some_arguments<To...> constexpr auto permute(const X&, const To&...) { return detail::movement_by_arguments<X>(); }
template <operand X, class... To> requires detail::some_arguments<To...> constexpr auto transpose(const X&, const To&...) { return detail::movement_by_arguments<X>(); }
template <operand X, class... To> constexpr auto unsqueeze(const X&, const To&...) { return detail::movement_by_arguments<X>(); }
template <operand X, class... To> constexpr auto squeeze(const X&, const To&...) { return detail::movement_by_arguments<X>(); }

}  // namespace tenure
