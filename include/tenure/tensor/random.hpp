// SPDX-License-Identifier: BSL-1.0
// Random factories, and a small random engine. Law: the values depend only on the output of the engine, because the distributions
// of the standard library are not used, and each element takes a fixed number of draws. So a seed gives the same values on every
// platform, except for the last bit of log() in the tails of normal(). Cost: a few nanoseconds for each element.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "factories.hpp"

namespace TENURE_NAMESPACE {

/// The random engine xoshiro256++ (Blackman and Vigna), seeded by splitmix64. It is a uniform random bit generator of 64 bits.
class engine {
 public:
  using result_type = std::uint64_t;
  constexpr explicit engine(std::uint64_t seed = 0) {
    for (std::uint64_t& word : state_) {
      std::uint64_t z = (seed += 0x9e3779b97f4a7c15u);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  constexpr result_type operator()() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  friend constexpr bool operator==(const engine&, const engine&) = default;

 private:
  std::uint64_t state_[4] = {};
};

/// A uniform random bit generator: tenure::engine, std::mt19937, std::mt19937_64 and similar classes. The number of values that
/// it can return must be a power of two.
template <class G>
concept random_engine = requires(std::remove_cvref_t<G>& g) {
  { std::remove_cvref_t<G>::max() } -> std::unsigned_integral;  // first, because g() of a traced key gives a message
  { g() } -> std::unsigned_integral;
};

namespace detail {

/// Returns `wanted` random bits, fewer than 64. They are the highest bits of a draw. If the engine has fewer bits, several draws are joined.
template <class G>
std::uint64_t random_bits(G& g, int wanted) {
  using made = std::remove_cvref_t<G>;
  constexpr std::uint64_t span = static_cast<std::uint64_t>(made::max()) - static_cast<std::uint64_t>(made::min());
  static_assert((span & (span + 1)) == 0 && span != 0, "tenure: random: the engine does not produce whole bits");
  constexpr int bits = std::bit_width(span);
  std::uint64_t pool = 0;
  int have = 0;
  while (have < wanted) {
    const std::uint64_t drawn = static_cast<std::uint64_t>(g()) - static_cast<std::uint64_t>(made::min());
    const int used = wanted - have < bits ? wanted - have : bits;
    pool = pool << used | drawn >> (bits - used);
    have += used;
  }
  return pool;
}

/// A uniform value in [0, 1). It is a multiple of half of the type's epsilon.
template <class T, class G>
T random_unit(G& g) {
  constexpr int digits = std::numeric_limits<T>::digits;
  constexpr T unit = T(1) / static_cast<T>(std::uint64_t{1} << digits);
  return static_cast<T>(random_bits(g, digits)) * unit;
}

constexpr double polynomial(const double (&c)[8], double x) {
  double y = c[7];
  for (int i = 6; i >= 0; --i) y = y * x + c[i];
  return y;
}

/// The quantile function of the standard normal distribution for 0 < p < 1, with a relative error of about 1e-16.
/// Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988).
inline double normal_quantile(double p) {
  constexpr double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                           1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                           3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double b[8] = {1.0,
                           4.2313330701600911252e+1,
                           6.8718700749205790830e+2,
                           5.3941960214247511077e+3,
                           2.1213794301586595867e+4,
                           3.9307895800092710610e+4,
                           2.8729085735721942674e+4,
                           5.2264952788528545610e+3};
  constexpr double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                           3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[8] = {1.0,
                           2.05319162663775882187e0,
                           1.67638483018380384940e0,
                           6.89767334985100004550e-1,
                           1.48103976427480074590e-1,
                           1.51986665636164571966e-2,
                           5.47593808499534494600e-4,
                           1.05075007164441684324e-9};
  constexpr double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double f[8] = {1.0,
                           5.99832206555887937690e-1,
                           1.36929880922735805310e-1,
                           1.48753612908506148525e-2,
                           7.86869131145613259100e-4,
                           1.84631831751005468180e-5,
                           1.42151175831644588870e-7,
                           2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1.0 - p));
  const double x =
      r <= 5.0 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5.0) / polynomial(f, r - 5.0);
  return q < 0 ? -x : x;
}

/// A standard normal value from 52 random bits. The uniform value is the middle of its interval, so it is neither 0 nor 1.
template <class G>
double random_normal(G& g) {
  return normal_quantile((static_cast<double>(random_bits(g, 52)) + 0.5) * 0x1p-52);
}

/// Throws tenure::error if no uniform distribution lies between these bounds, or if their difference is infinite in T.
template <class T>
constexpr void require_bounds(double low, double high) {
  if (!(low <= high)) TENURE_THROW(error("tenure: uniform: the lower bound is above the upper bound, or a bound is NaN"));
  const T a = number::convert<T>(low), b = number::convert<T>(high);
  constexpr T most = std::numeric_limits<T>::max();
  if (!(-most <= a && b <= most && number::scale_of_difference(a, b) == 1)) TENURE_THROW(error("tenure: uniform: the difference of the bounds is no finite number"));
}

}  // namespace detail

/// Independent values with the uniform distribution on [low, high), by default [0, 1). T is a floating type. The engine comes
/// after the shape: uniform(shape<2, 3>{}, g, -1.0, 1.0). Throws tenure::error, before it draws, if low > high, if a bound is NaN, or if
/// high - low is infinite in T.
template <element T = float, any_shape Shape, random_engine G, std::floating_point B, std::integral... N>
tensor<T, Shape> uniform(Shape, G&& g, B low, B high, N... n) {
  static_assert(is_floating(dtype_v<T>), "tenure: uniform: only floating-point elements have a uniform distribution");
  detail::require_bounds<T>(low, high);
  const T start = static_cast<T>(low);
  const T width = static_cast<T>(high) - start;
  tensor<T, Shape> made(uninitialized, n...);
  T* const to = detail::tensor_access::fresh(made);
  const std::int64_t size = made.size();
  for (std::int64_t i = 0; i < size; ++i) {
    const T value = start + width * detail::random_unit<T>(g);
    to[i] = value < static_cast<T>(high) ? value : start;  // the sum may round up to high
  }
  return made;
}
template <element T = float, any_shape Shape, random_engine G, std::integral... N>
tensor<T, Shape> uniform(Shape s, G&& g, N... n) { return uniform<T>(s, g, 0.0, 1.0, n...); }
/// uniform() with bounds of other types: uniform(shape<3>{}, g, -1, 1), or uniform(shape<dyn>{}, g, -1, 1, n). The shape says how many numbers are extents.
template <element T = float, any_shape Shape, random_engine G, scalar A, scalar B, std::integral... N>
  requires(detail::dynamic_count_of<Shape> == sizeof...(N) && !(std::floating_point<A> && std::same_as<A, B>))
tensor<T, Shape> uniform(Shape s, G&& g, A low, B high, N... n) { return uniform<T>(s, g, static_cast<double>(low), static_cast<double>(high), n...); }

/// Independent values with the normal distribution of this mean and standard deviation, by default 0 and 1. T is a floating
/// type.
template <element T = float, any_shape Shape, random_engine G, std::floating_point B, std::integral... N>
tensor<T, Shape> normal(Shape, G&& g, B mean, B deviation, N... n) {
  static_assert(is_floating(dtype_v<T>), "tenure: normal: only floating-point elements have a normal distribution");
  tensor<T, Shape> made(uninitialized, n...);
  T* const to = detail::tensor_access::fresh(made);
  const std::int64_t size = made.size();
  for (std::int64_t i = 0; i < size; ++i)
    to[i] = static_cast<T>(static_cast<double>(mean) + static_cast<double>(deviation) * detail::random_normal(g));
  return made;
}
template <element T = float, any_shape Shape, random_engine G, std::integral... N>
tensor<T, Shape> normal(Shape s, G&& g, N... n) { return normal<T>(s, g, 0.0, 1.0, n...); }
template <element T = float, any_shape Shape, random_engine G, scalar A, scalar B, std::integral... N>
  requires(detail::dynamic_count_of<Shape> == sizeof...(N) && !(std::floating_point<A> && std::same_as<A, B>))
tensor<T, Shape> normal(Shape s, G&& g, A mean, B deviation, N... n) { return normal<T>(s, g, static_cast<double>(mean), static_cast<double>(deviation), n...); }

namespace detail {
/// A number in place of an engine.
template <class Shape>
constexpr after_error refused_seed() {
  static_assert(never<Shape>, "tenure: normal, uniform: the numbers come from a key, normal(shape, tn::random_key(42)), or from an engine, which a variable holds: tn::engine g(42)");
  return {};
}
/// A shape alone.
template <class Shape>
constexpr after_error refused_no_source() {
  static_assert(never<Shape>, "tenure: normal, uniform: no key: the numbers need a source; write normal(shape, tn::random_key(42)), or normal(shape, g) with tn::engine g(42)");
  return {};
}
}  // namespace detail
template <element T = float, any_shape Shape>
constexpr auto uniform(Shape) { return detail::refused_no_source<Shape>(); }
template <element T = float, any_shape Shape>
constexpr auto normal(Shape) { return detail::refused_no_source<Shape>(); }
template <element T = float, any_shape Shape, scalar Seed, class... N>
constexpr auto uniform(Shape, Seed, const N&...) { return detail::refused_seed<Shape>(); }
template <element T = float, any_shape Shape, scalar Seed, class... N>
constexpr auto normal(Shape, Seed, const N&...) { return detail::refused_seed<Shape>(); }

template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto uniform(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto normal(const N&...) { return detail::refused_factory<T, N...>(); }

}  // namespace tenure
