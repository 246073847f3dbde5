// SPDX-License-Identifier: BSL-1.0
// debug_nans: the operation that made a NaN or an infinity is named, with the numbers; nothing is written then, and finite calls are as
// always.
#include "catch.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>

#include <boost/hana/define_struct.hpp>

#include <tenure/debug_nans.hpp>

namespace tn = tenure;

namespace {

template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Without the line of the function, which clang++ knows: tests/debug_nans looks at it.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const tn::nan_error& e) {
    const std::string text = e.what();
    return text.substr(0, text.find("\n  in the function of "));
  }
  return "finite";
}
bool holds(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

template <class Kind>
struct line {
  BOOST_HANA_DEFINE_STRUCT(line, (tn::param<Kind, float, tn::shape<3>>, slope), (tn::param<Kind, float, tn::shape<>>, offset));
};
constexpr auto fit = [](auto model, auto x, auto y) { return mse(log(matmul(x, model.slope) + model.offset), y); };

}  // namespace

TEST_CASE("the message has the operation as a formula, the element, the ranges of the operands, and the results") {
  const array<4> x{1, 2, 3, 4};
  CHECK(message_of([&] { tn::debug_nans([](auto a) { return sum(log(a - 1.0f)); }, {"x"})(x); }) ==
        "tenure: debug_nans: log(x - 1): log(0) is -inf in element [0] of float32[4]; 1 of 4 are not finite\n"
        "  x - 1: float32[4], 0 to 3\n"
        "  not finite: result");
  // What comes after it is not named: here -inf - -inf.
  const auto difference = tn::debug_nans([](auto a) { return log(a - 1.0f) - log((a - 1.0f) * 2.0f); });
#if defined(__cpp_impl_reflection)
  CHECK(holds(message_of([&] { difference(x); }), "debug_nans: log(a - 1): log(0)"));
#else
  CHECK(holds(message_of([&] { difference(x); }), "debug_nans: log(argument - 1): log(0)"));
#endif
}

TEST_CASE("a formula has so many operations in each other, and names what is below them") {
  const array<4> x{1, 2, 3, 4};
  const auto nested = tn::debug_nans([](auto a) { return log(tanh(sinh(cosh(atan(a) * 0.0f) - 1.0f))); }, {"x"});
  const auto sums = tn::debug_nans([](auto a) { return log(((a - 1.0f) * (a + 1.0f) - a * a + 1.0f) * a); }, {"x"});
  CHECK(holds(message_of([&] { nested(x); }), "debug_nans: log(tanh(sinh(cosh(%4) - 1))): log(0) is -inf in element [0] of float32[4]; 4 of 4 are not finite\n"
                                              "  tanh(sinh(%5 - 1)): float32[4], 0\n"));
  CHECK(holds(message_of([&] { sums(x); }), "debug_nans: log((((%3 * %6) - (x * x)) + 1) * x): log(0) is -inf in element [0] of float32[4]; 4 of 4 are not finite\n"
                                            "  ((%7 - %8) + 1) * x: float32[4], 0\n"));
}
TEST_CASE("a derivative: the value is finite, and its gradient is not") {
  const array<4> x{1, 2, 3, 4};
  const auto f = tn::debug_nans(tn::value_and_grad<0>([](auto a) { return sum(sqrt(a - 1.0f)); }), {"x"});
  const std::string text = message_of([&] { f(x); });
  CHECK(holds(text, "debug_nans: 1 / sqrt(x - 1): 1 / 0 is inf in element [0] of float32[4]; 1 of 4 are not finite\n  in the derivative\n"));
  CHECK(holds(text, "\n  sqrt(x - 1): float32[4], 0 to 1.73205\n"));
  CHECK(holds(text, "\n  not finite: gradient of x"));
  CHECK(text.find("value") == std::string::npos);
  CHECK(text.find("\n  1: ") == std::string::npos);  // a literal is in the formula, and needs no range
}

TEST_CASE("sums and products overflow as those of the call do") {
  const array<2, 3> x{{3e38f, 3e38f, 0}, {1, 2, 3}};
  CHECK(holds(message_of([&] { tn::debug_nans([](auto a) { return sum(a, tn::axis<1>); }, {"x"})(x); }),
              "debug_nans: sum(x) over axis 1: it is inf in element [0] of float32[2]; 1 of 2 are not finite\n  x: float32[2,3], 0 to 3e+38\n"));
  CHECK(holds(message_of([&] { tn::debug_nans([](auto a) { return matmul(a, transpose(a)); }, {"x"})(x); }),
              "debug_nans: matmul(x, transpose(x)): it is inf in element [0,0] of float32[2,2]"));
}

