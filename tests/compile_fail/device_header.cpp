// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to: tensors in the memory of a device need its header
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return x.to(tn::cuda);
#else
  return x.to(tn::cpu);
#endif
}
