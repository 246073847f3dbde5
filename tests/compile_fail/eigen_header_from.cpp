// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: Eigen's matrices need their header: #include <tenure/interop/eigen.hpp>
#include <Eigen/Core>
#include <tenure/tenure.hpp>
#if !defined(TENURE_MISUSE)
#include <tenure/interop/eigen.hpp>
#endif
namespace tn = tenure;

double f(Eigen::MatrixXd& m) { return tn::from(m)(0, 0); }
