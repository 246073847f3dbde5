// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_eigen: the tensor is a temporary
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

double f(const tn::tensor<double, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::as_eigen(x.transpose()).sum();
#else
  const auto turned = x.transpose();
  return tn::as_eigen(turned).sum();
#endif
}
