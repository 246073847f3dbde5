// SPDX-License-Identifier: BSL-1.0
// expect: tenure: save: a view is not saved
#include <tenure/tenure.hpp>
#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f(tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  tn::save("x.npz", x[0]);
#else
  tn::save("x.npz", x[0].clone());
#endif
 }
