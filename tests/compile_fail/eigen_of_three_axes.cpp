// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_eigen: Eigen's matrices have at most two axes
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

double f(const tn::tensor<double, tn::shape<2, 3, 4>>& x) {
#ifdef TENURE_MISUSE
  return tn::as_eigen(x).sum();
#else
  const auto first = x[0];
  return tn::as_eigen(first).sum();
#endif
}
