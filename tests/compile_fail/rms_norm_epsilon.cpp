// SPDX-License-Identifier: BSL-1.0
// expect: tenure: rms_norm: the gain must be a tensor, epsilon is the number after it
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const tn::tensor<float, tn::shape<3>>& gain) {
#ifdef TENURE_MISUSE
  return tn::eval(rms_norm(x, 1e-6));
#else
  return tn::eval(rms_norm(x, gain, 1e-6));
#endif
}
