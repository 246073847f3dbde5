// SPDX-License-Identifier: BSL-1.0
// Calls outside a trace of operations that are compiled functions: expressions among their arguments are computed first.
#pragma once

#include <tenure/tensor/concepts.hpp>
#include <tenure/tensor/later.hpp>

namespace TENURE_NAMESPACE::detail {

/// The value of an expression. Another argument is returned as it is.
template <class X>
constexpr decltype(auto) in_memory(const X& x) {
  if constexpr (expression<X>) return tensor_of(later_phase{}, x);
  else return (x);
}

}  // namespace tenure::detail
