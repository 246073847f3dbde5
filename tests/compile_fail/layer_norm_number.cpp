// SPDX-License-Identifier: BSL-1.0
// expect: tenure: layer_norm: the gain must be a tensor: write layer_norm.x, axis<-1>, epsilon.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(layer_norm(x, 1e-6));
#else
  return tn::eval(layer_norm(x, tn::axis<-1>, 1e-6));
#endif
}
