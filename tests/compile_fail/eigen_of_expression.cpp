// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_eigen: an expression has no memory
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

double f(const tn::tensor<double, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  const auto y = x * 2;
#else
  const tn::tensor y = x * 2;
#endif
  return tn::as_eigen(y).sum();
}
