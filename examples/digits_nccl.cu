// SPDX-License-Identifier: BSL-1.0
// The training of digits_mpi.cpp on GPUs, one for each process.
// usage: mpirun -n 2 sh -c 'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK exec ./digits_nccl' (MPICH: $MPI_LOCALRANKID). Arguments: [seed] [digits.csv].
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tenure/nccl.hpp>

#include "support/digits.hpp"

int main(int argc, char** argv) try {
  tn::nccl::group gpus;
  if (batch % gpus.size() != 0) throw tn::error("a batch of " + std::to_string(batch) + " is not a multiple of the number of ranks");
  const std::int64_t part = batch / gpus.size();

  // One seed on all ranks: the same model, and the same order of samples.
  tn::engine random(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
#ifndef TENURE_EXAMPLE_DATA
#define TENURE_EXAMPLE_DATA "examples/data"
#endif
  const examples::digits all = examples::read_digits(argc > 2 ? argv[2] : std::string(TENURE_EXAMPLE_DATA) + "/digits.csv");
  split parts(all.rows, random);

  const int epochs = 40;
  const tn::flush_denormals scope;  // for a test that runs this example on a CPU
  auto model = to(tn::init<mlp>(random), tn::cuda);
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 2e-3f, .weight_decay = 1e-2f}, gpus);
  auto state = step.rule.init(model);

  tn::tensor<float, tn::shape<tn::dyn, pixels>> next_x(part);
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> next_y(part);
  auto x = next_x.to(tn::cuda);
  auto y = next_y.to(tn::cuda);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(parts.train.begin(), parts.train.end(), random);
    step.rule.learning_rate = 2e-3f * (1 - static_cast<float>(epoch) / epochs);
    auto sum = tn::zeros<float>(tn::shape<>{}).to(tn::cuda);
    const std::size_t batches = parts.train.size() / batch;
    for (std::size_t b = 0; b < batches; ++b) {
      fill_batch(all, parts.train.data() + b * batch + static_cast<std::size_t>(gpus.rank() * part), next_x, next_y);
      x.copy_(next_x);
      y.copy_(next_y);
      sum += step(model, state, x, y);  // the mean over all ranks
    }
    const double mean = sum.item() / static_cast<double>(batches);
    if (gpus.rank() == 0 && (epoch + 1) % 10 == 0) std::printf("epoch %d: loss %.4f\n", epoch + 1, mean);
  }

  tn::tensor<float, tn::shape<tn::dyn, pixels>> test_x(parts.test.size());
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> test_y(parts.test.size());
  fill_batch(all, parts.test.data(), test_x, test_y);
  const double right = accuracy(model, test_x.to(tn::cuda), test_y);
  if (gpus.rank() == 0) std::printf("accuracy %.1f %%\n", 100 * right);
} catch (const std::exception& e) {
  std::fprintf(stderr, "digits_nccl: %s\n", e.what());
  return 1;
}
