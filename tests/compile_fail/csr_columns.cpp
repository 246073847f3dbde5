// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: the values of a block have another number of columns than the rows of its variable
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<4, 2>>& few, const tn::tensor<float, tn::shape<4, 3>>& dx) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x), tn::csr_block<0>(few));
#else
  return tn::csr(std::tie(x), tn::csr_block<0>(dx));
#endif
}
