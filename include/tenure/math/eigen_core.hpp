// SPDX-License-Identifier: BSL-1.0
// <Eigen/Core>, without what nvcc remarks on Eigen's defaulted functions. On x86 <tenure/tenure.hpp> does not include it.
#pragma once

#if !__has_include(<Eigen/Core>)
#error "tenure: include: Eigen 3.4 is not on the include path: install libeigen3-dev, and compile with -isystem /usr/include/eigen3"
#else
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20012
#endif
#include <Eigen/Core>
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
#endif
