// SPDX-License-Identifier: BSL-1.0
// value_and_grad, grad and train_step of a function that returns std::tuple{loss, aux}. Law: the gradients are those of the loss alone, up to rounding.
#include "../catch.hpp"

#include <array>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>
#include <tenure/threads.hpp>

namespace tn = tenure;
using tn::shape;

namespace {

constexpr auto both = [](auto w, auto x) {
  const auto y = tanh(matmul(x, w));
  return std::tuple{sum(square(y)), std::tuple{y, argmax(y, tn::axis<-1>)}};
};
constexpr auto alone = [](auto w, auto x) { return std::get<0>(both(w, x)); };

template <class Kind>
struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (tn::param<Kind, float, shape<4, 3>>, w), (tn::param<Kind, float, shape<3>>, b));
  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};
constexpr auto loss = [](auto m, auto x, auto y) {
  const auto found = m(x);
  return std::tuple{mse(found, y), found};
};
constexpr auto plain_loss = [](auto m, auto x, auto y) { return mse(m(x), y); };

template <class X>
bool same(const X& a, const X& b) {
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (!(a.data()[i] == Approx(b.data()[i]).epsilon(1e-5).margin(1e-6))) return false;
  return true;
}

}  // namespace

TEST_CASE("value_and_grad and grad with results beside the loss") {
  tn::engine random(1);
  const auto w = tn::normal<float>(shape<4, 3>{}, random);
  const auto x = tn::normal<float>(shape<5, 4>{}, random);
  const auto [results, dw, dx] = tn::value_and_grad<0, 1>(both, tn::has_aux)(w, x);
  const auto [value, by_w, by_x] = tn::value_and_grad<0, 1>(alone)(w, x);
  CHECK(std::get<0>(results).item() == Approx(value.item()));
  CHECK(same(dw, by_w));
  CHECK(same(dx, by_x));
  const tn::tensor y = tanh(matmul(x, w));
  CHECK(same(std::get<0>(std::get<1>(results)), y));
  const tn::tensor places = argmax(y, tn::axis<-1>);
  CHECK(same(std::get<1>(std::get<1>(results)), places));
  const auto [slope, aux] = tn::grad(both, tn::has_aux)(w, x);
  CHECK(same(slope, by_w));
  CHECK(same(std::get<0>(aux), y));
  const auto [slopes, more] = tn::grad<0, 1>(both, tn::has_aux)(w, x);
  CHECK(same(std::get<1>(slopes), by_x));
  // aux may be one value, and the transforms nest.
  const auto inner = tn::compile([](auto a, auto b) {
    const auto [pair, g] = tn::value_and_grad([](auto p, auto q) { return std::tuple{sum(p * p * q), exp(p)}; }, tn::has_aux)(a, b);
    return std::tuple{sum(g * std::get<1>(pair)), g};
  });
  const tn::tensor<double, shape<2>> a{1, 2}, b{3, 4};
  CHECK(std::get<0>(inner(a, b)).item() == Approx(2 * 3 * std::exp(1.0) + 4 * 4 * std::exp(2.0)));
  const auto [outer, second] = tn::value_and_grad(inner, tn::has_aux)(a, b);
  CHECK(second(0) == Approx(2 * 3 * std::exp(1.0) + 2 * 3 * std::exp(1.0)));
  const auto samples = tn::vmap(tn::grad(both, tn::has_aux))(tn::normal<float>(shape<2, 4, 3>{}, random), tn::normal<float>(shape<2, 5, 4>{}, random));
  CHECK(std::get<0>(samples).extent(0) == 2);
}

TEST_CASE("has_aux, micro_batches and an execution have no order") {
  using on = tn::sequential;
  STATIC_REQUIRE(std::is_same_v<decltype(tn::value_and_grad(both, tn::has_aux, on())), decltype(tn::value_and_grad(both, on(), tn::has_aux))>);
  STATIC_REQUIRE(std::is_same_v<decltype(tn::grad<0, 1>(both, tn::has_aux, on())), decltype(tn::grad<0, 1>(both, on(), tn::has_aux))>);
  STATIC_REQUIRE(std::is_same_v<decltype(tn::train_step(loss, tn::optim::sgd{}, tn::has_aux, on())), decltype(tn::train_step(loss, tn::optim::sgd{}, on(), tn::has_aux))>);
  STATIC_REQUIRE(std::is_same_v<decltype(tn::train_step(alone, tn::optim::sgd{}, tn::micro_batches<2>, on())), decltype(tn::train_step(alone, tn::optim::sgd{}, on(), tn::micro_batches<2>))>);
  const tn::tensor<double, shape<2, 2>> w{{1, 2}, {3, 4}}, x{{0.5, 0}, {0, 0.25}};
  CHECK(std::get<0>(tn::grad(both, on(), tn::has_aux)(w, x))(1, 0) == tn::grad(alone)(w, x)(1, 0));
}

TEST_CASE("a training step with results beside the loss") {
  tn::engine random(2);
  auto first = tn::init<model>(random);
  auto second = tn::deepcopy(first);
  const auto x = tn::normal<float>(shape<6, 4>{}, random);
  const auto y = tn::normal<float>(shape<6, 3>{}, random);
  auto with = tn::train_step(loss, tn::optim::adam{.learning_rate = 0.1f}, tn::has_aux);
  auto without = tn::train_step(plain_loss, tn::optim::adam{.learning_rate = 0.1f});
  auto state = with.rule.init(first);
  auto plain = without.rule.init(second);
  for (int i = 0; i < 5; ++i) {
    const tn::tensor before = first(x);
    const auto [value, found] = with(first, state, x, y);
    CHECK(value.item() == Approx(without(second, plain, x, y).item()));
    CHECK(same(found, before));
  }
  CHECK(same(first.w, second.w));
  CHECK(state.steps == 5);
}
