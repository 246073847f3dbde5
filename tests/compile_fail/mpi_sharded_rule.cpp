// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: a sharded state needs a rule that updates each element by itself, and says so: elementwise = true
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rule = tn::optim::clipped<tn::optim::adam>;  // the norm is that of the whole gradient
#else
using rule = tn::optim::adam;
#endif

constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(const tn::tensor<float, tn::shape<3>>& w, tn::mpi::group& world) {
  auto step = tn::train_step(loss, rule{}, world);
  auto state = step.init_sharded(w);
}
