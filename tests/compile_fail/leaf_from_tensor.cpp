// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: a leaf is not made from another tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f() {
#ifdef TENURE_MISUSE
  tn::variable<float, tn::shape<3>> w = tn::zeros(tn::shape<3>{});
#else
  tn::variable<float, tn::shape<3>> w = tn::zeros(tn::shape<3>{}).requires_grad_();
#endif
  w.zero_grad();
}
