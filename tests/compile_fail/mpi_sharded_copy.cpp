// SPDX-License-Identifier: BSL-1.0
// expect: deleted
// lines: 15
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(const tn::tensor<float, tn::shape<3>>& w, tn::mpi::group& world) {
  const auto state = tn::train_step(loss, tn::optim::adam{}, world).init_sharded(w);
#ifdef TENURE_MISUSE
  auto copy = state;
#else
  auto copy = tn::deepcopy(state);
#endif
}
