// SPDX-License-Identifier: BSL-1.0
// Builds the texts of exceptions in a fixed buffer. It does not use std::string because of compile time: since C++20 the operators
// of std::string are compiled in every unit that uses them, and that cost every program a tenth of a second.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "shape.hpp"

namespace TENURE_NAMESPACE::detail {

/// A text of at most 500 characters; a longer text is cut. Its functions are not inlined, because each message would compile them again.
class text {
 public:
  [[gnu::cold, gnu::noinline]] text& operator<<(const char* s) { return append("%s", s); }
  [[gnu::cold, gnu::noinline]] text& operator<<(std::int64_t n) { return append("%lld", static_cast<long long>(n)); }
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
  [[gnu::cold, gnu::noinline]] text& append(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int n = std::vsnprintf(kept_ + length_, sizeof kept_ - static_cast<std::size_t>(length_), format, arguments);
    va_end(arguments);
    length_ = length_ + n < static_cast<int>(sizeof kept_) ? length_ + n : static_cast<int>(sizeof kept_) - 1;
    return *this;
  }

  char kept_[501] = {};
  int length_ = 0;
};

/// The first part of every message: "tenure: <call>: ".
[[gnu::cold, gnu::noinline]] inline text message(const char* call) { return text() << "tenure: " << call << ": "; }
[[gnu::cold, gnu::noinline]] inline text spell(const extents& s) { return text() << s; }

}  // namespace tenure::detail
