// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the Eigen expression has no memory
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

double f(const Eigen::MatrixXd& m) {
#ifdef TENURE_MISUSE
  return tn::from(m + m)(0, 0);
#else
  return tn::from((m + m).eval())(0, 0);
#endif
}
