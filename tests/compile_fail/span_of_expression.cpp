// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_span: an expression has no memory
#include <tenure/tenure.hpp>
namespace tn = tenure;

float f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  const auto y = x * 2;
#else
  const tn::tensor y = x * 2;
#endif
  return tn::as_span(y)[0];
}
