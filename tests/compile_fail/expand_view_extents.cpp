// SPDX-License-Identifier: BSL-1.0
// expect: tenure: expand: one integer is needed for each run-time extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return x.expand<tn::dyn, 3>().clone();
#else
  return x.expand<tn::dyn, 3>(4).clone();
#endif
 }
