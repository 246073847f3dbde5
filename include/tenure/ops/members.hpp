// SPDX-License-Identifier: BSL-1.0
// The functions that the members of tensor/members/reductions.hpp call. Each calls the free function of the same name.
#pragma once

#include <tenure/ops/accumulation.hpp>
#include <tenure/ops/norm.hpp>
#include <tenure/ops/position.hpp>
#include <tenure/ops/reduction.hpp>
#include <tenure/tensor/members/reductions.hpp>

namespace TENURE_NAMESPACE::detail {

template <reduction_call Call, class X, class... Along>
constexpr auto reduced_by(later_phase, reduction_tag<Call>, const X& x, const Along&... along) {
  if constexpr (Call == reduction_call::sum) return sum(x, along...);
  else if constexpr (Call == reduction_call::mean) return mean(x, along...);
  else if constexpr (Call == reduction_call::max) return max(x, along...);
  else if constexpr (Call == reduction_call::min) return min(x, along...);
  else if constexpr (Call == reduction_call::amax) return amax(x, along...);
  else if constexpr (Call == reduction_call::amin) return amin(x, along...);
  else if constexpr (Call == reduction_call::argmax) return argmax(x, along...);
  else if constexpr (Call == reduction_call::argmin) return argmin(x, along...);
  else return prod(x, along...);
}
template <int P, class X, class... Along>
constexpr auto reduced_by(later_phase, norm_tag<P>, const X& x, const Along&... along) { return norm<P>(x, along...); }
template <class X, class... Along>
constexpr auto reduced_by(later_phase, all_tag, const X& x, const Along&...) { return apply<typename ops::along<ops::all, Along...>::type>(cast<bool>(x)); }

}  // namespace tenure::detail
