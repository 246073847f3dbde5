// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: the rows of a variable, and the rows of a sample, need static extents
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<4, 2, 3>>& dx, const tn::tensor<float, tn::shape<4, tn::dyn, 3>>& unknown) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x), tn::csr_block<0>(unknown));
#else
  return tn::csr(std::tie(x), tn::csr_block<0>(dx));
#endif
}
