// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: csr_block<I>: there is no variable I
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<4, 3>>& dx) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x), tn::csr_block<1>(dx));
#else
  return tn::csr(std::tie(x), tn::csr_block<0>(dx));
#endif
}
