// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace libmvec {

/// y = exp(-x x) a + tanh(b) c.
template <class T>
void forward(std::int64_t n, const T* x, const T* a, const T* b, const T* c, T* y);

extern template void forward(std::int64_t, const float*, const float*, const float*, const float*, float*);
extern template void forward(std::int64_t, const double*, const double*, const double*, const double*, double*);

}  // namespace libmvec
