// SPDX-License-Identifier: BSL-1.0
// The derivatives of sigmoid and tanh: e / (1 + e)^2 with e = e^-|x|, and 4 e / (1 + e)^2 with e = e^-2|x|. The first is written with sigmoid: a
// kernel that computes both shares most steps. The second shares nothing with tanh, so it does not wait for the value of tanh.
// Law: at most 5 ulp, also where it is tiny or subnormal; even; 0 at the infinities.
// Cost: sigmoid_slope is a sigmoid and four steps, or only the four beside a sigmoid; tanh_slope is an exp, a division and three steps.
#pragma once

#include <tenure/math/exponential.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
TENURE_KERNEL_LAYER P sigmoid_slope(P x) {
  const P y = sigmoid(x), larger = max_of_numbers(y, sub(set1<P>(scalar_of<P>(1)), y));  // 1 / (1 + e)
  return mul(mul(detail::exp_of_minus_abs(x), larger), larger);
}

template <class P>
TENURE_KERNEL_LAYER P tanh_slope(P x) {
  const P half = set1<P>(scalar_of<P>(0.5));
  P e;
#if TENURE_AVX512
  if constexpr (is_512<P>) e = detail::exp_by_table<false>(mul(abs(x), set1<P>(scalar_of<P>(-2))));
  else
#endif
  e = detail::exp_of_minus_abs(add(x, x));
  const P mean = fma(e, half, half);
  return div(e, mul(mean, mean));
}

}  // namespace tenure::math
