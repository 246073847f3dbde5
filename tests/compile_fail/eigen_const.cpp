// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul_: the tensor is read-only
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using matrix = const Eigen::MatrixXd;
#else
using matrix = Eigen::MatrixXd;
#endif

void f(matrix& m) { tn::from(m).mul_(2); }
