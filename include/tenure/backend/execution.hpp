// SPDX-License-Identifier: BSL-1.0
// On which threads calls run. An execution is an object with scope(): what this thread computes while that lives runs as it says.
// Here are those that take no threads; thread_pool stands in <tenure/threads.hpp>.
// Law: results do not depend on it, bit for bit. Cost: a thread-local pointer, which small programs do not even read.
#pragma once

#include <tenure/backend/eigen/blocks.hpp>

namespace TENURE_NAMESPACE {

namespace detail {

/// While it lives, calls of this thread run on an executor; null: on this thread alone.
class [[nodiscard]] execution_scope {
 public:
  explicit execution_scope(executor* on) : outer_(current_executor) { current_executor = on; }
  execution_scope(const execution_scope&) = delete;
  execution_scope& operator=(const execution_scope&) = delete;
  ~execution_scope() { current_executor = outer_; }

 private:
  executor* outer_;
};

}  // namespace detail

/// On the calling thread alone, also within the scope of another execution.
struct sequential {
  auto scope() const { return detail::execution_scope(nullptr); }
};

/// As the innermost scope of the calling thread says; outside of all, sequential.
struct inherited {
  struct none {};
  constexpr none scope() const { return {}; }
};

}  // namespace tenure
