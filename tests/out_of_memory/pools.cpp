// SPDX-License-Identifier: BSL-1.0
// Thread pools: a thread that cannot be started, and a pool that was moved from.
#include <utility>

#include "injected.hpp"

#include <tenure/threads.hpp>

TEST_CASE("a pool whose threads cannot all be started throws, and those that were started end") {
  const auto nothing = [] { return 0; };
  CHECK(check_failures(nothing, [](auto&) { const tn::thread_pool pool(5); }) >= 8);
  CHECK(check_failures(nothing, [](auto&) { const tn::thread_pool pool(2); }) >= 4);
}

TEST_CASE("a pool that was moved from has its threads still") {
  tn::thread_pool a(2);
  const tn::thread_pool b = std::move(a);
  CHECK(a.threads() == 2);
  CHECK(b.threads() == 2);
  const auto on = a.scope();
}
