// SPDX-License-Identifier: BSL-1.0
// backward(): all gradients are written, or none, and the graph can be walked again. Compiled functions and optimizers.
#include <boost/hana/define_struct.hpp>

#include "injected.hpp"

namespace {

using tn::shape;
using leaf = tn::variable<double, shape<3>>;

auto leaves() { return std::tuple(leaf{1, 2, 3}, leaf{4, 5, 6}); }
auto leaves_with_gradients() {
  auto w = leaves();
  sum(std::get<0>(w) * std::get<1>(w)).backward();
  return w;
}
auto leaves_with_zeros() {
  auto w = leaves_with_gradients();
  std::get<0>(w).zero_grad();
  std::get<1>(w).zero_grad();
  return w;
}

/// The same on leaves without gradients, with gradients, with zeros, and with zeros that somebody else sees.
template <class Call>
void check_backward(Call call) {
  CHECK(check_failures(leaves, call) >= 2);
  CHECK(check_failures(leaves_with_gradients, call) >= 2);
  check_failures(leaves_with_zeros, call);
  check_failures([] {
    auto [a, b] = leaves_with_zeros();
    auto seen = a.grad();
    return std::tuple(std::move(a), std::move(b), std::move(seen));
  }, call);
}

/// A node of the leaves, made before anything fails.
template <class Make, class Call>
void check_backward_of(Make make, Call call) {
  const auto with_node = [&](auto world) {
    return [=] {
      auto w = world();
      auto y = make(std::get<0>(w), std::get<1>(w));
      return std::tuple(std::move(std::get<0>(w)), std::move(std::get<1>(w)), std::move(y));
    };
  };
  const auto run = [&](auto& w) { call(std::get<2>(w)); };
  CHECK(check_failures(with_node(leaves), run) >= 2);
  CHECK(check_failures(with_node(leaves_with_gradients), run) >= 2);
  CHECK(check_failures(with_node(leaves_with_zeros), run) >= 1);
}

}  // namespace

TEST_CASE("backward() of an expression") {
  check_backward([](auto& w) { sum(square(std::get<0>(w)) * std::get<1>(w)).backward(); });
  check_backward([](auto& w) { (exp(std::get<0>(w)) * std::get<1>(w)).backward(tn::ones_like(std::get<0>(w)) * 2); });
  check_backward([](auto& w) {
    const auto e = sum(std::get<0>(w) * std::get<0>(w) * std::get<1>(w));
    e.backward(tn::retain_graph);
    return e.item();
  });
}

TEST_CASE("backward() through nodes, views, clones and writes through views") {
  check_backward_of(
      [](auto& a, auto& b) {
        tn::tensor y = exp(a);
        tn::tensor z = y * b + y;
        return tn::tensor(sum(z * z));
      },
      [](auto& y) { y.backward(); });
  check_backward_of(  // b's gradient is written before memory for a's is asked for
      [](auto& a, auto& b) {
        tn::tensor y = exp(a);
        tn::tensor z = tanh(y);
        tn::tensor u = z * 2 + b;
        return tn::tensor(sum(u * u * b));
      },
      [](auto& y) { y.backward(); });
  check_backward_of(
      [](auto& a, auto& b) {
        const auto first = a[tn::range<0, 2>()];
        const auto copy = b.clone();
        return tn::tensor(sum(first * copy[tn::range<1, 3>()]) + sum(a * copy));
      },
      [](auto& y) { y.backward(tn::retain_graph); });
  check_backward_of(
      [](auto& a, auto& b) {
        tn::tensor y = a * 2;
        auto z = std::move(y).at(tn::range<1, 3>()).mul_(b[tn::range<0, 2>()]);
        return tn::tensor(sum(z * z));
      },
      [](auto& y) { y.backward(); });
  check_backward_of([](auto& a, auto& b) { return std::move(tn::tensor(a * b)).retain_grad(); },
                    [](auto& y) { y.backward(tn::tensor<double, shape<3>>{1, 0, 2}, tn::retain_graph); });
  check_backward_of(
      [](auto& a, auto& b) {
        auto y = tn::tensor(a * b).retain_grad();
        auto z = tn::tensor(exp(y) + a).retain_grad();
        return std::tuple(tn::tensor(sum(z * y)), std::move(y), std::move(z));
      },
      [](auto& y) { std::get<0>(y).backward(); });
}

