// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: the blocks have different numbers of rows for a sample
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<4>>& y, const tn::tensor<float, tn::shape<4, 2, 3>>& dx, const tn::tensor<float, tn::shape<4, 2>>& dy) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x, y), tn::csr_block<0>(dx), tn::csr_block<1>(sum(dy, tn::axis<1>)));
#else
  return tn::csr(std::tie(x, y), tn::csr_block<0>(dx), tn::csr_block<1>(dy));
#endif
}
