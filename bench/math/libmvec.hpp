// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace libmvec {

inline constexpr int count = 1024;

#define ROW(name) void name(const float*, float*); void name(const double*, double*);
ROW(exp) ROW(expm1) ROW(log) ROW(log1p) ROW(log2) ROW(sin) ROW(cos) ROW(tanh) ROW(sinh) ROW(cosh) ROW(erf) ROW(atan)
ROW(exp2) ROW(log10) ROW(tan) ROW(asin) ROW(acos) ROW(asinh) ROW(acosh) ROW(atanh) ROW(erfc)
ROW(sigmoid) ROW(softplus) ROW(rsqrt) ROW(pow)
#undef ROW

}  // namespace libmvec
