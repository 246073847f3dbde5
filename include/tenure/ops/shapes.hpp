// SPDX-License-Identifier: BSL-1.0
// The rules of shapes, for types and for graphs: which extents may be equal, to which shape shapes broadcast, axes as masks.
#pragma once

#include <tenure/ir/builder.hpp>

namespace TENURE_NAMESPACE::ops {

// ---- two extents that must agree -----------------------------------------------------------------------------------

/// Whether two extents of types can be equal. Numbers must be equal, and names must be equal. Every other pair is checked at run time.
constexpr bool extents_may_agree(std::int64_t a, std::int64_t b) {
  return is_static(a) && is_static(b) ? a == b : !(is_named(a) && is_named(b)) || a == b;
}
constexpr std::int64_t agreed(std::int64_t a, std::int64_t b) {
  return is_static(a) ? a : is_static(b) ? b : is_named(a) ? a : b;
}

// ---- broadcasting: shapes are aligned at the last axis; a static 1 stretches, a run-time extent never stretches ------

constexpr std::int64_t extent_from_right(const extents& s, int i) { return i < s.rank ? s[s.rank - 1 - i] : 1; }

/// The first axis, counted from the right, where two shapes cannot broadcast; -1 where they can.
constexpr int broadcast_conflict(const extents& a, const extents& b) {
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t x = extent_from_right(a, i), y = extent_from_right(b, i);
    if (x != 1 && y != 1 && !extents_may_agree(x, y)) return i;
  }
  return -1;
}

constexpr extents broadcast_with(const extents& a, const extents& b, auto agree) {
  extents r;
  r.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < r.rank; ++i) {
    const std::int64_t x = extent_from_right(a, i), y = extent_from_right(b, i);
    r[r.rank - 1 - i] = x == 1 ? y : y == 1 ? x : agree(x, y);
  }
  return r;
}

/// The shape to which the shapes S broadcast, or the two extents that do not match. The extents become template arguments of
/// Op::agree<lhs, rhs>(), so that the compiler prints them.
template <class... S>
struct broadcast_of {
  struct outcome {
    extents shape;
    std::int64_t lhs = 0, rhs = 0;
  };
  static constexpr outcome found = [] {
    const extents given[] = {S::value...};
    outcome r{given[0]};
    for (const extents& s : given) {
      const int at = broadcast_conflict(r.shape, s);
      if (at >= 0) return outcome{given[0], extent_from_right(r.shape, at), extent_from_right(s, at)};
      r.shape = broadcast_with(r.shape, s, agreed);
    }
    return r;
  }();
  static constexpr extents value = found.shape;
  static constexpr std::int64_t lhs = found.lhs, rhs = found.rhs;
  static constexpr bool exists = lhs == rhs;
  using type = shape_from<broadcast_of>;
};

/// Whether two shapes are equal, as far as their types tell. A static 1 does not match a run-time extent, because broadcasting treats
/// them differently even where the run-time extent is 1.
template <class A, class B>
inline constexpr bool are_alike = [] {
  constexpr extents a = A::value, b = B::value;
  bool alike = a.rank == b.rank;
  for (int i = 0; alike && i < a.rank; ++i) {
    const bool both_known = is_static(a[i]) && is_static(b[i]);
    alike = both_known ? a[i] == b[i] : a[i] != 1 && b[i] != 1;
  }
  return alike;
}();

constexpr extents broadcast_extents([[maybe_unused]] ir::builder& g, [[maybe_unused]] const char* call, const extents& a, const auto&... rest) {
  extents r = a;
  ((r = broadcast_with(r, rest,
                       [&](std::int64_t x, std::int64_t y) { return x == y ? x : g.unify(x, y, call, g.intern(a), g.intern(rest)); })),
   ...);
  return r;
}

// ---- axes as masks ---------------------------------------------------------------------------------------------------

constexpr extents without_axes(const extents& s, std::int64_t mask) {
  extents r;
  for (int i = 0; i < s.rank; ++i)
    if (!((mask >> i) & 1)) r.push_back(s[i]);
  return r;
}
constexpr extents with_ones(const extents& s, std::int64_t mask) {
  extents r = s;
  for (int i = 0; i < s.rank; ++i)
    if ((mask >> i) & 1) r[i] = 1;
  return r;
}
constexpr std::int64_t all_axes(int rank) { return (std::int64_t{1} << rank) - 1; }
/// The number of elements along the axes of the mask, as an extent.
constexpr std::int64_t elements_along(ir::builder& g, const extents& s, std::int64_t mask) {
  std::int64_t n = 1;
  for (int a = 0; a < s.rank; ++a)
    if ((mask >> a) & 1) n = g.derived(ir::symbol::kind::product, n, s[a]);
  return n;
}

}  // namespace tenure::ops
