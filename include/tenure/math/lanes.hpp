// SPDX-License-Identifier: BSL-1.0
// A number, or a packet with one number in each lane, with the operators of a number. Code written with this type computes one sample, or one sample
// in each lane, with the same bits: each operation is rounded alike.
#pragma once

#include <tenure/math/packet/arithmetic.hpp>
#include <tenure/math/packet/comparison.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

/// The answer of a comparison for each lane.
template <class P>
struct lanes_choice {
  mask_of<P> mask;

  friend TENURE_KERNEL_INLINE lanes_choice operator&&(lanes_choice a, lanes_choice b) { return {mask_and(a.mask, b.mask)}; }
  friend TENURE_KERNEL_INLINE lanes_choice operator!(lanes_choice a) { return {mask_not(a.mask)}; }
};

template <class P>
struct lanes {
  using packet = P;
  using number = scalar_of<P>;

  P value;

  lanes() = default;
  TENURE_KERNEL_INLINE constexpr lanes(P v) : value(v) {}
  TENURE_KERNEL_INLINE explicit lanes(number x) requires(!is_one_lane<P>) : value(set1<P>(x)) {}

  friend TENURE_KERNEL_INLINE lanes operator+(lanes a, lanes b) { return add(a.value, b.value); }
  friend TENURE_KERNEL_INLINE lanes operator-(lanes a, lanes b) { return sub(a.value, b.value); }
  friend TENURE_KERNEL_INLINE lanes operator*(lanes a, lanes b) { return mul(a.value, b.value); }
  friend TENURE_KERNEL_INLINE lanes operator/(lanes a, lanes b) { return div(a.value, b.value); }
  friend TENURE_KERNEL_INLINE lanes_choice<P> operator<(lanes a, lanes b) { return {lt(a.value, b.value)}; }
  friend TENURE_KERNEL_INLINE lanes_choice<P> operator>(lanes a, lanes b) { return {gt(a.value, b.value)}; }
};

/// c - a * b, rounded once where the machine has the instruction.
template <class P>
TENURE_KERNEL_INLINE lanes<P> minus_product(lanes<P> c, lanes<P> a, lanes<P> b) { return fnma(a.value, b.value, c.value); }
template <class P>
TENURE_KERNEL_INLINE lanes<P> abs(lanes<P> a) { return abs(a.value); }
template <class P>
TENURE_KERNEL_INLINE lanes<P> sqrt(lanes<P> a) { return sqrt(a.value); }

/// f(x) of each lane, for a function of packets such as log. Packets of 512 bits have algorithms of their own, so a single number goes through one too.
template <class P, class F>
TENURE_KERNEL_INLINE lanes<P> by_packets(lanes<P> x, F f) {
  using wide = packet_of<scalar_of<P>>;
  if constexpr (is_one_lane<P> && !is_one_lane<wide> && is_512<wide>) return scalar_of<P>(f(set1<wide>(x.value))[0]);
  else return f(x.value);
}

/// a in the lanes where `where` is true, else b.
template <class P>
TENURE_KERNEL_INLINE lanes<P> choose(lanes_choice<P> where, lanes<P> a, lanes<P> b) { return select<P>(where.mask, a.value, b.value); }

/// Whether the comparison is true in any lane.
template <class P>
TENURE_KERNEL_INLINE bool any(lanes_choice<P> c) { return any<P>(c.mask); }
/// Exchanges a and b in the lanes where `where` is true.
template <class P>
TENURE_KERNEL_INLINE void exchange(lanes_choice<P> where, lanes<P>& a, lanes<P>& b) {
  const P first = a.value;
  a = select<P>(where.mask, b.value, first);
  b = select<P>(where.mask, first, b.value);
}

}  // namespace tenure::math
