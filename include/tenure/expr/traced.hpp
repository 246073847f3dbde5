// SPDX-License-Identifier: BSL-1.0
// A traced value: element type and shape in the type, identity (graph and node) in the value. Operations on it append
// to the graph; ordinary C++ runs while tracing. The members are those of a tensor, by the operations of ops/.
#pragma once

#include <tenure/ir/builder.hpp>
#include <tenure/tensor/concepts.hpp>

namespace tenure {

namespace ops {
template <int A, int B> struct transpose;
template <int... A> struct permute;
template <std::int64_t... E> struct reshape;
template <std::int64_t... E> struct expand;
template <int A> struct unsqueeze;
template <int A> struct squeeze;
}  // namespace ops

namespace detail {
template <class...>
inline constexpr bool always_false = false;
}

template <element T, class Shape>
struct traced {
  using element_type = T;
  using shape_type = Shape;

  ir::builder* graph = nullptr;
  ir::node_id id = ir::none;

  /// A traced value has no value yet, so nothing can branch on it.
  constexpr explicit operator bool() const {
    static_assert(detail::always_false<T>, "tenure: trace: cannot branch on a traced value; use where(condition, a, b)");
    return false;
  }

  constexpr const extents& shape() const { return graph->shape_of(id); }
  constexpr std::int64_t extent(int axis) const { return shape()[axis]; }

  /// One index, range<I, J>(), window or all for each of the first axes; integers may come from a C++ loop.
  template <class... I>
  constexpr auto at(const I&... index) const { return subscript(detail::hook{}, *this, index...); }
  template <class I>
  constexpr auto operator[](const I& index) const { return at(index); }

  /// Swaps two axes: the last two, or A and B.
  template <int A = -2, int B = -1>
  constexpr auto transpose() const { return ops::transpose<A, B>::trace(*this); }
  template <int... A>
  constexpr auto permute() const { return ops::permute<A...>::trace(*this); }
  template <std::int64_t... E>
  constexpr auto reshape() const { return ops::reshape<E...>::trace(*this); }
  template <std::int64_t... E>
  constexpr auto expand() const { return ops::expand<E...>::trace(*this); }
  template <int A>
  constexpr auto unsqueeze() const { return ops::unsqueeze<A>::trace(*this); }
  template <int A>
  constexpr auto squeeze() const { return ops::squeeze<A>::trace(*this); }
};

template <class X>
inline constexpr bool is_traced_v = false;
template <class T, class S>
inline constexpr bool is_traced_v<traced<T, S>> = true;

}  // namespace tenure
