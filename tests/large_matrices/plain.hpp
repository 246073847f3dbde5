// SPDX-License-Identifier: BSL-1.0
// What plain.cpp computes without TENURE_EIGEN_DECOMPOSITIONS, in memory that no type of Tenure describes.
#pragma once

#include <cstdint>

namespace plain {
/// The values w (samples, n) of symmetric matrices a, and their factors l.
void eigenvalues(std::int64_t samples, std::int64_t n, const double* a, double* w);
void cholesky(std::int64_t samples, std::int64_t n, const double* a, double* l);
const char* name_of_tensor();
}  // namespace plain
