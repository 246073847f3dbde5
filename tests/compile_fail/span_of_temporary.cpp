// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_span: the tensor is a temporary
#include <tenure/tenure.hpp>
namespace tn = tenure;

double f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::as_span(x.clone())[0];
#else
  auto copy = x.clone();
  return tn::as_span(copy)[0];
#endif
}
