// SPDX-License-Identifier: BSL-1.0
// The profile of a call: its steps are those of the plan, with the plan's costs, and a profiled training step trains as others do.
#include "catch.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>

#include <tenure/profile.hpp>

namespace tn = tenure;

namespace {

template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

constexpr auto loss = [](auto w, auto x, auto y) { return mse(tanh(matmul(x, w)), y); };

/// This runs in the middle of the function below, in its second call from now.
void (*inside)() = nullptr;
int calls_left = 0;
constexpr auto calls_inside = tn::extern_op(
    [](auto y, auto x) {
      for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
      if (--calls_left == 0) inside();
    },
    tn::like<0>);
constexpr auto interrupted = tn::compile([](auto x) { return matmul(calls_inside(matmul(x, x)), x); });

}  // namespace

TEST_CASE("the steps of a profile are those of the plan, with its costs") {
  const auto f = tn::value_and_grad<0>(loss);
  tn::engine random(1);
  const auto w = tn::normal<float>(tn::shape<64, 32>{}, random);
  const auto x = tn::normal<float>(tn::shape<200, 64>{}, random);
  const auto y = tn::normal<float>(tn::shape<200, 32>{}, random);
  using plan = decltype(f.plan(w, x, y));

  const tn::call_profile p = tn::profile(f, 3)(w, x, y);
  REQUIRE(static_cast<int>(p.steps.size()) == plan::kernels());
  std::int64_t bytes = 0, flops = 0;
  double seconds = 0;
  int products = 0;
  for (const auto& s : p.steps) {
    bytes += s.bytes, flops += s.flops, seconds += s.seconds;
    products += s.name == "matmul";
    CHECK(s.seconds >= 0);
  }
  CHECK(bytes == plan::bytes());
  CHECK(flops == plan::flops());
  CHECK(products == 2);
  CHECK(seconds > 0);
  CHECK(p.seconds > 0);
  CHECK(p.bytes_per_second > 1e8);
  CHECK(p.flops_per_second > 1e8);

  SECTION("the times of the operations have the sum of those of the steps, and matrix products have the times of their steps") {
    double of_places = 0, forward = -1, backward = -1;
    for (const auto& q : p.places) {
      CHECK(q.file.empty());
      of_places += q.seconds;
      if (q.operations == "matmul") (q.is_backward ? backward : forward) = q.seconds;
    }
    CHECK(of_places == Approx(seconds));
    CHECK(std::is_sorted(p.places.begin(), p.places.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; }));
    std::vector<double> of_steps;
    for (const auto& s : p.steps)
      if (s.name == "matmul") of_steps.push_back(s.seconds);
    REQUIRE(of_steps.size() == 2);
    CHECK(forward == Approx(of_steps[0]));
    CHECK(backward == Approx(of_steps[1]));
  }
  SECTION("run-time extents cost the same") {
    const tn::tensor<float, tn::shape<tn::dyn, 64>> many = 1.0f * x;
    const tn::tensor<float, tn::shape<tn::dyn, 32>> targets = 1.0f * y;
    const tn::call_profile q = tn::profile(f, 1)(w, many, targets);
    REQUIRE(q.steps.size() == p.steps.size());
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      INFO(p.steps[i].name << " | " << q.steps[i].name);
      CHECK(q.steps[i].bytes == p.steps[i].bytes);
      const auto more = q.steps[i].flops - p.steps[i].flops;
      // The mean divides by a count that only the call knows. So a quotient and a sum of each element are no factor.
      CHECK((more >= 0 && more <= 2 * y.size() + 1));
    }
  }
  SECTION("as text") {
    const std::string text = to_text(p);
    CHECK(text.find("GFLOP/s") != std::string::npos);
    CHECK(text.find("matmul") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == plan::kernels() + 2 + 3 + static_cast<int>(p.places.size()));
    CHECK(text.find("\n\nno source lines: compile with -DTENURE_PROFILE_LINES=1 -g") != std::string::npos);
    CHECK(text.find("  backward: matmul\n") != std::string::npos);
    std::ostringstream out;
    out << p << plan();
    CHECK(out.str() == text + to_text(plan()));
  }
}

TEST_CASE("a small function, which runs as one piece otherwise, is timed by step, and a loop counts its iterations") {
  const auto f = [](auto x) { return tn::fori_loop(10, [](auto, auto h) { return tanh(h) + sum(h); }, x); };
  const array<3> x{1, 2, 3};
  using plan = decltype(tn::compile(f).plan(x));
  const tn::call_profile p = tn::profile(f, 2)(x);
  REQUIRE(static_cast<int>(p.steps.size()) == plan::kernels());
  std::int64_t flops = 0;
  for (const auto& s : p.steps) flops += s.flops;
  CHECK(flops == plan::flops());

  // The body of the loop, not the loop: a tanh costs 25 times as much as an addition.
  double of_places = 0, slow = 0, cheap = 0;
  for (const auto& q : p.places) {
    of_places += q.seconds;
    if (q.operations == "tanh") slow = q.seconds;
    if (q.operations == "add") cheap = q.seconds;
  }
  CHECK(of_places == Approx(p.steps[0].seconds));
  CHECK(cheap > 0);
  CHECK(slow == Approx(25 * cheap));
}

