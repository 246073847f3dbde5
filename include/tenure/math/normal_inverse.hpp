// SPDX-License-Identifier: BSL-1.0
// The inverse of the normal distribution function, and of erf. erfinv(x) / x is a polynomial in w = -log(1 - x^2) up to w = 4.5. Beyond it a guess, a polynomial in
// 1 / sqrt(w), is improved by a step of Halley's method for log Phi(z) = log p, which is nearly a parabola there.
// Law: erfinv and normal_icdf have at most 4 ulp.
// Cost: two logarithms, four polynomials, two square roots and four divisions.
#pragma once

#include <tenure/math/normal_tail.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
template <class P>
struct quantile_parts {
  mask_of<P> is_tail;
  P near;  // erfinv(x)
  P far;   // -z for Phi(z) = p
};
// For |x| = 1 - 2 p and p <= 1/2.
template <class P>
TENURE_KERNEL_LAYER quantile_parts<P> quantile_parts_of(P x, P p) {
  using T = scalar_of<P>;
  constexpr bool wide = layout<P>::wide;
  const P zero = set1<P>(T(0)), one = set1<P>(T(1));
  // w >= 4.5
  const mask_of<P> is_tail = lt(p, set1<P>(T(0.0027849)));
  const P l = log(select(is_tail, p, mul(mul(set1<P>(T(4)), p), sub(one, p))));
  // 1 - x^2 = 4 p (1 - p)
  const P w = select(is_tail, sub(fma(p, fma(p, set1<P>(T(0.5)), one), neg(l)), set1<P>(T(1.38629436111989061883L))), neg(l));
  P c, near, far;
  c = sub(w, set1<P>(T(2.25)));
  if constexpr (wide)
    near = horner<P>(c, {0x1.7083a336cd764p+0, 0x1.fce34214befadp-3, -0x1.9d94b8d1cbee6p-9, -0x1.821fe73cefd11p-10, 0x1.cf8b8bcbf06f2p-13,
                         0x1.8d38bc47f1bb9p-21, -0x1.1aedd3bb1e1a8p-18, 0x1.c9571ab8c4fdbp-22, 0x1.57ea4a58ed8d8p-25, -0x1.b146791742e5cp-27,
                         0x1.ecefc1db7714cp-32, 0x1.d672e13bc32f1p-33, -0x1.0c616e6ce473fp-35, -0x1.908f3abda842ap-40, 0x1.b64801dd85512p-41,
                         -0x1.9fc47f28ab8f6p-45, -0x1.ac0c92e66761bp-47, 0x1.1cf2524cbfde2p-49, 0x1.26c289ca243cbp-54, -0x1.2f836c54518e7p-55,
                         0x1.6564aef9a14a2p-60});
  else
    near = horner<P>(c, {0x1.7083a4p+0f, 0x1.fce342p-3f, -0x1.9d9504p-9f, -0x1.8220bcp-10f, 0x1.cf93a8p-13f, 0x1.97c0e6p-21f, -0x1.1b96b2p-18f,
                         0x1.bd900cp-22f, 0x1.71aeb4p-25f, -0x1.5a30dp-27f});
  const P s = sqrt(select(is_tail, w, set1<P>(T(5)))), inverse = div(one, s);
  const mask_of<P> farther = gt(s, set1<P>(T(6.05)));
  c = sub(inverse, set1<P>(T(0.3125)));
  if constexpr (wide)
    far = horner<P>(c, {0x1.e55f88cdc2f54p-1, -0x1.75ba3e51f9805p-3, 0x1.51c3bfd1e6b2fp-3, 0x1.680ac389777d9p-2, -0x1.a0d76efba1230p-1,
                        -0x1.40e599d6f6a3fp-2, -0x1.67a0b41dd0d6ap+0, 0x1.1b619454cfd53p+3, 0x1.2d5e30e0a8391p+3});
  else
    far = horner<P>(c, {0x1.e55f88p-1f, -0x1.75ba3ep-3f, 0x1.51c3cp-3f, 0x1.680ac4p-2f, -0x1.a0d76ep-1f, -0x1.40e59ap-2f, -0x1.67a0b4p+0f,
                        0x1.1b6194p+3f, 0x1.2d5e3p+3f});
  P farthest;
  c = sub(inverse, set1<P>(T(0.1)));
  if constexpr (wide)
    farthest = horner<P>(c, {0x1.fa663187cf5a1p-1, -0x1.5a4a380209e53p-3, -0x1.664a504977bbep-2, 0x1.a3586a9b2ae87p+0, -0x1.06c91d6488425p+2,
                             0x1.fd8280107f7ddp+3, -0x1.d4e6cc9858d01p+6, 0x1.4c323bdea0c0ap+9});
  else
    farthest = horner<P>(c, {0x1.fa6632p-1f, -0x1.5a4a38p-3f, -0x1.664a5p-2f, 0x1.a3586ap+0f, -0x1.06c91ep+2f, 0x1.fd828p+3f, -0x1.d4e6ccp+6f,
                             0x1.4c323cp+9f});
  const P z = mul(mul(s, select(farther, farthest, far)), set1<P>(T(1.41421356237309504880L)));
  const P e = normal_excess_of(z), r = add(z, e);
  const P residual = sub(fma(mul(z, set1<P>(T(-0.5))), z, neg(log(mul(r, set1<P>(root_of_2_pi<T>))))), l);
  const P step = div(residual, r);
  const P improved = add(z, div(step, fma(step, mul(e, set1<P>(T(0.5))), one)));
  return {is_tail, mul(x, near), select(eq(p, zero), set1<P>(std::numeric_limits<T>::infinity()), improved)};
}
}  // namespace detail

/// The inverse of erf. Infinite at -1 and 1, and NaN beyond.
template <class P>
TENURE_KERNEL_LAYER P erfinv(P x) {
  using T = scalar_of<P>;
  const detail::quantile_parts<P> q = detail::quantile_parts_of(x, mul(sub(set1<P>(T(1)), abs(x)), set1<P>(T(0.5))));
  return select(q.is_tail, with_sign(mul(q.far, set1<P>(T(0.70710678118654752440L))), x), q.near);
}

/// z for Phi(z) = p. Infinite at 0 and 1, and NaN beyond.
template <class P>
TENURE_KERNEL_LAYER P normal_icdf(P p) {
  using T = scalar_of<P>;
  const P one = set1<P>(T(1)), x = sub(add(p, p), one);
  const detail::quantile_parts<P> q = detail::quantile_parts_of(x, min(p, sub(one, p)));
  return select(q.is_tail, with_sign(q.far, x), mul(q.near, set1<P>(T(1.41421356237309504880L))));
}

}  // namespace tenure::math
