// SPDX-License-Identifier: BSL-1.0
// Every allocation refused in turn of loops and branches and their gradients, attention, sorts, systems, external functions, views as
// targets, gathers whose rows wait, steps in micro-batches, L-BFGS, and backward() through calls of compiled functions.
#include <boost/hana/define_struct.hpp>

#include "injected.hpp"

#include <tenure/threads.hpp>

namespace {

using tn::shape;
constexpr std::int64_t dyn = tn::dyn;
using vector = tn::tensor<double, shape<3>>;
using leaf = tn::variable<double, shape<3>>;

template <std::int64_t... E>
auto random(std::uint64_t seed) {
  tn::engine any(seed);
  return tn::uniform<double>(shape<E...>{}, any, -1.0, 1.0);
}

/// Value and gradients of f at the first I tensors of a world.
template <std::size_t... I, class F>
auto value_and_gradients(F, std::index_sequence<I...>) {
  return [](auto& w) { return tn::value_and_grad<static_cast<int>(I)...>(F{})(std::get<I>(w)...); };
}
template <int N, class F>
auto gradients_of(F f) { return value_and_gradients(f, std::make_index_sequence<N>{}); }

// ---- loops and branches: fixed extents, whose memory is known, and run-time extents -----------------------------------------------
constexpr auto recurrence = [](auto w, auto h, auto xs) {
  const auto [last, ys] = tn::scan([=](auto c, auto x) {
    const auto n = tn::tanh(c * w + x);
    return std::tuple{n, sum(n * w)};
  }, h, xs);
  return sum(last * last) + sum(ys);
};
constexpr auto results = tn::compile([](auto w, auto h, auto xs) {
  const auto [last, ys] = tn::scan([=](auto c, auto x) {
    const auto n = tn::tanh(c * w + x);
    return std::tuple{n, n * 2.0};
  }, h, xs);
  return std::tuple{last, ys};
});
constexpr auto read_again = tn::compile([](auto w, auto h, auto xs) {
  const auto [last, ys] = results(w, h, xs);
  return std::tuple{last, tn::amax(ys, tn::axis<0>) + xs};
});
constexpr auto branched = [](auto w, auto x) {
  const auto y = tn::cond(sum(x) > 0.0, [=] { return matmul(tanh(matmul(w, w)), w); }, [=] { return w * sum(x); });
  return sum(square(y)) + sum(x);
};
constexpr auto through_while = [](auto x) {
  return sum(tn::while_loop([](auto c) { return sum(square(c)) > 1.0; }, [](auto c) { return sin(c) * c; }, x));
};
constexpr auto nested = [](auto w, auto xs) {  // a branch and a loop in the iterations of a scan
  return std::get<0>(tn::scan([=](auto c, auto x) {
    const auto trip_count = [=] { return tn::fori_loop(3, [=](auto, auto d) { return tn::sin(d * w + x); }, c); };
    return std::tuple{tn::cond(sum(x) > 0.0, trip_count, [=] { return c * x; }), tn::nothing};
  }, w, xs));
};
constexpr auto of_nested = [](auto w, auto xs) { return sum(nested(w, xs)); };

// ---- external functions -----------------------------------------------------------------------------------------------------------
constexpr auto cubed = tn::extern_op(
    [](auto y, auto x) {
      const std::vector<double> copy(x.data(), x.data() + x.size());  // it allocates too
      for (std::int64_t i = 0; i < x.size(); ++i) y[i] = copy[static_cast<std::size_t>(i)] * x[i] * x[i];
    },
    tn::like<0>, [](auto x, auto, auto g) { return 3.0 * g * x * x; });
constexpr auto of_cubes = [](auto x) { return sum(cubed(sin(x)) * x); };
constexpr auto both = tn::compile([](auto x) { return std::tuple{x * 2.0, cubed(x)}; });

// ---- views as targets
constexpr auto doubled = tn::compile([](auto x) { return x * 2.0; });
constexpr auto of_two = tn::compile([](auto x, auto y) { return std::tuple{exp(x), matmul(y, y)}; });

// ---- gathers whose rows wait, as in tests/laws/gathers.cpp -----------------------------------------------------------------------
constexpr auto of_rows = [](auto table, auto i) {
  return tn::vmap([](auto a) { return tn::stack(a.at(2), a.at(0) + 1.0, a.at(1)); })(gather<0>(table, i));
};

// ---- training ---------------------------------------------------------------------------------------------------------------------
template <class Kind>
struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (tn::param<Kind, double, shape<8, 40>>, first), (tn::param<Kind, double, shape<40>>, last));
  constexpr auto operator()(auto x) const { return matmul(tanh(matmul(x, first)), last); }
};
constexpr auto loss = [](auto model, auto x, auto y) { return mse(model(x), y); };
constexpr auto valley = [](auto x) {
  const auto head = x[tn::range<0, 3>()], tail = x[tn::range<1, 4>()];
  return sum(100.0 * square(tail - square(head)) + square(1.0 - head));
};

