// SPDX-License-Identifier: BSL-1.0
// The digits example on a GPU: the same model and loss, tensors moved with to(tn::cuda), a training step as one launch.
// usage: digits_cuda [seed] [digits.csv]. Leaves digits_cuda.npz (the weights).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <tenure/cuda.hpp>
#include <tenure/interop/save.hpp>

#include "support/csv.hpp"
#include "support/progress.hpp"

namespace tn = tenure;

constexpr std::int64_t batch = 32, pixels = 64, hidden = 96, classes = 10;

template <class Kind>
struct mlp {
  BOOST_HANA_DEFINE_STRUCT(mlp,
    (tn::param<Kind, float, tn::shape<pixels, hidden>>, w1),  (tn::param<Kind, float, tn::shape<hidden>>, b1),
    (tn::param<Kind, float, tn::shape<hidden, classes>>, w2), (tn::param<Kind, float, tn::shape<classes>>, b2));

  constexpr auto operator()(auto x) const { return matmul(relu(matmul(x, w1) + b1), w2) + b2; }
};

constexpr auto loss = [](auto model, auto x, auto y) { return cross_entropy(model(x), y); };
constexpr auto predict = tn::compile([](auto model, auto x) { return model(x); });

template <class X, class Y>
void fill_batch(const examples::digits& all, const std::size_t* rows, X& x, Y& y) {
  const auto to = tn::as_span(x);
  const auto labels = tn::as_span(y);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t p = 0; p < pixels; ++p) to[i * pixels + p] = all.pixels[rows[i] * pixels + p] / 16.0f;
    labels[i] = all.labels[rows[i]];
  }
}

template <class Model, class X, class Y>
double accuracy(const Model& model, const X& x, const Y& y) {
  const auto logits = predict(model, x).to(tn::cpu);
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < classes; ++c)
      if (logits(i, c) > logits(i, best)) best = c;
    right += best == y(i);
  }
  return static_cast<double>(right) / static_cast<double>(y.size());
}

int main(int argc, char** argv) try {
  tn::engine random(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
#ifndef TENURE_EXAMPLE_DATA
#define TENURE_EXAMPLE_DATA "examples/data"
#endif
  const examples::digits all = examples::read_digits(argc > 2 ? argv[2] : std::string(TENURE_EXAMPLE_DATA) + "/digits.csv");
  std::vector<std::size_t> order(all.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const std::size_t held_out = all.rows / 5, batches = (all.rows - held_out) / batch;

  auto model = to(tn::init<mlp>(random), tn::cuda);
  const int epochs = 40;
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 2e-3f, .weight_decay = 1e-2f});
  auto state = step.rule.init(model);

  tn::tensor<float, tn::shape<batch, pixels>> next_x;
  tn::tensor<std::int32_t, tn::shape<batch>> next_y;
  auto x = next_x.to(tn::cuda);
  auto y = next_y.to(tn::cuda);
  tn::tensor<float, tn::shape<tn::dyn, pixels>> test_x(held_out);
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> test_y(held_out);
  fill_batch(all, order.data(), test_x, test_y);
  const auto there = test_x.to(tn::cuda);

  examples::progress bar("digits_cuda", epochs);
  double reached = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin() + static_cast<std::ptrdiff_t>(held_out), order.end(), random);
    step.rule.learning_rate = 2e-3f * (1 - static_cast<float>(epoch) / epochs);
    auto sum = tn::zeros<float>(tn::shape<>{}).to(tn::cuda);
    for (std::size_t b = 0; b < batches; ++b) {
      fill_batch(all, order.data() + held_out + b * batch, next_x, next_y);
      x.copy_(next_x);  // into the same memory, so that the recorded step stays the step
      y.copy_(next_y);
      sum += step(model, state, x, y);
    }
    reached = accuracy(model, there, test_y);
    bar.step(sum.item() / static_cast<double>(batches), reached);
  }

  tn::save("digits_cuda.npz", to(model, tn::cpu));
  std::printf("accuracy %.1f %%\n", 100 * reached);
} catch (const std::exception& e) {
  std::fprintf(stderr, "digits_cuda: %s\n", e.what());
  return 1;
}
