// SPDX-License-Identifier: BSL-1.0
// A traced value: element type and shape in the type, identity (graph and node) in the value. Operations on it append
// to the graph; ordinary C++ runs while tracing.
#pragma once

#include <tenure/ir/builder.hpp>

namespace tenure {

namespace detail {
template <class...>
inline constexpr bool always_false = false;
}

template <element T, class Shape>
struct traced {
  using element_type = T;
  using shape_type = Shape;

  ir::builder* graph = nullptr;
  ir::node_id id = ir::none;

  /// A traced value has no value yet, so nothing can branch on it.
  constexpr explicit operator bool() const {
    static_assert(detail::always_false<T>, "tenure: trace: cannot branch on a traced value; use where(condition, a, b)");
    return false;
  }

  constexpr const extents& shape() const { return graph->shape_of(id); }
};

template <class X>
inline constexpr bool is_traced_v = false;
template <class T, class S>
inline constexpr bool is_traced_v<traced<T, S>> = true;

}  // namespace tenure
