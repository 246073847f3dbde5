// SPDX-License-Identifier: BSL-1.0
// Constants with the shape of a traced value: zeros_like, ones_like, full_like, the first carry of a loop for example. No gradient flows to it.
#pragma once

#include <tenure/ops/value.hpp>

namespace TENURE_NAMESPACE {

/// `value` in each element, in the shape of x. The element type is that of x unless T is given. `value` is converted as by static_cast.
template <class T = void, element E, class S, scalar U>
constexpr auto full_like(const traced<E, S>& x, U value) {
  using made = std::conditional_t<std::is_void_v<T>, E, T>;
  ir::builder& g = *x.graph;
  made known{};
  if (std::is_constant_evaluated() && !__builtin_constant_p(value)) g.refuse({ir::refusal::kind::capture});
  else known = static_cast<made>(value);
  if constexpr (std::is_integral_v<made>) return traced<made, S>{&g, g.constant_bits(dtype_v<made>, g[x.id].shape, static_cast<std::int64_t>(known))};
  else return traced<made, S>{&g, g.constant(dtype_v<made>, g[x.id].shape, static_cast<double>(known))};
}
template <class T = void, element E, class S>
constexpr auto zeros_like(const traced<E, S>& x) { return full_like<T>(x, 0); }
template <class T = void, element E, class S>
constexpr auto ones_like(const traced<E, S>& x) { return full_like<T>(x, 1); }

}  // namespace tenure
