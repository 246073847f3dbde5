// SPDX-License-Identifier: BSL-1.0
// Exceptions, for mistakes that can be detected only at run time. An operation throws before it writes anything. Each message
// starts with "tenure: <call>: ".
#pragma once

#include <concepts>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "atomic.hpp"
#include "message.hpp"
#include "raise.hpp"

namespace TENURE_NAMESPACE {

#if TENURE_FREESTANDING
/// The base class of all errors of the library. In the freestanding profile nothing throws them: tenure_failed takes the message (raise.hpp), which the
/// object refers to.
struct error {
  explicit constexpr error(const char* message) : message_(message) {}
  explicit error(const detail::text& message) : message_(message.c_str()) {}

  constexpr const char* what() const noexcept { return message_; }

 private:
  const char* message_;
};
#else
namespace detail {
/// A text that is shared by all copies of an exception, because copying an exception must not throw. std::runtime_error shares its
/// text in the same way, but <stdexcept> includes <string>, and that was a third of nvcc's compile time for Tenure.
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
  atomic<int>* references_;  // the text follows the counter in the same allocation
};
}  // namespace detail

/// The base class of all exceptions of the library. what() returns the message.
struct error : std::exception {
  explicit error(const char* message) : message_(message) {}
  /// Takes the message from a std::string or any other type with c_str().
  template <class Text>
    requires requires(const Text& t) {
      { t.c_str() } -> std::convertible_to<const char*>;
    }
  explicit error(const Text& message) : message_(message.c_str()) {}

  const char* what() const noexcept override { return message_.text(); }

 private:
  detail::shared_text message_;
};
#endif

/// Thrown when extents known only at run time do not match. The message names both shapes.
struct shape_error : error { using error::error; };
/// Thrown when a label, a gather index or an element index is outside its axis.
struct index_error : error { using error::error; };
/// Thrown when memory is needed that was overwritten, freed, moved from or donated before.
struct ownership_error : error { using error::error; };
/// Thrown when source and target of a write overlap, except if each element overlaps only itself.
struct overlap_error : error { using error::error; };
/// Thrown when a file is missing, truncated or malformed, or cannot be written.
struct io_error : error { using error::error; };

namespace detail {
/// Throws the index_error that every backend throws when operation `call` meets an index that is not in [0, extent). `block` elements begin at the
/// index, and `extent` is the number of starts that the axis allows. With a block below 0 the index is a number of rows, of 0 to extent - 1 that there are.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_outside(const char* call, std::int64_t index, std::int64_t extent, std::int64_t block = 1) {
  auto text = message(call);
  if (block < 0) TENURE_THROW(index_error(text << "the first " << index << " of " << extent - 1 << " rows"));
  if (block != 1) text << "a block of " << block << " at ";
  TENURE_THROW(index_error(text << "index " << index << " is outside an axis of " << extent + block - 1));
}
}  // namespace detail

}  // namespace tenure
