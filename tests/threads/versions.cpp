// SPDX-License-Identifier: BSL-1.0
// Versions under several threads: each write is counted, whoever else writes the same storage, so that a saved number never comes back.
// Built with ThreadSanitizer.
#include "../catch.hpp"

#include <atomic>
#include <limits>
#include <thread>
#include <type_traits>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

/// Runs first() and second() at the same time, `turns` times each.
template <class First, class Second>
void at_once(int turns, First first, Second second) {
  std::atomic<int> arrived{0};
  const auto run = [&](auto& f) {
    ++arrived;
    while (arrived < 2) {}
    for (int i = 0; i < turns; ++i) f();
  };
  std::thread other([&] { run(second); });
  run(first);
  other.join();
}

}  // namespace

TEST_CASE("two threads write disjoint rows through views: the version counts each write") {
  tn::tensor<float, tn::shape<2, 16>> x = tn::zeros<float>(tn::shape<2, 16>{});
  auto top = x[0], bottom = x[1];
  constexpr int turns = 300000;
  const std::uint64_t before = x.version();
  at_once(turns, [&] { top.fill_(1); }, [&] { bottom.fill_(2); });
  INFO("fill_ of two rows, " << turns << " times each");
  CHECK(x.version() - before == 2 * turns);
  CHECK(x(0, 3) == 1);
  CHECK(x(1, 3) == 2);
}

// Law: code that writes elements calls write(), which raises the version.
TEST_CASE("two threads update disjoint rows in place: the version counts each update") {
  tn::tensor<float, tn::shape<2, 4>> x = tn::zeros<float>(tn::shape<2, 4>{});
  auto top = x[0], bottom = x[1];
  constexpr int turns = 30000;
  const std::uint64_t before = x.version();
  at_once(turns, [&] { top += 1; }, [&] { bottom -= 1; });
  INFO("+= 1 and -= 1 of two rows, " << turns << " times each");
  CHECK(x.version() - before == 2 * turns);
  CHECK(x(0, 3) == turns);
  CHECK(x(1, 3) == -turns);
}

TEST_CASE("a version that a graph saved does not come back, however two threads write") {
  // With lost counts a write could leave the number as a slower thread stored it again.
  tn::tensor<float, tn::shape<2, 4>> x = tn::ones<float>(tn::shape<2, 4>{});
  const tn::variable<float, tn::shape<2, 4>> w = tn::ones<float>(tn::shape<2, 4>{}).requires_grad_();
  auto top = x[0], bottom = x[1];
  std::atomic<std::uint64_t> most{0};
  std::atomic<int> came_back{0};
  const auto write_and_look = [&](auto& row) {
    return [&] {
      row.fill_(3);
      const std::uint64_t seen = x.version();  // no less than any number that was seen when this thread had written
      if (seen < most.load()) ++came_back;
      std::uint64_t m = most.load();
      while (m < seen && !most.compare_exchange_weak(m, seen)) {}
    };
  };
  for (int turn = 0; turn < 20; ++turn) {
    tn::tensor y = w * x;  // its gradient reads x
    const std::uint64_t saved = x.version();
    at_once(5000, write_and_look(top), write_and_look(bottom));
    INFO("turn " << turn << ", saved at " << saved << ", now " << x.version() << ", went back " << came_back << " times");
    REQUIRE(x.version() == saved + 10000);
    REQUIRE_THROWS_AS(y.backward(tn::ones<float>(tn::shape<2, 4>{})), tn::ownership_error);
  }
}

TEST_CASE("a version has 64 bits: 32 are written around in a minute") {
  using version = decltype(tn::tensor<float, tn::shape<>>(1).version());
  STATIC_REQUIRE(std::numeric_limits<version>::digits == 64);
  tn::tensor<float, tn::shape<2>> x{1, 2};
  const tn::variable<float, tn::shape<2>> w{3, 4};
  tn::tensor y = w * x;
  tn::detail::tensor_access::storage(x).get()->version.fetch_add(std::uint64_t{1} << 32);  // as many writes
  CHECK_THROWS_AS(y.backward(tn::ones<float>(tn::shape<2>{})), tn::ownership_error);
}
