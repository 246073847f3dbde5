// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: ranks exchange the gradients of a model on the host whose extents are static
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using weights = tn::tensor<float, tn::shape<tn::dyn>>;
#else
using weights = tn::tensor<float, tn::shape<3>>;
#endif

constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(weights& w, const weights& x, tn::mpi::group& world) {
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1}, world);
  auto state = tn::optim::state<weights, 1>{};
  step(w, state, x);
}
