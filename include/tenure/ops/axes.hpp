// SPDX-License-Identifier: BSL-1.0
// How a call names axes: axis<0> or axes<0, 2>. A negative axis counts from the end. keepdim keeps a reduced axis with extent 1.
#pragma once

#include <tenure/core/shape.hpp>

namespace TENURE_NAMESPACE {

template <int... A>
struct axis_list {
  static constexpr int count = sizeof...(A);
};
/// axis<0>, axes<0, 2>: the axes that an operation works along. They count from the front; axis<-1> is the last one. An axis outside the
/// rank, or named twice, does not compile.
template <int A>
inline constexpr axis_list<A> axis{};
template <int... A>
inline constexpr axis_list<A...> axes{};

struct keepdim_t {};
/// After the axes of a reduction: the axes stay, with extent 1.
inline constexpr keepdim_t keepdim{};

namespace ops {

// The operation has the messages for a wrong axis, so that they name the call: has_axis<Axis, Rank>() for an axis outside the rank, and
// has_each_once<Holds, Axes...>() for an axis that is named twice. Only a wrong axis instantiates these functions.

/// The position of axis A, counted from the front. It is 0 for an axis outside the rank.
template <class Operation, int Rank, int A, bool IsInside = (A >= -Rank && A < Rank)>
struct axis_position {
  static constexpr bool is_inside = true;
  static constexpr int value = axis_from_front(A, Rank);
};
template <class Operation, int Rank, int A>
struct axis_position<Operation, Rank, A, false> {
  static_assert((Operation::template has_axis<A, Rank>(), true));
  static constexpr bool is_inside = false;
  static constexpr int value = 0;
};

/// Whether no two of these positions are equal.
template <int... At>
inline constexpr bool are_distinct = (std::int64_t{0} + ... + (std::int64_t{1} << At)) == (std::int64_t{0} | ... | (std::int64_t{1} << At));

enum class axes_are { valid, outside, twice };
template <int Rank, int... A>
inline constexpr axes_are named_axes = !((A >= -Rank && A < Rank) && ...)                      ? axes_are::outside
                                       : are_distinct<((A < 0 ? A + Rank : A) & 63)...> ? axes_are::valid
                                                                                        : axes_are::twice;

template <axes_are Named, class Operation, int Rank, int... A>
struct mask_of_axes {
  static constexpr bool is_valid = true;
  static constexpr std::int64_t named = (std::int64_t{0} | ... | (std::int64_t{1} << (A < 0 ? A + Rank : A)));
  static constexpr std::int64_t value = sizeof...(A) == 0 ? (std::int64_t{1} << Rank) - 1 : named;
};
template <class Operation, int Rank, int... A>
struct mask_of_axes<axes_are::outside, Operation, Rank, A...> {
  static_assert(((Operation::template has_axis<A, Rank>(), true) && ...));
  static constexpr bool is_valid = false;
  static constexpr std::int64_t value = 0;
};
template <class Operation, int Rank, int... A>
struct mask_of_axes<axes_are::twice, Operation, Rank, A...> {
  static_assert((Operation::template has_each_once<false, A...>(), true));
  static constexpr bool is_valid = false;
  static constexpr std::int64_t value = 0;
};
/// The mask of the axes of a reduction. No axis named means all axes. An axis outside the rank, or named twice, does not compile.
template <class Operation, int Rank, int... A>
using axis_mask = mask_of_axes<named_axes<Rank, A...>, Operation, Rank, A...>;

/// The reduction Op<Keep, Axes...> for the arguments that a call gives after its operand: none, axis<...>, or axis<...> and keepdim.
template <template <bool, int...> class Op, class... Along>
struct along {
  static_assert(sizeof...(Along) == 0, "tenure: axis: axes are written axis<0> or axes<0, 1>, with keepdim behind them");
  using type = Op<false>;
};
template <template <bool, int...> class Op, int... A>
struct along<Op, axis_list<A...>> { using type = Op<false, A...>; };
template <template <bool, int...> class Op, int... A>
struct along<Op, axis_list<A...>, keepdim_t> { using type = Op<true, A...>; };

/// The axis number of the argument axis<A>, for operations that work along one axis.
template <class Along>
struct single_axis {
  static_assert(sizeof(Along) == 0, "tenure: axis: one axis is written axis<0>");
  static constexpr int value = -1;
};
template <int A>
struct single_axis<axis_list<A>> { static constexpr int value = A; };

}  // namespace ops
}  // namespace tenure
