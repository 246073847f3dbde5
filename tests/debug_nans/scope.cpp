// SPDX-License-Identifier: BSL-1.0
// debug_nans_scope: each computation of the thread that makes a NaN or an infinity throws, and has written nothing.
#define TENURE_DEBUG_NANS 1
#include "catch.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include <tenure/debug_nans.hpp>
#include <tenure/threads.hpp>

namespace tn = tenure;

namespace {

template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const tn::nan_error& e) {
    return e.what();
  }
  return "finite";
}
bool holds(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

constexpr auto entropy = [](auto p) { return -sum(p * log(p)); };

}  // namespace

TEST_CASE("an expression that makes an infinity throws: with the operation, the ranges, and the line of the scope") {
  const array<4> x{1, 2, 3, 4};
  array<4> y{5, 6, 7, 8};
  const int line = __LINE__ + 1;
  const tn::debug_nans_scope scope;
  const std::string expected =
      "tenure: debug_nans: log(operand 0 - operand 1): log(0) is -inf in element [0] of float32[4]; 1 of 4 are not finite\n"
      "  operand 0 - operand 1: float32[4], 0 to 3\n"
      "  not finite: result\n"
      "  in the scope of " __FILE__ ":" + std::to_string(line);
  CHECK(message_of([&] { tn::tensor z = log(x - 1.0f); }) == expected);
  CHECK(message_of([&] { y = log(x - 1.0f); }) == expected);
  CHECK(holds(message_of([&] { y /= x - 2.0f; }), "6 / 0 is inf in element [1]"));
  CHECK(holds(message_of([&] { log(x[0] - 1.0f).item(); }), "log(0) is -inf"));
  for (int i = 0; i < 4; ++i) CHECK(y(i) == static_cast<float>(5 + i));
  y = log(x);
  CHECK(y(0) == 0.0f);
}

TEST_CASE("compiled functions, into, and training steps are watched") {
  const array<4> p{0.5f, 0.25f, 0.25f, 0};
  const tn::debug_nans_scope scope;
  const std::string text = message_of([&] { tn::compile(entropy)(p); });
  CHECK(holds(text, "debug_nans: log(argument): log(0) is -inf in element [3] of float32[4]; 1 of 4 are not finite\n  argument: float32[4], 0 to 0.5\n"));
#if defined(__clang__)
  CHECK(holds(text, "\n  in the function of " __FILE__ ":"));
#endif
  array<> into(7);
  CHECK(holds(message_of([&] { tn::compile(entropy).into(into)(p); }), "log(0) is -inf"));
  CHECK(into.item() == 7.0f);
  const auto step = tn::train_step([](auto w, auto x) { return sum(log(w * x)); }, tn::optim::sgd{.learning_rate = 0.1});
  array<4> w{1, 2, 3, 4};
  auto state = step.rule.init(w);
  CHECK(holds(message_of([&] { step(w, state, p); }), "log(model * data 0): log(0) is -inf"));
  CHECK(w(0) == 1.0f);
  CHECK(w(3) == 4.0f);
  CHECK(state.steps == 0);
  step(w, state, array<4>{1, 1, 1, 1});
  CHECK(w(0) != 1.0f);
}

TEST_CASE("backward() is watched, and a tensor whose write failed keeps its version") {
  auto w = tn::variable<float, tn::shape<3>>{0, 1, 4};
  array<3> x{1, 2, 3};
  auto y = sum(sqrt(w)) + sum(w * x);
  const tn::debug_nans_scope scope;
  const std::string text = message_of([&] { y.backward(); });
  CHECK(holds(text, " is inf in element [0] of float32[3]; 1 of 3 are not finite\n  in the derivative\n"));
  CHECK(holds(text, "\n  not finite: gradient of operand 0"));
  auto z = tn::eval(sum(w * x));
  CHECK(holds(message_of([&] { x /= x - 1.0f; }), "1 / 0 is inf"));
  z.backward();  // x has not been written
  CHECK(w.grad()(2) == 3.0f);
  const auto node = tn::eval(sqrt(w * x));
  CHECK(holds(message_of([&] { node.backward(array<3>{1, 1, 1}); }), "gradient of operand 0"));
}

TEST_CASE("an infinity may be passed on, and a NaN may not") {
  const array<4> x{1, 2, 3, 4};
  const tn::debug_nans_scope scope;
  const array<4> mask = where(x > 2.0f, x, -infinity);
  CHECK(mask(0) == -infinity);
  CHECK(tn::eval(mask + x)(0) == -infinity);
  CHECK(tn::eval(softmax(mask))(0) == 0.0f);
  const array<2> none{-infinity, -infinity};
  CHECK(holds(message_of([&] { tn::eval(softmax(none)); }), "-inf - -inf is NaN"));
  CHECK(holds(message_of([&] { tn::eval(mask * 0.0f); }), "-inf * 0 is NaN"));
  const array<2> nan{std::nanf(""), 1};
  CHECK(holds(message_of([&] { tn::eval(nan + 1.0f); }), "operand 0: it is NaN in element [0] of float32[2]; 1 of 2 are not finite, and this is no result"));
}

TEST_CASE("the calls of one thread are watched, as long as the scope lives, with the threads that they use") {
  const array<4> zero{0, 1, 2, 3};
  tn::thread_pool pool(2);
  tn::tensor<float, tn::shape<tn::dyn>> many = tn::ones<float>(tn::shape<tn::dyn>(), 300000);
  many.at(299999) = 0;
  {
    const int line = __LINE__ + 1;
    const tn::debug_nans_scope outer;
    {
      const tn::debug_nans_scope inner;
      CHECK(holds(message_of([&] { tn::eval(log(zero)); }), ":" + std::to_string(line + 2)));
    }
    CHECK(holds(message_of([&] { tn::eval(log(zero)); }), ":" + std::to_string(line)));
    const auto f = tn::compile([](auto a) { return log(a) * 2.0f; }, pool);
    CHECK(holds(message_of([&] { f(many); }), "in element [299999]"));
    std::string elsewhere;
    std::thread([&] { elsewhere = message_of([&] { tn::eval(log(zero)); }); }).join();
    CHECK(elsewhere == "finite");
  }
  CHECK(tn::eval(log(zero))(0) == -infinity);
}

TEST_CASE("debug_nans(f) names arguments, without a scope and within one") {
  const auto f = tn::debug_nans(entropy, {"p"});
  CHECK(holds(message_of([&] { f(array<2>{0, 1}); }), "debug_nans: log(p): log(0)"));
  const tn::debug_nans_scope scope;
  CHECK(holds(message_of([&] { f(array<2>{0, 1}); }), ": log(0) is -inf in element [0]"));
}
