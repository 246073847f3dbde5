// SPDX-License-Identifier: BSL-1.0
// deepcopy of a model, a tuple or an array of tensors. Each tensor is copied as deepcopy(x) copies it.
#pragma once

#include <tenure/tensor/deepcopy.hpp>
#include <tenure/transform/model.hpp>

namespace TENURE_NAMESPACE {

/// A deep copy of each tensor of a model, a tuple or an array. Views do not compile: each tensor must own its memory.
template <class X>
  requires(!any_tensor<X> && !expression<X>)
auto deepcopy(const X& model) {
  using namespace detail;
  constexpr bool are_owners = tree<X>::is_tree && tree<X>::contiguous;
  static_assert(are_owners, "tenure: deepcopy: neither a tensor nor a tuple, an array or a model of tensors that own their memory");
  if constexpr (are_owners) {
    const auto copy = []<class L>(element_tag<L>, const L& x) {
      if constexpr (scalar<L>) return x;
      else return deepcopy(x);
    };
    return build_tree<X>(copy, model);
  } else {
    return 0;
  }
}

}  // namespace tenure
