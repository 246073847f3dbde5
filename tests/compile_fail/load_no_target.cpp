// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: it writes a tensor or a model that exists: load.path, model.
#include <tenure/tenure.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f([[maybe_unused]] tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::load("x.npz");
#else
  tn::load("x.npz", x);
#endif
}
