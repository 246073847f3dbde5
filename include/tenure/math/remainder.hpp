// SPDX-License-Identifier: BSL-1.0
// fmod, remainder, floor_divide. The quotient q = |x| / |y| is rounded, so floor(q) is right or one too large, and |x| - floor(q) |y| is exact.
// Law: fmod is exact, as that of C; remainder(x, y) is fmod(x, y), plus y where its sign is not the sign of y (Python's %, rounded once);
//      floor_divide(x, y) is the integer below the quotient of x - remainder and y, and x / y where y is 0. Integers as in core/number.hpp.
// Cost: one division and some ten operations; floor_divide has a second division. A packet with a lane whose |q| is 2^52 or more
//       (float: 2^23) calls the fmod of C for each lane.
#pragma once

#include <cmath>

#include <tenure/core/number.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/math/twin.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
template <class P>
[[gnu::noinline, gnu::cold]] TENURE_KERNEL inline void fmod_lanes(const scalar_of<P>* x, const scalar_of<P>* y, scalar_of<P>* r) {
  for (int i = 0; i < width<P>; ++i) r[i] = static_cast<scalar_of<P>>(std::fmod(x[i], y[i]));
}

// True where r is not 0 and y has the other sign.
template <class P>
TENURE_KERNEL_INLINE mask_of<P> signs_differ(P r, P y) {
  const P zero = set1<P>(scalar_of<P>(0));
  return mask_and(ne(r, zero), mask_xor(lt(r, zero), lt(y, zero)));
}
}  // namespace detail

/// x - trunc(x / y) * y, exactly. It has the sign of x, also where it is 0. NaN for infinite x and for y = 0; x for finite x and infinite y.
template <class P>
TENURE_KERNEL_LAYER P fmod(P x, P y) {
  using T = scalar_of<P>;
  if constexpr (std::is_integral_v<T>) {
    return number::fmod(x, y);
  } else {
    constexpr bool wide = detail::layout<P>::wide;
    const P a = abs(x), b = abs(y), q = div(a, b);
    P r = detail::product_residual(floor(q), b, a);
    r = select(lt(r, set1<P>(T(0))), add(r, b), r);
    r = select(lt(a, b), a, r);  // also for infinite b, where r is NaN
    mask_of<P> far = ge(q, set1<P>(wide ? T(0x1p52) : T(0x1p23f)));
    // Without fma the product is split, which overflows for a large y.
    if constexpr (!detail::has_fma) far = mask_or(far, gt(a, set1<P>(wide ? T(0x1p990) : T(0x1p110f))));
    r = with_sign(r, x);
    if (any<P>(far)) [[unlikely]] {
      T lanes[width<P>], divisors[width<P>], remainders[width<P>];
      store<P>(lanes, x);
      store<P>(divisors, y);
      detail::fmod_lanes<P>(lanes, divisors, remainders);
      r = load<P>(remainders);
    }
    return r;
  }
}

/// x - floor(x / y) * y. It has the sign of y, or is a zero with the sign of x.
template <class P>
TENURE_KERNEL_LAYER P remainder(P x, P y) {
  if constexpr (std::is_integral_v<scalar_of<P>>) {
    return number::remainder(x, y);
  } else {
    const P r = fmod(x, y);
    return select(detail::signs_differ(r, y), add(r, y), r);
  }
}

/// floor(x / y), from the exact remainder: 1 / 0.1 is 10, and its floor_divide is 9, because 0.1 is more than a tenth. x / y where y is 0.
template <class P>
TENURE_KERNEL_LAYER P floor_divide(P x, P y) {
  using T = scalar_of<P>;
  if constexpr (std::is_integral_v<T>) {
    return number::floor_divide(x, y);
  } else {
    const P zero = set1<P>(T(0)), one = set1<P>(T(1)), quotient = div(x, y), r = fmod(x, y);
    P whole = div(sub(x, r), y);
    whole = select(detail::signs_differ(r, y), sub(whole, one), whole);
    P below = floor(whole);
    below = select(gt(sub(whole, below), set1<P>(T(0.5))), add(below, one), below);  // `whole` is an integer but for its rounding
    below = select(eq(whole, zero), with_sign(zero, quotient), below);
    return select(eq(y, zero), quotient, below);
  }
}

}  // namespace tenure::math
