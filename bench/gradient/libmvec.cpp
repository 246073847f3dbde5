// SPDX-License-Identifier: BSL-1.0
// The plain loop, compiled with -ffast-math so that g++ vectorises it through libmvec, glibc's vector functions.
#include "libmvec.hpp"

#include <cmath>

namespace libmvec {

template <class T>
T gradient(std::int64_t n, const T* __restrict a, const T* __restrict b, const T* __restrict c, const T* __restrict x,
           T* __restrict da, T* __restrict db, T* __restrict dc) {
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T s = 1 / (1 + std::exp(-(a[i] * x[i] + b[i]))), e = std::exp(c[i] * x[i]), t = std::log1p(e);
    sum += s * t;
    const T ds = s * (1 - s) * t;
    db[i] = ds;
    da[i] = ds * x[i];
    dc[i] = s * e / (1 + e) * x[i];
  }
  return sum;
}

template float gradient(std::int64_t, const float*, const float*, const float*, const float*, float*, float*, float*);
template double gradient(std::int64_t, const double*, const double*, const double*, const double*, double*, double*, double*);

}  // namespace libmvec
