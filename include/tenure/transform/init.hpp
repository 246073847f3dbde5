// SPDX-License-Identifier: BSL-1.0
// init<mlp>(engine): a fresh model. Matrices are uniform within 1/sqrt(rows), their fan in, as PyTorch's Linear; vectors
// and scalars start at zero.
#pragma once

#include <cmath>
#include <concepts>

#include <tenure/tensor/random.hpp>
#include <tenure/transform/model.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Whether every leaf is a parameter that can be made from its type alone.
template <class Model>
inline constexpr bool has_static_extents = [] {
  leaf_description leaf[tree<Model>::leaves + 1], *end = leaf;
  tree<Model>::describe(end);
  for (const leaf_description* at = leaf; at != end; ++at)
    if (!all_static(at->shape)) return false;
  return true;
}();

template <class Model>
Model initialized(engine& random) {
  static_assert(has_static_extents<Model>, "tenure: init: a parameter needs static extents");
  auto make = [&]<class L>(element_tag<L>) {
    using S = shape_of_t<L>;
    if constexpr (S::rank < 2 || !S::is_static) {
      return L();
    } else {
      const double bound = 1 / std::sqrt(static_cast<double>(S::size / S::value[S::rank - 1]));
      L leaf(uninitialized);
      auto* const to = tensor_access::fresh(leaf);
      const auto drawn = uniform<element_t<L>>(S{}, random, -bound, bound);
      std::memcpy(to, drawn.data(), static_cast<std::size_t>(S::size) * sizeof(element_t<L>));
      return leaf;
    }
  };
  return build_tree<Model>(make);
}

}  // namespace detail

/// A model with owning parameters; V are the value template arguments after Kind.
template <template <class, auto...> class Model, auto... V>
auto init(engine& random) { return detail::initialized<Model<values, V...>>(random); }
template <class Model, std::same_as<engine> Engine>  // behind the one above, since the name of a model in its own body is a type too
Model init(Engine&) {
  static_assert(detail::never<Model>, "tenure: init: the template is named, not a type of it: init<mlp>(engine), where template <class Kind> struct mlp");
  __builtin_unreachable();
}

}  // namespace tenure
