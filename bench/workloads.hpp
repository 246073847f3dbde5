// SPDX-License-Identifier: BSL-1.0
// The traced functions that are measured, each once: its own benchmark times it, and bench/peers judges a peer's results by it.
#pragma once

#include <tenure/ops/activation.hpp>
#include <tenure/ops/contraction.hpp>
#include <tenure/ops/like.hpp>
#include <tenure/ops/loss.hpp>
#include <tenure/ops/normalization.hpp>
#include <tenure/ops/subscript.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/control_flow.hpp>
#include <tenure/transform/gradient.hpp>
#include <tenure/transform/model.hpp>

#include <boost/hana/define_struct.hpp>

#include <tuple>

namespace workloads {

namespace tn = tenure;

// ---- elementwise -----------------------------------------------------------------------------------------------------

constexpr auto gradient =
    tn::value_and_grad<0, 1, 2>([](auto a, auto b, auto c, auto x) { return sum(sigmoid(a * x + b) * log1p(exp(c * x))); });
constexpr auto forward = tn::compile([](auto x, auto a, auto b, auto c) { return exp(-x * x) * a + tanh(b) * c; });
/// The same five times over: bound by arithmetic where `forward` is by memory.
constexpr auto forward_deep = [](auto x, auto a, auto b, auto c) {
  for (int i = 0; i < 5; ++i) x = exp(-x * x) * a + tanh(b * x) * c;
  return x;
};

// ---- rows that normalise ---------------------------------------------------------------------------------------------

constexpr auto softmax_step = tn::value_and_grad<0>([](auto x, auto w) { return sum(softmax(x) * w); });
constexpr auto layer_norm_step =
    tn::value_and_grad<0, 1, 2>([](auto x, auto gain, auto bias, auto w) { return sum(layer_norm(x, gain, bias) * w); });
constexpr auto cross_entropy_step = tn::value_and_grad<0>([](auto x, auto labels) { return cross_entropy(x, labels); });

// ---- a layer ---------------------------------------------------------------------------------------------------------

constexpr auto dense = tn::compile([](auto x, auto w, auto b) { return relu(matmul(x, w) + b); });

// ---- small static shapes ---------------------------------------------------------------------------------------------

constexpr double tiny_rate = 1e-4;

constexpr auto tiny_loss = [](auto w1, auto b1, auto w2, auto b2, auto x, auto y) {
  return mse(matmul(tanh(matmul(x, w1) + b1), w2) + b2, y);
};
/// A step of a 2-8-1 perceptron as a traced function: the gradients, then the updated parameters.
constexpr auto tiny_step = tn::compile([](auto w1, auto b1, auto w2, auto b2, auto x, auto y) {
  const auto [value, dw1, db1, dw2, db2] = tn::value_and_grad<0, 1, 2, 3>(tiny_loss)(w1, b1, w2, b2, x, y);
  return std::tuple{value, w1 - tiny_rate * dw1, b1 - tiny_rate * db1, w2 - tiny_rate * dw2, b2 - tiny_rate * db2};
});
constexpr auto chain4 =
    tn::value_and_grad<0, 1, 2, 3>([](auto a, auto b, auto c, auto d) { return sum(matmul(matmul(matmul(a, b), c), d)); });

// ---- training steps --------------------------------------------------------------------------------------------------

constexpr float mlp_rate = 1e-3f, mlp_momentum = 0.9f;

template <class Kind>
struct mlp {
  BOOST_HANA_DEFINE_STRUCT(mlp, (tn::param<Kind, float, tn::shape<784, 128>>, w1), (tn::param<Kind, float, tn::shape<128>>, b1),
                           (tn::param<Kind, float, tn::shape<128, 10>>, w2), (tn::param<Kind, float, tn::shape<10>>, b2));
  constexpr auto operator()(auto x) const { return matmul(relu(matmul(x, w1) + b1), w2) + b2; }
};
constexpr auto mlp_loss = [](auto model, auto x, auto labels) { return cross_entropy(model(x), labels); };

constexpr int lstm_steps = 16, lstm_batch = 16, lstm_width = 64;

/// The mean square of an LSTM's last state, and the gradients of its weights; x is (steps, batch, width), the gates stand in
/// the order input, forget, cell, output.
constexpr auto lstm = tn::value_and_grad<0, 1, 2>([](auto wx, auto wh, auto bias, auto x) {
  constexpr std::int64_t w = lstm_width;
  const auto input = [](auto z) { return sigmoid(z.at(tn::all, tn::range<0, w>())); };
  const auto forget = [](auto z) { return sigmoid(z.at(tn::all, tn::range<w, 2 * w>())); };
  const auto cell = [](auto z) { return tanh(z.at(tn::all, tn::range<2 * w, 3 * w>())); };
  const auto output = [](auto z) { return sigmoid(z.at(tn::all, tn::range<3 * w, 4 * w>())); };
  auto z = matmul(x[0], wx) + bias;
  auto c = input(z) * cell(z);
  auto h = output(z) * tanh(c);
  for (int t = 1; t < lstm_steps; ++t) {
    z = matmul(x[t], wx) + matmul(h, wh) + bias;
    c = forget(z) * c + input(z) * cell(z);
    h = output(z) * tanh(c);
  }
  return mean(square(h));
});

/// The same by scan: one body, whatever the number of steps.
constexpr auto lstm_by_scan = tn::value_and_grad<0, 1, 2>([](auto wx, auto wh, auto bias, auto xs) {
  constexpr std::int64_t w = lstm_width;
  const auto step = [=](auto state, auto x) {
    const auto z = matmul(x, wx) + matmul(std::get<0>(state), wh) + bias;
    const auto gate = [&](auto range) { return sigmoid(z.at(tn::all, range)); };
    const auto c = gate(tn::range<w, 2 * w>()) * std::get<1>(state) + gate(tn::range<0, w>()) * tanh(z.at(tn::all, tn::range<2 * w, 3 * w>()));
    return std::tuple{std::tuple{gate(tn::range<3 * w, 4 * w>()) * tanh(c), c}, tn::nothing};
  };
  const auto zero = tn::zeros_like(xs[0]);
  return mean(square(std::get<0>(std::get<0>(tn::scan(step, std::tuple{zero, zero}, xs)))));
});

}  // namespace workloads
