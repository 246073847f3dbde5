// SPDX-License-Identifier: BSL-1.0
// The plan of a program with loops and branches: its cost and its text.
#include "reference.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;
using number = tn::tensor<double, tn::shape<>>;
using ten = tn::tensor<double, tn::shape<10>>;

namespace {
constexpr auto f = [](auto w, auto xs) {
  auto [c, ys] = tn::scan([=](auto c, auto x) { return std::tuple{tn::cond(x > 0.0, [=] { return c * w; }, [=] { return tn::sin(c) + w; }), tn::nothing}; }, w, xs);
  return tn::while_loop([](auto c) { return c < 3.0; }, [](auto c) { return c * c; }, c);
};
using plan = decltype(tn::compile(f).plan(number{}, ten{}));
}  // namespace

TEST_CASE("a plan counts the iterations of a scan, one iteration of a while_loop, and the larger branch") {
  CHECK(plan::kernels() == 2);
  CHECK(plan::flops() == 10 * (1 + 2) + 2);  // a comparison; sin and a sum; a comparison and a product
  CHECK(plan::bytes() > 10 * 8);
}

namespace {
template <int TripCount>
constexpr auto counting = [](auto x) { return tn::fori_loop(TripCount, [](auto i, auto c) { return matmul(c, c) + tn::cast<double>(i); }, x); };
template <int TripCount>
using counting_plan = decltype(tn::compile(counting<TripCount>).plan(tn::tensor<double, tn::shape<10, 10>>{}));
}  // namespace

TEST_CASE("on a CPU a loop needs no memory for the numbers of its iterations") {
  CHECK(counting_plan<1000>::workspace_bytes() == counting_plan<2>::workspace_bytes());
}

TEST_CASE("the text of a plan shows the bodies") {
  CHECK(tn::to_text(plan{}) == R"(%0 = input 0 : float64[]
%1 = input 1 : float64[10]
%2 = tuple %0, %1, %0
%3 = control-flow operation %2: scan of 10 iterations
  iteration:
    %0 = input 0 : float64[]
    %1 = input 1 : float64[]
    %2 = input 2 : float64[]
    %3 = constant 0 : float64[]
    %4 = greater %1, %3 : bool[]
    %5 = tuple %4, %0, %2
    %6 = tuple %5, %0, %2
    %7 = control-flow operation %6: cond
      if true:
        %0 = input 0 : float64[]
        %1 = input 1 : float64[]
        %2 = mul %0, %1 : float64[]
        return %2
      if false:
        %0 = input 0 : float64[]
        %1 = input 1 : float64[]
        %2 = sin %0 : float64[]
        %3 = add %2, %1 : float64[]
        return %3
    %8 = result %7 0 : float64[]
    return %8
%4 = result %3 0 : float64[]
%5 = tuple %4
%6 = control-flow operation %5: while_loop
  condition:
    %0 = input 0 : float64[]
    %1 = constant 3 : float64[]
    %2 = less %0, %1 : bool[]
    return %2
  iteration:
    %0 = input 0 : float64[]
    %1 = mul %0, %0 : float64[]
    return %1
%7 = result %6 0 : float64[]
return %7
step 0: control-flow operation %3 result %4
step 1: control-flow operation %6 result %7
workspace: 128 bytes
)");
}

namespace {

/// The loops in a printed plan.
int loops_of(const std::string& text, const char* name) {
  int count = 0;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) ++count;
  return count;
}
constexpr auto by_scan = [](auto x) { return sum(tn::sin(std::get<0>(tn::scan([](auto c, auto b) { return std::tuple{1.5 * tn::sin(c) + b, tn::nothing}; }, x, x)))); };
constexpr auto by_while = [](auto x) {
  const auto last = tn::while_loop([](auto s) { return std::get<1>(s) < 5; }, [](auto s) { return std::tuple{tn::sin(std::get<0>(s)) * 1.5, std::get<1>(s) + 1}; }, std::tuple{x, 0});
  return sum(std::get<0>(last) * x);
};
constexpr auto one_after_other = [](auto x) { return by_scan(x * by_while(x)); };

}  // namespace

