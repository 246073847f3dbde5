// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: the blocks have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<4>>& y, const tn::tensor<float, tn::shape<4, 3>>& dx, const tn::tensor<double, tn::shape<4>>& dy) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x, y), tn::csr_block<0>(dx), tn::csr_block<1>(dy));
#else
  return tn::csr(std::tie(x, y), tn::csr_block<0>(dx), tn::csr_block<1>(tn::cast<float>(dy)));
#endif
}
