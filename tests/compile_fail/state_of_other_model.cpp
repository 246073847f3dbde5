// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the state is that of another model: its moments differ in number, element type or shape from the parameters
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using other = tn::tensor<float, tn::shape<4>>;
#else
using other = vector;
#endif
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };

void f(vector& w, const other& v, const vector& x) {
  auto state = tn::optim::adam{}.init(v);
  tn::train_step(loss, tn::optim::adam{})(w, state, x);
}
