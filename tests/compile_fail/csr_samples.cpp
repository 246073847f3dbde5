// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: the blocks, or a block and its index, have different numbers of samples
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<5, 3>>& dx, const tn::tensor<std::int32_t, tn::shape<5>>& i) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x), tn::csr_block<0>(dx));
#else
  return tn::csr(std::tie(x), tn::csr_block<0>(dx, i));
#endif
}
