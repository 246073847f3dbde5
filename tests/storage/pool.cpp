// SPDX-License-Identifier: BSL-1.0
#include <tenure/storage/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "../catch.hpp"

using tenure::memory_pool;

TEST_CASE("every size class holds the bytes that map to it, and wastes at most a quarter") {
  using namespace tenure::detail;
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 20); bytes += bytes < 4096 ? 1 : 61) {
    const int c = size_class_of(bytes);
    REQUIRE(size_class_bytes(c) >= bytes);
    if (c > 0) REQUIRE(size_class_bytes(c - 1) < bytes);
    if (bytes > 256) REQUIRE(size_class_bytes(c) <= bytes + bytes / 4 + 64);
  }
}

// Law: after give(take(n), n) the pool can serve take(n) without malloc.
TEST_CASE("give(take(n), n) lets the pool serve take(n) again without malloc") {
  for (const std::size_t bytes : {1u, 64u, 65u, 1000u, 65536u, 65537u, 10000000u}) {
    void* const first = memory_pool::take(bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(first) % memory_pool::alignment == 0);
    std::memset(first, 1, bytes);
    memory_pool::give(first, bytes);
#if TENURE_POOL
    void* const second = memory_pool::take(bytes);
    CHECK(second == first);
    memory_pool::give(second, bytes);
#endif
  }
  memory_pool::trim();
}

TEST_CASE("more blocks than a thread keeps go to the shared lists and come back") {
  std::vector<void*> taken;
  for (int i = 0; i < 500; ++i) taken.push_back(memory_pool::take(128));
  for (void* p : taken) memory_pool::give(p, 128);
  std::vector<void*> again;
  for (int i = 0; i < 500; ++i) again.push_back(memory_pool::take(128));
#if TENURE_POOL
  std::sort(taken.begin(), taken.end());
  std::sort(again.begin(), again.end());
  CHECK(taken == again);
#endif
  for (void* p : again) memory_pool::give(p, 128);
  memory_pool::trim();
}

TEST_CASE("memory taken on one thread may be given on another, which then ends") {
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> taken;
    for (int i = 0; i < 200; ++i) taken.push_back(memory_pool::take(256 + static_cast<std::size_t>(i)));
    std::thread other([&] {
      for (std::size_t i = 0; i < taken.size(); ++i) memory_pool::give(taken[i], 256 + i);
      for (int i = 0; i < 100; ++i) memory_pool::give(memory_pool::take(300), 300);
    });
    for (int i = 0; i < 100; ++i) memory_pool::give(memory_pool::take(300), 300);
    other.join();
  }
  memory_pool::trim();
}

TEST_CASE("a size that no memory could hold throws bad_alloc") {
  CHECK_THROWS_AS(memory_pool::take(~std::size_t{0}), std::bad_alloc);
  CHECK_THROWS_AS(memory_pool::take(memory_pool::largest + 1), std::bad_alloc);
}
