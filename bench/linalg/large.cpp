// SPDX-License-Identifier: BSL-1.0
// Large matrices by Eigen's decompositions, and Eigen alone.
#define TENURE_EIGEN_DECOMPOSITIONS 1
#include "large.hpp"
