// SPDX-License-Identifier: BSL-1.0
// expect: tenure: complex: there are no complex numbers: keep the real and the imaginary part in a last axis of 2, or as two tensors
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8>>& x) {
#ifdef TENURE_MISUSE
  return tn::complex(x, x);
#else
  return tn::eval(tn::stack<1>(x, x));
#endif
}
