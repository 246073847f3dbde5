// SPDX-License-Identifier: BSL-1.0
// The digits example on a GPU: the same model and loss. to(tn::cuda) copies the tensors, and a training step is one launch.
// usage: digits_cuda [seed] [digits.csv]. Writes digits_cuda.npz (the weights).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tenure/cuda.hpp>
#include <tenure/interop/save.hpp>

#include "support/digits.hpp"
#include "support/progress.hpp"

int main(int argc, char** argv) try {
  tn::engine random(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
#ifndef TENURE_EXAMPLE_DATA
#define TENURE_EXAMPLE_DATA "examples/data"
#endif
  const examples::digits all = examples::read_digits(argc > 2 ? argv[2] : std::string(TENURE_EXAMPLE_DATA) + "/digits.csv");
  split parts(all.rows, random);
  const std::size_t batches = parts.train.size() / batch;

  auto model = to(tn::init<mlp>(random), tn::cuda);
  const int epochs = 40;
  const tn::flush_denormals scope;  // for a test that runs this example on a CPU, where moments that decay into denormals would slow it down
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 2e-3f, .weight_decay = 1e-2f});
  auto state = step.rule.init(model);

  tn::tensor<float, tn::shape<batch, pixels>> next_x;
  tn::tensor<std::int32_t, tn::shape<batch>> next_y;
  auto x = next_x.to(tn::cuda);
  auto y = next_y.to(tn::cuda);
  tn::tensor<float, tn::shape<tn::dyn, pixels>> test_x(parts.test.size());
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> test_y(parts.test.size());
  fill_batch(all, parts.test.data(), test_x, test_y);
  const auto there = test_x.to(tn::cuda);

  examples::progress bar("digits_cuda", epochs);
  double reached = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(parts.train.begin(), parts.train.end(), random);
    step.rule.learning_rate = 2e-3f * (1 - static_cast<float>(epoch) / epochs);
    auto sum = tn::zeros<float>(tn::shape<>{}).to(tn::cuda);
    for (std::size_t b = 0; b < batches; ++b) {
      fill_batch(all, parts.train.data() + b * batch, next_x, next_y);
      x.copy_(next_x);  // into the same memory, so that the recorded step can run again
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
