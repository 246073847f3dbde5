// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: a sharded state was made with buckets of another size than those of this step
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using buckets = tn::mpi::buckets_of<65536>;
#else
using buckets = tn::mpi::default_buckets;
#endif

using weights = tn::tensor<float, tn::shape<3>>;
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(weights& w, const weights& x, tn::mpi::group& world) {
  auto state = tn::train_step(loss, tn::optim::adam{}, world).init_sharded(w);
  tn::train_step(loss, tn::optim::adam{}, world, buckets{})(w, state, x);
}
