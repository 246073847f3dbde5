// SPDX-License-Identifier: BSL-1.0
// expect: tenure: view: extents are template arguments: write view<2, 3>..
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<float, tn::shape<6>>& x) {
#ifdef TENURE_MISUSE
  auto y = x.view(2, 3);
#else
  auto y = x.view<2, 3>();
#endif
}
