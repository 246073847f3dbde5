// SPDX-License-Identifier: BSL-1.0
// The functions of a family against golden numbers, and what a packet gives beside one number.
#pragma once

#include <algorithm>

#include "ulp.hpp"

namespace math_test {

// One lane of f(x...), with the same arguments in all lanes.
template <class P, class F, class... T>
m::scalar_of<P> of_lane(F f, T... x) {
  m::scalar_of<P> lanes[m::width<P>];
  m::store<P>(lanes, f(m::set1<P>(static_cast<m::scalar_of<P>>(x))...));
  return lanes[m::width<P> - 1];
}

// The distance of two numbers in ulp of T at the larger of |want| and `least`. Below the smallest normal number the ulp is constant.
template <class T>
double error_in_ulp(T got, long double want, long double least = 0) {
  if (std::isinf(static_cast<T>(want)) || std::isinf(got)) return got == static_cast<T>(want) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  int exponent = 0;
  std::frexp(std::max(std::fabs(want), least), &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

// The same number, or both NaN.
template <class T>
bool is_same(T a, T b) { return a == b || (a != a && b != b); }

// Whether each lane of f(x) is what f gives for a packet of this number alone.
template <class P, class F>
bool lanes_are_apart(F f, std::initializer_list<double> of) {
  using T = m::scalar_of<P>;
  T lanes[m::width<P>], together[m::width<P>];
  for (int k = 0; k < m::width<P>; ++k) lanes[k] = static_cast<T>(of.begin()[static_cast<std::size_t>(k) % of.size()]);
  m::store<P>(together, f(m::load<P>(lanes)));
  bool same = true;
  for (int k = 0; k < m::width<P>; ++k) same = same && is_same(together[k], of_lane<P>(f, lanes[k]));
  return same;
}

}  // namespace math_test
