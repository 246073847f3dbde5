// SPDX-License-Identifier: BSL-1.0
#include <tenure/storage/block.hpp>
#include <tenure/storage/foreign.hpp>
#include <tenure/storage/saved.hpp>

#include <cstdint>
#include <thread>
#include <utility>

#include "../catch.hpp"

using namespace tenure::detail;

// Law: the payload of an allocated block is aligned to 64 bytes and padded to a multiple of 64 bytes, so that a packet load at the end stays inside.
TEST_CASE("an allocated payload is aligned to 64 bytes and padded to a multiple of 64") {
  for (const std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 4000u}) {
    const storage_handle h = allocate_storage(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(h.data()) % 64 == 0);
    CHECK(h.bytes() % 64 == 0);
    CHECK(h.bytes() >= bytes);
    CHECK(h.bytes() >= 64);
    static_cast<unsigned char*>(h.data())[h.bytes() - 1] = 1;
  }
  CHECK_THROWS_AS(allocate_storage(~std::size_t{0}), std::bad_alloc);
}

TEST_CASE("handles share one block, one version and one count") {
  storage_handle a = allocate_storage(8);
  CHECK_FALSE(a.is_shared());
  CHECK(a.version() == 0);
  storage_handle b = a;
  CHECK(a == b);
  CHECK(a.is_shared());
  b.bump();
  CHECK(a.version() == 1);
  const storage_handle c = std::move(b);
  CHECK_FALSE(b);
  CHECK(c == a);
  a = storage_handle();
  CHECK_FALSE(c.is_shared());
}

TEST_CASE("a recycled block starts at version 0") {
  for (int i = 0; i < 3; ++i) {
    const storage_handle h = allocate_storage(100);
    CHECK(h.version() == 0);
    CHECK_FALSE(h.is_saved());
    h.bump();
  }
}

// Law: the deleter runs exactly once, when the last tensor over the memory is destroyed, on the thread that destroys it.
TEST_CASE("a deleter runs once, when the last handle goes") {
  float memory[4] = {};
  int calls = 0;
  std::thread::id deleted_on, last_on;
  storage_handle a = borrow_storage(memory, sizeof memory, [&]() noexcept { ++calls, deleted_on = std::this_thread::get_id(); });
  CHECK(a.data() == memory);
  storage_handle b = a;
  a = storage_handle();
  CHECK(calls == 0);
  std::thread([&] { last_on = std::this_thread::get_id(), b = storage_handle(); }).join();
  CHECK(calls == 1);
  CHECK(deleted_on == last_on);
}

// Law: the memory lives as long as either block.
TEST_CASE("an uncounted storage shares the memory but not the version, and keeps the memory alive") {
  storage_handle counted = allocate_storage(8);
  static_cast<float*>(counted.data())[0] = 3;
  const storage_handle uncounted = uncounted_storage(counted);
  CHECK(uncounted.data() == counted.data());
  uncounted.bump();
  CHECK(counted.version() == 0);
  CHECK(uncounted.version() == 1);
  counted = storage_handle();
  CHECK(static_cast<float*>(uncounted.data())[0] == 3);
}

// Law: intact() is true exactly when no counted alias has written to the memory since it was saved.
TEST_CASE("a saved storage is intact exactly until a counted write, and marks the block while it lives") {
  const storage_handle h = allocate_storage(8);
  {
    saved_storage s(h);
    CHECK(s.intact());
    CHECK(h.is_saved());
    const saved_storage copy = s;
    const saved_storage moved = std::move(s);
    CHECK_FALSE(s.intact());
    CHECK(moved.intact());
    h.bump();
    CHECK_FALSE(moved.intact());
    CHECK_FALSE(copy.intact());
    CHECK(saved_storage(h).intact());
  }
  CHECK_FALSE(h.is_saved());
}
