// SPDX-License-Identifier: BSL-1.0
// The source lines of a profile. Programs with TENURE_PROFILE_LINES have the same plans as others.
#define TENURE_PROFILE_LINES 1
#include "catch.hpp"

#include <stdexcept>
#include <string>
#include <type_traits>

#include <tenure/picture.hpp>
#include <tenure/profile.hpp>

namespace tn = tenure;

namespace {

template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

/// The time of a line of this file, or -1.
double seconds_of(const tn::call_profile& p, int line, bool is_backward = false) {
  for (const auto& q : p.places)
    if (q.line == line && q.is_backward == is_backward && q.file.ends_with("lines.cpp")) return q.seconds;
  return -1;
}
double sum_of(const tn::call_profile& p) {
  double sum = 0;
  for (const auto& q : p.places) sum += q.seconds;
  return sum;
}
double sum_of_steps(const tn::call_profile& p) {
  double sum = 0;
  for (const auto& s : p.steps) sum += s.seconds;
  return sum;
}

constexpr int line_of_square = __LINE__ + 2;
constexpr auto squares = [](auto x) {
  return x * x;
};

}  // namespace

TEST_CASE("a function that throws when it is traced at run time leaves nothing behind: the next profile has its lines") {
  static bool throws = true;
  constexpr int begin = __LINE__;
  constexpr auto loss = [](auto x) {
    const auto y = exp(x);
    if (!std::is_constant_evaluated() && throws) throw std::runtime_error("of the function");
    return sum(y);
  };
  const auto x = tn::full<float>(tn::shape<8>{}, 0.5f);
  CHECK_THROWS_WITH(tn::profile(loss)(x), "of the function");
  CHECK(tn::ir::after_traced == nullptr);
  throws = false;
  CHECK(seconds_of(tn::profile(loss)(x), begin + 2) >= 0);
}

TEST_CASE("the line of a slow operation, and that of its derivative, come first") {
  constexpr int begin = __LINE__;
  constexpr auto loss = [](auto w, auto x) {
    const auto h = matmul(x, w);
    const auto a = tanh(h);
    return sum(squares(a));
  };
  tn::engine random(1);
  const auto w = tn::normal<float>(tn::shape<256, 256>{}, random);
  const auto x = tn::normal<float>(tn::shape<256, 256>{}, random);
  const tn::call_profile p = tn::profile(tn::value_and_grad<0, 1>(loss), 3)(w, x);
  INFO(to_text(p));
  REQUIRE(p.no_lines.empty());
  REQUIRE(p.places.size() >= 5);
  CHECK(seconds_of(p, begin + 2) > 0);
  CHECK(seconds_of(p, begin + 2, true) > seconds_of(p, begin + 2));  // two products
  CHECK(p.places[0].line == begin + 2);
  CHECK(p.places[0].is_backward);
  CHECK(p.places[0].operations == "matmul x2");
  CHECK(p.places[1].line == begin + 2);
  CHECK(p.places[1].operations == "matmul");
  CHECK(seconds_of(p, begin + 3) > 0);
  CHECK(seconds_of(p, begin + 3, true) > 0);
  CHECK(seconds_of(p, begin + 4) > 0);
  CHECK(seconds_of(p, line_of_square) > 0);
  CHECK(seconds_of(p, line_of_square, true) > 0);
  CHECK(sum_of(p) == Approx(sum_of_steps(p)));

  const std::string text = to_text(p), line = "lines.cpp:" + std::to_string(begin + 2);
  CHECK(text.find("  " + line + ": matmul\n") != std::string::npos);
  CHECK(text.find("  " + line + ", backward: matmul x2\n") != std::string::npos);
  const std::string page = to_html(tn::value_and_grad<0, 1>(loss).plan(w, x), {.times = p});
  CHECK(page.find("Time by source line") != std::string::npos);
  CHECK(page.find(line + ", backward: matmul x2</li>") != std::string::npos);
}

TEST_CASE("the time of a kernel is divided over the lines of its operations by their costs") {
  constexpr int begin = __LINE__;
  constexpr auto f = [](auto x, auto y) {
    auto z = exp(x);
    z = z + y;
    z = z / (y - 1.0f);
    return z;
  };
  const auto x = tn::full<float>(tn::shape<5000>{}, 0.5f);
  const tn::call_profile p = tn::profile(f, 3)(x, x);
  INFO(to_text(p));
  REQUIRE(p.steps.size() == 1);
  CHECK(seconds_of(p, begin + 2) == Approx(25.0 / 32 * p.steps[0].seconds));
  CHECK(seconds_of(p, begin + 3) == Approx(1.0 / 32 * p.steps[0].seconds));
  CHECK(seconds_of(p, begin + 4) == Approx(6.0 / 32 * p.steps[0].seconds));
}

