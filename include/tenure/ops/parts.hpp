// SPDX-License-Identifier: BSL-1.0
// Parts of a tensor along one axis: split, chunk, unbind.
// Law: parts of a tensor are views, so they share its memory and gradients go back to it. Parts of an expression or of a traced value are
// its slices. In a compiled function the gradient of all parts is one concat (passes/assemble.hpp).
#pragma once

#include <array>
#include <tuple>

#include <tenure/ops/movement.hpp>
#include <tenure/tensor/consumed_view.hpp>
#include <tenure/tensor/views.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Parts of Size elements. The last part has the rest. An axis without elements has one part without elements.
template <std::int64_t Extent, std::int64_t Size>
struct equal_parts {
  static constexpr int count = Extent == 0 ? 1 : static_cast<int>((Extent + Size - 1) / Size);
  static constexpr std::int64_t first(int i) { return i * Size; }
  static constexpr std::int64_t length(int i) { return Extent - first(i) < Size ? Extent - first(i) : Size; }
};
template <std::int64_t... Size>
struct given_parts {
  static constexpr int count = sizeof...(Size);
  static constexpr std::int64_t sizes[sizeof...(Size)] = {Size...};
  static constexpr std::int64_t first(int i) {
    std::int64_t before = 0;
    for (int j = 0; j < i; ++j) before += sizes[j];
    return before;
  }
  static constexpr std::int64_t length(int i) { return sizes[i]; }
};

/// The view inside a consumed view. In-place arithmetic on a consumed view gives the whole node back. Parts must not do that, so they are plain
/// views.
template <class X>
constexpr X& plain_view(X& x) { return x; }
template <class View, class Base>
constexpr View& plain_view(consumed_view<View, Base>& x) { return x; }
template <class View, class Base>
constexpr const View& plain_view(const consumed_view<View, Base>& x) { return x; }

/// The Length elements of axis At from First on. If Drops holds, it is one element and the axis is dropped.
template <int At, std::int64_t First, std::int64_t Length, bool Drops, class X>
constexpr auto part_of(X& x, [[maybe_unused]] const char* call) {
  using S = shape_of_t<X>;
  using rule = std::conditional_t<Drops, ops::dropped_axis<S, At>, ops::sliced_shape<S, At, Length>>;
  if constexpr (any_tensor<std::remove_const_t<X>>)
    return make_view<shape_from<rule>>(plain_view(x), call, [](layout& l) {
      if constexpr (Drops) select(l, At, First);
      else slice(l, At, First, First + Length, 1);
    });
  else if constexpr (Drops) return apply<ops::select<At, First>>(x);
  else return apply<ops::slice<At, First, Length, 1>>(x);
}

/// The parts in a std::array if they have one type, else in a std::tuple. The calls stand in braces, which evaluate them in order.
template <int At, class Parts, bool Drops, class X, int... I>
constexpr auto parts_of(X& x, [[maybe_unused]] const char* call, std::integer_sequence<int, I...>) {
  auto parts = std::tuple{part_of<At, Parts::first(I), Parts::length(I), Drops>(x, call)...};
  return std::apply(
      []<class... Part>(Part&... part) {
        if constexpr (sizeof...(Part) == 0) return std::tuple<>();
        else if constexpr ((std::is_same_v<Part, std::tuple_element_t<0, std::tuple<Part...>>> && ...)) return std::array{std::move(part)...};
        else return std::tuple{std::move(part)...};
      },
      parts);
}

struct split_call {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: split: the axis lies outside the tensor's rank"); }
};
struct chunk_call {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: chunk: the axis lies outside the tensor's rank"); }
};
struct unbind_call {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: unbind: the axis lies outside the tensor's rank"); }
};
template <class Call, class X, int A>
struct parts_axis {
  using shape_type = shape_of_t<X>;
  static constexpr int at = ops::axis_position<Call, shape_type::rank, A>::value;
  static constexpr std::int64_t extent = shape_type::rank > 0 ? shape_type::value[at] : 0;
  static constexpr bool is_known = ops::axis_position<Call, shape_type::rank, A>::is_inside && is_static(extent);
};
template <std::int64_t Extent>
constexpr bool has_parts() {
  static_assert(is_static(Extent), "tenure: split, chunk, unbind: the axis needs a static extent");
  return is_static(Extent);
}
template <std::int64_t... Size>
constexpr bool are_sizes() {
  constexpr bool hold = sizeof...(Size) == 1 ? ((Size >= 1) && ...) : sizeof...(Size) > 0 && ((Size >= 0) && ...);
  static_assert(hold, "tenure: split: needs one size of at least 1, or a size of at least 0 for each part");
  return hold;
}
template <std::int64_t Extent, std::int64_t... Size>
constexpr bool fill_axis() {
  constexpr bool hold = sizeof...(Size) == 1 || (std::int64_t{0} + ... + Size) == Extent;
  static_assert(hold, "tenure: split: the sizes do not add up to the extent of the axis");
  return hold;
}
template <int N>
constexpr bool is_number_of_parts() {
  static_assert(N >= 1, "tenure: chunk: the number of parts is less than 1");
  return N >= 1;
}

}  // namespace detail

/// The parts of x along axis A, whose extent must be static. With one Size each part has Size elements, and the last one has the rest, as in PyTorch.
/// With several there is a part of each size, and they add up to the extent. The result is a std::array, or a std::tuple if the parts have different
/// types: auto [a, b] = split<0, 2, 3>(x). Parts of a tensor are views, read-only if x is const; nothing is copied or computed.
template <int A, std::int64_t... Size, class X>
  requires operand<X>
constexpr auto split(X&& x) {
  using axis = detail::parts_axis<detail::split_call, X, A>;
  if constexpr (!detail::are_sizes<Size...>() || !detail::has_parts<axis::extent>() || !axis::is_known) return std::tuple<>();
  else if constexpr (!detail::fill_axis<axis::extent, Size...>()) return std::tuple<>();
  else {
    using parts = typename std::conditional_t<sizeof...(Size) == 1, detail::equal_parts<axis::extent, (Size + ...)>, detail::given_parts<Size...>>;
    return detail::parts_of<axis::at, parts, false>(x, "split", std::make_integer_sequence<int, parts::count>{});
  }
}
/// N parts of equal size; the last one has the rest. As in PyTorch there may be fewer than N parts: 5 elements in 4 parts are 2, 2 and 1.
template <int N, int A = 0, class X>
  requires operand<X>
constexpr auto chunk(X&& x) {
  using axis = detail::parts_axis<detail::chunk_call, X, A>;
  if constexpr (!detail::is_number_of_parts<N>() || !detail::has_parts<axis::extent>() || !axis::is_known) return std::tuple<>();
  else {
    using parts = detail::equal_parts<axis::extent, axis::extent == 0 ? 1 : (axis::extent + N - 1) / N>;
    return detail::parts_of<axis::at, parts, false>(x, "chunk", std::make_integer_sequence<int, parts::count>{});
  }
}
/// The elements of x along axis A, which is dropped: auto [red, green, blue] = unbind<2>(image).
template <int A = 0, class X>
  requires operand<X>
constexpr auto unbind(X&& x) {
  using axis = detail::parts_axis<detail::unbind_call, X, A>;
  if constexpr (!detail::has_parts<axis::extent>() || !axis::is_known) return std::tuple<>();
  else return detail::parts_of<axis::at, detail::equal_parts<axis::extent, 1>, true>(x, "unbind", std::make_integer_sequence<int, static_cast<int>(axis::extent)>{});
}

}  // namespace tenure