// ---- calls in the history of tensors ----------------------------------------------------------------------------------------------
constexpr auto layer = tn::compile([](auto w, auto x) { return tanh(w * x) + 0.5 * w; });
constexpr auto two_results = tn::compile([](auto w, auto x) { return std::tuple{exp(w) * x, sum(w * x)}; });

}  // namespace

TEST_CASE("scans: results, targets and gradients") {
  const int threads = GENERATE(1, 3);
  INFO(threads << " threads");
  const tn::thread_pool pool(threads);
  const auto scope = pool.scope();
  const auto fixed = [] { return std::tuple{vector{0.5, -1, 2}, vector{1, 2, 3}, random<5, 3>(1)}; };
  CHECK(check_failures(fixed, [](auto& w) { return results(std::get<0>(w), std::get<1>(w), std::get<2>(w)); }) >= 2);
  CHECK(check_failures(fixed, gradients_of<3>(recurrence)) >= 4);
  const auto open = [] {
    const auto row = [](double x) { return tn::full<double>(shape<dyn>{}, x, 4000); };
    const auto rows = [](double x) { return tn::full<double>(shape<dyn, dyn>{}, x, 5, 4000); };
    return std::tuple{row(0.5), row(0.25), rows(0.125)};
  };
  CHECK(check_failures(open, gradients_of<3>(recurrence)) >= 5);
  CHECK(check_failures(open, [](auto& world) {  // the targets are arguments, written over row by row: nothing is allocated
          auto& [w, h, xs] = world;
          results.into(h, xs)(w, h, xs);
        }) == 0);
  CHECK(check_failures(open, [](auto& world) {  // the rows are read once more after the loop
          auto& [w, h, xs] = world;
          read_again.into(h, xs)(w, h, xs);
        }) >= 1);
}

TEST_CASE("branches, loops with a condition, and both in a scan: gradients") {
  for (const double sign : {1.0, -1.0}) {
    const auto make = [=] { return std::tuple{tn::full<double>(shape<40, 40>{}, 0.02), vector{sign, sign, sign}}; };
    CHECK(check_failures(make, gradients_of<2>(branched)) >= 4);
  }
  const auto row = [] { return std::tuple{tn::full<double>(shape<dyn>{}, 0.9, 40)}; };
  CHECK(check_failures(row, gradients_of<1>(through_while)) >= 3);
  const auto rows = [] { return std::tuple{vector{0.5, -1, 2}, random<6, 3>(2)}; };
  CHECK(check_failures(rows, gradients_of<2>(of_nested)) >= 3);
  const auto with_leaf = [] { return std::tuple{leaf{0.5, -1, 2}, random<6, 3>(2)}; };
  CHECK(check_failures(with_leaf, [](auto& w) { sum(tn::compile(nested)(std::get<0>(w), std::get<1>(w))).backward(); }) >= 3);
}

// Law: all of it is taken before a step runs.
TEST_CASE("attention, sorts and systems: results and gradients") {
  const int threads = GENERATE(1, 3);
  INFO(threads << " threads");
  const tn::thread_pool pool(threads);
  const auto scope = pool.scope();
  const auto heads = [] { return std::tuple{random<2, 70, 16>(1), random<2, 70, 16>(2), random<2, 70, 16>(3)}; };
  constexpr auto attends = [](auto q, auto k, auto v) { return sum(square(tn::attention(q, k, v, tn::causal))); };
  CHECK(check_failures(heads, gradients_of<3>(attends)) >= 4);
  CHECK(check_failures(heads, [](auto& w) { std::get<2>(w) = tn::attention(std::get<0>(w), std::get<1>(w), std::get<2>(w)); }) >= 1);

  const auto rows = [] { return std::tuple{random<9, 400>(4), random<9, 400>(5)}; };
  CHECK(check_failures(rows, [](auto& w) { return tn::eval(sort(std::get<0>(w), tn::axis<1>)); }) >= 1);
  CHECK(check_failures(rows, [](auto& w) { std::get<1>(w) = sort(std::get<0>(w), tn::axis<0>); }) >= 1);
  CHECK(check_failures(rows, [](auto& w) { std::get<0>(w) = sort(std::get<0>(w), tn::axis<1>, tn::descending) * 2; }) >= 1);
  constexpr auto largest = [](auto x, auto y) { return sum(tn::topk<5>(x) * tn::topk<5>(y, tn::smallest)) + sum(median(x, tn::axis<0>)); };
  CHECK(check_failures(rows, gradients_of<2>(largest)) >= 4);

  const auto systems = [] { return std::tuple{random<3, 30, 30>(6), random<3, 30>(7)}; };
  constexpr auto solved = [](auto a, auto b) { return sum(square(tn::solve(a, b))); };
  CHECK(check_failures(systems, gradients_of<2>(solved)) >= 4);
  CHECK(check_failures(systems, [](auto& w) { std::get<1>(w) = tn::solve(std::get<0>(w), std::get<1>(w)); }) >= 1);
}

TEST_CASE("external functions, which allocate too") {
  const auto make = [] { return std::tuple{vector{1, 2, 3}, vector{4, 5, 6}, leaf{1, 2, 3}}; };
  CHECK(check_failures(make, gradients_of<1>(of_cubes)) >= 3);
  CHECK(check_failures(make, [](auto& w) { sum(cubed(std::get<2>(w))).backward(); }) >= 3);
}

