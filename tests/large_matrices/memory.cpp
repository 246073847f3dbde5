// SPDX-License-Identifier: BSL-1.0
// malloc() of this program, which Eigen calls, and Tenure's pool does not.
#include "memory.hpp"

#include <cstdlib>

#include "../sanitizers.hpp"

#if defined(__GLIBC__) && !TENURE_TEST_ADDRESS_SANITIZER
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) {
  if (memory::refuses) return ++memory::refused, nullptr;
  return __libc_malloc(bytes);
}
#endif
