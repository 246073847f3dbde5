// SPDX-License-Identifier: BSL-1.0
// The measure of the math tests: every function as a loop over packets P, compared with a wider reference.
// Law: an error is counted in units in the last place of the correctly rounded result, subnormal spacing included.
#pragma once

#include <tenure/math/math.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace math_test {

namespace m = tenure::math;

template <class T>
using wider = std::conditional_t<sizeof(T) == 8, long double, double>;

// Distance of got from the true value, in ulp of T at the true value; 0 where both are NaN or the same infinity.
template <class T>
double ulp_error(T got, wider<T> truth) {
  using limits = std::numeric_limits<T>;
  const T rounded = static_cast<T>(truth);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // One step from the largest finite number is one ulp.
    const T big = std::isinf(got) ? rounded : got;
    return std::fabs(big) == limits::max() && std::signbit(got) == std::signbit(rounded) ? 1 : 1e30;
  }
  int exponent = 0;
  std::frexp(truth, &exponent);
  exponent = std::max(exponent, limits::min_exponent);
  return static_cast<double>(std::fabs(static_cast<wider<T>>(got) - truth) / std::ldexp(wider<T>(1), exponent - limits::digits));
}

struct worst {
  double ulp = 0;
  double x = 0, y = 0, got = 0, want = 0;
};

// f maps a packet to a packet, truth a wider<T> to a wider<T>.
template <class P, class F, class R>
worst measure(F f, R truth, const std::vector<m::scalar_of<P>>& xs) {
  using T = m::scalar_of<P>;
  constexpr int w = m::width<P>;
  worst out;
  std::vector<T> in(xs);
  while (in.size() % w != 0) in.push_back(xs.back());
  for (std::size_t i = 0; i < in.size(); i += w) {
    T got[w];
    m::store<P>(got, f(m::load<P>(in.data() + i)));
    for (int k = 0; k < w; ++k) {
      const wider<T> want = truth(static_cast<wider<T>>(in[i + k]));
      const double e = ulp_error<T>(got[k], want);
      if (!(e <= out.ulp)) out = {e, in[i + k], 0, got[k], static_cast<double>(want)};
    }
  }
  return out;
}

template <class P, class F, class R>
worst measure2(F f, R truth, const std::vector<m::scalar_of<P>>& xs, const std::vector<m::scalar_of<P>>& ys) {
  using T = m::scalar_of<P>;
  constexpr int w = m::width<P>;
  worst out;
  for (std::size_t i = 0; i + w <= xs.size(); i += w) {
    T got[w];
    m::store<P>(got, f(m::load<P>(xs.data() + i), m::load<P>(ys.data() + i)));
    for (int k = 0; k < w; ++k) {
      const wider<T> want = truth(static_cast<wider<T>>(xs[i + k]), static_cast<wider<T>>(ys[i + k]));
      const double e = ulp_error<T>(got[k], want);
      if (!(e <= out.ulp)) out = {e, xs[i + k], ys[i + k], got[k], static_cast<double>(want)};
    }
  }
  return out;
}

// splitmix64
struct random_bits {
  std::uint64_t state;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
};

// `count` numbers evenly in [lo, hi], as many of all binary exponents and both signs, and the corners.
template <class T>
std::vector<T> samples(double lo, double hi, int count) {
  std::vector<T> out;
  random_bits bits{static_cast<std::uint64_t>(count)};
  for (int i = 0; i < count; ++i) out.push_back(static_cast<T>(lo + (hi - lo) * bits.unit()));
  for (int i = 0; i < count; ++i) {
    const std::uint64_t word = bits();
    if constexpr (sizeof(T) == 8) out.push_back(std::bit_cast<double>(word));
    else out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
  }
  for (int i = 0; i < count; ++i) {
    const T x = static_cast<T>(std::ldexp(1 + bits.unit(), static_cast<int>(bits() % 24) - 16));
    out.push_back(bits() & 1 ? x : -x);
  }
  using limits = std::numeric_limits<T>;
  for (T x : {T(0), limits::min(), limits::denorm_min(), limits::max(), limits::infinity(), limits::epsilon(), T(0.5), T(1), T(2)}) {
    for (T near : {x, std::nextafter(x, T(0)), std::nextafter(x, limits::infinity())}) {
      out.push_back(near);
      out.push_back(-near);
    }
  }
  out.push_back(limits::quiet_NaN());
  return out;
}

}  // namespace math_test
