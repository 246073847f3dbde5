// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: a sharded state has another number of moments than the rule: it is the state of another rule
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rule = tn::optim::sgd;
#else
using rule = tn::optim::adam;
#endif

constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(const tn::tensor<float, tn::shape<3>>& w, tn::mpi::group& world) {
  auto step = tn::train_step(loss, tn::optim::adam{}, world);
  auto state = step.shard(rule{}.init(w));
}
