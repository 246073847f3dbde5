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

using weights = tn::tensor<float, tn::shape<3>>;
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(weights& w, const weights& x, tn::mpi::group& world) {
  auto state = tn::train_step(loss, tn::optim::adam{}, world).init_sharded(w);
  tn::train_step(loss, rule{}, world)(w, state, x);
}
