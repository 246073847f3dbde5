// SPDX-License-Identifier: BSL-1.0
// Memory that a step borrows from the pool while it runs, so that a caller with a small stack can run it. A step has begun to write and must not
// fail: if the system has no memory, the step uses the stack. So do the threads of a pool: which of them runs a block changes from call to call, and
// with memory of their own a call would allocate now and then.
// Cost: some nanoseconds, as for a small tensor. The pool of the thread keeps the block, which has the same size in all calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "../../core/config.hpp"
#include "../../storage/pool.hpp"
#include "../execution.hpp"

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {
// It is not inlined, so that its code is compiled once.
template <class F>
[[gnu::noinline]] void call_with(const F& f, void* memory) { f(memory); }
template <std::size_t Bytes, class F>
[[gnu::noinline]] void call_with_stack(const F& f) {
  alignas(64) std::byte memory[Bytes];
  call_with(f, memory);
}
}  // namespace detail

/// Calls f with Most bytes, aligned to 64, or with null if `bytes` is 0. `bytes` is at most Most.
template <std::size_t Most, class F>
void with_borrowed_memory(std::int64_t bytes, const F& f) {
  if (bytes == 0) return detail::call_with(f, nullptr);
#if TENURE_FREESTANDING
  detail::call_with_stack<Most>(f);
#else
  if (tenure::detail::is_pool_thread) return detail::call_with_stack<Most>(f);
  void* memory = nullptr;
  try {
    memory = memory_pool::take(Most);
  } catch (const std::bad_alloc&) {
    return detail::call_with_stack<Most>(f);
  }
  detail::call_with(f, memory);
  memory_pool::give(memory, Most);
#endif
}

}  // namespace tenure::cpu_backend
