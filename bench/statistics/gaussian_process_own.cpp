// SPDX-License-Identifier: BSL-1.0
// The Gaussian process by Tenure's own kernels.
#include "gaussian_process.hpp"
