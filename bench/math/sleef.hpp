// SPDX-License-Identifier: BSL-1.0
// SLEEF's functions that promise 1 ulp, over a packet. Where it is not installed, or for registers that it is not written for
// here, BENCH_SLEEF is 0.
#pragma once

#if __has_include(<sleef.h>) && defined(__AVX512F__)
#define BENCH_SLEEF 1
#include <immintrin.h>

#include <sleef.h>

namespace sleef {
#define OVER_PACKETS(name)                                             \
  inline __m512 name(__m512 x) { return Sleef_##name##f16_u10(x); }    \
  inline __m512d name(__m512d x) { return Sleef_##name##d8_u10(x); }
OVER_PACKETS(exp) OVER_PACKETS(expm1) OVER_PACKETS(log) OVER_PACKETS(log1p) OVER_PACKETS(log2) OVER_PACKETS(sin) OVER_PACKETS(cos)
OVER_PACKETS(tanh) OVER_PACKETS(sinh) OVER_PACKETS(cosh) OVER_PACKETS(erf) OVER_PACKETS(atan)
#undef OVER_PACKETS
inline __m512 pow(__m512 x, __m512 y) { return Sleef_powf16_u10(x, y); }
inline __m512d pow(__m512d x, __m512d y) { return Sleef_powd8_u10(x, y); }
}  // namespace sleef

#else
#define BENCH_SLEEF 0
#endif
