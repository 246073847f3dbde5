// SPDX-License-Identifier: BSL-1.0
// Exceptions: what only the run can decide. Each is thrown before anything is written; each message starts with
// "tenure: <call>: ".
#pragma once

#include <concepts>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "atomic.hpp"
#include "message.hpp"

namespace TENURE_NAMESPACE {

namespace detail {
/// A text that copies share: to copy an exception must not throw. A std::runtime_error has one too, and <stdexcept> brings
/// <string>, which took nvcc a third of all that Tenure did.
class shared_text {
 public:
  [[gnu::cold, gnu::noinline]] explicit shared_text(const char* s) {
    const std::size_t bytes = std::strlen(s) + 1;
    references_ = new (::operator new(sizeof(atomic<int>) + bytes)) atomic<int>(1);
    std::memcpy(text(), s, bytes);
  }
  shared_text(const shared_text& t) noexcept : references_(t.references_) { references_->fetch_add(1); }
  shared_text& operator=(shared_text t) noexcept { return std::swap(references_, t.references_), *this; }
  ~shared_text() {
    if (references_->drop()) ::operator delete(references_);
  }

  char* text() const noexcept { return reinterpret_cast<char*>(references_ + 1); }

 private:
  atomic<int>* references_;  // the text follows
};
}  // namespace detail

/// What each of these is.
struct error : std::exception {
  explicit error(const char* message) : message_(message) {}
  /// std::string, and what else has a c_str().
  template <class Text>
    requires requires(const Text& t) {
      { t.c_str() } -> std::convertible_to<const char*>;
    }
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
