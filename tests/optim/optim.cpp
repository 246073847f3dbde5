// SPDX-License-Identifier: BSL-1.0
// Optimizers against their formulas written out in double, one parameter at a time; the fused step against its parts.
#include "../catch.hpp"

#include <cmath>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/save.hpp>
#include <tenure/tenure.hpp>

#include "../on_device.hpp"

namespace tn = tenure;
using on_device::at;
using on_device::there;

namespace {
template <class Kind, std::int64_t In, std::int64_t Out>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, double, tn::shape<In, Out>>, w), (tn::param<Kind, double, tn::shape<Out>>, b));
  constexpr auto operator()(auto x) const { return matmul(x, w) + b; }
};
using no_value = layer<tn::values, 2, 2>;

template <class Kind>
struct deep {
  using hidden = layer<Kind, 3, 3>;
  using layers = std::array<hidden, 2>;
  using last = layer<Kind, 3, 1>;
  BOOST_HANA_DEFINE_STRUCT(deep, (layers, body), (last, head));
  constexpr auto operator()(auto x) const { return head(tanh(body[1](tanh(body[0](x))))); }
};

constexpr auto loss = [](auto m, auto x, auto y) { return mse(m(x), y); };
}  // namespace

TEST_CASE("sgd and adam follow their formulas") {
  auto p = there(tn::tensor<double, tn::shape<3>>{1, -2, 3});
  const auto g = there(tn::tensor<double, tn::shape<3>>{0.5, 0.25, -1});
  {
    const tn::optim::sgd rule{.learning_rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f};
    auto state = rule.init(p);
    double x = 1, v = 0;
    for (int i = 0; i < 5; ++i) {
      rule.update(p, g, state);
      v = 0.9f * v + (0.5 + 0.01f * x);
      x -= 0.1f * v;
      CHECK(at(p, 0) == Approx(x).epsilon(1e-12));
    }
    CHECK(state.steps == 5);
  }
  {
    const tn::optim::adam rule{.learning_rate = 0.01f};
    auto state = rule.init(p);
    double x = at(p, 2), m = 0, v = 0;
    for (int i = 1; i <= 5; ++i) {
      rule.update(p, g, state);
      m = 0.9 * m + 0.1 * -1;
      v = 0.999 * v + 0.001;
      x -= 0.01 * (m / (1 - std::pow(0.9, i))) / (std::sqrt(v / (1 - std::pow(0.999, i))) + 1e-8);
      CHECK(at(p, 2) == Approx(x).epsilon(1e-6));  // hyperparameters are float32
    }
  }
}

TEST_CASE("the fused step is gradient and update") {
  tn::engine random(1);
  auto initial = tn::init<deep>(random);
  auto b = there(tn::init<deep>(random));
  tn::save("deep.npz", initial);
  tn::load("deep.npz", b);
  auto a = there(std::move(initial));
  const auto x = there(tn::normal<double>(tn::shape<5, 3>{}, random));
  const auto y = there(tn::normal<double>(tn::shape<5, 1>{}, random));
  const tn::optim::adam rule{.learning_rate = 0.05f, .weight_decay = 0.1f};
  auto sa = rule.init(a), sb = rule.init(b);
  const auto step = tn::train_step(loss, rule);
  double first = 0, last = 0;
  for (int i = 0; i < 20; ++i) {
    const double fused = step(a, sa, x, y).item();
    const auto [value, gradient] = tn::value_and_grad(loss)(b, x, y);
    rule.update(b, gradient, sb);
    CHECK(fused == Approx(value.item()).epsilon(1e-12));
    if (i == 0) first = fused;
    last = fused;
  }
  CHECK(last < first);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) CHECK(at(a.body[0].w, i, j) == Approx(at(b.body[0].w, i, j)).epsilon(1e-12));
}

TEST_CASE("loading checks everything before it writes anything") {
  tn::engine random(1);
  auto a = tn::init<deep>(random);
  tn::save("deep.npz", a);
  auto other = there(tn::init<layer, 3, 3>(random));
  const double before = at(other.w, 0, 0);
  CHECK_THROWS_AS(tn::load("deep.npz", other), tn::io_error);
  CHECK(at(other.w, 0, 0) == before);
  CHECK_THROWS_AS(tn::load("missing.npz", other), tn::io_error);

  // A tensor that was moved from, behind others.
  auto b = there(tn::init<deep>(random));
  const double first = at(b.body[0].w, 0, 0);
  const auto version = b.body[0].w.version();
  const auto taken = std::move(b.head.w);
  CHECK_THROWS_AS(tn::load("deep.npz", b), tn::ownership_error);
  CHECK(at(b.body[0].w, 0, 0) == first);
  CHECK(b.body[0].w.version() == version);
}

