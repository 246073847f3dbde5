// SPDX-License-Identifier: BSL-1.0
// Polynomials, as one chain of fma or as several shorter ones.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tenure/math/packet/arithmetic.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

namespace detail {
template <class P, class T, std::size_t N, std::size_t... I>
TENURE_KERNEL_INLINE P horner_steps(P x, const T (&c)[N], std::index_sequence<I...>) {
  P sum = set1<P>(c[N - 1]);
  ((sum = fma(sum, x, set1<P>(c[N - 2 - I]))), ...);
  return sum;
}

// These are functions and not lambdas: g++ may clone a lambda with fewer arguments, and then it does not inline the clone.
template <class P, class T, std::size_t N, std::size_t... I>
TENURE_KERNEL_INLINE void half_steps(P z, const T (&c)[N], P (&sum)[2], std::index_sequence<I...>) {
  ((sum[(N - 3 - I) & 1] = fma(sum[(N - 3 - I) & 1], z, set1<P>(c[N - 3 - I]))), ...);
}
template <std::size_t I, class P, class T, std::size_t N>
TENURE_KERNEL_INLINE P pair_at(P x, const T (&c)[N]) {
  if constexpr (I + 1 < N) return fma(set1<P>(c[I + 1]), x, set1<P>(c[I]));
  else return set1<P>(c[I]);
}
template <std::size_t Last, class P, class T, std::size_t N, std::size_t... I>
TENURE_KERNEL_INLINE P pair_steps(P x, P z, const T (&c)[N], std::index_sequence<I...>) {
  P sum = pair_at<Last>(x, c);
  ((sum = fma(sum, z, pair_at<Last - 2 - 2 * I>(x, c))), ...);
  return sum;
}
}  // namespace detail

/// The polynomial c[0] + c[1] x + c[2] x^2 + ... as a chain of N-1 fma.
template <class P, std::size_t N>
TENURE_KERNEL_INLINE P horner(P x, const scalar_of<P> (&c)[N]) {
  return detail::horner_steps(x, c, std::make_index_sequence<N - 1>());
}

/// The same polynomial, with z = x^2: the even and the odd powers are two chains. It takes as many operations but half the latency.
template <class P, std::size_t N>
TENURE_KERNEL_INLINE P horner_by_halves(P x, P z, const scalar_of<P> (&c)[N]) {
  P sum[2] = {set1<P>(c[(N - 1) & ~std::size_t(1)]), set1<P>(c[(N - 2) | 1])};
  detail::half_steps(z, c, sum, std::make_index_sequence<N - 2>());
  return fma(sum[1], x, sum[0]);
}

/// The same polynomial from pairs of neighbouring terms, which do not wait for z. A loop with an exp and a tanh is 1 % faster
/// with it. With nine terms, as in log1p, horner_by_halves is 4 % faster.
template <class P, std::size_t N>
TENURE_KERNEL_INLINE P horner_by_pairs(P x, P z, const scalar_of<P> (&c)[N]) {
  constexpr std::size_t last = (N - 1) & ~std::size_t(1);
  return detail::pair_steps<last>(x, z, c, std::make_index_sequence<last / 2>());
}

}  // namespace tenure::math