TEST_CASE("backward() with memory for intermediate results, and of run-time extents") {
  const auto matrices = [] {
    auto a = tn::full<double>(shape<40, 40>{}, 0.5).requires_grad_();
    auto b = tn::full<double>(shape<40, 40>{}, 0.25).requires_grad_();
    return std::tuple(std::move(a), std::move(b));
  };
  CHECK(check_failures(matrices, [](auto& w) { sum(square(matmul(tanh(matmul(std::get<0>(w), std::get<1>(w))), std::get<1>(w)))).backward(); }) >= 3);
  const auto dynamic = [] {
    auto a = tn::full<double>(shape<tn::dyn, 3>{}, 0.5, 4).requires_grad_();
    auto b = tn::full<double>(shape<3, tn::dyn>{}, 0.25, 5).requires_grad_();
    return std::tuple(std::move(a), std::move(b));
  };
  CHECK(check_failures(dynamic, [](auto& w) { sum(square(matmul(std::get<0>(w), std::get<1>(w)))).backward(); }) >= 3);
}

TEST_CASE("a backward() that fails for another reason undoes what it wrote") {
  // The index is computed, and found outside only when other cotangents have arrived.
  auto a = leaf{1, 2, 3}, b = leaf{4, 5, 6};
  sum(a * b).backward();
  a.zero_grad();
  const tn::tensor<std::int64_t, shape<2>> index{0, 2};
  const auto loss = sum(gather(a * b, index * 2)) + sum(a);
  const snapshot before(a, b);
  CHECK_THROWS_AS(loss.backward(), tn::index_error);
  CHECK(snapshot(a, b) == before);
  sum(a).backward();
  CHECK(a.grad()(1) == 1);
}

namespace {
template <class Kind>
struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (tn::param<Kind, float, shape<50, 60>>, w), (tn::param<Kind, float, shape<60>>, b));
  constexpr auto operator()(auto x) const { return tanh(matmul(x, w) + b); }
};
constexpr auto products = tn::compile([](auto a, auto b) { return std::tuple(matmul(tanh(matmul(a, b)), b), matmul(b, a)); });
constexpr auto loss = [](auto m, auto x) { return mean(square(m(x))); };
constexpr auto through_while =
    tn::value_and_grad([](auto x) { return sum(tn::while_loop([](auto c) { return sum(c) > 1.0; }, [](auto c) { return c * c; }, x)); });
}  // namespace

TEST_CASE("compiled functions write all targets or none") {
  const auto make = [] { return std::tuple(tn::full<double>(shape<40, 40>{}, 0.5), tn::full<double>(shape<40, 40>{}, 0.25)); };
  CHECK(check_failures(make, [](auto& w) { return products(std::get<0>(w), std::get<1>(w)); }) >= 3);
  CHECK(check_failures(make, [](auto& w) { products.into(std::get<0>(w), std::get<1>(w))(std::get<0>(w), std::get<1>(w)); }) >= 2);
  const auto row = [] { return std::tuple(tn::full<double>(shape<>{}, 0.0), tn::full<double>(shape<tn::dyn>{}, 0.5, 40)); };
  CHECK(check_failures(row, [](auto& w) { through_while.into(std::get<0>(w), std::get<1>(w))(std::get<1>(w)); }) >= 1);
}

TEST_CASE("optimizers and training steps change all or nothing") {
  const auto make = [](auto rule) {
    return [=] {
      tn::engine random(1);
      auto m = tn::init<model>(random);
      auto state = rule.init(m);
      return std::tuple(std::move(m), std::move(state.moments), tn::full<float>(shape<7, 50>{}, 0.1f), std::int64_t{0});
    };
  };
  const auto step = [](auto rule) {
    return [=](auto& w) {
      tn::optim::state<model<tn::values>, decltype(rule)::moments> state{std::move(std::get<1>(w)), std::get<3>(w)};
      const auto back = [&] { std::get<1>(w) = std::move(state.moments), std::get<3>(w) = state.steps; };
      try {
        const auto value = tn::train_step(loss, rule)(std::get<0>(w), state, std::get<2>(w));
        back();
        return value.item();
      } catch (...) {
        back();
        throw;
      }
    };
  };
  CHECK(check_failures(make(tn::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}), step(tn::optim::sgd{.learning_rate = 0.1, .momentum = 0.9})) >= 2);
  CHECK(check_failures(make(tn::optim::adam{}), step(tn::optim::adam{})) >= 2);
  CHECK(check_failures(make(tn::optim::adam{}), [](auto& w) { return tn::value_and_grad(loss)(std::get<0>(w), std::get<2>(w)); }) >= 3);
}
