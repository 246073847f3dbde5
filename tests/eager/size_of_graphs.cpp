// SPDX-License-Identifier: BSL-1.0
// Graphs of any shape: the newest node goes first, in O(log n); letting go of a chain takes constant stack.
#include "values.hpp"

namespace {

using scalar_node = tn::tensor<double, shape<>, tn::ownership::owning, tn::role::node>;

}  // namespace

// A queue that is searched from one end takes minutes here.
TEST_CASE("a hundred thousand nodes that wait at once, used in the order in which they were made and in the other") {
  constexpr int n = 100000;
  const auto w = leaf<>(1.0);
  std::vector<scalar_node> parts;
  for (int i = 0; i < n; ++i) parts.push_back(tn::tensor(w * static_cast<double>(i % 7)));
  double expected = 0;
  for (int i = 0; i < n; ++i) expected += i % 7;
  const auto check = [&](bool forward) {
    scalar_node total = parts[forward ? 0 : n - 1] * 1.0;
    for (int i = 1; i < n; ++i) total = total + parts[static_cast<std::size_t>(forward ? i : n - 1 - i)];
    total.backward(tn::retain_graph);
  };
  check(true);
  CHECK(w.grad().item() == expected);
  check(false);
  CHECK(w.grad().item() == 2 * expected);
}

TEST_CASE("nodes that are reached again and again, from both ends, pass on their gradient once") {
  constexpr std::size_t n = 300;
  const auto w = leaf<>(2.0);
  std::vector<scalar_node> level;
  std::vector<double> slope;
  level.push_back(w * 1.0), slope.push_back(1);
  for (std::size_t i = 1; i < n; ++i) {  // each reads the one before, and one from far behind
    const double factor = i % 3 == 0 ? -0.5 : 0.5;
    level.push_back(tn::tensor((level[i - 1] + level[i / 2]) * factor));
    slope.push_back((slope[i - 1] + slope[i / 2]) * factor);
  }
  (level[n - 1] + level[n / 3] * 3.0 + level[n - 2]).backward();
  CHECK(w.grad().item() == Approx(slope[n - 1] + 3 * slope[n / 3] + slope[n - 2]).epsilon(1e-12));
}

TEST_CASE("a failed backward() of a wide graph leaves nothing behind") {
  auto w = leaf<2>(1, 2);
  const tn::tensor square = w * w;  // the last one to be checked
  std::vector<std::remove_const_t<decltype(square)>> parts;
  for (int i = 0; i < 100; ++i) parts.push_back(tn::tensor(square * 1.0));
  tn::tensor total = parts[0] + parts[1];
  for (std::size_t i = 2; i < parts.size(); ++i) total = total + parts[i];
  tn::no_grad([](auto v) { v += 1; }, w);
  CHECK_THROWS_AS(total.backward(constant<2>(1, 1)), tn::ownership_error);
  CHECK_FALSE(w.has_grad());
  sum(w * w).backward();
  check_values(w.grad(), {4, 6});
}

TEST_CASE("chains of a hundred thousand clones, views, in-place operations and writes through views") {
  constexpr int n = 100000;
  const auto w = leaf<2>(1, 2);
  auto c = w.clone();
  for (int i = 0; i < n; ++i) c = c.clone();
  sum(c).backward();
  auto y = w.clone();
  for (int i = 0; i < n; ++i) y += 1;
  sum(y).backward();
  auto z = w.clone();
  for (int i = 0; i < n; ++i) z = std::move(z).at(0).mul_(1);
  sum(z).backward();
  auto v = w.clone();
  for (int i = 0; i < n; ++i) v = v.view().clone();
  sum(v).backward();
  check_values(w.grad(), {4, 4});
}
