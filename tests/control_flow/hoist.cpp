// SPDX-License-Identifier: BSL-1.0
// What an iteration does not need is not in it: products of what is captured, carries that stay the same, carries and stacks that nothing reads.
#include "reference.hpp"

namespace {
namespace tn = tenure;
using matrix = tn::tensor<double, tn::shape<8, 8>>;
using row = tn::tensor<double, tn::shape<1, 8>>;
template <std::int64_t N>
using rows = tn::tensor<double, tn::shape<N, 1, 8>>;

constexpr std::int64_t flops_of_product = 2 * 8 * 8 * 8;

constexpr auto by_scan = [](auto w, auto h, auto xs) {
  return std::get<0>(tn::scan([=](auto c, auto x) { return std::tuple{tanh(matmul(c, matmul(w, w)) + x), tn::nothing}; }, h, xs));
};
constexpr auto in_two_loops = [](auto w, auto h, auto xs) {
  const auto iteration = [=](auto c, auto x) {
    return std::tuple{tn::fori_loop(3, [=](auto, auto c) { return tanh(matmul(c, matmul(w, w)) + sum(x)); }, c), tn::nothing};
  };
  return std::get<0>(tn::scan(iteration, h, xs));
};
constexpr auto by_while = [](auto w, auto h, auto) {
  return tn::while_loop([=](auto c) { return sum(c * c) < 0.1 * sum(w * w); }, [=](auto c) { return 1.5 * c + matmul(c, matmul(w, w)); }, h);
};
constexpr auto in_a_branch = [](auto w, auto h, auto xs) {
  const auto iteration = [=](auto c, auto x) {
    return std::tuple{tn::cond(sum(x) > 1e6, [=] { return matmul(c, matmul(w, w)); }, [=] { return c + x; }), tn::nothing};
  };
  return std::get<0>(tn::scan(iteration, h, xs));
};
// w is carried and stays the same; nothing reads the third carry and the stack.
constexpr auto carried = [](auto w, auto h, auto xs) {
  const auto iteration = [](auto c, auto x) {
    const auto [w, h, n] = c;
    const auto next = tanh(matmul(h, matmul(w, w)) + x);
    return std::tuple{std::tuple{w, next, n * 2.0 + sum(cos(next))}, exp(next)};
  };
  return std::get<1>(std::get<0>(tn::scan(iteration, std::tuple{w, h, sum(w)}, xs)));
};
template <auto& F>
constexpr auto gradient_of = [](auto w, auto h, auto xs) {
  return tn::grad<0, 1, 2>([](auto w, auto h, auto xs) { return sum(F(w, h, xs)); })(w, h, xs);
};

template <auto& F, std::int64_t N = 10>
using plan_of = decltype(tn::compile(F).plan(matrix{}, row{}, rows<N>{}));

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
template <auto& F>
std::string iteration_of() {
  const std::string text = tn::to_text(plan_of<F>{});
  const std::size_t from = text.find("iteration:");
  return text.substr(from, text.find("\n%", from) - from);
}
}  // namespace

TEST_CASE("what is the same in all iterations is computed before the loop") {
  STATIC_REQUIRE(plan_of<by_scan>::flops() < 3 * flops_of_product);
  STATIC_REQUIRE(plan_of<by_scan, 20>::flops() - plan_of<by_scan>::flops() < 2 * flops_of_product);
  STATIC_REQUIRE(plan_of<in_two_loops>::flops() < 8 * flops_of_product);  // 30 iterations
  CHECK(count(iteration_of<in_two_loops>(), "matmul") == 1);
  CHECK(count(iteration_of<by_while>(), "matmul") == 1);
  CHECK(count(tn::to_text(plan_of<by_while>{}), " = sum") == 2);
  // The gradient keeps no stack of a product that is the same in all iterations.
  CHECK(count(tn::to_text(plan_of<gradient_of<by_scan>>{}), "float64[10,8,8]") == 0);
}

TEST_CASE("nothing leaves a branch") { CHECK(count(iteration_of<in_a_branch>(), "matmul") == 2); }

TEST_CASE("carries that stay the same are captured; carries and stacks that nothing reads are not computed") {
  STATIC_REQUIRE(plan_of<carried>::flops() == plan_of<by_scan>::flops());
  CHECK(iteration_of<carried>() == iteration_of<by_scan>());
}

TEST_CASE("loops without what an iteration does not need give the results of the reference backend, also without an iteration") {
  matrix w;
  row h;
  for (std::int64_t i = 0; i < 64; ++i) w.at(i / 8, i % 8) = 0.02 * static_cast<double>(11 * i % 17) - 0.15;
  for (std::int64_t i = 0; i < 8; ++i) h.at(0, i) = 0.1 * static_cast<double>(i) - 0.3;
  for (const std::int64_t trip_count : {0, 1, 4}) {
    INFO(trip_count << " iterations");
    tn::tensor<double, tn::shape<tn::dyn, 1, 8>> xs(trip_count);
    for (std::int64_t i = 0; i < 8 * trip_count; ++i) xs.at(i / 8, 0, i % 8) = 0.05 * static_cast<double>(i) - 0.4;
    judged::agrees_with_reference("scan", by_scan, w, h, xs);
    judged::agrees_with_reference("two loops", in_two_loops, w, h, xs);
    judged::agrees_with_reference("while", by_while, w, h, xs);
    judged::agrees_with_reference("branch", in_a_branch, w, h, xs);
    judged::agrees_with_reference("carried", carried, w, h, xs);
    judged::agrees_with_reference("gradient", gradient_of<by_scan>, w, h, xs);
    judged::agrees_with_reference("gradient of two loops", gradient_of<in_two_loops>, w, h, xs);
    judged::agrees_with_reference("gradient, carried", gradient_of<carried>, w, h, xs);
  }
}

