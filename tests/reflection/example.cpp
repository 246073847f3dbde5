// SPDX-License-Identifier: BSL-1.0
// Models without macros (docs/5-models-and-training.md): C++26 with reflection.
#include <array>
#include <cstdio>

#include <tenure/debug_nans.hpp>
#include <tenure/optim/groups.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

// With reflection a struct is a model as it stands. An annotation marks a parameter, or all parameters of a member.
struct slow_mark : tn::mark {};
constexpr slow_mark slow{};

template <class Kind, auto In, auto Out>
struct dense {
  tn::param<Kind, float, tn::shape<In, Out>> w;
  [[=tn::no_decay]] tn::param<Kind, float, tn::shape<Out>> b;

  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};

template <class Kind, auto Width>
struct network {
  dense<Kind, 1, Width> first;
  std::array<dense<Kind, Width, Width>, 2> between;
  [[=slow]] dense<Kind, Width, 1> last;

  constexpr auto operator()(const auto& x) const {
    auto h = tn::eval(tanh(first(x)));
    for (const auto& layer : between) h = tanh(layer(h));
    return last(h);
  }
};

// Without a kind a struct of tensors is data. A traced function gets its members, traced, in a struct without its functions.
struct line {
  tn::tensor<double, tn::shape<>> slope, start;
};
constexpr auto misfit = [](auto of, auto times, auto measured) { return mse(of.slope * times + of.start, measured); };

int main() {
  bool right = true;
  tn::engine random(1);
  const auto x = tn::uniform<float>(tn::shape<32, 1>{}, random, -1.0, 1.0);
  const auto y = tn::eval(square(x));

  // Marks choose groups, beside names and shapes. The first group that selects a parameter wins.
  auto model = tn::init<network, 16>(random);
  constexpr auto loss = [](auto net, auto in, auto out) { return mse(net(in), out); };
  using tn::optim::adam, tn::optim::group;
  auto step = tn::train_step(loss, tn::optim::groups{adam{.learning_rate = 1e-2, .weight_decay = 1e-3}, group{slow, adam{.learning_rate = 1e-3}},
                                                     group{tn::no_decay, adam{.learning_rate = 1e-2}}});
  auto state = step.rule.init(model);
  float last = 0;
  for (int i = 0; i < 1000; ++i) last = step(model, state, x, y).item();
  right &= last < 1e-2f;

  const auto times = tn::linspace<double>(tn::shape<20>{}, 0.0, 4.0);
  const auto measured = tn::eval(3.0 * times + 1.0);
  line guess{1.0, 0.0};
  const line gradient = tn::grad(misfit)(guess, times, measured);
  right &= gradient.slope.item() < 0;

  // Messages have the names of the parameters: log(p) of `p` and not of `argument 0`.
  constexpr auto entropy = [](auto p) { return -sum(p * log(p)); };
  try {
    tn::debug_nans(entropy)(tn::eval(times - 1.0));
    right = false;
  } catch (const tn::nan_error& e) {
    std::puts(e.what());
  }
  return right ? 0 : 1;
}
