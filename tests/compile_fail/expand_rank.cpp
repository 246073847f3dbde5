// SPDX-License-Identifier: BSL-1.0
// expect: tenure: expand: only axes of static extent 1 and new leading axes expand
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<1, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::expand<3>(x));
#else
  return tn::eval(tn::expand<1, 3>(x));
#endif
}
