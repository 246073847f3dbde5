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

using weights = tn::tensor<float, tn::shape<3>>;
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(weights& w, const weights& x, tn::mpi::group& world) {
  auto state = tn::train_step(loss, rule{}, world).init_sharded(w);
  tn::train_step(loss, tn::optim::adam{}, world)(w, state, x);
}
