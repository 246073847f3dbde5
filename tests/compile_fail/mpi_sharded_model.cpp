// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: a sharded state is that of another model: the parameters differ in number, element type or shape
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/train_step.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using other = tn::tensor<float, tn::shape<2>>;
#else
using other = tn::tensor<float, tn::shape<3>>;
#endif

using weights = tn::tensor<float, tn::shape<3>>;
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };
void f(weights& w, const other& v, const weights& x, tn::mpi::group& world) {
  auto step = tn::train_step(loss, tn::optim::adam{}, world);
  auto state = step.init_sharded(v);
  step(w, state, x);
}
