// SPDX-License-Identifier: BSL-1.0
// The members of tensor that make views. A view shares the memory and the version of its base and keeps the memory alive. The
// gradient of a view flows to its base. A view of a const or read-only tensor is read-only. On a temporary node, in-place arithmetic
// on a view returns the whole node (consumed_view.hpp). Each function throws ownership_error if the tensor is empty.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "../consumed_view.hpp"
#include "../views.hpp"

namespace TENURE_NAMESPACE {

template <class Tensor>
class tensor_views {
  static constexpr int rank = shape_of_t<Tensor>::rank;

 public:
  /// A view of all elements.
  auto view() { return detail::whole_view(self()); }
  auto view() const { return detail::whole_view(self()); }
  /// reshape<E...>(n...).
  template <std::int64_t First, std::int64_t... E, std::integral... N>
  auto view(N... n) & { return detail::reshaped_view<First, E...>(self(), n...); }
  template <std::int64_t First, std::int64_t... E, std::integral... N>
  auto view(N... n) const& { return detail::reshaped_view<First, E...>(self(), n...); }
  template <std::int64_t First, std::int64_t... E, std::integral... N>
  auto view(N... n) && { return std::move(self()).template reshape<First, E...>(n...); }
  template <std::integral... N>
    requires(sizeof...(N) > 0)
  auto view(N...) const {
    static_assert(sizeof...(N) == 0, "tenure: view: extents are template arguments: write view<2, 3>()");
    return detail::whole_view(self());
  }

  /// A part of the tensor: an integer, range, window or all for each of the first axes. The other axes are kept whole. An integer
  /// removes its axis (see indexing.hpp). Throws index_error if an index is outside its axis.
  auto at(const auto&... index) & { return detail::indexed_view(self(), index...); }
  auto at(const auto&... index) const& { return detail::indexed_view(self(), index...); }
  auto at(const auto&... index) && { return detail::indexed_view(detail::as_consumable(self()), index...); }
  auto operator[](const auto& index) & { return detail::indexed_view(self(), index); }
  auto operator[](const auto& index) const& { return detail::indexed_view(self(), index); }
  auto operator[](const auto& index) && { return std::move(self()).at(index); }

  /// Swaps two axes: the last two, or axes A and B. The rank must be at least two.
  auto transpose() & { return detail::transposed_view<rank - 2, rank - 1>(self()); }
  auto transpose() const& { return detail::transposed_view<rank - 2, rank - 1>(self()); }
  auto transpose() && { return detail::transposed_view<rank - 2, rank - 1>(detail::as_consumable(self())); }
  template <int A, int B>
  auto transpose() & { return detail::transposed_view<A, B>(self()); }
  template <int A, int B>
  auto transpose() const& { return detail::transposed_view<A, B>(self()); }
  template <int A, int B>
  auto transpose() && { return detail::transposed_view<A, B>(detail::as_consumable(self())); }

  /// The transpose of a matrix.
  auto t() & { return turned(self()); }
  auto t() const& { return turned(self()); }
  auto t() && { return turned(detail::as_consumable(self())); }

  /// Reorders the axes: axis i of the result is axis Axes[i] of the tensor. Each axis must be named exactly once.
  template <int... Axes>
  auto permute() & { return detail::permuted_view<Axes...>(self()); }
  template <int... Axes>
  auto permute() const& { return detail::permuted_view<Axes...>(self()); }
  template <int... Axes>
  auto permute() && { return detail::permuted_view<Axes...>(detail::as_consumable(self())); }

  /// The same elements in row-major order with other extents. Named extents come from this tensor, other run-time extents from the
  /// integers n; if only one is open and no integer is given, it follows from the number of elements. Throws shape_error if the
  /// numbers of elements differ, or if no strides describe the result in this memory (clone() first then).
  template <std::int64_t... E, std::integral... N>
  auto reshape(N... n) & { return detail::reshaped_view<E...>(self(), n...); }
  template <std::int64_t... E, std::integral... N>
  auto reshape(N... n) const& { return detail::reshaped_view<E...>(self(), n...); }
  template <std::int64_t... E, std::integral... N>
  auto reshape(N... n) && { return detail::reshaped_view<E...>(detail::as_consumable(self()), n...); }

  /// Repeats axes of static extent 1, and repeats the whole tensor along new leading axes. It takes no memory: a repeated axis
  /// has stride 0. An axis with a run-time extent does not repeat, even if the extent is 1. The result is read-only. Throws
  /// shape_error if the extents do not fit.
  template <std::int64_t... E, std::integral... N>
  auto expand(N... n) { return detail::expanded_view<E...>(self(), n...); }
  template <std::int64_t... E, std::integral... N>
  auto expand(N... n) const { return detail::expanded_view<E...>(self(), n...); }

  /// The elements [..., i, i + K] of the last two axes. They are the last axis of the result. Throws shape_error if K lies outside them.
  template <int K = 0>
  auto diagonal() & { return detail::diagonal_view<K>(self()); }
  template <int K = 0>
  auto diagonal() const& { return detail::diagonal_view<K>(self()); }
  template <int K = 0>
  auto diagonal() && { return detail::diagonal_view<K>(detail::as_consumable(self())); }

  /// unsqueeze adds an axis of extent 1, which becomes axis `Axis` of the result. squeeze removes such an axis; it throws
  /// shape_error if a run-time extent is not 1.
  template <int Axis>
  auto unsqueeze() & { return detail::unsqueezed_view<Axis>(self()); }
  template <int Axis>
  auto unsqueeze() const& { return detail::unsqueezed_view<Axis>(self()); }
  template <int Axis>
  auto unsqueeze() && { return detail::unsqueezed_view<Axis>(detail::as_consumable(self())); }
  template <int Axis>
  auto squeeze() & { return detail::squeezed_view<Axis>(self()); }
  template <int Axis>
  auto squeeze() const& { return detail::squeezed_view<Axis>(self()); }
  template <int Axis>
  auto squeeze() && { return detail::squeezed_view<Axis>(detail::as_consumable(self())); }

 private:
  static auto turned(auto&& x) {
    constexpr bool is_matrix = rank == 2;
    static_assert(is_matrix, "tenure: t: the value is not a matrix: call transpose<A, B>()");
    if constexpr (is_matrix) return detail::transposed_view<0, 1>(x);
    else return detail::whole_view(x);
  }

  Tensor& self() { return static_cast<Tensor&>(*this); }
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }
};

}  // namespace tenure
