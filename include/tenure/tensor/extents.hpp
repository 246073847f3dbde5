// SPDX-License-Identifier: BSL-1.0
// Extents at run time: how the caller's integers become the extents of a shape, and how a tensor stores them.
// Law: axes with equal names take one integer and have equal extents. Static extents take no integer and no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "../core/error.hpp"
#include "../core/shape.hpp"

namespace TENURE_NAMESPACE::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_shape_mismatch(const char* call, const extents& wanted, const extents& found) {
  TENURE_THROW(shape_error(message(call) << "shape " << found << " does not fit shape " << wanted));
}

// The first axis with the same name as `axis`. It is `axis` itself if the extent has no name or no earlier axis has it.
constexpr int first_of_name(const extents& s, int axis) {
  for (int i = 0; i < axis; ++i)
    if (is_named(s[axis]) && s[i] == s[axis]) return i;
  return axis;
}

/// The number of integers that a shape needs: one for each dyn and one for each name.
constexpr int dynamic_count(const extents& s) {
  int n = 0;
  for (int i = 0; i < s.rank; ++i) n += !is_static(s[i]) && first_of_name(s, i) == i;
  return n;
}
/// dynamic_count of a shape type. It is a variable because of nvcc 13: that compiler evaluates a call of the function wherever it
/// parses a template with it, and each such call takes 65 MB.
template <class Shape>
inline constexpr int dynamic_count_of = dynamic_count(Shape::value);

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_negative_extent(std::int64_t n) { TENURE_THROW(shape_error(message("tensor") << "extent " << n << " is negative")); }

/// The extents of shape `s`, with the integers `given` in place of dyn and names. Throws shape_error if an integer is negative.
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

/// True if a tensor with extents `found` may have the shape `s`: static extents are equal, and axes with equal names have equal
/// extents.
constexpr bool fits(const extents& s, const extents& found) {
  if (s.rank != found.rank) return false;
  for (int i = 0; i < s.rank; ++i) {
    const bool agrees = is_static(s[i]) ? s[i] == found[i] : found[first_of_name(s, i)] == found[i];
    if (!agrees) return false;
  }
  return true;
}

/// Throws shape_error if a tensor of shape S cannot have these extents.
template <class S>
void check_extents(const extents& found) {
  if (!fits(S::value, found)) throw_shape_mismatch("tensor", S::value, found);
}

/// True if two shapes may have equal extents at run time. An extent that is not static may be any number.
constexpr bool may_be_same(const extents& a, const extents& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (is_static(a[i]) && is_static(b[i]) && a[i] != b[i]) return false;
  return true;
}

/// True if no extent is negative, and the product of the extents that are not 0 is at most 2^45, which is more than any memory holds. So
/// the strides of an empty tensor are numbers too. The product is a double, which cannot overflow.
constexpr bool is_countable(const extents& s) {
  double n = 1;
  for (int i = 0; i < s.rank; ++i) {
    if (s[i] < 0) return false;
    if (s[i] > 0) n *= static_cast<double>(s[i]);
  }
  return n <= 0x1p45;
}

/// The size of a contiguous tensor in bytes. Throws std::bad_array_new_length if no memory can hold it.
[[gnu::noinline]] constexpr std::size_t checked_bytes(const extents& s, std::size_t element_size) {
  if (!is_countable(s)) TENURE_THROW(std::bad_array_new_length());
  return static_cast<std::size_t>(count(s)) * element_size;
}

// The extents of a tensor. Only extents that are not static take memory.
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
