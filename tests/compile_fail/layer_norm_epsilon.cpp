// SPDX-License-Identifier: BSL-1.0
// expect: tenure: layer_norm: gain and bias must be tensors, epsilon is the number after them
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<float, tn::shape<3>>;
auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const vector& gain, const vector& bias) {
#ifdef TENURE_MISUSE
  return tn::eval(layer_norm(x, gain, 1e-5));
#else
  return tn::eval(layer_norm(x, gain, bias, 1e-5));
#endif
}
