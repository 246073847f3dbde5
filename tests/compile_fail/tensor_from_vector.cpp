// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: a tensor is made from numbers in braces or from an expression
#include <tenure/tenure.hpp>
namespace tn = tenure;

float f(std::vector<float>& memory) {
#ifdef TENURE_MISUSE
  tn::tensor<float, tn::shape<tn::dyn>> x(memory);
#else
  tn::tensor<float, tn::shape<tn::dyn>> x(tn::from(memory).clone());
#endif
  return x(0);
}
