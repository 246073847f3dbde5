// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: a factory is called with a shape
// lines: 8
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f() {
#ifdef TENURE_MISUSE
  tn::tensor<double, tn::shape<6>> x{tn::zeros};
#else
  auto x = tn::zeros<double>(tn::shape<6>{});
#endif
  x.add_(1);
}
