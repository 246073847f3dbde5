// SPDX-License-Identifier: BSL-1.0
// The log marginal likelihood of a Gaussian process and its gradient by the logarithms of amplitude, length and noise, float64, run-time extents: squared
// exponential kernel and noise. By hand with Eigen: LLT, the weights a = K^-1 y, and half the inner product of a a^T - K^-1 with each derivative of K,
// of which only the lower triangles are computed. This file has the rows `tenure_eigen`, with TENURE_EIGEN_DECOMPOSITIONS; gaussian_process_own.cpp has `tenure`.
#define TENURE_EIGEN_DECOMPOSITIONS 1
#include "gaussian_process.hpp"
