// SPDX-License-Identifier: BSL-1.0
// No malloc in the steady state: a loop that repeats itself asks the system for memory in its first turn only.
#include <tenure/storage/foreign.hpp>

#include <atomic>
#include <cstdlib>

#include "../catch.hpp"

#if TENURE_POOL

namespace {
std::atomic<int> system_calls{0};
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++system_calls;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

using namespace tenure::detail;

TEST_CASE("blocks, foreign blocks and large blocks come from the pool after the first turn") {
  int first_turn = 0;
  for (int turn = 0; turn < 50; ++turn) {
    const int before = system_calls;
    {
      storage_handle held[20];
      for (int i = 0; i < 20; ++i) held[i] = allocate_storage(static_cast<std::size_t>(1) << i);
      const storage_handle alias = uncounted_storage(held[3]);
      for (int i = 0; i < 20; i += 2) held[i] = storage_handle();
    }
    if (turn == 0) first_turn = system_calls - before;
    else REQUIRE(system_calls == before);
  }
  CHECK(first_turn > 0);
  tenure::memory_pool::trim();
  const int before = system_calls;
  allocate_storage(64);
  CHECK(system_calls == before + 1);
}

#endif
