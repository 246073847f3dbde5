// SPDX-License-Identifier: BSL-1.0
// A function on [0, end) as one polynomial a piece, the coefficients looked up by a permutation of one 512-bit register each.
// Law: value(c) + value_rest(c) + d p(d) with c the centre of the piece and d = a - c exact: about 1 ulp.
// Cost: N permutations and N fma for N coefficients, whatever the function; no exp, no division. AVX-512 only.
#pragma once

#include <tenure/math/packet.hpp>

#if defined(EIGEN_VECTORIZE_AVX512)

namespace tenure::math::detail {

template <class P>
[[gnu::always_inline]] inline P lookup(const scalar_of<P> (&row)[width<P>], P index) {
  if constexpr (layout<P>::wide) return _mm512_maskz_permutexvar_pd(every_lane<P>, _mm512_castpd_si512(index), load<P>(row));
  else return _mm512_maskz_permutexvar_ps(every_lane<P>, _mm512_castps_si512(index), load<P>(row));
}

template <class P, std::size_t N, std::size_t... I>
[[gnu::always_inline]] inline P piecewise_steps(P d, P index, const scalar_of<P> (&rows)[N][width<P>], std::index_sequence<I...>) {
  P sum = lookup<P>(rows[N - 1], index);
  ((sum = fma(sum, d, lookup<P>(rows[N - 2 - I], index))), ...);
  return add(lookup<P>(rows[0], index), sum);
}

// rows: the value at the centres k w, the rest of it, and the coefficients of p. 0 <= a < (width - 1/2) w, or NaN;
// w must be short, so that k w is exact.
template <class P, std::size_t N>
[[gnu::always_inline]] inline P piecewise(P a, scalar_of<P> w, const scalar_of<P> (&rows)[N][width<P>]) {
  const P shifter = set1<P>(layout<P>::shifter);
  // The low bits of `index` are k; the permutations read no others.
  const P index = fma(a, set1<P>(1 / w), shifter);
  const P d = fma(sub(index, shifter), set1<P>(-w), a);
  return piecewise_steps(d, index, rows, std::make_index_sequence<N - 2>());
}

}  // namespace tenure::math::detail

#endif