TEST_CASE("a bad batch leaves model and state as they were") {
  tn::engine random(1);
  auto model = there(tn::init<layer, 3, 1>(random));
  const auto step = tn::train_step(loss, tn::optim::sgd{});
  auto state = step.rule.init(model);
  const double before = at(model.w, 1, 0);
  on_device::tensor<double, tn::shape<tn::dyn, 3>> x(4);
  on_device::tensor<double, tn::shape<tn::dyn, 1>> y(5);
  CHECK_THROWS_AS(step(model, state, x, y), tn::shape_error);
  CHECK(at(model.w, 1, 0) == before);
  CHECK(state.steps == 0);
}

TEST_CASE("a rule steps leaves as it steps constants, and their gradients stay") {
  const tn::optim::adam rule{.learning_rate = 0.01f};
  auto w = there(tn::variable<double, tn::shape<3>>{1, -2, 3});
  auto p = there(tn::tensor<double, tn::shape<3>>{1, -2, 3});
  auto of_leaf = rule.init(w);
  auto of_constant = rule.init(p);
  for (int i = 0; i < 4; ++i) {
    sum(w * w * w).backward();
    const tn::tensor g = 3.0 * p * p;
    rule.update(w, w.grad(), of_leaf);
    rule.update(p, g, of_constant);
    for (int j = 0; j < 3; ++j) {
      CHECK(at(w, j) == Approx(at(p, j)).epsilon(on_device::tolerance));
      CHECK(at(w.grad(), j) == Approx(at(g, j)).epsilon(1e-14));
    }
    w.zero_grad();
  }
  const tn::tensor saved = sum(w * w);
  rule.update(w, p, of_leaf);
  CHECK_THROWS_AS(saved.backward(), tn::ownership_error);  // w was written
}

TEST_CASE("a tuple of leaves is stepped in one call") {
  std::tuple model{there(tn::variable<double, tn::shape<2>>{1, 2}), there(tn::variable<double, tn::shape<>>(5.0))};
  auto& [w, b] = model;
  const tn::optim::sgd rule{.learning_rate = 0.5f};
  auto state = rule.init(model);
  (sum(w) * b).backward();
  rule.update(model, std::tuple{w.grad(), b.grad()}, state);
  CHECK(at(w, 0) == 1 - 0.5 * 5);
  CHECK(b.item() == 5 - 0.5 * 3);
}

// Law: the result owns new memory, also if the elements were on this device before, and it carries no gradient.
TEST_CASE("to() moves a tree, whose numbers become of types that tensors have") {
  const auto moved = tn::to(std::tuple(tn::tensor<float, tn::shape<2>>{1, 2}, 3u, std::array<short, 2>{4, -5}, 0.5L), on_device::device);
  CHECK(std::get<0>(moved)[1].item() == 2);
  CHECK(std::get<1>(moved).item() == 3);
  CHECK(std::get<2>(moved)[0].item() == 4);
  CHECK(std::get<2>(moved)[1].item() == -5);
  CHECK(std::get<3>(moved).item() == 0.5);
  tn::variable<float, tn::shape<2>> leaf{1, 2};
  auto alias = leaf.detach();
  const auto own = tn::to(std::tuple(leaf.detach()), on_device::device);
  alias.fill_(7);
  CHECK(std::get<0>(own)[1].item() == 2);
}

TEST_CASE("deepcopy of a model shares nothing with it") {
  tn::engine random(3);
  auto model = there(tn::init<deep>(random));
  const auto kept = tn::deepcopy(model);
  const double was = at(model.head.w, 0, 0);
  model.head.w.fill_(9.0);
  model.body[1].b.fill_(9.0);
  CHECK(at(kept.head.w, 0, 0) == was);
  CHECK(at(kept.body[1].b, 0) == 0);

  auto pair = std::tuple{there(tn::variable<double, tn::shape<2>>{1, 2}), 4};
  sum(std::get<0>(pair)).backward();
  const auto copy = tn::deepcopy(pair);
  std::get<0>(pair).zero_grad();
  CHECK(at(std::get<0>(copy).grad(), 1) == 1);
  CHECK(std::get<1>(copy) == 4);
}

