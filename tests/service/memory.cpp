// SPDX-License-Identifier: BSL-1.0
// Memory in a service: what the pool keeps of past sizes is bounded, a steady loop does without malloc, and trim() gives back what it says.
#include "../catch.hpp"
#include "../sanitizers.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include <tenure/storage/pool.hpp>

using tenure::memory_pool;

namespace {

std::size_t calls_of_malloc = 0;
[[maybe_unused]] constexpr std::size_t mega = 1000000;

}  // namespace

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++calls_of_malloc;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

#if TENURE_POOL && defined(__GLIBC__) && !TENURE_TEST_ADDRESS_SANITIZER

namespace {

/// Megabytes that malloc has given and not got back.
std::size_t allocated() {
  const struct mallinfo2 all = mallinfo2();
  return (all.uordblks + all.hblkhd) / mega;
}
std::size_t resident() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long size = 0, pages = 0;
  REQUIRE(std::fscanf(file, "%ld %ld", &size, &pages) == 2);
  std::fclose(file);
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / mega;
}
/// Takes blocks of this size until 100 MB are in use, writes them, and gives them back.
void use(std::size_t bytes) {
  std::vector<void*> taken;
  for (std::size_t in_use = 0; in_use + bytes <= 100 * mega; in_use += bytes) {
    taken.push_back(memory_pool::take(bytes));
    std::memset(taken.back(), 1, bytes);
  }
  for (void* memory : taken) memory_pool::give(memory, bytes);
}

}  // namespace

// Law: the pool has at most twice the memory that was in use at the same time, as the last 2048 calls of malloc saw it, or 64 MiB.
TEST_CASE("Law: the pool has at most twice what was in use: ten sizes of 100 MB") {
  memory_pool::trim();
  const std::size_t before = allocated(), resident_before = resident();
  std::size_t most = 0;
  for (double bytes = 1e6; bytes < 2e7; bytes *= 1.35) {
    use(static_cast<std::size_t>(bytes));
    most = std::max(most, allocated() - before);
  }
  CHECK(most >= 100);
  CHECK(most <= 2 * 125);  // at most a quarter of a block is unused
  const std::size_t freed = memory_pool::trim() / mega;
  CHECK(freed + 1 >= most / 2);
  CHECK(allocated() <= before + 1);
  CHECK(resident() <= resident_before + 10);
}

TEST_CASE("a large block that was in use once is forgotten") {
  memory_pool::trim();
  const std::size_t before = allocated();
  memory_pool::give(memory_pool::take(900 * mega), 900 * mega);
  CHECK(allocated() - before >= 900);
  std::vector<void*> small;
  for (int i = 0; i < 3000; ++i) small.push_back(memory_pool::take(10000 + static_cast<std::size_t>(i)));
  CHECK(allocated() - before <= 2 * 45);
  for (int i = 0; i < 3000; ++i) memory_pool::give(small[static_cast<std::size_t>(i)], 10000 + static_cast<std::size_t>(i));
  memory_pool::trim();
}

TEST_CASE("a loop whose sizes are in use one after the other calls malloc in its first iteration only") {
  memory_pool::trim();
  const auto iteration = [] {
    void* const base = memory_pool::take(20 * mega);
    for (const std::size_t bytes : {1 * mega, 3 * mega, 9 * mega, 10 * mega}) memory_pool::give(memory_pool::take(bytes), bytes);
    memory_pool::give(base, 20 * mega);
  };
  iteration();
  calls_of_malloc = 0;
  for (int i = 0; i < 5000; ++i) iteration();
  CHECK(calls_of_malloc == 0);
  memory_pool::trim();
}

namespace {

/// Takes and gives blocks of sizes at random, of which 50 MB are in use, and then gives all.
void use_at_random() {
  std::mt19937_64 random(1);
  std::vector<std::pair<void*, std::size_t>> taken;
  std::size_t in_use = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto bytes = static_cast<std::size_t>(std::exp(std::uniform_real_distribution<>(std::log(1e3), std::log(1e7))(random)));
    taken.emplace_back(memory_pool::take(bytes), bytes);
    std::memset(taken.back().first, 1, bytes);
    for (in_use += bytes; in_use > 50 * mega;) {
      std::swap(taken[random() % taken.size()], taken.back());
      memory_pool::give(taken.back().first, taken.back().second);
      in_use -= taken.back().second;
      taken.pop_back();
    }
  }
  for (const auto& [memory, bytes] : taken) memory_pool::give(memory, bytes);
}

}  // namespace

TEST_CASE("trim() after a run with sizes at random returns the memory to the system") {
  memory_pool::trim();
  const std::size_t before = resident();
  use_at_random();
  memory_pool::trim();
  CHECK(resident() <= before + 10);
}

TEST_CASE("when the work becomes smaller, the memory of before goes back to the system") {
  memory_pool::trim();
  const std::size_t before = resident();
  use_at_random();
  std::vector<void*> small;
  for (std::size_t i = 0; i < 3000; ++i) small.push_back(memory_pool::take(1000 + 7 * i));
  CHECK(resident() <= before + 67 + 34);  // what is always kept, and what is in use
  for (std::size_t i = 0; i < 3000; ++i) memory_pool::give(small[i], 1000 + 7 * i);
  memory_pool::trim();
}

#endif
