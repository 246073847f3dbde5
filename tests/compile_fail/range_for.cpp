// SPDX-License-Identifier: BSL-1.0
// expect: tenure: begin: a tensor is not a range
#include <tenure/tenure.hpp>
namespace tn = tenure;

float f(tn::tensor<float, tn::shape<3>>& x) {
  float total = 0;
#ifdef TENURE_MISUSE
  for (float element : x) total += element;
#else
  for (float element : tn::as_span(x)) total += element;
#endif
  return total;
}
