// SPDX-License-Identifier: BSL-1.0
// expect: tenure: save: neither a tensor nor a model, a tuple, an array or the state of a rule
#include <tenure/tenure.hpp>
#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f(const std::array<tn::tensor<float, tn::shape<4>>, 2>& layers) {
#ifdef TENURE_MISUSE
  const std::vector<float> x(4);
  tn::save("x.npz", x);
#else
  tn::save("x.npz", layers);
#endif
}
