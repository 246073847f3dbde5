// SPDX-License-Identifier: BSL-1.0
// Extents when the program runs: how integers given by the caller become the extents of a shape, and how a tensor
// stores them. Law: equal names take one integer and are equal extents; static extents take none and no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "../core/error.hpp"
#include "../core/shape.hpp"

namespace TENURE_NAMESPACE::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_shape_mismatch(const char* call, const extents& wanted, const extents& found) {
  throw shape_error(message(call) << "shape " << found << " does not fit shape " << wanted);
}

// The first axis that has the same run-time extent as `axis`: itself, or an earlier one of the same name.
constexpr int first_of_name(const extents& s, int axis) {
  for (int i = 0; i < axis; ++i)
    if (is_named(s[axis]) && s[i] == s[axis]) return i;
  return axis;
}

/// How many integers a shape needs: one a dyn, one a name.
constexpr int dynamic_count(const extents& s) {
  int n = 0;
  for (int i = 0; i < s.rank; ++i) n += !is_static(s[i]) && first_of_name(s, i) == i;
  return n;
}
/// Of a shape's type. Called in a template instead, nvcc 13 evaluates it where it reads the template, for 65 MB each time it is used.
template <class Shape>
inline constexpr int dynamic_count_of = dynamic_count(Shape::value);

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_negative_extent(std::int64_t n) { throw shape_error(message("tensor") << "extent " << n << " is negative"); }

/// The extents of shape `s` with `given` in place of what is not static. Throws shape_error when one is negative.
constexpr extents bind_extents(const extents& s, const std::int64_t* given) {
  extents bound = s;
  for (int i = 0; i < s.rank; ++i) {
    if (is_static(s[i])) continue;
    const int first = first_of_name(s, i);
    bound[i] = first == i ? *given++ : bound[first];
    if (bound[i] < 0) throw_negative_extent(bound[i]);
  }
  return bound;
}

/// Whether a tensor of extents `found` may have the static shape `s`: equal where static, equal where named alike.
constexpr bool fits(const extents& s, const extents& found) {
  if (s.rank != found.rank) return false;
  for (int i = 0; i < s.rank; ++i) {
    const bool agrees = is_static(s[i]) ? s[i] == found[i] : found[first_of_name(s, i)] == found[i];
    if (!agrees) return false;
  }
  return true;
}

/// Throws shape_error where a tensor of shape S cannot have these extents.
template <class S>
void check_extents(const extents& found) {
  if (!fits(S::value, found)) throw_shape_mismatch("tensor", S::value, found);
}

/// A run-time extent may turn out to be any number.
constexpr bool may_be_same(const extents& a, const extents& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (is_static(a[i]) && is_static(b[i]) && a[i] != b[i]) return false;
  return true;
}

/// Whether the number of elements is at most 2^45, which is more than any memory holds. As a double it cannot overflow.
constexpr bool is_countable(const extents& s) {
  double n = 1;
  for (int i = 0; i < s.rank; ++i) n *= static_cast<double>(s[i]);
  return n >= 0 && n <= 0x1p45;
}

/// Bytes of a contiguous tensor. Throws std::bad_array_new_length where no memory could hold it.
[[gnu::noinline]] constexpr std::size_t checked_bytes(const extents& s, std::size_t element_size) {
  if (!is_countable(s)) throw std::bad_array_new_length();
  return static_cast<std::size_t>(count(s)) * element_size;
}

// Only the extents that are not static occupy memory.
template <class Shape>
class stored_extents;

template <std::int64_t... E>
  requires((E >= 0) && ...)
class stored_extents<shape<E...>> {
 public:
  constexpr stored_extents() = default;
  constexpr explicit stored_extents(const extents&) {}
  static constexpr extents get() { return shape<E...>::value; }
};

template <std::int64_t... E>
  requires((E < 0) || ...)
class stored_extents<shape<E...>> {
 public:
  constexpr stored_extents() = default;
  constexpr explicit stored_extents(const extents& s) {
    int n = 0;
    for (int i = 0; i < shape<E...>::rank; ++i)
      if (!is_static(shape<E...>::value.extent[i])) kept_[n++] = s[i];
  }
  constexpr extents get() const {
    extents s = shape<E...>::value;
    int n = 0;
    for (int i = 0; i < shape<E...>::rank; ++i)
      if (!is_static(s[i])) s[i] = kept_[n++];
    return s;
  }

 private:
  std::int64_t kept_[((E < 0) + ...)] = {};
};

}  // namespace tenure::detail
