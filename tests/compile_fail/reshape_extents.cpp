// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: extents are template arguments: write reshape<2, 3>..
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<float, tn::shape<6>>& x) {
#ifdef TENURE_MISUSE
  auto y = x.reshape(2, 3);
#else
  auto y = x.reshape<2, 3>();
#endif
}
