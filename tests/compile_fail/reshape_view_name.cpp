// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: one integer is needed for each run-time extent that the tensor does not have
#include <tenure/tenure.hpp>
namespace tn = tenure;

inline constexpr auto n = tn::dim("n");

auto f(tn::tensor<float, tn::shape<9>>& x) {
#ifdef TENURE_MISUSE
  return x.reshape<n, n>().clone();
#else
  return x.reshape<n, n>(3).clone();
#endif
}
