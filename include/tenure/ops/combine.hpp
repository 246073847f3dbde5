// SPDX-License-Identifier: BSL-1.0
// The combination of two values (numbers or packets) in a reduction, and its neutral element. Loops and kernels use both.
#pragma once

#include <limits>
#include <type_traits>

#include <tenure/ir/node.hpp>
#include <tenure/math/packet.hpp>

namespace TENURE_NAMESPACE::ops {

template <ir::reduction Kind, class V>
TENURE_KERNEL TENURE_LAYER V combine(V a, V b) {
  if constexpr (Kind == ir::reduction::sum) return math::add(a, b);
  else if constexpr (Kind == ir::reduction::max) return math::max(a, b);
  else if constexpr (Kind == ir::reduction::max_of_numbers) return math::max_of_numbers(a, b);
  else return math::min(a, b);
}

template <ir::reduction Kind, class T>
TENURE_KERNEL constexpr T identity() {
  using limits = std::numeric_limits<T>;
  if constexpr (Kind == ir::reduction::sum) return T(0);
  else if constexpr (std::is_floating_point_v<T>) return Kind == ir::reduction::min ? limits::infinity() : -limits::infinity();
  else return Kind == ir::reduction::min ? limits::max() : limits::lowest();
}

}  // namespace tenure::ops
