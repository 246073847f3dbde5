// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: the values of a block have neither the axes .samples, columns. nor .samples, rows, columns.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const tn::tensor<float, tn::shape<4, 3>>& dx) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x), tn::csr_block<0>(sum(dx, tn::axis<1>)));
#else
  return tn::csr(std::tie(x), tn::csr_block<0>(dx));
#endif
}
