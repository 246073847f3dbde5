// SPDX-License-Identifier: BSL-1.0
// A function on [0, end) as one polynomial for each piece. A permutation of a 512-bit register looks up each coefficient. AVX-512
// only.
// Law: the result is f(c) + f'(c) d + ..., where c is the centre of the piece, d = a - c is exact, and f(c) and, for some
// functions, the slope are stored as two numbers. The error is about 1 ulp.
// Cost: a permutation and an fma for each row of the table. It has no exp and no division.
#pragma once

#include <tenure/math/packet.hpp>

#if TENURE_AVX512

namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail {

template <class P>
TENURE_KERNEL_INLINE P lookup(const scalar_of<P> (&row)[width<P>], P index) {
  if constexpr (layout<P>::wide) return _mm512_maskz_permutexvar_pd(every_lane<P>, _mm512_castpd_si512(index), load<P>(row));
  else return _mm512_maskz_permutexvar_ps(every_lane<P>, _mm512_castps_si512(index), load<P>(row));
}

template <class P, std::size_t N, std::size_t... I>
TENURE_KERNEL_INLINE P piece_chain(P d, P index, const scalar_of<P> (&rows)[N][width<P>], std::index_sequence<I...>) {
  P sum = lookup<P>(rows[N - 1], index);
  ((sum = fma(sum, d, lookup<P>(rows[N - 2 - I], index))), ...);
  return sum;
}

// rows: the value at the centres k w, the slope there, the low part of the value, with SlopeRest the low part of the slope, and
// the higher coefficients. Requires 0 <= a < (width - 1/2) w, or NaN. w must have few digits, so that k w is exact.
template <bool SlopeRest, class P, std::size_t N>
TENURE_KERNEL_INLINE P piecewise(P a, scalar_of<P> w, const scalar_of<P> (&rows)[N][width<P>]) {
  const P shifter = set1<P>(layout<P>::shifter);
  // The low bits of `index` are k; the permutations read no others.
  const P index = fma(a, set1<P>(1 / w), shifter);
  const P d = fma(sub(index, shifter), set1<P>(-w), a);
  const P line = fma(d, lookup<P>(rows[1], index), lookup<P>(rows[0], index));
  const P rest = lookup<P>(rows[2], index);
  constexpr std::size_t first = 3;
  const P higher = piece_chain(d, index, rows, std::make_index_sequence<N - first - 1>());
  return add(line, fma(higher, SlopeRest ? d : mul(d, d), rest));
}

}  // namespace tenure::math::detail

#endif
