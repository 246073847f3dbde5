// SPDX-License-Identifier: BSL-1.0
// Shapes, as a type (shape<2, 3>) and as a value (extents) for shape rules and graphs.
// An extent is a number >= 0, or dyn (known at run time), or a name made by dim("batch") (known at run time; equal names mean equal
// extents). dyn and names are negative numbers, so a shape is always a pack of integers.
#pragma once

#include <tenure/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace TENURE_NAMESPACE {

/// An extent that is known only at run time. Two of them may differ, and they are compared at each call.
inline constexpr std::int64_t dyn = -1;
/// The largest number of axes.
inline constexpr int max_rank = 8;

/// A named run-time extent: dim("batch"). The name is up to eight ASCII characters; a longer one does not compile. They are packed into a
/// negative int64, the first character in the lowest byte.
template <std::size_t N>
constexpr std::int64_t dim(const char (&name)[N]) {
  static_assert(N <= 9, "tenure: dim: a name has at most 8 characters");
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < N && i < 8 && name[i] != 0; ++i)
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(name[i]) & 0x7f) << (8 * i);
  return static_cast<std::int64_t>(bits | (std::uint64_t{1} << 63));
}

constexpr bool is_static(std::int64_t extent) { return extent >= 0; }
constexpr bool is_named(std::int64_t extent) { return extent < dyn; }

/// True for a number, dyn, or a name made by dim(). In a name the top bit of each byte is 0, except the sign bit.
constexpr bool is_extent(std::int64_t e) { return e >= dyn || (static_cast<std::uint64_t>(e) & 0x8080808080808080u) == 0x8000000000000000u; }

/// A shape as a value. Shape rules compute with it.
struct extents {
  int rank = 0;
  std::int64_t extent[max_rank] = {};

  constexpr std::int64_t& operator[](int i) { return extent[i]; }
  constexpr std::int64_t operator[](int i) const { return extent[i]; }
  constexpr void push_back(std::int64_t e) { extent[rank++] = e; }

  friend constexpr bool operator==(const extents& a, const extents& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.extent[i] != b.extent[i]) return false;
    return true;
  }
};

constexpr bool all_static(const extents& s) {
  for (int i = 0; i < s.rank; ++i)
    if (!is_static(s[i])) return false;
  return true;
}

/// The number of elements. Every extent must be a number.
constexpr std::int64_t count(const extents& s) {
  std::int64_t n = 1;
  for (int i = 0; i < s.rank; ++i) n *= s[i];
  return n;
}

/// The position of an axis, counted from the front: axis -1 is the last one.
constexpr int axis_from_front(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

/// The shape of a tensor as a type: shape<784, 128>, shape<dyn, 10>, shape<dim("batch"), 784>, or shape<> for a scalar.
template <std::int64_t... E>
struct shape {
  static_assert(sizeof...(E) <= max_rank, "tenure: shape: a tensor has at most 8 axes");
  static_assert((is_extent(E) && ...), "tenure: shape: an extent is negative: write dyn or dim(\"name\") for an extent known at run time");
  static constexpr int rank = sizeof...(E);
  static constexpr extents value{rank, {E...}};
  static constexpr bool is_static = ((E >= 0) && ...);
  /// The number of elements if all extents are static, else dyn.
  static constexpr std::int64_t size = is_static ? (std::int64_t{1} * ... * E) : dyn;
};

namespace detail {
template <class Rule, class Indices>
struct splice_shape;
template <class Rule, std::size_t... I>
struct splice_shape<Rule, std::index_sequence<I...>> { using type = shape<Rule::value.extent[I]...>; };
}  // namespace detail

/// The shape type with the extents Rule::value. It turns the result of a shape rule into a type.
template <class Rule>
using shape_from = typename detail::splice_shape<Rule, std::make_index_sequence<static_cast<std::size_t>(Rule::value.rank)>>::type;

}  // namespace tenure
