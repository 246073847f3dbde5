// SPDX-License-Identifier: BSL-1.0
// The pool allocates all memory of tensors and of histories. It keeps freed memory in one list for each size class, so that a loop
// calls malloc only in its first iteration. There are four size classes for each power of two; at most a quarter of a block is unused.
// Law: after give(take(n), n) the pool can serve take(n) without malloc. One thread may give memory that another thread took.
// Law: the pool has at most twice the memory that was in use at the same time, as the last 2048 calls of malloc saw it, or 64 MiB. A take that needs
// malloc first frees what has not been used for longest. A loop that finds all its sizes in the lists frees nothing.
// (glibc keeps free memory between used blocks; the pool calls malloc_trim when it has shrunk to half. mmap for blocks of 1 MB and more, or
// malloc_trim at each free, reduces the resident memory of a run with random sizes to 0.65, but makes the run 1.5 to 3.6 times as slow.)
// Cost: a pop from a list in the thread's own cache; above 64 KiB, or if the cache is empty, one lock.
#pragma once

#include "../core/config.hpp"

#if TENURE_FREESTANDING
#include "no_heap.hpp"
#else

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <pthread.h>
#include <sched.h>
#include <time.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "../core/atomic.hpp"
#include "../core/raise.hpp"

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

/// The memory of all tensors. The pool keeps what is freed for the next tensor of a similar size. With it the pool has at most twice the memory that
/// was in use at the same time, or 64 MiB. tn::memory_pool::trim() frees what is kept.
class memory_pool {
 public:
  static constexpr std::size_t alignment = detail::memory_unit;
  /// take() throws for more bytes than this without a call to the system.
  static constexpr std::size_t largest = std::size_t{1} << 40;

