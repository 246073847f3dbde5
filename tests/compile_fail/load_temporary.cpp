// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: a target is a temporary: give it a name, and load into that
// lines: 20
#include <tenure/tenure.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;

vector f() {
#ifdef TENURE_MISUSE
  tn::load("x.npz", vector());
  return vector();
#else
  vector x;
  tn::load("x.npz", x);
  return x;
#endif
}
