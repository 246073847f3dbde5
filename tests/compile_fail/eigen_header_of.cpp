// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_eigen: Eigen's matrices need their header: #include <tenure/interop/eigen.hpp>
#include <tenure/tenure.hpp>
#if !defined(TENURE_MISUSE)
#include <tenure/interop/eigen.hpp>
#endif
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x) { tn::as_eigen(x) *= 2; }
