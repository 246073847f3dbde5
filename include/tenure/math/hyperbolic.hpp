// SPDX-License-Identifier: BSL-1.0
// tanh, sinh, cosh through h = (e^|x| - 1)/2, which keeps relative accuracy at 0.
// Law: at most 2 ulp; tanh and sinh are odd with -0 kept, cosh is even; infinities and NaN as the C library.
// Cost: an expm1 and one division, or for float with AVX-512 one polynomial a piece; sinh and cosh add a branch-free large case.
#pragma once

#include <tenure/math/exponential.hpp>
#include <tenure/math/pieces.hpp>
#include <tenure/math/piecewise.hpp>

namespace tenure::math {

template <class P>
TENURE_KERNEL_INLINE P tanh(P x) {
  using T = scalar_of<P>;
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (is_512<P> && !detail::layout<P>::wide)
    return with_sign(detail::piecewise<false>(at_most(abs(x), 9.05f), 75.0f / 128, detail::tanh_pieces_float), x);
#endif
  // tanh rounds to 1 from 19.07 (float: 9.02) on.
  const P a = at_most(abs(x), T(detail::layout<P>::wide ? 20.0 : 10.0));
  const P h = detail::half_expm1(add(a, a));
  return with_sign(detail::quotient_by_one_plus(h, h), x);
}

namespace detail {
// e^a / 2 for 0 <= a, past the overflow of e^a.
template <class P>
TENURE_KERNEL_INLINE P half_exp(P a) {
  using T = scalar_of<P>;
  const exp_parts<P> parts = exp_reduce(at_most(a, T(layout<P>::wide ? 712.0 : 90.0)));
  const P e = fma(parts.r, fma(parts.r, exp_tail(parts.r), set1<P>(T(1))), set1<P>(T(1)));
  return scale(e, sub(parts.n, set1<P>(T(1))));
}
}  // namespace detail

template <class P>
TENURE_KERNEL_INLINE P sinh(P x) {
  using T = scalar_of<P>;
  constexpr bool wide = detail::layout<P>::wide;
  const P a = abs(x);
  const detail::exp_parts<P> parts = detail::exp_reduce(at_most(a, T(wide ? 712.0 : 90.0)));
  const P t = mul(mul(parts.r, parts.r), detail::exp_tail(parts.r));
  const P one = set1<P>(T(1));
  const P large = detail::scale(add(one, add(parts.r, t)), sub(parts.n, one));
  // With h = (e^a - 1)/2 and k = h/(2h + 1): sinh = h + k = 2h - 2hk. The second form rounds less near 0, the first
  // does not cancel; from 22 (float: 10) on k is below half an ulp of e^a / 2.
  const P h = detail::half_expm1(at_most(parts.n, T(40)), parts.r, t);
  const P twice = add(h, h);
  const P k = div(h, add(twice, one));
  const P near = select(lt(h, set1<P>(T(0.5))), fnma(twice, k, twice), add(h, k));
  const mask_of<P> far = gt(a, set1<P>(T(wide ? 22.0 : 10.0)));
  // Below this sinh(x) rounds to x, and halving a subnormal would not.
  const mask_of<P> tiny = lt(a, set1<P>(T(wide ? 0x1p-27 : 0x1p-13)));
  return select(tiny, x, with_sign(select(far, large, near), x));
}

template <class P>
TENURE_KERNEL_INLINE P cosh(P x) {
  using T = scalar_of<P>;
  const P e = detail::half_exp(abs(x));
  return add(e, div(set1<P>(T(0.25)), e));
}

}  // namespace tenure::math
