// SPDX-License-Identifier: BSL-1.0
// The pool allocates all memory of tensors and of histories. It keeps freed memory in one list for each size class, so that a loop
// calls malloc only in its first iteration. There are four size classes for each power of two; at most a quarter of a block is unused.
// Law: after give(take(n), n) the pool can serve take(n) without malloc. One thread may give memory that another thread took.
// Cost: a pop from a list in the thread's own cache; above 64 KiB, or if the cache is empty, one lock.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <sched.h>
#include <time.h>

#include "../core/atomic.hpp"
#include "../core/config.hpp"

namespace TENURE_NAMESPACE {

namespace detail {
inline constexpr std::size_t memory_unit = 64;

// Size classes in units of 64 bytes: 1 2 3 4 | 5 6 7 8 | 10 12 14 16 | 20 24 28 32 | ...
constexpr int size_class_of(std::size_t bytes) {
  const std::size_t last = bytes == 0 ? 0 : (bytes - 1) / memory_unit;
  if (last < 4) return static_cast<int>(last);
  const int doubling = static_cast<int>(std::bit_width(last)) - 3;
  return 4 * doubling + static_cast<int>(last >> doubling);
}
constexpr std::size_t size_class_bytes(int c) {
  if (c < 4) return memory_unit * static_cast<std::size_t>(c + 1);
  return memory_unit * (static_cast<std::size_t>(c % 4 + 5) << (c / 4 - 1));
}
static_assert(size_class_of(256) == 3 && size_class_of(257) == 4 && size_class_of(512) == 7 && size_class_of(513) == 8);
static_assert(size_class_bytes(4) == 320 && size_class_bytes(7) == 512 && size_class_bytes(8) == 640);
}  // namespace detail

class pool {
 public:
  static constexpr std::size_t alignment = detail::memory_unit;
  /// take() throws for more bytes than this without a call to the system.
  static constexpr std::size_t largest = std::size_t{1} << 40;

  /// Returns at least `bytes` bytes, aligned to 64. Throws std::bad_alloc; then only unused memory in the pool may have been freed.
  static void* take(std::size_t bytes) {
    if (bytes > largest) throw std::bad_alloc();
    const int c = detail::size_class_of(bytes);
    if constexpr (keeps_memory) {
      if (c < local_classes && local.head[c] != nullptr) {
        link* const found = local.head[c];
        local.head[c] = found->next;
        --local.length[c];
        return found;
      }
      if (link* const found = pop_shared(c)) return found;
    }
    return allocate(c);
  }

  /// Gives back memory that take(bytes) returned. `bytes` must be the number that take() was called with.
  static void give(void* memory, std::size_t bytes) noexcept {
    if constexpr (!keeps_memory) return std::free(memory);
    const int c = detail::size_class_of(bytes);
    link* const freed = ::new (memory) link{nullptr};
    if (c < local_classes && local.length[c] < local_limit && opened()) {
      freed->next = local.head[c];
      local.head[c] = freed;
      ++local.length[c];
    } else {
      push_shared(c, freed, freed);
    }
  }

  /// Returns all unused memory to the system, except the memory in the caches of other running threads.
  [[gnu::cold, gnu::noinline]] static void trim() noexcept {
    flush();
    for (int c = 0; c < classes; ++c) {
      shared.acquire();
      link* list = shared.head[c].exchange_acquire(nullptr);
      shared.release();
      while (list != nullptr) {
        link* const next = list->next;
        std::free(list);
        list = next;
      }
    }
  }

 private:
  struct link { link* next; };

  // 0 under AddressSanitizer, so that it can see a use after free.
  static constexpr bool keeps_memory = TENURE_POOL;
  static constexpr int classes = 160;
  static constexpr int local_classes = 36;  // up to 64 KiB
  static constexpr int local_limit = 64;
  static_assert(detail::size_class_of(largest) < classes && detail::size_class_bytes(local_classes - 1) == 65536);

  // Both caches are constant-initialised and have no destructor, so they can be used before and after main. The heads of the shared
  // lists are atomic only because take() checks for an empty list without the lock.
  struct local_cache {
    link* head[local_classes];
    int length[local_classes];
    bool open;
    bool closed;
  };
  struct shared_cache {
    detail::atomic<int> busy;  // not a bool: RISC-V exchanges no single bytes, and g++ would call libatomic
    detail::atomic<link*> head[classes];
    // A spin lock. It is held for a few instructions only.
    void acquire() noexcept {
      if (busy.exchange_acquire(1) != 0) [[unlikely]] wait();
    }
    [[gnu::cold, gnu::noinline]] void wait() noexcept {
      for (int tries = 1; busy.exchange_acquire(1) != 0; ++tries) {
        constexpr timespec some_time{0, 50000};
        if (tries % 64 != 0) sched_yield();
        else nanosleep(&some_time, nullptr);  // under SCHED_FIFO a yield does not let a holder of lower priority run
      }
    }
    void release() noexcept { busy.store_release(0); }
  };
  static inline constinit thread_local local_cache local{};
  static inline constinit shared_cache shared{};

  struct closer {
    ~closer() {
      flush();
      local.closed = true;
    }
  };

  // A thread that ends moves its cache to the shared lists. Memory freed later on this thread goes to the shared lists directly.
  static bool opened() noexcept {
    if (local.open) return !local.closed;
    static thread_local closer at_exit;
    (void)at_exit;
    local.open = true;
    return true;
  }

  [[gnu::cold, gnu::noinline]] static void flush() noexcept {
    for (int c = 0; c < local_classes; ++c) {
      link* const first = local.head[c];
      if (first == nullptr) continue;
      link* last = first;
      while (last->next != nullptr) last = last->next;
      local.head[c] = nullptr;
      local.length[c] = 0;
      push_shared(c, first, last);
    }
  }

  // These functions are not inlined: inlined, they take registers from the short path through the cache, 2 ns for each allocation.
  [[gnu::noinline]] static link* pop_shared(int c) noexcept {
    if (shared.head[c].load() == nullptr) return nullptr;
    shared.acquire();
    link* const found = shared.head[c].load();
    if (found != nullptr) shared.head[c].store(found->next);
    shared.release();
    return found;
  }

  [[gnu::noinline]] static void push_shared(int c, link* first, link* last) noexcept {
    shared.acquire();
    last->next = shared.head[c].load();
    shared.head[c].store(first);
    shared.release();
  }

  [[gnu::noinline]] static void* allocate(int c) {
    void* memory = std::aligned_alloc(alignment, detail::size_class_bytes(c));
    if (memory == nullptr) {
      trim();
      memory = std::aligned_alloc(alignment, detail::size_class_bytes(c));
    }
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
};

}  // namespace tenure
