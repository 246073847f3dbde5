// SPDX-License-Identifier: BSL-1.0
// tn::nccl::group with NCCL itself, on as many ranks as the job has: mpirun -n 2 test_nccl_on_cuda. Rank r takes GPU r of those of its machine.
#include <tenure/nccl.hpp>

#include "../mpi/world.hpp"

#include "../catch.hpp"

namespace {
tn::nccl::group& gpus() {
  static const bool has_chosen = [] {
    int devices = 1;
    cudaGetDeviceCount(&devices);
    return cudaSetDevice(world().rank() % devices) == cudaSuccess;
  }();
  REQUIRE(has_chosen);
  static tn::nccl::group all;
  return all;
}
}  // namespace

TEST_CASE("nccl: collectives of tensors") {
  auto& g = gpus();
  const float sum = static_cast<float>(g.size() * (g.size() + 1) / 2);
  auto x = tn::full<float>(tn::shape<12, 5>{}, static_cast<float>(g.rank() + 1)).to(tn::cuda);
  const auto all = tn::mpi::all_gather(x, g).to(tn::cpu);
  for (int r = 0; r < g.size(); ++r) CHECK(all(r, 11, 4) == static_cast<float>(r + 1));
  if (12 % g.size() == 0) CHECK(tn::mpi::reduce_scatter(x, g).to(tn::cpu)(0, 4) == sum);
  CHECK(tn::mpi::all_reduce(x, g, tn::mpi::max).to(tn::cpu)(11, 4) == static_cast<float>(g.size()));
  tn::mpi::all_reduce_(x, g);
  CHECK(x.to(tn::cpu)(11, 4) == sum);
  auto y = tn::full<double>(tn::shape<3>{}, g.rank()).to(tn::cuda);
  tn::mpi::broadcast_(y, g, g.size() - 1);
  CHECK(y.to(tn::cpu)(2) == g.size() - 1);
}

TEST_CASE("nccl: a step of all ranks is the step of one over all samples") {
  auto& g = gpus();
  auto model = to(new_model(), tn::cuda), alone = to(new_model(), tn::cuda);
  const samples own = samples::of(g), all(0, rows);
  const auto x = own.x.to(tn::cuda), all_x = all.x.to(tn::cuda);
  const auto y = own.y.to(tn::cuda), all_y = all.y.to(tn::cuda);
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-2}, g, tn::mpi::buckets_of<512>{});
  auto plain = tn::train_step(loss, step.rule);
  auto state = step.rule.init(model);
  auto state_alone = plain.rule.init(alone);
  for (int i = 0; i < 8; ++i)
    CHECK(step(model, state, x, y).item() == Approx(plain(alone, state_alone, all_x, all_y).item()).epsilon(1e-4));
  const auto together = to(model, tn::cpu), by_one = to(alone, tn::cpu);
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 30; ++j) CHECK(together.w1(i, j) == Approx(by_one.w1(i, j)).margin(1e-4));
}
