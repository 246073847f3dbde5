// SPDX-License-Identifier: BSL-1.0
// Reads 1,797 handwritten digits, trains a network on four fifths of them and names the last fifth.
// usage: digits [seed] [digits.csv]. Leaves digits.npz (the weights), digits_loss.svg and digits_plan.svg (with Graphviz).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include <tenure/interop/save.hpp>
#include <tenure/tenure.hpp>

#include "support/csv.hpp"
#include "support/plot.hpp"
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

/// Shuffled rows of the table, in two parts.
struct split {
  std::vector<std::size_t> train, test;

  split(std::size_t rows, tn::engine& random) {
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    const auto held_out = static_cast<std::ptrdiff_t>(rows / 5);
    test.assign(order.begin(), order.begin() + held_out);
    train.assign(order.begin() + held_out, order.end());
  }
};

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
  const auto logits = predict(model, x);
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
  const std::string path = argc > 2 ? argv[2] : std::string(TENURE_EXAMPLE_DATA) + "/digits.csv";
  const examples::digits all = examples::read_digits(path);
  split parts(all.rows, random);

  auto model = tn::init<mlp>(random);
  const int epochs = 40;
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 2e-3f, .weight_decay = 1e-2f});
  auto state = step.rule.init(model);

  tn::tensor<float, tn::shape<batch, pixels>> x;
  tn::tensor<std::int32_t, tn::shape<batch>> y;
  tn::tensor<float, tn::shape<tn::dyn, pixels>> test_x(parts.test.size());
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> test_y(parts.test.size());
  fill_batch(all, parts.test.data(), test_x, test_y);

  using plan = decltype(step.plan(model, state, x, y));
  std::printf("%zu digits to learn from, %zu held out; a step is %d kernels, %.2f MFLOP, %lld bytes of workspace\n", parts.train.size(), parts.test.size(),
              plan::kernels(), static_cast<double>(plan::flops()) / 1e6, static_cast<long long>(plan::workspace_bytes()));

  std::vector<double> losses, accuracies;
  examples::progress bar("digits", epochs);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(parts.train.begin(), parts.train.end(), random);
    step.rule.learning_rate = 2e-3f * (1 - static_cast<float>(epoch) / epochs);
    double sum = 0;
    const std::size_t batches = parts.train.size() / batch;
    for (std::size_t b = 0; b < batches; ++b) {
      fill_batch(all, parts.train.data() + b * batch, x, y);
      sum += step(model, state, x, y).item();
    }
    losses.push_back(sum / static_cast<double>(batches));
    accuracies.push_back(accuracy(model, test_x, test_y));
    bar.step(losses.back(), accuracies.back());
  }

  tn::save("digits.npz", model);
  examples::write_svg("digits_loss.svg", {.title = "digits", .panels = {{"loss", {{"training", losses}}, examples::scale::logarithmic},
                                                                        {"accuracy", {{"held out", accuracies}}, examples::scale::percent}}});
  std::ofstream("digits_plan.dot") << tn::to_dot(plan{});
  const bool drawn = std::system("dot -Tsvg digits_plan.dot -o digits_plan.svg 2>/dev/null") == 0;
  std::printf("wrote digits.npz, digits_loss.svg, digits_plan.%s\n", drawn ? "svg" : "dot (Graphviz is not installed)");
  std::printf("accuracy %.1f %%\n", 100 * accuracies.back());
} catch (const std::exception& e) {
  std::fprintf(stderr, "digits: %s\n", e.what());
  return 1;
}
