// SPDX-License-Identifier: BSL-1.0
// Layers of a model as one, tn::stacked: the same values and gradients as from an array of layers.
#include "../catch.hpp"

#include <array>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/cpu.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

template <class Kind, auto Width>
struct layer {
  using gain = tn::param<Kind, double, tn::shape<Width>, tn::init_ones>;
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, double, tn::shape<Width, Width>>, w), (tn::param<Kind, double, tn::shape<Width>>, b), (gain, g));

  constexpr auto operator()(const auto& x) const { return x + g * tanh(matmul(x, w) + b); }
};

constexpr auto through = [](auto h, auto one) { return std::tuple{one(h), tn::nothing}; };

template <class Kind, auto Width, auto Depth>
struct stacked {
  using all = layer<tn::stacked<Kind, Depth>, Width>;
  BOOST_HANA_DEFINE_STRUCT(stacked, (all, layers));

  constexpr auto operator()(const auto& x) const { return std::get<0>(tn::scan(through, x, layers)); }
};
template <class Kind, auto Width, auto Depth>
struct listed {
  using all = std::array<layer<Kind, Width>, Depth>;
  BOOST_HANA_DEFINE_STRUCT(listed, (all, layers));

  constexpr auto operator()(const auto& x) const { return std::get<0>(tn::scan(through, x, layers)); }
};
// Two stages of three layers.
template <class Kind, auto Width>
struct staged {
  using all = layer<tn::stacked<tn::stacked<Kind, 2>, 3>, Width>;
  BOOST_HANA_DEFINE_STRUCT(staged, (all, stages));

  constexpr auto operator()(const auto& x) const {
    const auto stage = [](auto h, auto layers) { return std::tuple{std::get<0>(tn::scan(through, h, layers)), tn::nothing}; };
    return std::get<0>(tn::scan(stage, x, stages));
  }
};

constexpr auto loss = [](auto model, auto x) { return sum(square(model(x))); };
constexpr auto samples = [](auto model, auto xs) { return tn::vmap<tn::unmapped, 0>([](auto m, auto x) { return sum(square(m(tn::reshape<1, 4>(x)))); })(model, xs); };
constexpr auto loss_of_samples = [](auto model, auto xs) { return sum(samples(model, xs)); };

template <class X>
std::vector<double> values(const X& x) { return {x.data(), x.data() + x.size()}; }

/// The leaf of each layer, one after the other.
template <class Layers, class Leaf>
std::vector<double> joined(const Layers& layers, Leaf leaf) {
  std::vector<double> all;
  for (const auto& l : layers)
    for (const double v : values(leaf(l))) all.push_back(v);
  return all;
}

constexpr auto w_of = [](const auto& l) -> const auto& { return l.w; };
constexpr auto b_of = [](const auto& l) -> const auto& { return l.b; };

}  // namespace

TEST_CASE("init makes each layer of a stack as it makes one layer") {
  tn::engine random(3), again(3);
  const auto model = tn::init<stacked, 4, 3>(random);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(model.layers.w)>, tn::tensor<double, tn::shape<3, 4, 4>>>);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(model.layers.b)>, tn::tensor<double, tn::shape<3, 4>>>);
  const std::vector<double> w = values(model.layers.w);
  std::vector<double> rows;
  for (int i = 0; i < 3; ++i)
    for (const double v : values(tn::init_matmul::make<double>(tn::shape<4, 4>{}, again))) rows.push_back(v);
  CHECK(w == rows);
  CHECK(values(model.layers.b) == std::vector<double>(12, 0.0));  // of rank 2 as a stack, but of rank 1 as declared
  CHECK(values(model.layers.g) == std::vector<double>(12, 1.0));
}

TEST_CASE("a stack of layers has the values and gradients of an array of layers") {
  tn::engine random(5);
  auto one = tn::init<stacked, 4, 3>(random);
  auto all = tn::init<listed, 4, 3>(random);
  const auto x = tn::normal<double>(tn::shape<2, 4>{}, random);
  const auto xs = tn::normal<double>(tn::shape<5, 4>{}, random);
  one.layers.b = tn::normal<double>(tn::shape<3, 4>{}, random);
  for (int i = 0; i < 3; ++i) {
    all.layers[static_cast<std::size_t>(i)].w = tn::tensor(one.layers.w[i].clone());
    all.layers[static_cast<std::size_t>(i)].b = tn::tensor(one.layers.b[i].clone());
  }
  const auto [value, g] = tn::value_and_grad(loss)(one, x);
  const auto [wanted, h] = tn::value_and_grad(loss)(all, x);
  CHECK(value.item() == wanted.item());
  CHECK(values(g.layers.w) == joined(h.layers, w_of));
  CHECK(values(g.layers.b) == joined(h.layers, b_of));
  CHECK(values(one(x)) == values(all(x)));
  const auto p = tn::grad<0>(loss_of_samples)(one, xs);
  const auto q = tn::grad<0>(loss_of_samples)(all, xs);
  const std::vector<double> found = values(p.layers.w), each = joined(q.layers, w_of);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(each[i]).epsilon(1e-12));
}

TEST_CASE("a stack of layers is scanned beside the states of its layers") {
  tn::engine random(9);
  const auto model = tn::init<stacked, 4, 3>(random);
  const auto states = tn::normal<double>(tn::shape<3, 4>{}, random);
  const auto x = tn::normal<double>(tn::shape<1, 4>{}, random);
  constexpr auto beside = tn::compile([](auto m, auto start, auto all) {
    const auto iteration = [](auto h, auto both) { return std::tuple{std::get<0>(both)(h), std::get<1>(both) + h[0]}; };
    return tn::scan(iteration, start, std::tuple{m.layers, all});
  });
  const auto [last, next] = beside(model, x, states);
  CHECK(values(last) == values(model(x)));
  CHECK(next(0, 2) == states(0, 2) + x(0, 2));
}

TEST_CASE("no parameter of a stack is copied") {
  tn::engine random(5);
  using one = decltype(tn::compile(loss).plan(tn::init<stacked, 64, 8>(random), tn::zeros<double>(tn::shape<2, 64>{})));
  using all = decltype(tn::compile(loss).plan(tn::init<listed, 64, 8>(random), tn::zeros<double>(tn::shape<2, 64>{})));
  CHECK(one::workspace_bytes() < 64 * 64 * 8);
  CHECK(all::workspace_bytes() > 8 * 64 * 64 * 8);
}

TEST_CASE("stacks nest, and a training step updates them") {
  tn::engine random(7);
  auto model = tn::init<staged, 4>(random);
  STATIC_REQUIRE(decltype(model.stages.w)::rank == 4);
  const auto x = tn::normal<double>(tn::shape<2, 4>{}, random);
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.01f});
  auto state = step.rule.init(model);
  const double first = step(model, state, x).item();
  double last = first;
  for (int i = 0; i < 20; ++i) last = step(model, state, x).item();
  CHECK(last < first);
  CHECK(std::isfinite(last));
}
