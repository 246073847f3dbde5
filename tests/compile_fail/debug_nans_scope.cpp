// SPDX-License-Identifier: BSL-1.0
// expect: tenure: debug_nans_scope: calls look for a scope only where all units are compiled with -DTENURE_DEBUG_NANS=1
#ifndef TENURE_MISUSE
#define TENURE_DEBUG_NANS 1
#endif
#include <tenure/debug_nans.hpp>
namespace tn = tenure;

tn::tensor<float, tn::shape<3>> f(const tn::tensor<float, tn::shape<3>>& x) {
  const tn::debug_nans_scope scope;
  return log(x);
}