// Law: the moments and the results are those of `rule` with clip_by_global_norm(gradients, max_norm).
TEST_CASE("a clipped rule gets the gradients that clip_by_global_norm returns") {
  tn::engine random(1);
  auto a = there(tn::init<deep>(random));
  auto b = tn::deepcopy(a);
  auto c = tn::deepcopy(a);
  const auto x = there(tn::normal<double>(tn::shape<5, 3>{}, random));
  const auto y = there(tn::normal<double>(tn::shape<5, 1>{}, random));
  const tn::optim::sgd rule{.learning_rate = 0.5, .momentum = 0.9};
  auto step = tn::train_step(loss, tn::optim::clipped{rule, 0.1});
  auto of_a = step.rule.init(a);
  auto of_b = rule.init(b);
  auto of_c = rule.init(c);
  STATIC_REQUIRE(std::is_same_v<decltype(of_a), decltype(of_b)>);
  for (int i = 0; i < 6; ++i) {
    if (i == 3) step.rule.max_norm = 0.2;
    if (i == 4) step.rule.max_norm = 1e9;
    const double norm_of = norm(tn::grad(loss)(b, x, y)).item();
    CHECK((norm_of > step.rule.max_norm) == (i < 4));
    step(a, of_a, x, y);
    rule.update(b, tn::clip_by_global_norm(tn::grad(loss)(b, x, y), step.rule.max_norm), of_b);
    step.rule.update(c, tn::grad(loss)(c, x, y), of_c);
    CHECK(of_a.steps == i + 1);
    CHECK(at(a.body[1].w, 2, 1) == Approx(at(b.body[1].w, 2, 1)).epsilon(1e-12));
    CHECK(at(c.body[1].w, 2, 1) == Approx(at(b.body[1].w, 2, 1)).epsilon(1e-12));
  }
  step.rule.learning_rate = 0;
  const double before = at(a.head.b, 0);
  step(a, of_a, x, y);
  CHECK(at(a.head.b, 0) == before);
}

TEST_CASE("a clipped rule takes a single tensor as the model") {
  constexpr auto slope = [](const auto& w, const auto& x) { return sum(w * x); };
  const auto x = there(tn::tensor<double, tn::shape<2>>{3, 4});  // the gradient, of norm 5
  auto w = there(tn::tensor<double, tn::shape<2>>{1, 1});
  auto step = tn::train_step(slope, tn::optim::clipped{tn::optim::sgd{.learning_rate = 1}, 2.5});
  auto state = step.rule.init(w);
  step(w, state, x);
  CHECK(at(w, 0) == Approx(-0.5));
  CHECK(at(w, 1) == Approx(-1));
  step.rule.update(w, tn::grad(slope)(w, x), state);
  CHECK(at(w, 0) == Approx(-2));
  CHECK(at(w, 1) == Approx(-3));
  step.rule.max_norm = -2.5;  // would climb
  CHECK_THROWS_WITH(step(w, state, x), "tenure: clipped: max_norm is at least 0");
  CHECK(at(w, 0) == Approx(-2));
  CHECK(state.steps == 2);
}

TEST_CASE("the gradients of the parts of a batch add up") {
  tn::engine random(1);
  auto a = there(tn::init<deep>(random));
  auto b = tn::deepcopy(a);
  const auto x = tn::normal<double>(tn::shape<6, 3>{}, random);
  const auto y = tn::normal<double>(tn::shape<6, 1>{}, random);
  const auto part = [&](int first) {
    return tn::grad(loss)(b, there(x[tn::window<2>(first)].clone()), there(y[tn::window<2>(first)].clone()));
  };
  const tn::optim::sgd rule{.learning_rate = 0.5};
  auto of_a = rule.init(a), of_b = rule.init(b);
  rule.update(a, tn::grad(loss)(a, there(x.clone()), there(y.clone())), of_a);
  auto total = part(0);
  for (const int first : {2, 4}) total = total + part(first);
  rule.update(b, total / 3, of_b);
  CHECK(at(b.body[1].w, 2, 1) == Approx(at(a.body[1].w, 2, 1)).epsilon(1e-12));
}

TEST_CASE("the norm that clips a model of floats does not depend on the type of the bound") {
  const std::array<tn::tensor<float, tn::shape<2>>, 1> g{{{3, 4}}};
  CHECK(std::get<0>(tn::clip_by_global_norm(g, 0.1f))(1) == Approx(0.08f));
  CHECK(std::get<0>(tn::clip_by_global_norm(g, 0.1))(1) == std::get<0>(tn::clip_by_global_norm(g, 0.1f))(1));
}

