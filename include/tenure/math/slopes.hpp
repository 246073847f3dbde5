// SPDX-License-Identifier: BSL-1.0
// The derivatives of sigmoid and tanh: e / (1 + e)^2 with e = e^-|x|, and e (1 + |tanh(x)|)^2 with e = e^-2|x|. They are written with the functions
// themselves: a kernel that computes both shares most steps.
// Law: at most 4 ulp, also where it is tiny or subnormal; even; 0 at the infinities.
// Cost: that of sigmoid and four steps more, or these four alone; that of tanh and an exponential, or the exponential alone.
#pragma once

#include <tenure/math/hyperbolic.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
TENURE_KERNEL_LAYER P sigmoid_slope(P x) {
  const P y = sigmoid(x), larger = max_of_numbers(y, sub(set1<P>(scalar_of<P>(1)), y));  // 1 / (1 + e)
  return mul(mul(detail::exp_of_minus_abs(x), larger), larger);
}

template <class P>
TENURE_KERNEL_LAYER P tanh_slope(P x) {
  const P sum = add(set1<P>(scalar_of<P>(1)), abs(tanh(x)));  // 2 / (1 + e)
  return mul(mul(detail::exp_of_minus_abs(add(x, x)), sum), sum);
}

}  // namespace tenure::math
