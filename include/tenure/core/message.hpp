// SPDX-License-Identifier: BSL-1.0
// The texts of exceptions, put together in place. std::string's operators would do it too, and cost every program a tenth
// of a second of compile time: since C++20 they are compiled wherever they are used.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "shape.hpp"

namespace TENURE_NAMESPACE::detail {

/// A text of at most 500 characters; what is longer is cut. Its functions are calls: inlined into each message they are compiled again.
class text {
 public:
  [[gnu::cold, gnu::noinline]] text& operator<<(const char* s) { return append("%s", s); }
  [[gnu::cold, gnu::noinline]] text& operator<<(std::int64_t n) { return append("%lld", static_cast<long long>(n)); }
  /// "2x3", and "scalar" for rank 0; an extent that is not static prints as ?.
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

/// What every message begins with: "tenure: <call>: ".
[[gnu::cold, gnu::noinline]] inline text message(const char* call) { return text() << "tenure: " << call << ": "; }
[[gnu::cold, gnu::noinline]] inline text spell(const extents& s) { return text() << s; }

}  // namespace tenure::detail
