// SPDX-License-Identifier: BSL-1.0
// expect: tenure: data: the tensor is a temporary
#include <tenure/tenure.hpp>
namespace tn = tenure;

double f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return *x.clone().data();
#else
  return *x.data();
#endif
}
