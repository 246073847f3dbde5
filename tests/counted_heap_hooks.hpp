// SPDX-License-Identifier: BSL-1.0
// Every way to the heap counts. One file of a program includes this header.
#pragma once

#include "counted_heap.hpp"

#include <cstdlib>

#if TENURE_TEST_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t bytes) { return ++allocations, __libc_malloc(bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return ++allocations, __libc_memalign(alignment, bytes); }
void* memalign(std::size_t alignment, std::size_t bytes) { return ++allocations, __libc_memalign(alignment, bytes); }
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  ++allocations;
  *to = __libc_memalign(alignment, bytes);
  return *to == nullptr;
}
}
#endif
