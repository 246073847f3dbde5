// SPDX-License-Identifier: BSL-1.0
// expect: tenure: save: the path comes first: save.path, x.
#include <tenure/tenure.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::save(x, "x.npz");
#else
  tn::save("x.npz", x);
#endif
}
