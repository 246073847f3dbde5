// SPDX-License-Identifier: BSL-1.0
#include <tenure/tensor/gradient.hpp>

#include <thread>
#include <vector>

#include "../catch.hpp"

using namespace tenure;
using namespace tenure::detail;

namespace {

struct chained : gradient_accumulator {
  chained(accumulator_handle before, int& counter)
      : gradient_accumulator(dtype::float32, {}), from(std::move(before)), alive(counter) {
    ++alive;
  }
  ~chained() override { --alive; }
  accumulator_handle from;
  accumulator_handle second;
  int& alive;
};

}  // namespace

TEST_CASE("sequence numbers grow with creation") {
  const accumulator_handle a = make_leaf_accumulator(dtype::float32, {});
  const accumulator_handle b = make_leaf_accumulator(dtype::float64, extents{1, {3}});
  CHECK(a->sequence < b->sequence);
  CHECK(b->type == dtype::float64);
  CHECK(b->shape == extents{1, {3}});
  CHECK(b->retains);
  CHECK_FALSE(b->grad);
}

TEST_CASE("letting go of a chain of any length takes constant stack") {
  int alive = 0;
  {
    accumulator_handle last;
    for (int i = 0; i < 1000000; ++i) last = accumulator_handle(new chained(std::move(last), alive));
    CHECK(alive == 1000000);
  }
  CHECK(alive == 0);
}

TEST_CASE("a history with two paths is let go of once") {
  int alive = 0;
  {
    accumulator_handle root(new chained({}, alive));
    accumulator_handle left(new chained(root, alive));
    auto* const both = new chained(left, alive);
    both->second = root;
    const accumulator_handle top(both);
    root = {};
    left = {};
    CHECK(alive == 3);
  }
  CHECK(alive == 0);
}

TEST_CASE("histories are let go of on the thread that held them last") {
  std::vector<accumulator_handle> held;
  for (int i = 0; i < 1000; ++i) held.push_back(make_leaf_accumulator(dtype::float32, {}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([copies = held]() mutable { copies.clear(); });
  held.clear();
  for (auto& t : threads) t.join();
  SUCCEED();
}
