// SPDX-License-Identifier: BSL-1.0
// Large matrices by Tenure's own kernels.
#include "large.hpp"
