// SPDX-License-Identifier: BSL-1.0
// How often malloc and its like are called, where the C library lets a program count that.
#pragma once

#include <atomic>
#include <cstddef>

#include "sanitizers.hpp"

#if defined(__GLIBC__) && !TENURE_TEST_ADDRESS_SANITIZER
#define TENURE_TEST_COUNTS_MALLOC 1
#else
#define TENURE_TEST_COUNTS_MALLOC 0
#endif

inline std::atomic<std::size_t> allocations = 0;

/// The calls of the heap in three calls of f, after two that fill the pool.
template <class F>
std::size_t counted(F f) {
  f();
  f();
  const std::size_t before = allocations;
  for (int i = 0; i < 3; ++i) f();
  return allocations - before;
}
