// SPDX-License-Identifier: BSL-1.0
// expect: tenure: expand: one integer is needed for each run-time extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::expand<tn::dyn, 3>(x));
#else
  return tn::eval(tn::expand<4, 3>(x));
#endif
}
