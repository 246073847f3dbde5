// SPDX-License-Identifier: BSL-1.0
// expect: class template argument deduction failed|no viable constructor or deduction guide for deduction of template arguments of .span
// lines: 150
#include <tenure/tenure.hpp>

#include <span>
namespace tn = tenure;

float f(tn::tensor<float, tn::shape<6>>& x) {
#ifdef TENURE_MISUSE
  auto all = std::span(x);
#else
  auto all = as_span(x);
#endif
  return all[0];
}
