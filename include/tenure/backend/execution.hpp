// SPDX-License-Identifier: BSL-1.0
// On which threads calls run, for every backend. An execution is an object with scope(). While the object that scope() returns lives,
// the calls of this thread run on its executor. This header has the executions without threads; thread_pool is in <tenure/threads.hpp>.
// Law: results do not depend on it, bit for bit. Cost: a thread-local pointer, which small programs do not even read.
#pragma once

#include <tenure/core/not_copied.hpp>

#include <cstdint>

namespace TENURE_NAMESPACE {

/// Runs blocks on several threads, the caller's among them.
class executor : detail::not_copied {
 public:
  /// The function that runs block number `block`. Workers that run at once have different numbers below workers(), and below the count
  /// of blocks.
  using block_function = void (*)(void* context, int block, int worker);

  executor() = default;
  explicit executor(std::int64_t min_work) : min_work_(min_work) {}

  /// Runs blocks 0 ... count - 1, each once, in any order; returns when all are done. A call takes its memory for workers() workers
  /// before it writes anything, so run() should not allocate.
  virtual void run(int count, block_function function, void* context) = 0;
  virtual int workers() const = 0;

  /// Whether a step with this much work (elements times instructions) should run on several threads. Other steps stay on the caller's thread.
  bool gains_by(std::int64_t work) const { return work >= min_work_; }

 protected:
  ~executor() = default;

 private:
  std::int64_t min_work_ = 0;
};

namespace detail {

/// The executor of the calls of this thread. If it is null, they run on this thread alone. A call reads this pointer once, when it begins,
/// and passes it on as an argument.
inline constinit thread_local executor* current_executor = nullptr;

/// Whether this thread is one of a pool, which runs blocks of calls of others. Its stack is as large as the system makes stacks.
inline constinit thread_local bool is_pool_thread = false;

/// Whether the before_writing of a call also watches its steps, as in profile(). Then it has enter(step), which is called before each step, and
/// with -1 after the last step. This is decided by the type, so other calls pay nothing.
template <class BeforeWriting>
inline constexpr bool watches_steps = requires(const BeforeWriting& watch) { watch.enter(0); };

/// While this object lives, the calls of this thread run on an executor. With a null executor they run on this thread alone.
class [[nodiscard]] execution_scope : not_copied {
 public:
  explicit execution_scope(executor* on) : outer_(current_executor) { current_executor = on; }
  ~execution_scope() { current_executor = outer_; }

 private:
  executor* outer_;
};

}  // namespace detail

/// Runs on the calling thread alone, even within the scope of another execution.
struct sequential {
  auto scope() const { return detail::execution_scope(nullptr); }
};

/// Runs on the executor of the innermost scope of the calling thread. Without a scope it runs on the calling thread alone.
struct inherited {
  struct none {};
  constexpr none scope() const { return {}; }
};

}  // namespace tenure
