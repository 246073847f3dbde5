// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: the index of a block is no vector of int32 or int64
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<5, 3>>& dx, const tn::tensor<float, tn::shape<5>>& i) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x), tn::csr_block<0>(dx, i));
#else
  return tn::csr(std::tie(x), tn::csr_block<0>(dx, tn::cast<std::int32_t>(i)));
#endif
}
