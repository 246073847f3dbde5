// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: a state of a tn::nccl::group is not sharded: take step.rule.init\(model\)
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/nccl.hpp>
namespace tn = tenure;

using weights = tn::values_on<tn::cuda_device>::type<float, tn::shape<3>>;
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };

void f(const weights& w, tn::nccl::group& gpus) {
  const auto step = tn::train_step(loss, tn::optim::adam{}, gpus);
#ifdef TENURE_MISUSE
  auto state = step.init_sharded(w);
#else
  auto state = step.rule.init(w);
#endif
}
