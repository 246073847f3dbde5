// SPDX-License-Identifier: BSL-1.0
// Calls outside a trace of operations that are compiled functions: expressions among their arguments are computed first.
#pragma once

#include <tenure/tensor/concepts.hpp>
#include <tenure/tensor/later.hpp>
#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE::detail {

/// The value of an expression. Another argument is returned as it is.
template <class X>
constexpr decltype(auto) in_memory(const X& x) {
  if constexpr (expression<X>) return tensor_of(later_phase{}, x);
  else return (x);
}

/// Call{}(x...): in the trace of an argument, or as a compiled function.
template <class Call, class... X>
constexpr auto call_by_trace(const X&... x) {
  if constexpr (in_trace<X...>) {
    ir::builder& g = graph_of_arguments(x...);
    return Call{}(as_traced(g, x)...);
  } else {
    return compile(Call{})(in_memory(x)...);
  }
}

}  // namespace tenure::detail