TEST_CASE("an index that an iteration checks is checked where the loop takes an iteration, and not where it takes none") {
  using table = tn::tensor<double, tn::shape<5>>;
  using places = tn::tensor<std::int64_t, tn::shape<tn::dyn>>;
  const table t{1, 2, 3, 4, 5};
  const places good{0, 3}, bad{0, 4};
  constexpr auto sums = [](auto t, auto i, auto n) {
    return tn::fori_loop(n, [=](auto, auto c) { return c + sum(gather<0>(t, i + 1)) * c; }, sum(t));
  };
  // The only carry stays the same.
  constexpr auto unchanged = [](auto t, auto i, auto n) {
    const auto iteration = [=](auto, auto c) { return std::tuple{std::get<0>(c), sum(gather<0>(t, i + 1))}; };
    return std::get<0>(tn::fori_loop(n, iteration, std::tuple{sum(t), sum(t)}));
  };
  constexpr auto slope = [](auto t, auto i) { return tn::grad<0>([](auto t, auto i) {
    return tn::fori_loop(3, [=](auto, auto c) { return c + sum(gather<0>(t, i + 1)) * c; }, sum(t)); })(t, i); };
  // The inner loop is the same in all iterations, and a sum reads its result.
  constexpr auto of_a_loop = [](auto t, auto i, auto n) {
    const auto iteration = [=](auto, auto c) {
      const auto x = tn::fori_loop(2, [=](auto, auto y) { return y + sum(gather<0>(t, i + 1)); }, sum(t));
      return c + sum(t * x) * c;
    };
    return tn::fori_loop(n, iteration, sum(t));
  };
  // Only the condition reads the carry that changes. The index is checked by a loop within the iteration, or by the condition.
  constexpr auto in_a_loop = [](auto t, auto i) {
    const auto iteration = [=](auto c) {
      const auto [same, x] = c;
      return std::tuple{same, tn::fori_loop(2, [=](auto, auto y) { return y + sum(gather<0>(t, i + 1)); }, x)};
    };
    return std::get<0>(tn::while_loop([](auto c) { return std::get<1>(c) < 20.0; }, iteration, std::tuple{sum(t), sum(t)}));
  };
  constexpr auto in_the_condition = [](auto t, auto i) {
    const auto goes_on = [=](auto c) { return std::get<1>(c) < sum(gather<0>(t, i + 1)); };
    const auto iteration = [](auto c) { return std::tuple{std::get<0>(c), std::get<1>(c) + 1.0}; };
    return std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{sum(t), 0.1 * sum(t)}));
  };
  const auto run_sums = [&](const places& i, std::int64_t n) { return tn::compile(sums)(t, i, n).item(); };
  const auto run_unchanged = [&](const places& i, std::int64_t n) { return tn::compile(unchanged)(t, i, n).item(); };
  CHECK(run_sums(good, 2) == 15 * 8 * 8);  // 2 and 5 are looked up
  CHECK(run_sums(bad, 0) == 15);
  CHECK_THROWS_AS(run_sums(bad, 1), tn::index_error);
  CHECK(run_unchanged(bad, 0) == 15);
  CHECK(run_unchanged(good, 1) == 15);
  CHECK(tn::compile(of_a_loop)(t, good, std::int64_t{1}).item() == 15 + 15 * 29 * 15);
  CHECK(tn::compile(of_a_loop)(t, bad, std::int64_t{0}).item() == 15);
  CHECK_THROWS_AS(tn::compile(of_a_loop)(t, bad, std::int64_t{1}), tn::index_error);
  CHECK(tn::compile(in_a_loop)(t, good).item() == 15);
  CHECK_THROWS_AS(tn::compile(in_a_loop)(t, bad), tn::index_error);
  CHECK(tn::compile(in_the_condition)(t, good).item() == 15);
  CHECK_THROWS_AS(tn::compile(in_the_condition)(t, bad), tn::index_error);
  judged::agrees_with_reference("gradient", slope, t, good);
  CHECK_THROWS_AS(tn::compile(slope)(t, bad), tn::index_error);
}

TEST_CASE("a stack of run-time length whose elements are captured, and the states of a while_loop that its gradient does not read") {
  constexpr auto stacks = [](auto w, auto xs) {
    return std::get<1>(tn::scan([=](auto c, auto x) { return std::tuple{c + sum(x), w}; }, sum(w), xs));
  };
  const tn::tensor<double, tn::shape<3>> w{1, 2, 3};
  for (const std::int64_t n : {0, 1, 4}) {
    tn::tensor<double, tn::shape<tn::dyn, 3>> xs(n);
    INFO(n << " iterations");
    CHECK(tn::compile(stacks)(w, xs).extents() == tn::extents{2, {n, 3}});
    judged::agrees_with_reference("stack", stacks, w, xs);
  }
  // The second carry counts; nothing reads it but the condition.
  constexpr auto slope = [](auto w) {
    return tn::grad([](auto w) {
      const auto goes_on = [](auto c) { return std::get<1>(c) < 5.0; };
      const auto iteration = [=](auto c) { return std::tuple{sin(std::get<0>(c)) * w, std::get<1>(c) + 1.0, std::get<2>(c) * 2.0}; };
      return sum(std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{w, sum(w) * 0.0, w})));
    })(w);
  };
  judged::agrees_with_reference("gradient of while_loop", slope, w);
}
