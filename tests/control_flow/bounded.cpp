// SPDX-License-Identifier: BSL-1.0
// Reverse mode through a while_loop with a bound, against the loop with a fixed number of iterations, differences, and the reference backend.
#include "reference.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;

namespace {

// Newton's square root of each element of a, from 1: the number of iterations depends on a. The step captures a.
template <class Bound>
struct square_root {
  constexpr auto operator()(auto a) const {
    auto goes_on = [=](auto x) { return tn::amax(tn::abs(x * x - a)) > 1e-3; };
    return tn::while_loop(goes_on, [=](auto x) { return 0.5 * (x + a / x); }, a * 0.0 + 1.0, Bound{});
  }
};
template <std::int64_t N>
constexpr auto root_in = square_root<tn::iteration_bound<N>>{};
template <std::int64_t N>
constexpr auto by_count = [](auto a) { return tn::fori_loop(N, [=](auto, auto x) { return 0.5 * (x + a / x); }, a * 0.0 + 1.0); };
constexpr auto loss = [](auto root, auto a) { return tn::sum(root(a) * a * a); };
template <std::int64_t N>
constexpr auto bounded_loss = [](auto a) { return loss(root_in<N>, a); };
template <std::int64_t N>
constexpr auto counted_loss = [](auto a) { return loss(by_count<N>, a); };

/// The iterations that the loop takes for these elements.
int trip_count(const vector& a) {
  for (int n = 0;; ++n) {
    double x[3] = {1, 1, 1}, worst = 0;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < n; ++k) x[i] = 0.5 * (x[i] + a(i) / x[i]);
      worst = std::max(worst, std::abs(x[i] * x[i] - a(i)));
    }
    if (!(worst > 1e-3)) return n;
  }
}

}  // namespace

TEST_CASE("Law: the gradient of a bounded while_loop is that of the iterations it takes") {
  const vector four = {2.0, 5.0, 0.5}, none = {1, 1, 1};
  REQUIRE(trip_count(four) == 4);
  REQUIRE(trip_count(none) == 0);
  const auto found = judged::interpreted(tn::value_and_grad(bounded_loss<20>).function, four), expected = judged::interpreted(tn::value_and_grad(counted_loss<4>).function, four);
  const auto cut = judged::interpreted(tn::value_and_grad(bounded_loss<2>).function, four), two = judged::interpreted(tn::value_and_grad(counted_loss<2>).function, four);
  const auto still = judged::interpreted(tn::value_and_grad(bounded_loss<20>).function, none), zero = judged::interpreted(tn::value_and_grad(counted_loss<0>).function, none);
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(found[1][i] == Approx(expected[1][i]).epsilon(1e-12));
    CHECK(cut[1][i] == Approx(two[1][i]).epsilon(1e-12));
    CHECK(still[1][i] == Approx(zero[1][i]).epsilon(1e-12));
  }
  CHECK(found[0][0] == expected[0][0]);
  CHECK(cut[0][0] == two[0][0]);
  const auto second = judged::interpreted(tn::hvp(bounded_loss<6>).function, four, four), by_iterations = judged::interpreted(tn::hvp(counted_loss<4>).function, four, four);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(second[0][i] == Approx(by_iterations[0][i]).epsilon(1e-11));
}

TEST_CASE("a bounded while_loop compiles: value without the second loop, gradient, at once") {
  const vector a = {2.0, 5.0, 0.5};
  using value_plan = decltype(tn::compile(bounded_loss<20>).plan(a));
  CHECK(value_plan::workspace_bytes() < 1024);  // nothing is kept for 20 iterations
  const auto [y, g] = tn::value_and_grad(bounded_loss<20>)(a);
  const auto expected = judged::interpreted(tn::value_and_grad(counted_loss<4>).function, a);
  CHECK(y.item() == Approx(expected[0][0]).epsilon(1e-13));
  for (int i = 0; i < 3; ++i) CHECK(g(i) == Approx(expected[1][i]).epsilon(1e-12));
  const auto doubled = tn::while_loop([](auto x) { return tn::sum(x) < 100.0; }, [](auto x) { return x * 2.0; }, a, tn::at_most<3>);
  CHECK(doubled(0) == 16);
}
