// SPDX-License-Identifier: BSL-1.0
// Plain loops over the C library, compiled with -ffast-math so that g++ vectorises them through libmvec.
#include "libmvec.hpp"

#include <cmath>

#define ROW(name, expression)                                                                    \
  void name(const float* __restrict xs, float* __restrict out) {                                 \
    for (int i = 0; i < count; ++i) { const float x = xs[i]; out[i] = static_cast<float>(expression); } \
  }                                                                                              \
  void name(const double* __restrict xs, double* __restrict out) {                               \
    for (int i = 0; i < count; ++i) { const double x = xs[i]; out[i] = expression; }             \
  }

namespace libmvec {
ROW(exp, std::exp(x))
ROW(expm1, std::expm1(x))
ROW(log, std::log(x))
ROW(log1p, std::log1p(x))
ROW(log2, std::log2(x))
ROW(sin, std::sin(x))
ROW(cos, std::cos(x))
ROW(tanh, std::tanh(x))
ROW(sinh, std::sinh(x))
ROW(cosh, std::cosh(x))
ROW(erf, std::erf(x))
ROW(atan, std::atan(x))
ROW(exp2, std::exp2(x))
ROW(log10, std::log10(x))
ROW(tan, std::tan(x))
ROW(asin, std::asin(x))
ROW(acos, std::acos(x))
ROW(asinh, std::asinh(x))
ROW(acosh, std::acosh(x))
ROW(atanh, std::atanh(x))
ROW(erfc, std::erfc(x))
ROW(sigmoid, 1 / (1 + std::exp(-x)))
ROW(softplus, std::log1p(std::exp(x)))
ROW(rsqrt, 1 / std::sqrt(x))
ROW(pow, std::pow(x, x))
}  // namespace libmvec
