// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace libmvec {

/// sum(sigmoid(a x + b) log1p(exp(c x))) and its gradients.
template <class T>
T gradient(std::int64_t n, const T* a, const T* b, const T* c, const T* x, T* da, T* db, T* dc);

extern template float gradient(std::int64_t, const float*, const float*, const float*, const float*, float*, float*, float*);
extern template double gradient(std::int64_t, const double*, const double*, const double*, const double*, double*, double*, double*);

}  // namespace libmvec
