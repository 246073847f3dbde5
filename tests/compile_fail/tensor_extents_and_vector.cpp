// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: it is made from extents or from elements, not from both
#include <tenure/tenure.hpp>

#include <vector>
namespace tn = tenure;

void f(std::vector<float>& v) {
#ifdef TENURE_MISUSE
  tn::tensor<float, tn::shape<tn::dyn, 2>> x(3, v);
#else
  auto x = tn::from(v).reshape<tn::dyn, 2>(3);
#endif
}
