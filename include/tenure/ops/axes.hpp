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

/// The mask of the named axes. No axis named means all axes. The static_asserts refuse an axis outside the rank and an axis named twice.
template <class Operation, int Rank, int... A>
struct axis_mask {
  static_assert(((A >= -Rank && A < Rank) && ...), "tenure: axis: outside the rank of the tensor");
  static constexpr bool are_inside = ((A >= -Rank && A < Rank) && ...);
  static constexpr std::int64_t sum = (std::int64_t{0} + ... + (std::int64_t{1} << ((A + 8 * Rank) % (Rank > 0 ? Rank : 1))));
  static constexpr std::int64_t joined = (std::int64_t{0} | ... | (std::int64_t{1} << ((A + 8 * Rank) % (Rank > 0 ? Rank : 1))));
  static_assert(!are_inside || sum == joined, "tenure: axis: named twice");
  static constexpr bool is_valid = are_inside && sum == joined;
  static constexpr std::int64_t value = sizeof...(A) == 0 ? (std::int64_t{1} << Rank) - 1 : joined;
};

/// The position of axis A, counted from the front.
template <class Operation, int Rank, int A>
struct axis_position {
  static_assert(A >= -Rank && A < Rank, "tenure: axis: outside the rank of the tensor");
  static constexpr bool is_inside = A >= -Rank && A < Rank;
  static constexpr int value = is_inside ? axis_from_front(A, Rank) : 0;  // an axis outside is one message, not a hundred lines of them
};

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