TEST_CASE("bodies of loops, and those of their derivatives, have lines") {
  constexpr int begin = __LINE__;
  constexpr auto loss = [](auto w, auto x) {
    const auto h = tn::fori_loop(20, [=](auto, auto state) {
      const auto next = matmul(state, w);
      return tanh(next);
    }, x);
    return sum(squares(h));
  };
  tn::engine random(1);
  const auto w = tn::normal<float>(tn::shape<32, 32>{}, random);
  const auto x = tn::normal<float>(tn::shape<32, 32>{}, random);
  const tn::call_profile p = tn::profile(tn::value_and_grad<0>(loss), 3)(w, x);
  INFO(to_text(p));
  REQUIRE(p.no_lines.empty());
  for (const bool is_backward : {false, true}) {
    CHECK(seconds_of(p, begin + 3, is_backward) > 0);
    CHECK(seconds_of(p, begin + 4, is_backward) > 0);
  }
  // The product after the loop, which is the gradient of w, is in the derivative of the product in the iteration.
  CHECK(seconds_of(p, begin + 2, true) == -1);
  CHECK(p.places[0].line == begin + 3);
  CHECK(p.places[0].operations == "matmul x2");
  CHECK(sum_of(p) == Approx(sum_of_steps(p)));
}

TEST_CASE("both sides of a branch, and a function of samples, have lines") {
  constexpr int begin = __LINE__;
  constexpr auto f = [](auto xs, auto w) {
    const auto of_sample = tn::vmap([=](auto x) {
      const auto h = matmul(x, w);
      return sum(exp(h));
    });
    return tn::cond(sum(xs) > 0.0f, [=] {
      return of_sample(xs);
    }, [=] {
      return sum(sin(xs), tn::axes<1, 2>);
    });
  };
  const tn::call_profile p = tn::profile(f, 2)(tn::full<float>(tn::shape<8, 5, 50>{}, 0.5f), tn::full<float>(tn::shape<50, 50>{}, 0.5f));
  INFO(to_text(p));
  CHECK(seconds_of(p, begin + 3) > 0);  // the product of all samples is another node than that of one
  CHECK(seconds_of(p, begin + 4) > 0);
  CHECK(seconds_of(p, begin + 9) > 0);
  CHECK(seconds_of(p, begin + 6) > 0);
  CHECK(seconds_of(p, begin + 7) == -1);
  CHECK(sum_of(p) == Approx(sum_of_steps(p)));
}

TEST_CASE("in a training step the lines are those of the loss, and the update rule is named") {
  constexpr int begin = __LINE__;
  constexpr auto loss = [](auto w, auto x, auto y) {
    const auto h = matmul(x, w);
    return mse(h, y);
  };
  tn::engine random(2);
  const auto x = tn::normal<float>(tn::shape<40, 8>{}, random);
  const auto y = tn::normal<float>(tn::shape<40, 4>{}, random);
  auto w = tn::normal<float>(tn::shape<8, 4>{}, random);
  const auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 0.1f});
  auto state = step.rule.init(w);
  const tn::call_profile p = tn::profile(step, 3)(w, state, x, y);
  INFO(to_text(p));
  CHECK(seconds_of(p, begin + 2) > 0);
  CHECK(seconds_of(p, begin + 2, true) > 0);
  CHECK(seconds_of(p, begin + 3) > 0);
  bool has_rule = false;
  for (const auto& q : p.places) has_rule = has_rule || (q.file.empty() && q.operations.starts_with("update rule: ") && q.operations.find("sqrt") != std::string::npos);
  CHECK(has_rule);
  CHECK(sum_of(p) == Approx(sum_of_steps(p)));
}

TEST_CASE("lines do not keep equal operations apart") {
  constexpr auto f = [](auto x) {
    const auto a = exp(x);
    const auto b = exp(x);
    return a * b;
  };
  using plan = decltype(tn::compile(f).plan(array<100>()));
  static_assert(plan::flops() == 200);
  CHECK(plan::kernels() == 1);
}