TEST_CASE("jvp of a loop takes the value from the loop of the tangents") {
  const tn::tensor<double, tn::shape<4>> x{0.3, -0.2, 0.7, 1.1}, t{1, 2, -1, 0.5};
  constexpr auto scan = [](auto a, auto v) { return tn::jvp(by_scan)(a, v); };
  constexpr auto both = [](auto a, auto v) { return tn::jvp(one_after_other)(a, v); };
  constexpr auto gradient = [](auto a, auto v) { return tn::jvp(tn::value_and_grad(one_after_other))(a, v); };
  CHECK(loops_of(tn::to_text(tn::compile(scan).plan(x, t)), "scan of") == 1);
  CHECK(loops_of(tn::to_text(tn::compile(both).plan(x, t)), "scan of") == 1);
  CHECK(loops_of(tn::to_text(tn::compile(both).plan(x, t)), "while_loop") == 1);
  judged::agrees_with_reference("scan", scan, x, t);
  judged::agrees_with_reference("both", both, x, t);
  judged::agrees_with_reference("tangent of a gradient", gradient, x, t);
}

namespace {

/// The second result of an iteration has no tangent: it does not depend on the carry.
constexpr auto stacked = [](auto a, auto xs) { return tn::scan([](auto c, auto b) { return std::tuple{1.5 * tn::sin(c) + b, std::tuple{tn::cos(b) * b, c}}; }, a, xs); };
constexpr auto along_the_carry = [](auto a, auto xs, auto v) { return tn::jvp<0>(stacked)(a, xs, v); };

}  // namespace

TEST_CASE("jvp of a loop that stacks results without tangents takes them from the loop of the tangents") {
  const tn::tensor<double, tn::shape<4>> x{0.3, -0.2, 0.7, 1.1};
  const number a{0.5}, v{2.0};
  CHECK(loops_of(tn::to_text(tn::compile(along_the_carry).plan(a, x, v)), "scan of") == 1);
  judged::agrees_with_reference("stacked", along_the_carry, a, x, v);
  // Where only the tangent is needed, the loop computes nothing for the others.
  constexpr auto tangent = [](auto b, auto xs, auto w) { return std::get<0>(std::get<1>(along_the_carry(b, xs, w))); };
  CHECK(loops_of(tn::to_text(tn::compile(tangent).plan(a, x, v)), "scan of") == 1);
  CHECK(decltype(tn::compile(tangent).plan(a, x, v))::flops() == 4 * 6);  // sin, cos, and four operations with them
  judged::agrees_with_reference("tangent", tangent, a, x, v);
}

namespace {

using steps = tn::tensor<double, tn::shape<100, 8, 32>>;
using weights = tn::tensor<double, tn::shape<32, 32>>;
// The cotangent of ys is the same in each iteration. That of a slice of xs is a factor of the gradient of w.
constexpr auto recurrent = tn::grad<0, 1>([](auto w, auto xs) {
  const auto iteration = [=](auto h, auto x) {
    const auto n = tn::tanh(tn::matmul(h, w) + x);
    return std::tuple{n, n};
  };
  return 0.5 * tn::sum(std::get<1>(tn::scan(iteration, tn::zeros_like(xs[0]), xs)));
});
// Both branches read h.
constexpr auto of_branches = tn::grad<1>([](auto flag, auto x, auto y) {
  const auto h = tn::tanh(x);
  return tn::sum(tn::cond(flag, [=] { return tn::exp(tn::transpose(h) * y); }, [=] { return tn::transpose(h); }) * y);
});

}  // namespace

TEST_CASE("the gradient of a loop or a branch has no value twice, and no stack of equal slices") {
  using of_loop = decltype(recurrent.plan(weights(), steps()));
  constexpr std::int64_t stack = sizeof(double) * 100 * 8 * 32, square = sizeof(double) * 32 * 32;
  static_assert(of_loop::workspace_bytes() < 2 * stack + stack / 2);  // h before and after each iteration
  using of_branch = decltype(of_branches.plan(true, weights(), weights()));
  static_assert(of_branch::workspace_bytes() <= 4 * square);
  weights w = tn::zeros<double>(tn::shape<32, 32>{}), x = tn::zeros<double>(tn::shape<32, 32>{});
  steps xs = tn::zeros<double>(tn::shape<100, 8, 32>{});
  for (std::size_t i = 0; i < tn::as_span(w).size(); ++i) tn::as_span(w)[i] = 0.1 * std::sin(static_cast<double>(i)), tn::as_span(x)[i] = std::cos(static_cast<double>(i));
  for (std::size_t i = 0; i < tn::as_span(xs).size(); ++i) tn::as_span(xs)[i] = std::cos(0.3 * static_cast<double>(i));
  judged::agrees_with_reference("loop", recurrent, w, xs);
  judged::agrees_with_reference("branch", of_branches, true, x, w);
  judged::agrees_with_reference("the other branch", of_branches, false, x, w);
}
