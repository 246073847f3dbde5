// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: a view is not loaded
#include <tenure/tenure.hpp>
#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f(tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  auto row = x[0];
#else
  tn::tensor row = x[0].clone();
#endif
  tn::load("x.npz", row);
}
