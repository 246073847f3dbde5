// SPDX-License-Identifier: BSL-1.0
// Exceptions: what only the run can decide. Each is thrown before anything is written; each message starts with
// "tenure: <call>: ".
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "atomic.hpp"
#include "message.hpp"

namespace tenure {

namespace detail {
/// A text that copies share: to copy an exception must not throw. A std::runtime_error has one too, and <stdexcept> brings
/// <string>, which took nvcc a third of all that Tenure did.
class shared_text {
 public:
  [[gnu::cold, gnu::noinline]] explicit shared_text(const char* s) {
    const std::size_t bytes = std::strlen(s) + 1;
    holders_ = new (::operator new(sizeof(atomic<int>) + bytes)) atomic<int>(1);
    std::memcpy(text(), s, bytes);
  }
  shared_text(const shared_text& t) noexcept : holders_(t.holders_) { holders_->fetch_add(1); }
  shared_text& operator=(shared_text t) noexcept { return std::swap(holders_, t.holders_), *this; }
  ~shared_text() {
    if (holders_->drop()) ::operator delete(holders_);
  }

  char* text() const noexcept { return reinterpret_cast<char*>(holders_ + 1); }

 private:
  atomic<int>* holders_;  // the text follows
};
}  // namespace detail

/// What all exceptions of Tenure are.
struct error : std::exception {
  explicit error(const char* message) : message_(message) {}
  /// std::string, and what else has a c_str().
  template <class Text>
    requires requires(const Text& t) { t.c_str(); }
  explicit error(const Text& message) : message_(message.c_str()) {}

  const char* what() const noexcept override { return message_.text(); }

 private:
  detail::shared_text message_;
};

/// Dynamic extents that disagree; the message names both shapes.
struct shape_error : error { using error::error; };
/// A label, gather index or element index outside its axis.
struct index_error : error { using error::error; };
/// Storage that was overwritten, freed, moved from or donated before it was needed again.
struct ownership_error : error { using error::error; };
/// Source and target of a write share some elements, but not element by element.
struct overlap_error : error { using error::error; };
/// A file that is missing, truncated or malformed.
struct io_error : error { using error::error; };

namespace detail {
/// What every backend says of an index that some operation `call` may not read at.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_outside(const char* call, std::int64_t index, std::int64_t extent) {
  throw index_error(message(call) << "index " << index << " is outside an axis of " << extent);
}
}  // namespace detail

}  // namespace tenure