  /// Returns at least `bytes` bytes, aligned to 64. Throws std::bad_alloc; then only unused memory in the pool may have been freed.
  static void* take(std::size_t bytes) {
    if (bytes > largest) TENURE_THROW(std::bad_alloc());
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
      push_shared(c, freed, freed, 1);
    }
  }

  /// Frees all unused memory of the pool, and asks the C library to return it to the system: glibc does, others may keep it. Returns the
  /// number of bytes. The caches of other running threads stay: at most 64 blocks of each size up to 64 KiB, together 27 MB a thread.
  [[gnu::cold, gnu::noinline]] static std::size_t trim() noexcept {
    flush();
    std::size_t bytes = 0;
    for (int c = 0; c < classes; ++c) {
      shared_cache::list& from = shared.lists[c];
      shared.acquire();
      link* const unused = from.head.load();
      const std::size_t freed = from.length * detail::size_class_bytes(c);
      from.head.store(nullptr);
      from.length = 0;
      shared.owned -= freed;
      shared.release();
      bytes += freed;
      free_list(unused);
    }
    return_to_system();
    return bytes;
  }

 private:
  struct link { link* next; };

  // 0 under AddressSanitizer, so that it can see a use after free.
  static constexpr bool keeps_memory = TENURE_POOL;
  static constexpr int classes = 160;
  static constexpr int local_classes = 36;  // up to 64 KiB
  static constexpr int local_limit = 64;
  static constexpr std::uint32_t misses_remembered = 1024;
  static constexpr std::size_t always_kept = std::size_t{64} << 20;
  static_assert(detail::size_class_of(largest) < classes && detail::size_class_bytes(local_classes - 1) == 65536);

  // Both caches are constant-initialised and have no destructor, so they can be used before and after main. The heads of the shared
  // lists are atomic only because take() checks for an empty list without the lock.
  struct local_cache {
    link* head[local_classes];
    int length[local_classes];
    bool open;
    bool closed;
    int fork_handlers;  // that have begun in this thread and have not ended
  };
  struct shared_cache {
    detail::atomic<int> handles_fork;
    detail::atomic<int> busy;  // not a bool: RISC-V cannot exchange single bytes, and g++ would call libatomic
    struct list {
      detail::atomic<link*> head;
      std::uint32_t length;
      std::uint32_t last_take;  // the number of misses before the last take from the list
    };
    list lists[classes];
    std::size_t owned;       // bytes that malloc gave. The lock guards these and the lists
    std::size_t max_in_use;  // the maximum in use at the last misses, at most misses_remembered of them; the caches of threads count as in use
    std::size_t max_before;  // the maximum in use at the misses_remembered before those
    std::size_t max_owned;   // the maximum of `owned` since the last malloc_trim
    std::uint32_t misses;    // takes that called malloc

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
    std::size_t kept() const noexcept {
      std::size_t bytes = 0;
      for (int c = 0; c < classes; ++c) bytes += lists[c].length * detail::size_class_bytes(c);
      return bytes;
    }
    int longest_unused() const noexcept {
      int oldest = -1;
      std::uint32_t age = 0;
      for (int c = 0; c < classes; ++c) {
        const std::uint32_t unused = misses - lists[c].last_take;
        if (lists[c].length != 0 && (oldest < 0 || unused > age)) oldest = c, age = unused;
      }
      return oldest;
    }
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
      const int count = local.length[c];
      local.head[c] = nullptr;
      local.length[c] = 0;
      push_shared(c, first, last, count);
    }
  }

  // These functions are not inlined: inlined, they take registers from the short path through the cache, 2 ns for each allocation.
  [[gnu::noinline]] static link* pop_shared(int c) noexcept {
    shared_cache::list& from = shared.lists[c];
    if (from.head.load() == nullptr) return nullptr;
    shared.acquire();
    link* const found = from.head.load();
    if (found != nullptr) {
      from.head.store(found->next);
      --from.length;
      from.last_take = shared.misses;
    }
    shared.release();
    return found;
  }

  [[gnu::noinline]] static void push_shared(int c, link* first, link* last, int count) noexcept {
    shared_cache::list& to = shared.lists[c];
    shared.acquire();
    last->next = to.head.load();
    to.head.store(first);
    to.length += static_cast<std::uint32_t>(count);
    shared.release();
  }

  static void free_list(link* list) noexcept {
    while (list != nullptr) {
      link* const next = list->next;
      std::free(list);
      list = next;
    }
  }

  // Counts memory of class c that malloc will give, and frees unused memory if the second law above requires it.
  static void make_room(int c) noexcept {
    shared.acquire();
    shared.owned += detail::size_class_bytes(c);
    shared.lists[c].last_take = ++shared.misses;
    const std::size_t in_use = shared.owned - shared.kept();
    if (shared.misses % misses_remembered == 0) shared.max_before = shared.max_in_use, shared.max_in_use = 0;
    const auto larger = [](std::size_t a, std::size_t b) { return a > b ? a : b; };
    shared.max_in_use = larger(shared.max_in_use, in_use);
    const std::size_t limit = larger(always_kept, 2 * larger(shared.max_in_use, shared.max_before));
    link* freed = nullptr;
    for (int oldest; shared.owned > limit && (oldest = shared.longest_unused()) >= 0;) {
      shared_cache::list& from = shared.lists[oldest];
      link* const block = from.head.load();
      from.head.store(block->next);
      --from.length;
      shared.owned -= detail::size_class_bytes(oldest);
      block->next = freed;
      freed = block;
    }
    shared.max_owned = larger(shared.max_owned, shared.owned);
    const bool shrinks = shared.max_owned > always_kept && shared.owned <= shared.max_owned / 2;
    if (shrinks) shared.max_owned = shared.owned;
    shared.release();
    free_list(freed);
    if (shrinks) return_to_system();
  }
  // Takes about 0.1 s a GB.
  static void return_to_system() noexcept {
#if defined(__GLIBC__)
    ::malloc_trim(0);
#endif
  }

  // A child of fork() has only the thread that called it. The lock is held during fork(), so that no other thread holds it: nobody would
  // release it in the child. No thread waits for another one that registers the handlers, because a child could wait for ever. So two threads may
  // register them, and the handlers count. They are not registered before main: a library for processors that this one may not be has no initializers.
  static void handle_fork() noexcept {
    if (shared.handles_fork.load_acquire() != 0) return;
    const auto leave = [] {
      if (--local.fork_handlers == 0) shared.release();
    };
    const auto enter = [] {
      if (local.fork_handlers++ == 0) shared.acquire();
    };
    pthread_atfork(enter, leave, leave);
    shared.handles_fork.store_release(1);
  }

  [[gnu::noinline]] static void* allocate(int c) {
    const std::size_t bytes = detail::size_class_bytes(c);
    if constexpr (keeps_memory) handle_fork(), make_room(c);
    void* memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) {
      trim();
      memory = std::aligned_alloc(alignment, bytes);
    }
    if (memory == nullptr) {
      if constexpr (keeps_memory) {
        shared.acquire();
        shared.owned -= bytes;
        shared.release();
      }
      TENURE_THROW(std::bad_alloc());
    }
    return memory;
  }
};

}  // namespace tenure

#endif
