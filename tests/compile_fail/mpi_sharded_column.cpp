// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: a sharded state needs parameters that own their memory and require no gradient: ranks write blocks of it
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(tn::tensor<float, tn::shape<4, 3>>& w, const tn::tensor<float, tn::shape<4>>& x, tn::mpi::group& world) {
  auto step = tn::train_step(loss, tn::optim::adam{}, world);
#ifdef TENURE_MISUSE
  auto column = w.at(tn::all, 1);
#else
  auto column = w.at(tn::all, 1).clone();
#endif
  auto state = step.init_sharded(column.clone());
  step(column, state, x);
}
