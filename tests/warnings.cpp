// SPDX-License-Identifier: BSL-1.0
// A model of float32 and float64, losses, a loop, views and a history, compiled with the warnings that users turn on for their own code.
#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

namespace tn = tenure;

template <class Kind>
struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (tn::param<Kind, float, tn::shape<3, 4>>, w), (tn::param<Kind, float, tn::shape<4>>, gain),
                           (tn::param<Kind, double, tn::shape<>>, scale));
  constexpr auto operator()(auto x) const { return softmax(layer_norm(gelu(matmul(x, w)), gain, gain * 0.5)); }
};

constexpr auto loss = [](auto m, auto x, auto y) {
  const auto iteration = [](auto c, auto row) { return std::tuple{tanh(c * row), sum(row)}; };
  return cast<double>(huber(m(x), y, 0.5) + 0.1 * mean(std::get<0>(tn::scan(iteration, m.gain, m(x))))) + square(m.scale);
};

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
  return sum(m.w).item() < w.grad()(1) && m.scale.item() < 1;
}
