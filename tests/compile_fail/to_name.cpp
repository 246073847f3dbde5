// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to: the argument is not a device .tn::cpu, tn::cuda.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return x.to("cpu");
#else
  return x.to(tn::cpu);
#endif
}
