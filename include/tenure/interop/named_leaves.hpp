// SPDX-License-Identifier: BSL-1.0
// for_each_named_leaf(model, f): the parameters of a model with the names that they have in files.
// Law: the leaves come in the order of for_each_leaf, each with the name of its array in a file of save().
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <string>
#include <type_traits>
#include <utility>

#include <tenure/optim/rule.hpp>
#include <tenure/transform/leaf_names.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class X>
inline constexpr bool is_rule_state = false;
template <class Model, int N>
inline constexpr bool is_rule_state<optim::state<Model, N>> = true;

/// The state of a rule is saved as its moments and the number of its steps.
template <class X>
  requires is_rule_state<X>
struct named_parts<X> {
  template <class F>
  static constexpr void visit(F&& f) {
    f("moments", [](auto& state) -> auto& { return state.moments; });
    f("steps", [](auto& state) -> auto& { return state.steps; });
  }
};

/// Tensors, numbers, models, states of rules, and tuples and arrays of these or of references to them.
template <class X>
constexpr bool has_names() {
  if constexpr (has_tuple_parts<X>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_names<std::remove_cvref_t<std::tuple_element_t<I, X>>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else {
    return is_rule_state<X> || tree<X>::is_tree;
  }
}

/// The name of a leaf: names of members and positions in tuples and arrays, with dots between them.
struct leaf_name {
  std::string text;

  leaf_name with(const char* part) const { return {text.empty() ? part : text + '.' + part}; }
  leaf_name with(std::size_t part) const { return with(std::to_string(part).c_str()); }
};
/// The name of a tensor that is in no model.
inline constexpr const char* name_alone = "array";

}  // namespace detail

/// Calls f(name, leaf) for each leaf of a model, a tuple, an array or the state of an optimizer, in order. The name is that of the array in a file, such
/// as "layers.0.w", a const std::string&. A single tensor has the name "array". f may take each leaf by reference and write it.
template <class X, class F>
void for_each_named_leaf(X&& x, F&& f) {
  using root = std::remove_cvref_t<X>;
  constexpr bool are_named = detail::has_names<root>();
  constexpr bool is_fault_named = !are_named && detail::names_fault<root>();
  static_assert(are_named || is_fault_named, "tenure: for_each_named_leaf: neither a tensor nor a model, a tuple, an array or the state of a rule");
  const auto visit = [&](const detail::leaf_name& name, const auto& of, const auto&) { f(name.text, of(x)); };
  if constexpr (are_named) detail::for_each_leaf_name<root>(detail::leaf_name{detail::is_tree_leaf<root> ? detail::name_alone : ""}, visit);
}

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
