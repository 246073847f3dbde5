// SPDX-License-Identifier: BSL-1.0
// The ways to the heap. No tests stand here: g++ takes an inlined replacement of delete for a mismatch (gcc bug 103993).
#include "injected.hpp"

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  void* memory = nullptr;
  return !allocation_fails() && posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void* operator new(std::size_t bytes) {
  void* const memory = allocation_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocation_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
