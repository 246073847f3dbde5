// SPDX-License-Identifier: BSL-1.0
// Functions of the square of an angle, for rotations. They are smooth at 0, where the angle is not. versine_series<K> is Stumpff's function
// c_K(z) = 1/K! - z/(K+2)! + z^2/(K+4)! - ...: cos t, sin t / t, (1 - cos t) / t^2, (t - sin t) / t^3 ... for z = t^2. atan_series<K> is
// 1/(2K+1) - p/(2K+3) + p^2/(2K+5) - ...: atan(r) / r for K = 0 and p = r^2, and (1/(2K-1) - atan_series<K-1>(p)) / p.
// Law: the error is at most 4 ulp of the value at 0, for z in [0, pi^2] and p in [0, 1].
// Cost: a polynomial of 15 terms (float: 9), and beyond z = pi^2 a sine and a cosine; an atan and a division, or a polynomial of 23 terms (float: 11).
#pragma once

#include <tenure/math/inverse_trigonometric.hpp>
#include <tenure/math/trigonometric.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
constexpr double one_by_factorial(int n) {
  double f = 1;
  for (int i = 2; i <= n; ++i) f *= i;
  return 1 / f;
}

// By the recurrence c_K = (1/(K-2)! - c_(K-2)) / z, which keeps the digits where z is large.
template <int K, class P>
TENURE_KERNEL_LAYER P versine_of_large(P z) {
  using T = scalar_of<P>;
  if constexpr (K >= 2) {
    constexpr T first = static_cast<T>(one_by_factorial(K - 2));
    return div(sub(set1<P>(first), versine_of_large<K - 2>(z)), z);
  } else {
    const P t = sqrt(z);
    if constexpr (K == 0) return cos(t);
    else return div(sin(t), t);
  }
}

// Even and odd powers apart, so that the chain of additions is half as long.
template <int K, int J, int Last, class P>
TENURE_KERNEL_INLINE P every_second_term(P square) {
  using T = scalar_of<P>;
  constexpr T c = static_cast<T>((J % 2 == 0 ? 1 : -1) * one_by_factorial(K + 2 * J));
  if constexpr (J + 2 > Last) return set1<P>(c);
  else return fma(square, every_second_term<K, J + 2, Last>(square), set1<P>(c));
}
}  // namespace detail

template <int K, class P>
TENURE_KERNEL_LAYER P versine_series(P z) {
  using T = scalar_of<P>;
  constexpr int last = detail::layout<P>::wide ? 14 : 8;
  // The terms of cos t reach 4.9 at t = pi, so it is 2 cos^2(t / 2) - 1.
  const P x = K == 0 ? mul(z, set1<P>(T(0.25))) : z, square = mul(x, x);
  const P series = fma(x, detail::every_second_term<K, 1, last>(square), detail::every_second_term<K, 0, last>(square));
  const P near = K == 0 ? fma(add(series, series), series, set1<P>(T(-1))) : series;
  const mask_of<P> large = gt(abs(z), set1<P>(T(9.9)));
  if (!any<P>(large)) return near;
  return select(large, detail::versine_of_large<K>(z), near);
}

template <int K, class P>
TENURE_KERNEL_LAYER P atan_series(P p) {
  using T = scalar_of<P>;
  if constexpr (K == 0) {
    constexpr T tiny = detail::layout<P>::wide ? T(0x1p-1000) : T(0x1p-120);
    const P r = sqrt(max(p, set1<P>(tiny)));
    return div(atan(r), r);
  } else {
    const P d = sub(p, set1<P>(T(0.5)));
    P near;
    if constexpr (K == 1 && detail::layout<P>::wide)
      near = horner<P>(d, {0x1.09615e90afcd2p-2, -0x1.c5e5c41d92f2fp-4, 0x1.c10b0d776cf78p-5, -0x1.dd5caa4cec9a4p-6, 0x1.08fa5f92374abp-6,
                        -0x1.2ee0b60061d98p-7, 0x1.618d99e18e324p-8, -0x1.a35280ff1bd2fp-9, 0x1.f7903997c2a29p-10, -0x1.316a50cf2618ap-10,
                        0x1.758c699e26817p-11, -0x1.cc0d8e66ecb85p-12, 0x1.1cf862260d803p-12, -0x1.62e77944fc7bbp-13, 0x1.bbde1efd9aa18p-14,
                        -0x1.15a8c682f7b6bp-14, 0x1.5dc7fe58f0d2ap-15, -0x1.cb95783c40b25p-16, 0x1.235256578ec23p-16, -0x1.0f72fbd15327fp-17,
                        0x1.58a8dbc34d278p-18, -0x1.0bb27ba4e23adp-17, 0x1.56d93881af28bp-18});
    else if constexpr (K == 1 && !detail::layout<P>::wide)
      near = horner<P>(d, {0x1.09615ep-2f, -0x1.c5e5c6p-4f, 0x1.c10b1p-5f, -0x1.dd5aa4p-6f, 0x1.08f91ep-6f, -0x1.2f3a56p-7f, 0x1.61fce8p-8f,
                        -0x1.96d64p-9f, 0x1.e80f9ep-10f, -0x1.8ff7d4p-10f, 0x1.eae3fcp-11f});
    else if constexpr (K == 2 && detail::layout<P>::wide)
      near = horner<P>(d, {0x1.2fcfdb129620dp-3, -0x1.3373e40f329d7p-4, 0x1.4bb9754df086bp-5, -0x1.742c809de8962p-6, 0x1.acc8842ec52dep-7,
                        -0x1.f79f38ba0f686p-8, 0x1.2c233db1026c5p-8, -0x1.69e7f4950969cp-9, 0x1.b87f5f24a061ep-10, -0x1.0e2a26d4c0e22p-10,
                        0x1.4d8fc816b685bp-11, -0x1.9e216d4660bbbp-12, 0x1.02521640a676fp-12, -0x1.43af87520196cp-13, 0x1.9701df4cd118p-14,
                        -0x1.ff97b993e4b36p-15, 0x1.439f7675e7c18p-15, -0x1.ab2d8a49bb8bfp-16, 0x1.0fb667e459937p-16, -0x1.f9aed9c919a1bp-18,
                        0x1.420bfc0b98f46p-18, -0x1.f8db933de65a4p-18, 0x1.4404b5786e631p-18});
    else if constexpr (K == 2 && !detail::layout<P>::wide)
      near = horner<P>(d, {0x1.2fcfdcp-3f, -0x1.3373e6p-4f, 0x1.4bb978p-5f, -0x1.742aacp-6f, 0x1.acc63ap-7f, -0x1.f84122p-8f, 0x1.2c8872p-8f,
                        -0x1.5ea1ccp-9f, 0x1.aa67f8p-10f, -0x1.637c2p-10f, 0x1.b82884p-11f});
    const mask_of<P> large = gt(p, set1<P>(T(1)));
    if (!any<P>(large)) return near;
    constexpr T first = T(1) / T(2 * K - 1);
    return select(large, div(sub(set1<P>(first), atan_series<K - 1>(p)), p), near);
  }
}

}  // namespace tenure::math
