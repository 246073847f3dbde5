// SPDX-License-Identifier: BSL-1.0
// Which states a reverse_while keeps: it never has more than it has room for, and it computes as few iterations again as possible.
#include "../catch.hpp"

#include <algorithm>
#include <vector>

#include <tenure/program/snapshots.hpp>

namespace rule = tenure::program_detail;

namespace {

struct cost {
  std::int64_t computed = 0, max_kept = 0;
};

/// The iterations that are computed again on the way back through `trip_count` iterations, with this many snapshots besides the first state.
cost of(std::int64_t trip_count, std::int64_t snapshots) {
  cost c;
  std::vector<std::int64_t> taken_at(static_cast<std::size_t>(snapshots + 2), -1), kept(static_cast<std::size_t>(snapshots + 1), 0);
  taken_at.back() = -7;  // behind the room that there is
  std::int64_t at = 0, next = trip_count;
  rule::walk_back(
      trip_count, snapshots, taken_at.data(),
      [&](std::int64_t k) {
        REQUIRE(k <= snapshots);
        at = kept[static_cast<std::size_t>(k)];
      },
      [&](std::int64_t n, std::int64_t k) {
        REQUIRE(n > 0);
        c.computed += n;
        at += n;
        REQUIRE(k <= snapshots);
        if (k > 0) kept[static_cast<std::size_t>(k)] = at;
        c.max_kept = std::max(c.max_kept, k);
      },
      [&](std::int64_t iteration) {
        REQUIRE(iteration == next--);
        REQUIRE(at == iteration - 1);  // the state before this iteration
      });
  CHECK(next == 0);
  CHECK(taken_at.back() == -7);
  return c;
}

/// The fewest iterations, over all choices of the next snapshot.
std::vector<std::vector<std::int64_t>> fewest(std::int64_t trip_count, std::int64_t snapshots) {
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::vector<std::int64_t>> all(index(snapshots + 1), std::vector<std::int64_t>(index(trip_count + 1), 0));
  for (std::int64_t n = 2; n <= trip_count; ++n) all[0][index(n)] = n * (n - 1) / 2;
  for (std::int64_t s = 1; s <= snapshots; ++s)
    for (std::int64_t n = 2; n <= trip_count; ++n) {
      std::int64_t best = n * n;
      for (std::int64_t d = 1; d < n; ++d) best = std::min(best, d + all[index(s - 1)][index(n - d)] + all[index(s)][index(d)]);
      all[index(s)][index(n)] = best;
    }
  return all;
}

}  // namespace

TEST_CASE("snapshots: no choice computes fewer iterations again, and there is room for all of them") {
  const auto best = fewest(120, 6);
  for (std::int64_t s = 1; s <= 6; ++s)
    for (std::int64_t n = 0; n <= 120; ++n) {
      INFO(n << " iterations, " << s << " snapshots");
      const cost c = of(n, s);
      CHECK(c.computed == best[static_cast<std::size_t>(s)][static_cast<std::size_t>(n)]);
      CHECK(c.max_kept <= s);
    }
}

TEST_CASE("snapshots: an iteration is computed again at most r times while the binomial reaches") {
  // r n - (s + 1 + r)! / ((s + 2)! (r - 1)!) iterations for s snapshots
  CHECK(of(2049, 2048).computed == 2049 - 1);  // every state is kept
  CHECK(of(2050, 2048).computed == 2 * 2050 - 2051);
  CHECK(of(100000, 2048).computed == 2 * 100000 - 2051);
  CHECK(of(100000, 2048).max_kept == 2048);
  CHECK(of(595, 32).computed == 2 * 595 - 35);
  CHECK(of(596, 32).computed == 3 * 596 - 630);
  CHECK(rule::distance_of_snapshots(std::int64_t{1} << 40, 33) > 0);
  CHECK(rule::distance_of_snapshots(std::int64_t{1} << 40, 2) > 0);
}

TEST_CASE("snapshots: their number is that of the states in 256 KiB, within limits") {
  CHECK(rule::snapshots_of(8, true) == 2048);
  CHECK(rule::snapshots_of(1024, true) == 256);
  CHECK(rule::snapshots_of(1 << 20, true) == 32);
  CHECK(rule::snapshots_of(0, true) == 32);
  CHECK(rule::snapshots_of(8, false) == rule::max_snapshots_of_device);
}
