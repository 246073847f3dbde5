// SPDX-License-Identifier: BSL-1.0
// Special functions: the logarithm of the gamma function and its derivatives.
#pragma once

#include <tenure/math/constant_gamma.hpp>
#include <tenure/math/gamma.hpp>
#include <tenure/ops/exponential.hpp>

namespace TENURE_NAMESPACE::ops {

/// polygamma<2>. The derivative of it is not there.
struct tetragamma : floating_unary<tetragamma> {
  static constexpr const char* name = "tetragamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::tetragamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::tetragamma(x)); }
  template <class V> static constexpr V derivative(int, V g, V, V) {
    g.graph->refuse({ir::diagnostic::kind::polygamma});
    return g;
  }
};

/// polygamma<1>.
struct trigamma : floating_unary<trigamma> {
  static constexpr const char* name = "trigamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::trigamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::trigamma(x)); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<tetragamma>(x); }
};

/// The derivative of lgamma.
struct digamma : floating_unary<digamma> {
  static constexpr const char* name = "digamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::digamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::digamma(x)); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<trigamma>(x); }
};

/// log |gamma(x)|.
struct lgamma : floating_unary<lgamma> {
  static constexpr const char* name = "lgamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::lgamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::lgamma(x)); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<digamma>(x); }
};

using special_operations = operation_list<lgamma, digamma, trigamma, tetragamma>;

namespace detail {
template <int Order>
constexpr auto polygamma() {
  static_assert(Order >= 0 && Order <= 2, "tenure: polygamma: the order is 0, 1 or 2: polygamma<1> is the derivative of digamma");
  if constexpr (Order == 1) return element_tag<trigamma>{};
  else if constexpr (Order == 2) return element_tag<tetragamma>{};
  else return element_tag<digamma>{};
}
template <int Order>
using polygamma_operation = typename decltype(polygamma<Order>())::type;
}  // namespace detail

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// log |gamma(x)|, to 4 ulp for x > 0. Integers and bool are converted to float32 first. inf at 0, at the negative integers and at both infinities.
template <operand X> constexpr auto lgamma(const X& x) { return apply<ops::lgamma>(x); }
/// The derivative of lgamma(x). -inf at 0, and NaN at the negative integers.
template <operand X> constexpr auto digamma(const X& x) { return apply<ops::digamma>(x); }
/// The derivative of digamma(x) of an order from 0 to 2. polygamma<1> is inf at 0 and at the negative integers.
template <int Order, operand X> constexpr auto polygamma(const X& x) { return apply<ops::detail::polygamma_operation<Order>>(x); }

}  // namespace tenure
