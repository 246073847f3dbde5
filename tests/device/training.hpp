// SPDX-License-Identifier: BSL-1.0
// Models and training on a device.
#pragma once

#include <tuple>

#include <boost/hana/define_struct.hpp>

#include "same.hpp"

namespace device_tests {

template <class Kind>
struct affine {
  BOOST_HANA_DEFINE_STRUCT(affine, (param<Kind, double, shape<3, 2>>, w), (param<Kind, double, shape<2>>, b));
  constexpr auto operator()(auto x) const { return tanh(matmul(x, w) + b); }
};
constexpr auto loss = [](auto model, auto x, auto y) { return mean(square(model(x) - y)); };
constexpr auto loss_of_labels = [](auto model, auto x, auto labels) { return cross_entropy(model(x), labels); };

/// A step here and the same there, each with its own model; `both(there_x, here_x)` takes one.
template <class Device, class Rule, class Use>
void train(Device device, Rule rule, Use use) {
  engine random{7};
  auto here = init<affine>(random);
  auto there = to(here, device);
  auto state = rule.init(here);
  auto far_state = rule.init(there);
  const auto x = uniform<double>(shape<4, 3>{}, random);
  const auto y = uniform<double>(shape<4, 2>{}, random);
  const auto far_x = x.to(device);
  const auto far_y = y.to(device);
  const auto step = train_step(loss, rule);
  use(far_x, x, [&](const auto& there_x, const auto& here_x) {
    const auto got = step(there, far_state, there_x, far_y);
    CHECK(agrees(got.item(), step(here, state, here_x, y).item()));
  });
  rule.update(there, std::get<1>(value_and_grad(loss)(there, far_x, far_y)), far_state);
  rule.update(here, std::get<1>(value_and_grad(loss)(here, x, y)), state);
  CHECK(agrees(elements(to(there, cpu).w), elements(here.w)));
  CHECK(agrees(elements(there.b), elements(here.b)));
  CHECK(far_state.steps == state.steps);
}

template <class Device, class Use>
void train(Device device, Use use) {
  train(device, optim::sgd{.learning_rate = 0.1, .momentum = 0.9}, use);
  train(device, optim::adam{.weight_decay = 0.01}, use);
}

template <class Device>
void labels_are_checked(Device device) {
  engine random{7};
  auto model = to(init<affine>(random), device);
  const optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(model);
  const auto x = uniform<double>(shape<4, 3>{}, random).to(device);
  auto labels = tensor<std::int64_t, shape<4>>{0, 1, 1, 0}.to(device);
  const auto step = train_step(loss_of_labels, rule);
  for (int i = 0; i < 3; ++i) step(model, state, x, labels);
  const auto before = elements(model.w);
  labels.fill_(2);
  CHECK_THROWS_AS(step(model, state, x, labels), index_error);
  CHECK(elements(model.w) == before);
  CHECK(state.steps == 3);
}

}  // namespace device_tests
