// SPDX-License-Identifier: BSL-1.0
// Counts each call of the C library's heap, through which all other ways to it go. Sanitizers have a heap of their own, and not every C library lets a program
// do this: there the number stays 0.
#include "heap.hpp"

#include <atomic>
#include <cstdlib>

namespace {
std::atomic<long> calls = 0;
}

long heap_calls() { return calls; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AUDIO_COUNTS_HEAP 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define AUDIO_COUNTS_HEAP 0
#endif
#endif
#if !defined(AUDIO_COUNTS_HEAP) && defined(__GLIBC__)
#define AUDIO_COUNTS_HEAP 1
#endif

#if AUDIO_COUNTS_HEAP
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t bytes) { return ++calls, __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) { return ++calls, __libc_calloc(count, bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return ++calls, __libc_memalign(alignment, bytes); }
void* memalign(std::size_t alignment, std::size_t bytes) { return ++calls, __libc_memalign(alignment, bytes); }
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  ++calls;
  *to = __libc_memalign(alignment, bytes);
  return *to == nullptr;
}
}
#endif
