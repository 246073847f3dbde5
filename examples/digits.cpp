// SPDX-License-Identifier: BSL-1.0
// Reads 1,797 handwritten digits, trains a network on four fifths of them and tests it on the last fifth.
// usage: digits [seed] [digits.csv]. Writes digits.npz (the weights), digits_loss.svg, digits_plan.html and, with Graphviz,
// digits_plan.svg.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <tenure/interop/save.hpp>
#include <tenure/picture.hpp>
#include <tenure/tenure.hpp>

#include "support/digits.hpp"
#include "support/plot.hpp"
#include "support/progress.hpp"

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
  const tn::flush_denormals scope;  // moments that decay into denormals would slow it down
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
  // The profile takes some more steps, after the weights were saved.
  tn::picture_text picture{.title = "A training step of the digits", .arguments = {"model", "state", "rule", "x", "y"}};
  picture.times = tn::profile(step)(model, state, x, y);
  tn::write_html(plan{}, "digits_plan.html", picture);
  std::ofstream("digits_plan.dot") << tn::to_dot(plan{}, picture);
  const bool drawn = std::system("dot -Tsvg digits_plan.dot -o digits_plan.svg 2>/dev/null") == 0;
  std::printf("wrote digits.npz, digits_loss.svg, digits_plan.html, digits_plan.%s\n", drawn ? "svg" : "dot (Graphviz is not installed)");
  std::printf("accuracy %.1f %%\n", 100 * accuracies.back());
} catch (const std::exception& e) {
  std::fprintf(stderr, "digits: %s\n", e.what());
  return 1;
}
