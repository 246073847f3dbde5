// SPDX-License-Identifier: BSL-1.0
// Smooth functions of the square of an angle: what rotations are composed of. math/angle.hpp has their formulas. Their derivatives are of the same families.
// Beyond the last record of a family its function is a graph: a series near 0, and the recurrence elsewhere.
#pragma once

#include <cmath>

#include <tenure/math/angle.hpp>
#include <tenure/ops/comparison.hpp>
#include <tenure/ops/exponential.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {
/// series(x) where |x| < bound, and (first - before) / x elsewhere. Both have finite derivatives everywhere.
template <class V>
constexpr V continued(V x, V before, double first, double bound, const double* terms, int n) {
  const V near = pointwise_value<less>(pointwise_value<abs>(x), x.like(bound));
  const V u = pointwise_value<where>(near, x, x.like(0)), far = pointwise_value<where>(near, x.like(1), x);
  V s = x.like(terms[n - 1]);
  for (int i = n - 2; i >= 0; --i) s = pointwise_value<multiply_add>(u, s, x.like(terms[i]));
  return pointwise_value<where>(near, s, (first - before) / far);
}
}  // namespace detail

inline constexpr int last_versine = 5, last_atan = 2;
inline constexpr const char* versine_names[6] = {"cos_of_root", "sinc_of_root", "versine_series_2", "versine_series_3", "versine_series_4", "versine_series_5"};
inline constexpr const char* atan_names[3] = {"atan_of_root", "atan_series_1", "atan_series_2"};

template <int K>
struct versine_series;
template <int K>
struct atan_series;

/// versine_series<K> for every K.
template <int K, class V>
constexpr V versine_value(V z) {
  if constexpr (K <= last_versine) {
    return pointwise_value<versine_series<K>>(z);
  } else {
    double terms[9] = {};
    for (int i = 0; i < 9; ++i) terms[i] = (i % 2 == 0 ? 1 : -1) * math::detail::one_by_factorial(K + 2 * i);
    return detail::continued(z, versine_value<K - 2>(z), math::detail::one_by_factorial(K - 2), 4, terms, 9);
  }
}

/// atan_series<K> for every K.
template <int K, class V>
constexpr V atan_value(V p) {
  if constexpr (K <= last_atan) {
    return pointwise_value<atan_series<K>>(p);
  } else {
    double terms[26] = {};
    for (int i = 0; i < 26; ++i) terms[i] = (i % 2 == 0 ? 1.0 : -1.0) / (2 * (K + i) + 1);
    return detail::continued(p, atan_value<K - 1>(p), 1.0 / (2 * K - 1), 0.25, terms, 26);
  }
}

/// Stumpff's function c_K(z), for z >= 0.
template <int K>
struct versine_series : floating_unary<versine_series<K>> {
  static constexpr const char* name = versine_names[K];
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P z) { return math::versine_series<K>(z); }
  template <class T>
  static T reference(T x) {
    const auto z = static_cast<long double>(x);
    if (z < 1) {
      long double s = 0;
      for (int i = 12; i >= 0; --i) s = static_cast<long double>(1) / std::tgamma(static_cast<long double>(K + 2 * i + 1)) - z * s;
      return static_cast<T>(s);
    }
    const long double t = std::sqrt(z);
    long double c = K % 2 == 0 ? std::cos(t) : std::sin(t) / t;
    for (int k = K % 2 + 2; k <= K; k += 2) c = (1 / std::tgamma(static_cast<long double>(k - 1)) - c) / z;
    return static_cast<T>(c);
  }
  template <class V> static constexpr V derivative(int, V g, V z, V) {
    if constexpr (K == 0) return g * (-0.5 * versine_value<1>(z));
    else return g * (0.5 * (K * versine_value<K + 2>(z) - versine_value<K + 1>(z)));
  }
};

/// The integral of t^(2K) / (1 + p t^2) over [0, 1], for p >= 0.
template <int K>
struct atan_series : floating_unary<atan_series<K>> {
  static constexpr const char* name = atan_names[K];
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P p) { return math::atan_series<K>(p); }
  template <class T>
  static T reference(T x) {
    const auto p = static_cast<long double>(x);
    if (p < 0.25L) {
      long double s = 0;
      for (int i = 40; i >= 0; --i) s = static_cast<long double>(1) / (2 * (K + i) + 1) - p * s;
      return static_cast<T>(s);
    }
    long double a = std::atan(std::sqrt(p)) / std::sqrt(p);
    for (int k = 1; k <= K; ++k) a = (static_cast<long double>(1) / (2 * k - 1) - a) / p;
    return static_cast<T>(a);
  }
  template <class V> static constexpr V derivative(int, V g, V p, V) { return g * (0.5 * ((2 * K + 1) * atan_value<K + 1>(p) - 1.0 / (p + 1.0))); }
};

using angle_operations = operation_list<versine_series<0>, versine_series<1>, versine_series<2>, versine_series<3>, versine_series<4>, versine_series<5>,
                                        atan_series<0>, atan_series<1>, atan_series<2>>;

}  // namespace tenure::ops