TEST_CASE("in a loop the message has the iteration, in a branch the side") {
  const array<4> x{1, 2, 3, 4};
  // Iterations count from 0: iteration 5 squares 4^32.
  const auto squares = tn::debug_nans([](auto a) { return tn::fori_loop(10, [](auto, auto h) { return h * h; }, a); });
  const std::string loop = message_of([&] { squares(x); });
  CHECK(holds(loop, "carry 0 * carry 0: 1.84467e+19 * 1.84467e+19 is inf in element [3] of float32[4]"));
  CHECK(holds(loop, "\n  in iteration 5 of scan of 10 iterations\n  not finite: result"));
  const auto grows = tn::debug_nans([](auto a) {
    return tn::while_loop([](auto h) { return max(h) < 1e38f; }, [](auto h) { return exp(h); }, a);
  });
  const std::string repeated = message_of([&] { grows(x); });
  CHECK(holds(repeated, "exp(carry 0): exp("));
  CHECK(holds(repeated, "\n  in iteration 2 of while_loop"));
  const auto divide = [](auto a) { return tn::cond(sum(a) > 0.0f, [=] { return a / (a - 2.0f); }, [=] { return a; }); };
  const auto choose = tn::debug_nans(divide, {"x"});
  const std::string branch = message_of([&] { choose(x); });
  CHECK(holds(branch, "x / (x - 2): 2 / 0 is inf in element [1] of float32[4]"));
  CHECK(holds(branch, "\n  in if true of cond\n"));
  CHECK(message_of([&] { choose(array<4>{-1, -2, -3, -4}); }) == "finite");
  // A loop within a branch.
  const auto nested = tn::debug_nans([](auto a) {
    return tn::cond(sum(a) > 0.0f, [=] { return tn::fori_loop(3, [](auto, auto h) { return log(h); }, a); }, [=] { return a; });
  });
  CHECK(holds(message_of([&] { nested(x); }), "log(carry 0): log(0) is -inf in element [0] of float32[4]; 1 of 4 are not finite\n"
                                               "  carry 0: float32[4], 0 to 1.38629\n  in iteration 1 of scan of 3 iterations\n  in if true of cond\n"
                                               "  not finite: result"));
}

TEST_CASE("an infinity that reaches no result is meant") {
  constexpr auto masked = [](auto a) { return softmax(where(a > 2.0f, a, -infinity), tn::axis<0>); };
  const array<4> x{1, 2, 3, 4}, none{0, 0, 0, 0};
  CHECK(message_of([&] { tn::debug_nans(masked)(x); }) == "finite");
  const std::string text = message_of([&] { tn::debug_nans(masked, {"x"})(none); });
  CHECK(holds(text, "-inf - -inf is NaN in element [0] of float32[4]; 4 of 4 are not finite"));
  // The NaN is the mistake, not the infinity before it.
  const array<3> a{-infinity, -infinity, 1}, b{1, 0, 1};
  CHECK(holds(message_of([&] { tn::debug_nans([](auto x, auto y) { return x * y; }, {"a", "b"})(a, b); }), "a * b: -inf * 0 is NaN in element [1] of float32[3]"));
}

TEST_CASE("a number has no element") {
  CHECK(message_of([&] { tn::debug_nans([](auto a) { return log(a) * 2.0; }, {"a"})(-1.0); }) ==
        "tenure: debug_nans: log(a): log(-1) is NaN\n  a: float64[], -1\n  not finite: result");
}

TEST_CASE("an argument that is not finite is named") {
  const array<2, 2> x{{1, 2}, {std::nanf(""), 3}};
  CHECK(message_of([&] { tn::debug_nans([](auto a) { return exp(a) + 1.0f; }, {"x"})(x); }) ==
        "tenure: debug_nans: x: it is NaN in element [1,0] of float32[2,2]; 1 of 4 are not finite, and this is no result of an operation\n"
        "  not finite: result");
}

TEST_CASE("views, run-time extents and other types as arguments") {
  const tn::tensor<double, tn::shape<tn::dyn, 3>> m = tn::tensor<double, tn::shape<2, 3>>{{1, 2, 3}, {4, 0, 6}};
  const auto f = tn::debug_nans([](auto a, auto by) { return std::tuple{log(a), sum(a) * by}; }, {"m"});
  CHECK(holds(message_of([&] { f(m.transpose(), 2); }), "log(m): log(0) is -inf in element [1,1] of float64[3,d"));
  const std::tuple results = tn::debug_nans([](auto a, auto by) { return std::tuple{exp(a), sum(a) * by}; })(m.transpose(), 2);
  CHECK(std::get<0>(results)(1, 1) == 1.0);
  CHECK(std::get<1>(results).item() == 32.0);
}

TEST_CASE("a tracked argument keeps its history") {
  auto w = tn::variable<float, tn::shape<3>>{1, 2, 3};
  auto y = tn::debug_nans([](auto a) { return sum(a * a); })(w);
  y.backward();
  CHECK(w.grad()(2) == 6.0f);
}

TEST_CASE("a training step that is not finite writes nothing, and others train with the same bits") {
  const array<2, 3> x{{1, 2, 3}, {4, 5, 6}}, negative{{-1, -2, -3}, {4, 5, 6}};
  const array<2> y{0, 1};
  const auto step = tn::train_step(fit, tn::optim::sgd{.learning_rate = 0.01, .momentum = 0.9});
  line<tn::values> model{array<3>{1, 1, 1}, array<>(0.5f)}, same{array<3>{1, 1, 1}, array<>(0.5f)};
  auto state = step.rule.init(model), other = step.rule.init(same);
  const auto watched = tn::debug_nans(step, {"model", "state", "rule", "x", "y"});
  for (int i = 0; i < 3; ++i) {
    const float loss = watched(model, state, x, y).item();
    CHECK(loss == step(same, other, x, y).item());
  }
  const auto expect_same = [&] {
    CHECK(std::memcmp(model.slope.data(), same.slope.data(), 3 * sizeof(float)) == 0);
    CHECK(model.offset.item() == same.offset.item());
    CHECK(std::memcmp(state.moments[0].slope.data(), other.moments[0].slope.data(), 3 * sizeof(float)) == 0);
    CHECK(state.steps == other.steps);
  };
  expect_same();
  const std::string text = message_of([&] { watched(model, state, negative, y); });
  CHECK(holds(text, "debug_nans: log(matmul(x, model.slope) + model.offset): log(-"));
  CHECK(holds(text, " is NaN in element [0] of float32[2]; 1 of 2 are not finite\n"));
  CHECK(holds(text, "\n  not finite: loss, model.slope, model.offset, state[0].slope, state[0].offset"));
  expect_same();
}