TEST_CASE("an external function that fails leaves the targets of its call as they were") {
  const auto make = [] { return std::tuple{vector{1, 2, 3}, vector{4, 5, 6}, vector{7, 8, 9}}; };
  CHECK(check_failures(make, [](auto& w) { both.into(std::get<1>(w), std::get<2>(w))(std::get<0>(w)); }) >= 1);
}

TEST_CASE("views as targets of into(): strided, and over an argument, so that they are copied") {
  const auto make = [] { return std::tuple{random<30, 40>(1), random<40, 40>(2), random<30>(3)}; };
  CHECK(check_failures(make, [](auto& w) { doubled.into(std::get<0>(w).at(tn::all, 3))(std::get<2>(w)); }) >= 1);
  CHECK(check_failures(make, [](auto& w) { doubled.into(std::get<1>(w).transpose())(std::get<1>(w)); }) >= 1);
  CHECK(check_failures(make, [](auto& w) { doubled.into(std::get<1>(w)[tn::range<1, 40>()])(std::get<1>(w)[tn::range<0, 39>()]); }) >= 1);
  CHECK(check_failures(make, [](auto& w) {
          auto& [a, b, x] = w;
          of_two.into(a.at(tn::all, 3), b.transpose())(x, b);
        }) >= 1);
}

TEST_CASE("gathers whose rows wait") {
  const int threads = GENERATE(1, 3);
  INFO(threads << " threads");
  const tn::thread_pool pool(threads);
  const auto scope = pool.scope();
  const auto make = [] {
    tn::tensor<std::int64_t, shape<dyn>> i = tn::zeros<std::int64_t>(shape<dyn>{}, 20000);
    for (std::int64_t k = 0; k < i.size(); ++k) i.at(k) = k * 7919 % 100;
    return std::tuple{random<100, 3>(1), std::move(i), tn::full<double>(shape<dyn, 3>{}, 7, 20000)};
  };
  CHECK(check_failures(make, [](auto& w) { tn::compile(of_rows).into(std::get<2>(w))(std::get<0>(w), std::get<1>(w)); }) >= 1);
}

TEST_CASE("steps in micro-batches and L-BFGS change all or nothing") {
  static constexpr tn::optim::adam rule{};
  const auto make = [] {
    tn::engine any(1);
    auto model = tn::init<network>(any);
    auto state = rule.init(model);
    return std::tuple{std::move(model), std::move(state.moments), random<32, 8>(1), random<32>(2)};
  };
  CHECK(check_failures(make, [](auto& w) {
          tn::optim::state<network<tn::values>, decltype(rule)::moments> state{std::move(std::get<1>(w)), 0};
          const hand_back at_end(std::get<1>(w), state);
          return tn::train_step(loss, rule, tn::micro_batches<4>)(std::get<0>(w), state, std::get<2>(w), std::get<3>(w)).item();
        }) >= 2);
  const auto minimize = [](auto f) {
    return [=](auto& w) {
      const auto search = tn::minimize(f, tn::optim::lbfgs{.history = 3, .most_iterations = 8});
      const auto found = std::apply([&](auto&... x) { return search(x...); }, w);
      return std::tuple{found.value, found.gradient_norm};
    };
  };
  CHECK(check_failures([] { return std::tuple{tn::tensor<double, shape<4>>{-1.2, 1, 0.5, 2}}; }, minimize(valley)) >= 5);
  const auto with_data = [] {
    tn::engine any(1);
    return std::tuple{tn::init<network>(any), random<32, 8>(1), random<32>(2)};
  };
  CHECK(check_failures(with_data, minimize(loss)) >= 5);
}

TEST_CASE("backward() through calls of compiled functions") {
  const auto leaves = [] { return std::tuple{leaf{0.5, -1, 2}, leaf{1, 2, 3}, vector{3, 4, 5}}; };
  const auto with_gradients = [=] {
    auto w = leaves();
    sum(std::get<0>(w) * std::get<1>(w)).backward();
    return w;
  };
  const auto calls = [](auto& w) {
    auto& [a, b, x] = w;
    const tn::tensor h = layer(a, layer(b, x));
    const auto [product, total] = two_results(h, a);
    tn::tensor y = sum(product * h) + total;
    return y;
  };
  const auto whole = [=](auto& w) { calls(w).backward(); };
  CHECK(check_failures(leaves, whole) >= 8);
  CHECK(check_failures(with_gradients, whole) >= 8);
  // The calls are made before anything fails.
  const auto called = [=](auto world) {
    return [=] {
      auto w = world();
      auto y = calls(w);
      return std::tuple{std::move(std::get<0>(w)), std::move(std::get<1>(w)), std::move(std::get<2>(w)), std::move(y)};
    };
  };
  CHECK(check_failures(called(leaves), [](auto& w) { std::get<3>(w).backward(); }) >= 3);
  CHECK(check_failures(called(with_gradients), [](auto& w) { std::get<3>(w).backward(tn::retain_graph); }) >= 2);
}
