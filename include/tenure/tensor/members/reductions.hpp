// SPDX-License-Identifier: BSL-1.0
// The members of tensors, expressions and traced values that reduce: x.sum() is sum(x), and x.sum(axis<0>, keepdim) is sum(x, axis<0>,
// keepdim). The free functions document shapes, element types, NaN and gradients. Cost: a program that calls none instantiates none.
#pragma once

#include "../later.hpp"

namespace TENURE_NAMESPACE {

namespace detail {
/// Which reduction a member calls.
enum class reduction_call { sum, mean, max, min, amax, amin, argmax, argmin, prod };
template <reduction_call Call>
struct reduction_tag {};
template <int P>
struct norm_tag {};
}  // namespace detail

template <class X>
class reduction_members {
 public:
  /// x.sum(along...) is sum(x, along...), and so for each: without arguments over all elements, else along axis<A> or axes<A, B>, and with
  /// keepdim behind them.
  constexpr auto sum(const auto&... along) const { return reduced<detail::reduction_call::sum>(along...); }
  constexpr auto mean(const auto&... along) const { return reduced<detail::reduction_call::mean>(along...); }
  constexpr auto max(const auto&... along) const { return reduced<detail::reduction_call::max>(along...); }
  constexpr auto min(const auto&... along) const { return reduced<detail::reduction_call::min>(along...); }
  constexpr auto amax(const auto&... along) const { return reduced<detail::reduction_call::amax>(along...); }
  constexpr auto amin(const auto&... along) const { return reduced<detail::reduction_call::amin>(along...); }
  constexpr auto argmax(const auto&... along) const { return reduced<detail::reduction_call::argmax>(along...); }
  constexpr auto argmin(const auto&... along) const { return reduced<detail::reduction_call::argmin>(along...); }
  constexpr auto prod(const auto&... along) const { return reduced<detail::reduction_call::prod>(along...); }
  /// x.norm<P>() is norm<P>(x).
  template <int P = 2, class... Along>
  constexpr auto norm(const Along&... along) const { return reduced_by(detail::later_phase{}, detail::norm_tag<P>{}, self(), along...); }

 private:
  constexpr const X& self() const { return static_cast<const X&>(*this); }
  template <detail::reduction_call Call, class... Along>
  constexpr auto reduced(const Along&... along) const { return reduced_by(detail::later_phase{}, detail::reduction_tag<Call>{}, self(), along...); }
};

}  // namespace tenure
