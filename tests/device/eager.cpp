// SPDX-License-Identifier: BSL-1.0
#include "../far_device.hpp"
#include "eager.hpp"

using namespace device_tests;

TEST_CASE("expressions are computed where their tensors are") { expressions(far); }
TEST_CASE("gradients flow and accumulate where their leaves are") { gradients(far); }

TEST_CASE("a backward() in which an allocation, a transfer or a kernel fails has changed nothing") {
  auto w = matrix{{1, 2, 3}, {4, 5, 6}}.to(far).requires_grad_();
  sum(w * w).backward();
  const auto before = elements(w.grad());
  int failures = 0;
  for (;; ++failures) {
    const int live = far_events_so_far.live;
    far_events_so_far.fail_at = failures;
    try {
      auto e = sum(exp(w * 0.5) * w.at(all, range(0, 3)));
      e.backward();
      break;
    } catch (const std::bad_alloc&) {
      far_events_so_far.fail_at = -1;
      CHECK(elements(w.grad()) == before);
      CHECK(far_events_so_far.live == live);
    }
  }
  far_events_so_far.fail_at = -1;
  CHECK(failures > 3);
  CHECK(elements(w.grad()) != before);
}
