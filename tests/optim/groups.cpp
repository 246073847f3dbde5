// SPDX-License-Identifier: BSL-1.0
// Hyperparameters by group of parameters, against one rule for each group and against the formula by hand.
#include "../catch.hpp"

#include <cmath>

#include <boost/hana/define_struct.hpp>

#include <tenure/optim/groups.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {
template <class Kind, std::int64_t In, std::int64_t Out>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, double, tn::shape<In, Out>>, w), (tn::param<Kind, double, tn::shape<Out>>, b));
  constexpr auto operator()(auto x) const { return matmul(x, w) + b; }
};
template <class Kind>
struct deep {
  using hidden = layer<Kind, 3, 3>;
  using layers = std::array<hidden, 2>;
  using last = layer<Kind, 3, 1>;
  BOOST_HANA_DEFINE_STRUCT(deep, (layers, body), (last, head));
  constexpr auto operator()(auto x) const { return head(tanh(body[1](tanh(body[0](x))))); }
};
constexpr auto loss = [](auto m, auto x, auto y) { return mse(m(x), y); };

constexpr auto heads = [](std::string_view name, const tn::extents&) { return name.starts_with("head."); };
constexpr auto second = [](std::string_view name, const tn::extents&) { return name == "body.1.w"; };

template <class A, class B>
void check_same(const A& a, const B& b) {
  for (std::int64_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).epsilon(1e-13));
}
}  // namespace

// Law: a step is that of each group's rule on the parameters of the group.
TEST_CASE("each group has the step of its rule, the first group that selects a parameter wins") {
  tn::engine random(3);
  auto a = tn::init<deep>(random);
  auto fused = tn::deepcopy(a);
  const auto x = tn::normal<double>(tn::shape<5, 3>{}, random);
  const auto y = tn::normal<double>(tn::shape<5, 1>{}, random);
  using tn::optim::adam;
  const adam others{.learning_rate = 0.05, .weight_decay = 0.1};
  const adam of_heads{.learning_rate = 0.2, .beta1 = 0.5, .weight_decay = 0.3};
  const adam of_vectors{.learning_rate = 0.05, .weight_decay = 0};
  const adam frozen{.learning_rate = 0};
  const tn::optim::groups rule{others, tn::optim::group{heads, of_heads}, tn::optim::group{tn::optim::vectors, of_vectors},
                               tn::optim::group{second, frozen}};
  const auto start = tn::deepcopy(a);

  // By hand: a copy of the model for each rule, all with the same gradients.
  const adam rules[] = {others, of_heads, of_vectors};
  std::array<decltype(tn::deepcopy(a)), 3> by_rule{tn::deepcopy(a), tn::deepcopy(a), tn::deepcopy(a)};
  auto state = rule.init(a);
  auto of_fused = rule.init(fused);
  auto states = std::array{rules[0].init(a), rules[1].init(a), rules[2].init(a)};
  const auto step = tn::train_step(loss, rule);
  for (int i = 0; i < 4; ++i) {
    const auto gradient = tn::grad(loss)(a, x, y);
    rule.update(a, gradient, state);
    for (std::size_t k = 0; k < 3; ++k) rules[k].update(by_rule[k], gradient, states[k]);
    check_same(a.body[0].w, by_rule[0].body[0].w);
    check_same(a.head.w, by_rule[1].head.w);
    check_same(a.head.b, by_rule[1].head.b);  // not that of the vectors
    check_same(a.body[0].b, by_rule[2].body[0].b);
    check_same(a.body[1].w, start.body[1].w);
    step(fused, of_fused, x, y);
  }
  check_same(a.body[0].w, fused.body[0].w);
  check_same(a.head.w, fused.head.w);
  CHECK(std::fabs(a.head.w(0, 0) - by_rule[0].head.w(0, 0)) > 1e-3);
}

TEST_CASE("the numbers of a group change between steps, and a clipped rule has groups too") {
  std::tuple model{tn::tensor<double, tn::shape<2, 2>>{{1, 2}, {3, 4}}, tn::tensor<double, tn::shape<2>>{5, 6}};
  const std::tuple gradients{tn::tensor<double, tn::shape<2, 2>>{{3, 0}, {0, 0}}, tn::tensor<double, tn::shape<2>>{4, 0}};
  const tn::optim::groups inner{tn::optim::sgd{.learning_rate = 0.5, .weight_decay = 0.5},
                                tn::optim::group{tn::optim::vectors, tn::optim::sgd{.learning_rate = 0.25}}};
  tn::optim::clipped rule{inner, 1.0};
  auto state = rule.init(model);
  rule.update(model, gradients, state);  // the norm of the gradients is 5
  CHECK(std::get<0>(model)(0, 0) == Approx(1 - 0.5 * (3 / 5.0 + 0.5 * 1)).epsilon(1e-6));
  CHECK(std::get<0>(model)(1, 1) == Approx(4 - 0.5 * 0.5 * 4).epsilon(1e-6));
  CHECK(std::get<1>(model)(0) == Approx(5 - 0.25 * 4 / 5).epsilon(1e-6));
  CHECK(std::get<1>(model)(1) == 6);

  rule.for_each_rule([](tn::optim::sgd& r) { r.learning_rate *= 2; });
  rule.rule<0>().weight_decay = 1;
  CHECK(rule.others.learning_rate == 1);
  const double was = std::get<1>(model)(1), w = std::get<0>(model)(1, 1);
  rule.update(model, gradients, state);
  CHECK(std::get<1>(model)(1) == Approx(was - 0.5 * 1 * was).epsilon(1e-6));
  CHECK(std::get<0>(model)(1, 1) == Approx(w - 1.0 * 0.5 * w).epsilon(1e-6));
}

TEST_CASE("a part of a tuple is named by its position, also one of two digits") {
  using number = tn::tensor<double, tn::shape<>>;
  constexpr auto eleventh = [](std::string_view name, const tn::extents&) { return name == "11"; };
  std::tuple model{number(0), number(0), number(0), number(0), number(0), number(0), number(0), number(0), number(0), number(0), number(0), number(0)};
  const auto ones = std::apply([](const auto&... x) { return std::tuple{tn::eval(x + 1.0)...}; }, model);
  const tn::optim::groups rule{tn::optim::sgd{.learning_rate = 1}, tn::optim::group{eleventh, tn::optim::sgd{.learning_rate = 5}}};
  auto state = rule.init(model);
  rule.update(model, ones, state);
  CHECK(std::get<0>(model).item() == -1);
  CHECK(std::get<1>(model).item() == -1);
  CHECK(std::get<10>(model).item() == -1);
  CHECK(std::get<11>(model).item() == -5);
}
