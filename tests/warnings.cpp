// SPDX-License-Identifier: BSL-1.0
// A model of float32 and float64, losses, a loop, products over rows, views and a history, compiled with the warnings that users turn on for their
// own code, and once optimized, because some warnings need that.
#include <boost/hana/define_struct.hpp>

#include <tenure/print.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

template <class Kind>
struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (tn::param<Kind, float, tn::shape<3, 4>>, w), (tn::param<Kind, float, tn::shape<4>>, gain),
                           (tn::param<Kind, double, tn::shape<>>, scale));
  constexpr auto operator()(auto x) const { return softmax(layer_norm(gelu(matmul(x, w)), gain, gain * 0.5)); }
};

constexpr auto loss = [](auto m, auto x, auto y) {
  const auto turn = [](auto c, auto row) { return std::tuple{tanh(c * row), sum(row)}; };
  return cast<double>(huber(m(x), y, 0.5) + 0.1 * mean(std::get<0>(tn::scan(turn, m.gain, m(x))))) + square(m.scale);
};

// The closest centroids with their sums over the points, which are products over rows.
constexpr auto closest = [](auto points, auto centroids) {
  const auto products = matmul(centroids, transpose(points));
  return sum(square(points)) + sum(amin(sum(square(centroids), tn::axis<1>, tn::keepdim) - 2.0 * products, tn::axis<0>));
};
constexpr auto cost = tn::compile(closest);
constexpr auto centroids_step = tn::compile([](auto points, auto centroids) {
  const auto [slope, curvature] = tn::jvp([=](auto c) { return tn::grad<1>(closest)(points, c); })(centroids, tn::ones_like(centroids));
  return slope / curvature;
});

// What g++ warns of depends on what it inlines, and so on how a function is called.
template <class F>
void repeat(F f, int times) {
  for (int i = 0; i < times; ++i) f();
}

int main() {
  tn::engine random(1);
  auto m = tn::init<model>(random);
  const auto x = tn::normal<float>(tn::shape<5, 3>{}, random);
  const auto y = tn::zeros<float>(tn::shape<tn::dyn, 4>{}, 5);
  const tn::optim::adam rule{.learning_rate = 0.01};
  auto state = rule.init(m);
  tn::train_step(loss, rule)(m, state, x, y);
  auto w = tn::variable<float, tn::shape<3>>{1, 2, 3};
  (sum(exp(w) * w[0]) / 2 + norm(w)).backward();
  const auto points = tn::normal<double>(tn::shape<tn::dyn, tn::dyn>{}, random, 9, 3);
  tn::tensor<double, tn::shape<tn::dyn, tn::dyn>> step(9, 3);
  tn::tensor<double, tn::shape<>> distance;
  repeat([&] { cost.into(distance)(points, points); }, 3);
  repeat([&] { centroids_step.into(step)(points, points); }, 3);
  tn::print(cost.plan(points, points));
  tn::print(centroids_step.plan(points, points));
  return step(0, 0) < 1 && distance.item() > 0 && sum(m.w).item() < w.grad()(1) && m.scale.item() < 1;
}
