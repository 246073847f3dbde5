// SPDX-License-Identifier: BSL-1.0
// Trees that users write beside tuples and models: a std::pair, and a struct whose template argument is the type of its members.
#include <boost/hana/define_struct.hpp>
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;

namespace {
using vector = tn::tensor<double, tn::shape<3>>;
using number = tn::tensor<double, tn::shape<>>;

template <class T>
struct state {
  BOOST_HANA_DEFINE_STRUCT(state, (T, position), (T, speed));
};
template <class A, class B>
struct mixed {
  BOOST_HANA_DEFINE_STRUCT(mixed, (A, values), (B, total));
};
}  // namespace

TEST_CASE("a pair is an argument, a result, a carry and a target") {
  const vector x({1, 2, 3});
  const auto [twice, total] = tn::compile([](auto v) { return std::pair{v * 2, sum(v)}; })(x);
  CHECK(twice[2].item() == 6);
  CHECK(total.item() == 6);

  const auto slope = tn::grad([](auto p) { return sum(p.first * p.second); })(std::pair<vector, double>{x.clone(), 4});
  CHECK(slope.first[0].item() == 4);
  CHECK(slope.second.item() == 6);

  const auto fibonacci = tn::compile([](auto v) { return tn::fori_loop(5, [](auto, auto p) { return std::pair{p.second, p.first + p.second}; }, std::pair{v, v}); })(x);
  CHECK(fibonacci.second[0].item() == 13);
  const auto sums = tn::compile([](auto v) { return tn::scan([](auto c, auto e) { return std::pair{c + e, c}; }, sum(v), v); })(x);
  CHECK(std::get<0>(sums).item() == 12);

  std::pair<vector, vector> to{vector({0, 0, 0}), vector({0, 0, 0})};
  tn::compile([](auto v) { return std::pair{v * 2, v}; }).into(to)(x);
  CHECK(to.first[1].item() == 4);
}

TEST_CASE("a part of a pair is a node if it depends on a tracked argument") {
  auto w = vector({1, 2, 3}).requires_grad_();
  auto [square, one] = tn::compile([](auto v) { return std::pair{sum(v * v), tn::ones_like(v)}; })(w);
  static_assert(tn::requires_grad_v<decltype(square)> && !tn::requires_grad_v<decltype(one)>);
  square.backward();
  CHECK(w.grad()[2].item() == 6);
}

TEST_CASE("a struct of T holds tensors, numbers or traced values") {
  const auto simulate = tn::compile([](auto s) {
    return tn::fori_loop(10, [](auto, auto now) { return decltype(now){now.position + 0.5 * now.speed, now.speed}; }, s);
  });
  const state<vector> from{vector({0, 1, 2}), vector({2, 2, 4})};
  const state<vector> end = simulate(from);
  CHECK(end.position[2].item() == 22);
  const state<number> scalar = simulate(state<double>{1, 2});
  CHECK(scalar.position.item() == 11);

  const state<vector> slope = tn::grad([](auto s) { return sum(s.position * s.speed); })(from);
  CHECK(slope.position[2].item() == 4);

  const auto inside = tn::compile([](auto x) { return tn::scan([](auto s, auto e) { s.position = s.position + e; return std::tuple{s, s.speed}; }, state<decltype(sum(x))>{sum(x), sum(x)}, x); });
  CHECK(std::get<0>(inside(from.speed)).position.item() == 16);
}

TEST_CASE("a struct of several types holds a type for each") {
  const vector x({1, 2, 3});
  const mixed<vector, number> y = tn::compile([](auto v) { return mixed<decltype(v), decltype(sum(v))>{v * 2, sum(v)}; })(x);
  CHECK(y.values[1].item() == 4);
  CHECK(y.total.item() == 6);
}
