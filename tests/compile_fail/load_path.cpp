// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: the path comes first: load.path, x.
#include <tenure/tenure.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::load(x, "x.npz");
#else
  tn::load("x.npz", x);
#endif
}
