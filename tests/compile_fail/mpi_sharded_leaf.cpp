// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: a sharded state needs parameters that own their memory and require no gradient: ranks write blocks of it
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using weights = tn::variable<float, tn::shape<3>>;
#else
using weights = tn::tensor<float, tn::shape<3>>;
#endif

constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(const weights& w, tn::mpi::group& world) {
  auto step = tn::train_step(loss, tn::optim::adam{}, world);
  auto state = step.init_sharded(w);
}
