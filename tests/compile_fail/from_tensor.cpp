// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the source is a tensor already
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<>>& x) {
#ifdef TENURE_MISUSE
  return tn::from(x).item();
#else
  return x.view().item();
#endif
}
