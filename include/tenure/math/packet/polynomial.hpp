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
  const auto step = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    sum[I & 1] = fma(sum[I & 1], z, set1<P>(c[I]));
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (step(std::integral_constant<std::size_t, N - 3 - I>{}), ...); }(std::make_index_sequence<N - 2>());
  return fma(sum[1], x, sum[0]);
}

/// The same polynomial from pairs of neighbouring terms, which do not wait for z. A loop with an exp and a tanh is 1 % faster
/// with it. With nine terms, as in log1p, horner_by_halves is 4 % faster.
template <class P, std::size_t N>
TENURE_KERNEL_INLINE P horner_by_pairs(P x, P z, const scalar_of<P> (&c)[N]) {
  const auto pair = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    if constexpr (I + 1 < N) return fma(set1<P>(c[I + 1]), x, set1<P>(c[I]));
    else return set1<P>(c[I]);
  };
  constexpr std::size_t last = (N - 1) & ~std::size_t(1);
  P sum = pair(std::integral_constant<std::size_t, last>{});
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((sum = fma(sum, z, pair(std::integral_constant<std::size_t, last - 2 - 2 * I>{}))), ...);
  }(std::make_index_sequence<last / 2>());
  return sum;
}

}  // namespace tenure::math
