// SPDX-License-Identifier: BSL-1.0
// Nested braces: {{1, 2, 3}, {4, 5, 6}} as the elements of a tensor with run-time extents. Law: the extent of an axis is the
// length of the first list at that depth; if another list at that depth has a different length, shape_error is thrown.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "extents.hpp"

namespace TENURE_NAMESPACE::detail {

struct no_literal {
  no_literal() = delete;
};

template <class T, int Rank>
struct nested_list { using type = std::initializer_list<typename nested_list<T, Rank - 1>::type>; };
template <class T>
struct nested_list<T, 1> { using type = std::initializer_list<T>; };
template <class T>
struct nested_list<T, 0> { using type = no_literal; };

template <class T>
void measure(std::initializer_list<T> list, extents& s) { s.push_back(static_cast<std::int64_t>(list.size())); }
template <class T>
void measure(std::initializer_list<std::initializer_list<T>> list, extents& s) {
  s.push_back(static_cast<std::int64_t>(list.size()));
  measure(list.size() == 0 ? std::initializer_list<T>{} : *list.begin(), s);
}

template <class T>
void check_depth(std::initializer_list<T> list, const extents& s, int axis) {
  if (static_cast<std::int64_t>(list.size()) != s[axis])
    TENURE_THROW(shape_error(message("tensor") << "ragged braces: a list of " << static_cast<std::int64_t>(list.size()) << " entries beside one of " << s[axis]));
}
template <class T>
void check_depth(std::initializer_list<std::initializer_list<T>> list, const extents& s, int axis) {
  check_depth<std::initializer_list<T>>(list, s, axis);
  for (const auto& inner : list) check_depth(inner, s, axis + 1);
}

/// The extents of a literal. Throws shape_error if it is ragged or does not fit the shape `wanted`.
extents literal_extents(const auto& list, const extents& wanted) {
  extents s;
  measure(list, s);
  check_depth(list, s, 0);
  if (!fits(wanted, s)) throw_shape_mismatch("tensor", wanted, s);
  return s;
}

template <class T, class U>
T* write_literal(T* to, std::initializer_list<U> list) {
  for (const U& value : list) *to++ = static_cast<T>(value);
  return to;
}
template <class T, class Inner>
T* write_literal(T* to, std::initializer_list<std::initializer_list<Inner>> list) {
  for (const auto& inner : list) to = write_literal(to, inner);
  return to;
}

}  // namespace tenure::detail
