// SPDX-License-Identifier: BSL-1.0
// expect: tenure: std::span: a tensor does not become a span by itself: call as_span
#include <tenure/tenure.hpp>

#include <span>
namespace tn = tenure;

float first(std::span<const float> all) { return all[0]; }

float f(tn::tensor<float, tn::shape<6>>& x) {
#ifdef TENURE_MISUSE
  return first(x);
#else
  return first(as_span(x));
#endif
}
