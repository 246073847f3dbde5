// SPDX-License-Identifier: BSL-1.0
// The training of digits.cpp on several processes: each of them computes the gradients of its part of every batch.
// usage: mpirun -n 2 digits_mpi [seed] [digits.csv] [run.npz]. Writes digits_mpi.npz. run.npz is such a file: the run goes on from there.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tenure/interop/save.hpp>
#include <tenure/mpi.hpp>

#include "support/digits.hpp"

int main(int argc, char** argv) try {
  tn::mpi::group world;
  const bool is_first = world.rank() == 0;
  if (batch % world.size() != 0) throw tn::error("a batch of " + std::to_string(batch) + " is not a multiple of the number of ranks");
  const std::int64_t part = batch / world.size();

  // One seed on all ranks: the same model, and the same order of samples.
  tn::engine random(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
#ifndef TENURE_EXAMPLE_DATA
#define TENURE_EXAMPLE_DATA "examples/data"
#endif
  const examples::digits all = examples::read_digits(argc > 2 ? argv[2] : std::string(TENURE_EXAMPLE_DATA) + "/digits.csv");
  split parts(all.rows, random);

  auto model = tn::init<mlp>(random);
  const int epochs = 40;
  const tn::flush_denormals scope;
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 2e-3f, .weight_decay = 1e-2f}, world);
  auto state = step.init_sharded(model);  // each rank keeps a part; step.rule.init(model) is a whole state
  if (argc > 3) {
    auto whole = step.rule.init(model);
    tn::load(argv[3], model, whole);
    state = step.shard(whole);
  }

  tn::tensor<float, tn::shape<tn::dyn, pixels>> x(part);
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> y(part);
  using plan = decltype(step.plan(model, state, x, y));
  if (is_first)
    std::printf("%d ranks; in a step each sends %d messages with %lld bytes, of an arena of %lld\n", world.size(),
                plan::messages(world.size()), static_cast<long long>(plan::bytes_sent(world.size())), static_cast<long long>(plan::arena_bytes()));

  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(parts.train.begin(), parts.train.end(), random);
    step.rule.learning_rate = 2e-3f * (1 - static_cast<float>(epoch) / epochs);
    double sum = 0;
    const std::size_t batches = parts.train.size() / batch;
    for (std::size_t b = 0; b < batches; ++b) {
      const std::size_t first = b * batch + static_cast<std::size_t>(world.rank() * part);
      fill_batch(all, parts.train.data() + first, x, y);
      sum += step(model, state, x, y).item();  // the mean over all ranks
    }
    if (is_first && (epoch + 1) % 10 == 0) std::printf("epoch %d: loss %.4f\n", epoch + 1, sum / static_cast<double>(batches));
  }

  const auto whole = step.gather(state);
  if (is_first) tn::save("digits_mpi.npz", model, whole);

  tn::tensor<float, tn::shape<tn::dyn, pixels>> test_x(parts.test.size());
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> test_y(parts.test.size());
  fill_batch(all, parts.test.data(), test_x, test_y);
  const double right = accuracy(model, test_x, test_y);
  if (is_first) std::printf("accuracy %.1f %%\n", 100 * right);
} catch (const std::exception& e) {
  std::fprintf(stderr, "digits_mpi: %s\n", e.what());
  return 1;
}
