// SPDX-License-Identifier: BSL-1.0
// What a comparison in a test found. CHECK(same_bits(a, b)) prints where the first difference lies, in place of "false".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>

/// True where nothing differs.
struct difference {
  std::string first;

  explicit operator bool() const { return first.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const difference& d) { return out << (d.first.empty() ? "no difference" : d.first); }
};

/// difference_of("element ", 3, ": ", 1.5, " where 2.5 is wanted")
template <class... Part>
difference difference_of(const Part&... part) {
  std::ostringstream text;
  text.precision(17);
  (text << ... << part);
  return {text.str()};
}

/// The first of `count` elements whose bits differ.
template <class T>
difference first_difference(const T* got, const T* wanted, std::int64_t count) {
  if (count == 0 || std::memcmp(got, wanted, static_cast<std::size_t>(count) * sizeof(T)) == 0) return {};
  std::int64_t i = 0;
  while (std::memcmp(got + i, wanted + i, sizeof(T)) == 0) ++i;
  if constexpr (std::is_same_v<T, std::byte>) return difference_of("byte ", i, " of ", count, ": ", static_cast<int>(got[i]), " where ", static_cast<int>(wanted[i]), " is wanted");
  else return difference_of("element ", i, " of ", count, ": ", got[i], " where ", wanted[i], " is wanted");
}
