// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: at most one extent can be left open
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<tn::dyn>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::reshape<tn::dyn, tn::dyn>(x));
#else
  return tn::eval(tn::reshape<tn::dyn, 2>(x));
#endif
}
