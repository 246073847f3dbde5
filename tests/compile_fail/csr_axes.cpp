// SPDX-License-Identifier: BSL-1.0
// expect: tenure: csr: a variable has neither one axis nor two: reshape what stands after its first axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3, 2>>& x, const tn::tensor<float, tn::shape<4, 6>>& dx) {
#ifdef TENURE_MISUSE
  return tn::csr(std::tie(x), tn::csr_block<0>(dx));
#else
  return tn::csr(std::tuple{tn::eval(tn::reshape<4, 6>(x))}, tn::csr_block<0>(dx));
#endif
}
