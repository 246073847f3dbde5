// SPDX-License-Identifier: BSL-1.0
// sinc and its derivatives. The first two are functions of their own (math/sinc.hpp); the others follow from them by a recurrence.
#pragma once

#include <tenure/math/constant_gamma.hpp>
#include <tenure/math/sinc.hpp>
#include <tenure/ops/comparison.hpp>
#include <tenure/ops/exponential.hpp>

namespace TENURE_NAMESPACE::ops {

inline constexpr int last_sinc_slope = 2;
inline constexpr const char* sinc_names[3] = {"sinc", "sinc_slope_1", "sinc_slope_2"};

template <int K>
struct sinc_slope;

/// The derivative of sinc of any order: beyond the last record a series up to |x| = 1/2, and the recurrence elsewhere.
template <int K, class V>
constexpr V sinc_value(V x) {
  if constexpr (K <= last_sinc_slope) {
    return pointwise_value<sinc_slope<K>>(x);
  } else {
    // (-1)^i pi^2i x^(2i - K) / ((2i - K)! (2i + 1)) for i from the first one on, in x^2.
    constexpr int n = 12, first = (K + 1) / 2;
    constexpr double square_of_pi = 9.86960440108935861883;
    double terms[n] = {};
    double power = first % 2 == 0 ? 1 : -1;
    for (int i = 0; i < first; ++i) power *= square_of_pi;
    for (int i = 0; i < n; ++i, power *= -square_of_pi / ((2 * (first + i) - K) * (2 * (first + i) - K - 1))) terms[i] = power / (2 * (first + i) + 1);
    const V near = pointwise_value<less>(pointwise_value<abs>(x), x.like(0.5)), u = pointwise_value<where>(near, x, x.like(0)), far = pointwise_value<where>(near, x.like(1), x);
    const V square = u * u;
    V s = x.like(terms[n - 1]);
    for (int i = n - 2; i >= 0; --i) s = pointwise_value<multiply_add>(square, s, x.like(terms[i]));
    if constexpr (K % 2 == 1) s = s * u;
    const V rest = square_of_pi * (K - 2) * sinc_value<K - 3>(x) + static_cast<double>(K) * sinc_value<K - 1>(x);
    return pointwise_value<where>(near, s, -square_of_pi * sinc_value<K - 2>(x) - rest / far);
  }
}

/// The derivative of sinc of order K; sinc for K = 0.
template <int K>
struct sinc_slope : floating_unary<sinc_slope<K>> {
  static constexpr const char* name = sinc_names[K];
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::sinc_slope<K>(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::sinc_slope(K, static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * sinc_value<K + 1>(x); }
};

using sinc_operations = operation_list<sinc_slope<0>, sinc_slope<1>, sinc_slope<2>>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// sin(pi x) / (pi x), to 3 ulp, with derivatives of any order: 1 at 0 and 0 at the other integers, as NumPy has it. NaN at the infinities. Integers and bool are
/// converted to float32 first.
template <operand X> constexpr auto sinc(const X& x) { return apply<ops::sinc_slope<0>>(x); }

}  // namespace tenure
