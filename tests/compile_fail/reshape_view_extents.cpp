// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: one integer is needed for each run-time extent that the tensor does not have
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<tn::dyn>>& x) {
#ifdef TENURE_MISUSE
  return x.reshape<tn::dyn, tn::dyn>().clone();
#else
  return x.reshape<tn::dyn, tn::dyn>(2, x.size() / 2).clone();
#endif
 }
