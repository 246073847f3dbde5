// SPDX-License-Identifier: BSL-1.0
// A number, or a packet with one number in each lane, with the operators of a number. Code written with this type computes one sample, or one sample
// in each lane, with the same bits: each operation is rounded alike.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tenure/math/packet/arithmetic.hpp>
#include <tenure/math/packet/comparison.hpp>
#include <tenure/math/packet/memory.hpp>

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

  static constexpr bool is_number = is_one_lane<P>;

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
  friend TENURE_KERNEL_INLINE lanes_choice<P> operator==(lanes a, lanes b) { return {eq(a.value, b.value)}; }
};

/// c - a * b, rounded once where the machine has the instruction.
template <class P>
TENURE_KERNEL_INLINE lanes<P> minus_product(lanes<P> c, lanes<P> a, lanes<P> b) { return fnma(a.value, b.value, c.value); }
/// a * b + c, rounded once.
template <class P>
TENURE_KERNEL_INLINE lanes<P> product_plus(lanes<P> a, lanes<P> b, lanes<P> c) { return fma(a.value, b.value, c.value); }
namespace detail {
/// The first n numbers, from which products with rows are taken off, stay in registers.
template <class Wide, int Packets>
TENURE_KERNEL_INLINE void subtract_from_packets(int n, scalar_of<Wide>* to, int terms, const scalar_of<Wide>* factor, std::int64_t next_factor, const scalar_of<Wide>* from, std::int64_t next_row) {
  constexpr int lanes = width<Wide>;
  Wide rest[Packets];
  const bool is_whole = n == Packets * lanes;
  for (int p = 0; p < Packets; ++p) rest[p] = is_whole ? load<Wide>(to + p * lanes) : load_first<Wide>(to, n);
  if (is_whole) {
    for (int left = terms; left > 0; --left, factor += next_factor, from += next_row) {
      const Wide times = set1<Wide>(*factor);
      for (int p = 0; p < Packets; ++p) rest[p] = fnma(times, load<Wide>(from + p * lanes), rest[p]);
    }
    for (int p = 0; p < Packets; ++p) store<Wide>(to + p * lanes, rest[p]);
  } else {
    for (int left = terms; left > 0; --left, factor += next_factor, from += next_row) rest[0] = fnma(set1<Wide>(*factor), load_first<Wide>(from, n), rest[0]);
    store_first<Wide>(to, rest[0], n);
  }
}
}  // namespace detail

/// Takes off a row of n numbers the products of other rows with their factors, one after the other: to[i] - factor[0] * from[i] - ... The rows do not overlap.
/// Long rows of one sample go in packets, with the same bits.
template <class P>
TENURE_KERNEL_INLINE void subtract_products(std::int64_t n, lanes<P>* to, std::int64_t terms, const lanes<P>* factor, std::int64_t next_factor, const lanes<P>* from, std::int64_t next_row) {
  using wide = packet_of<scalar_of<P>>;
  if constexpr (is_one_lane<P> && !is_one_lane<wide>) {
    constexpr std::int64_t w = width<wide>;
    if (n >= 16 || (n > 1 && terms >= 16)) {  // a short row of few terms may stand in registers
      std::int64_t i = 0;
      const auto by = [&](auto packets, std::int64_t count) {
        detail::subtract_from_packets<wide, decltype(packets)::value>(static_cast<int>(count), &to->value + i, static_cast<int>(terms), &factor->value, next_factor, &from->value + i, next_row);
        i += count;
      };
      while (n - i >= 4 * w) by(std::integral_constant<int, 4>{}, 4 * w);
      if (n - i >= 2 * w) by(std::integral_constant<int, 2>{}, 2 * w);
      if (n - i >= w) by(std::integral_constant<int, 1>{}, w);
      if constexpr (has_masked_memory<wide>) {
        if (n > i) by(std::integral_constant<int, 1>{}, n - i);
      }
      for (; i < n; ++i) {
        lanes<P> rest = to[i];
        for (std::int64_t k = 0; k < terms; ++k) rest = minus_product(rest, factor[k * next_factor], from[k * next_row + i]);
        to[i] = rest;
      }
      return;
    }
  }
  for (std::int64_t k = 0; k < terms; ++k)
    for (std::int64_t i = 0; i < n; ++i) to[i] = minus_product(to[i], factor[k * next_factor], from[k * next_row + i]);
}
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