TEST_CASE("a loop over a run-time extent has a time, and no cost that is known") {
  const tn::tensor<float, tn::shape<tn::dyn>> x = 1.0f * array<3>{1, 2, 3};
  const tn::call_profile p = tn::profile([](auto a) { return tn::fori_loop(10, [](auto, auto h) { return tanh(h) * sum(h); }, a); }, 2)(x);
  REQUIRE(p.steps.size() == 1);
  CHECK(p.steps[0].bytes == -1);
  CHECK(p.steps[0].flops == -1);
  CHECK(to_text(p).find('?') != std::string::npos);
}

TEST_CASE("the iterations of a loop over an axis of run-time extent are those of the call") {
  constexpr auto last = [](auto xs, auto ys) {
    const auto iteration = [=](auto c, auto x) {
      const auto inner = [](auto d, auto y) { return std::tuple{sin(d + y), tn::nothing}; };
      return std::tuple{tanh(std::get<0>(tn::scan(inner, c, ys)) + x), tn::nothing};
    };
    return sum(std::get<0>(tn::scan(iteration, tn::zeros<float>(tn::shape<3>{}), xs)));
  };
  const auto ys = tn::ones<float>(tn::shape<tn::dyn, 3>{}, 4);
  const auto check = [&](const auto& xs) {
    const tn::call_profile p = tn::profile(tn::grad(last), 2)(xs, ys);
    const std::string text = to_text(p);
    INFO(text);
    bool forward = false, backward = false;
    for (const auto& s : p.steps) {
      forward = forward || s.name.starts_with("scan of 7 iterations");
      backward = backward || s.name.starts_with("scan of 7 iterations, from the last one");
      CHECK(s.name.find(" of d") == std::string::npos);
      CHECK(s.name.find("rows") == std::string::npos);
    }
    CHECK(forward);
    CHECK(backward);
    for (const auto& q : p.places) CHECK(q.operations.find(" of d") == std::string::npos);
  };
  check(tn::ones<float>(tn::shape<tn::dyn, 3>{}, 7));
  check(tn::ones<float>(tn::shape<tn::dim("rows"), 3>{}, 7));
}

TEST_CASE("a loop has no cost that is known where only the call knows its iterations, nor has a branch") {
  const array<3> x{1, 2, 3};
  const auto grows = [](auto a) { return tn::while_loop([](auto h) { return max(h) < 100.0f; }, [](auto h) { return h * 1.5f; }, a); };
  const auto chooses = [](auto a) { return tn::cond(sum(a) > 0.0f, [=] { return exp(a); }, [=] { return a; }); };
  for (const tn::call_profile& p : {tn::profile(grows, 2)(x), tn::profile(chooses, 2)(x)}) {
    std::int64_t unknown = 0;
    for (const auto& s : p.steps) unknown += s.bytes == -1 && s.flops == -1;
    CHECK(unknown == 1);
  }
}

TEST_CASE("a profiled training step trains, with the same bits as other steps") {
  tn::engine random(2);
  const auto x = tn::normal<float>(tn::shape<40, 8>{}, random);
  const auto y = tn::normal<float>(tn::shape<40, 4>{}, random);
  auto w = tn::normal<float>(tn::shape<8, 4>{}, random);
  auto same = w.clone();

  const auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 0.1f});
  auto state = step.rule.init(w), other = step.rule.init(same);
  const tn::call_profile p = tn::profile(step, 5)(w, state, x, y);
  for (int i = 0; i < 5; ++i) step(same, other, x, y);
  CHECK(std::memcmp(w.data(), same.data(), sizeof(float) * 32) == 0);
  CHECK(state.steps == 5);
  CHECK(static_cast<int>(p.steps.size()) == decltype(step.plan(w, state, x, y))::kernels());
  // The square root of adam is in no derivative, and the products of the loss are in no update.
  const auto has = [&](const char* operations, bool is_backward) {
    return std::any_of(p.places.begin(), p.places.end(), [&](const auto& q) { return q.operations == operations && q.is_backward == is_backward; });
  };
  CHECK(has("update rule: sqrt", false));
  CHECK(has("matmul", true));
  CHECK(has("matmul", false));
  CHECK_FALSE(has("sqrt", true));
}

TEST_CASE("a profile of the same function inside of a step leaves the times of the steps after it") {
  static const auto x = tn::full<float>(tn::shape<64, 64>{}, 0.5f);
  inside = [] { tn::profile(interrupted, 1)(x); };
  calls_left = 2;  // profile() makes one call before it measures
  const tn::call_profile p = tn::profile(interrupted, 1)(x);
  REQUIRE(p.steps.size() == 3);
  for (const auto& s : p.steps) CHECK(s.seconds > 0);
}
