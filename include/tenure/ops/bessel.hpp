// SPDX-License-Identifier: BSL-1.0
// The modified Bessel functions of order 0 and 1, scaled by e^-|x|.
#pragma once

#include <tenure/math/bessel.hpp>
#include <tenure/math/constant_gamma.hpp>
#include <tenure/ops/comparison.hpp>
#include <tenure/ops/exponential.hpp>

namespace TENURE_NAMESPACE::ops {

struct i1e;

/// e^-|x| I_0(x). The kink at 0 has the slope 0.
struct i0e : floating_unary<i0e> {
  static constexpr const char* name = "i0e";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::i0e(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::i0e(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V y) { return g * (pointwise_value<i1e>(x) - pointwise_value<sign>(x) * y); }
};

/// e^-|x| I_1(x). Its slope at 0 is 1 / 2.
struct i1e : floating_unary<i1e> {
  static constexpr const char* name = "i1e";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::i1e(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::i1e(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V y) {
    const V is_0 = pointwise_value<equal>(x, x.like(0));
    const V ratio = pointwise_value<where>(is_0, x.like(0.5), y / pointwise_value<where>(is_0, x.like(1), x));
    return g * (pointwise_value<i0e>(x) - pointwise_value<sign>(x) * y - ratio);
  }
};

using bessel_operations = operation_list<i0e, i1e>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// exp(-|x|) times the modified Bessel functions of order 0 and 1, to 4 ulp and without overflow. The error of their derivatives, which are differences, is some ulp of
/// the function. i0e has a kink at 0, where its derivative is 0. Integers and bool are converted to float32 first.
template <operand X> constexpr auto i0e(const X& x) { return apply<ops::i0e>(x); }
template <operand X> constexpr auto i1e(const X& x) { return apply<ops::i1e>(x); }

}  // namespace tenure
