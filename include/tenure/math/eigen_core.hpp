// SPDX-License-Identifier: BSL-1.0
// <Eigen/Core>, without what nvcc remarks on Eigen's defaulted functions.
#pragma once

#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20012
#endif
#include <Eigen/Core>
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
