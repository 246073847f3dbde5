// SPDX-License-Identifier: BSL-1.0
// asinh, acosh, atanh: the logarithm of u = 1 + t, with u as the sum of two numbers, so that a small t keeps its relative accuracy:
//   asinh: t = a + a^2 / (1 + sqrt(1 + a^2)), acosh: t = d + sqrt(d (d + 2)) with d = x - 1, atanh: t = 2a / (1 - a), half the logarithm.
// Law: at most 2 ulp; asinh and atanh are odd and keep -0; acosh is NaN below 1, atanh beyond [-1, 1] and infinite at +-1.
// Cost: a log1p, and two divisions and a square root for asinh, one of each for acosh, two divisions for atanh (that of the log included, without
//       AVX-512's tables).
#pragma once

#include <tenure/math/logarithm.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
// 1 + t as two numbers.
template <class P>
TENURE_KERNEL_INLINE twin<P> one_plus(twin<P> t) {
  const twin<P> u = one_plus(t.hi);
  return {u.hi, add(u.lo, t.lo)};
}

// log(u), or log(2a) for large a, where asinh and acosh do not differ from it.
template <class P>
TENURE_KERNEL_INLINE P log_of_twin_or_double(mask_of<P> large, P a, twin<P> u) {
  using T = scalar_of<P>;
  const P zero = set1<P>(T(0));
  return log_of_twin(twin<P>{select(large, a, u.hi), select(large, zero, u.lo)}, select(large, set1<P>(T(1)), zero));
}

// From here on log(2a) differs by less than half an ulp from asinh and acosh.
template <class T>
inline constexpr T large_hyperbolic = sizeof(T) == 8 ? T(0x1p28) : T(0x1p13f);
}  // namespace detail

template <class P>
TENURE_KERNEL_LAYER P asinh(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1)), a = abs(x), b = at_most(a, detail::large_hyperbolic<T>);
  const P g = div(mul(b, b), add(one, sqrt(fma(b, b, one))));
  const detail::twin<P> u = detail::one_plus(detail::fast_two_sum(b, g));
  const P value = detail::log_of_twin_or_double(gt(a, b), a, u);
  return with_sign(select(lt(a, set1<P>(std::numeric_limits<T>::infinity())), value, a), x);  // inf, NaN
}

template <class P>
TENURE_KERNEL_LAYER P acosh(P x) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1)), b = at_most(x, detail::large_hyperbolic<T>), d = sub(b, one);
  const detail::twin<P> u = detail::one_plus(detail::fast_two_sum(sqrt(fma(d, d, add(d, d))), d));
  P value = detail::log_of_twin_or_double(gt(x, b), x, u);
  value = select(lt(x, set1<P>(std::numeric_limits<T>::infinity())), value, x);  // inf, NaN
  return select(lt(x, one), set1<P>(std::numeric_limits<T>::quiet_NaN()), value);
}

template <class P>
TENURE_KERNEL_LAYER P atanh(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  const P one = set1<P>(T(1)), a = abs(x), twice = add(a, a);
  const detail::twin<P> d = detail::fast_two_sum(one, neg(a));
  const P inverse = div(one, d.hi);
  detail::twin<P> t{mul(twice, inverse), one};
  t.lo = mul(fnma(t.hi, d.lo, detail::product_residual(t.hi, d.hi, twice)), inverse);
  P value = mul(set1<P>(T(0.5)), detail::log_of_twin(detail::one_plus(t), set1<P>(T(0))));
  // For |x| below this, atanh(x) rounds to x. The products above would lose digits of subnormals.
  value = select(lt(a, set1<P>(wide ? T(0x1p-28) : T(0x1p-13f))), a, value);
  value = select(lt(a, one), value, select(eq(a, one), inverse, set1<P>(std::numeric_limits<T>::quiet_NaN())));
  return with_sign(value, x);
}

}  // namespace tenure::math
