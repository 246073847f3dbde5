// SPDX-License-Identifier: BSL-1.0
// Builds the texts of exceptions in a fixed buffer. It does not use std::string because of compile time: since C++20 the operators
// of std::string are compiled in every unit that uses them, and that cost every program a tenth of a second.
// Nor does it use snprintf, which calls malloc in C libraries of microcontrollers.
#pragma once

#include <cstdint>

#include "shape.hpp"

namespace TENURE_NAMESPACE::detail {

/// A text of at most 500 characters; a longer text is cut. Its functions are not inlined, because each message would compile them again.
class text {
 public:
  [[gnu::cold, gnu::noinline]] text& operator<<(const char* s) {
    for (; *s != 0; ++s) put(*s);
    return *this;
  }
  [[gnu::cold, gnu::noinline]] text& operator<<(std::int64_t n) {
    char digits[20];
    int count = 0;
    const bool is_negative = n < 0;
    for (auto rest = is_negative ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n); count == 0 || rest != 0; rest /= 10)
      digits[count++] = static_cast<char>('0' + rest % 10);
    if (is_negative) put('-');
    while (count > 0) put(digits[--count]);
    return *this;
  }
  /// Writes a shape as "2x3", and rank 0 as "scalar". An extent that is not static prints as "?".
  [[gnu::cold, gnu::noinline]] text& operator<<(const extents& s) {
    if (s.rank == 0) return *this << "scalar";
    for (int i = 0; i < s.rank; ++i) {
      if (i != 0) *this << "x";
      if (is_static(s[i])) *this << s[i];
      else *this << "?";
    }
    return *this;
  }

  const char* c_str() const { return kept_; }
  operator const char*() const { return kept_; }

 private:
  void put(char c) {
    if (length_ < static_cast<int>(sizeof kept_) - 1) kept_[length_++] = c;
  }

  char kept_[501] = {};
  int length_ = 0;
};

/// The first part of every message: "tenure: <call>: ".
[[gnu::cold, gnu::noinline]] inline text message(const char* call) { return text() << "tenure: " << call << ": "; }
[[gnu::cold, gnu::noinline]] inline text spell(const extents& s) { return text() << s; }

}  // namespace tenure::detail
