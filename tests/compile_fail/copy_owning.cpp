// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: an owning tensor is not copied: call clone.*, or take it by const auto&
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto y = x;
#else
  auto y = x.clone();
#endif
  y.add_(1);
}
