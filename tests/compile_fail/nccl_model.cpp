// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: ranks of a tn::nccl::group exchange the gradients of a model on the GPU whose extents are static
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/nccl.hpp>
namespace tn = tenure;

using weights = tn::tensor<float, tn::shape<3>>;
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };

#ifdef TENURE_MISUSE
using group = tn::nccl::group;
#else
using group = tn::mpi::group;
#endif
void f(weights& w, const weights& x, group& world) {
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1}, world);
  auto state = step.rule.init(w);
  step(w, state, x);
}
