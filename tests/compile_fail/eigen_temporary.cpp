// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the Eigen expression is a temporary
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

double f(Eigen::MatrixXd& m) {
#ifdef TENURE_MISUSE
  return tn::from(m.block<2, 2>(0, 0))(0, 0);
#else
  auto block = m.block<2, 2>(0, 0);
  return tn::from(block)(0, 0);
#endif
}