TEST_CASE("a learning rate that grows and falls along a cosine") {
  const tn::optim::warmup_cosine rate{.peak = 2, .warmup = 3, .steps = 11, .end = 1};
  CHECK(rate(0) == 0.5);
  CHECK(rate(1) == 1);
  CHECK(rate(2) == 1.5);
  CHECK(rate(3) == 2);
  CHECK(rate(5) == Approx(1.5 + std::sqrt(0.125)));
  CHECK(rate(7) == Approx(1.5));
  CHECK(rate(11) == 1);
  CHECK(rate(1000) == 1);
  const tn::optim::warmup_cosine all_warm{.peak = 2, .warmup = 4, .steps = 4};
  CHECK(all_warm(3) == Approx(1.6));
  CHECK(all_warm(4) == 0);
  const tn::optim::warmup_cosine endless{.peak = 2, .warmup = 4};
  CHECK_THROWS_WITH(endless(0), "tenure: warmup_cosine: steps is 0, and has to be the number of steps of the whole run");
}

TEST_CASE("a run that is saved and loaded goes on with the same bits") {
  tn::engine random(1);
  auto model = tn::init<deep>(random);
  const auto x = there(tn::normal<double>(tn::shape<5, 3>{}, random));
  const auto y = there(tn::normal<double>(tn::shape<5, 1>{}, random));
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 0.1});
  auto a = there(std::move(model));
  auto of_a = step.rule.init(a);
  for (int i = 0; i < 3; ++i) step(a, of_a, x, y);
  const auto on_host = to(a, tn::cpu);
  const auto state_on_host = to(of_a, tn::cpu);
  tn::save("run.npz", on_host, state_on_host);

  auto b = there(tn::init<deep>(random));
  auto of_b = step.rule.init(b);
  tn::load("run.npz", b, of_b);
  CHECK(of_b.steps == 3);
  auto copy = tn::deepcopy(b);
  auto of_copy = tn::deepcopy(of_b);
  for (int i = 0; i < 3; ++i) CHECK(step(a, of_a, x, y).item() == step(b, of_b, x, y).item());
  for (int i = 0; i < 3; ++i) step(copy, of_copy, x, y);
  CHECK(at(copy.body[0].w, 1, 2) == at(b.body[0].w, 1, 2));
  CHECK(at(b.body[0].w, 1, 2) == at(a.body[0].w, 1, 2));
  CHECK(at(of_b.moments[1].head.w, 1, 0) == at(of_a.moments[1].head.w, 1, 0));

  auto c = there(tn::init<deep>(random));
  tn::load("run.npz", c);  // a part of the file
  CHECK(at(c.body[0].w, 1, 2) == on_host.body[0].w(1, 2));

  // Two models with equal members are one tuple.
  auto both = std::tie(on_host, state_on_host.moments[0]);
  tn::save("both.npz", both);
  auto d = there(tn::init<deep>(random)), e = there(tn::init<deep>(random));
  const auto back = std::tie(d, e);
  tn::load("both.npz", back);
  CHECK(at(d.body[0].w, 1, 2) == on_host.body[0].w(1, 2));
  CHECK(at(e.body[0].w, 1, 2) == state_on_host.moments[0].body[0].w(1, 2));
  tn::save(std::string_view("both.npz"), both);
  tn::load(std::string_view("both.npz"), std::tie(e, d));
  CHECK(at(e.body[0].w, 1, 2) == on_host.body[0].w(1, 2));
  CHECK(at(d.body[0].w, 1, 2) == state_on_host.moments[0].body[0].w(1, 2));
  CHECK_THROWS_WITH(tn::load("run.npz", d, e), "tenure: load: run.npz: array 'body.0.w': two arguments have an array of this name");

  // The state of another rule.
  auto of_sgd = tn::optim::sgd{.momentum = 0.9}.init(b);
  CHECK_THROWS_WITH(tn::load("run.npz", b, of_sgd), "tenure: load: run.npz: array 'moments.1.body.0.w': the state has only 1 of these");

  // Two trees with one name; and nothing is loaded where one of several lacks an array.
  CHECK_THROWS_WITH(tn::save("two.npz", on_host, on_host), "tenure: save: two.npz: array 'body.0.w': the name is taken by an array before it");
  tn::save("model.npz", on_host);
  const double before = at(b.body[0].w, 1, 2);
  CHECK_THROWS_WITH(tn::load("model.npz", b, of_b), "tenure: load: model.npz: array 'moments.0.body.0.w': the file has no such array; it has 'body.0.w', 'body.0.b', 'body.1.w', 'body.1.b', 'head.w' and 1 more");
  CHECK(at(b.body[0].w, 1, 2) == before);
}
