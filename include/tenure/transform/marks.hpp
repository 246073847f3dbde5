// SPDX-License-Identifier: BSL-1.0
// Marks of parameters: C++26 annotations of the members of a model, [[=tn::no_decay]] tn::param<Kind, float, tn::shape<4>> gain. A group of an
// optimizer is chosen by a mark (optim/groups.hpp). A mark on a member that is a model, or an array, marks all parameters in it. Where the
// compiler has no reflection, and of the members of Hana's structs, there are no marks. Law: leaf_marks has the order of for_each_leaf.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE {

/// The base of marks. A mark of your own is an empty struct: struct slow_mark : tn::mark {}; and constexpr slow_mark slow{};
struct mark {};

struct no_decay_mark : mark {};
/// Marks parameters whose weights do not decay: group{tn::no_decay, adam{...}} gives them hyperparameters of their own.
inline constexpr no_decay_mark no_decay{};

namespace detail {

/// Whether member I of the model X has the mark. Specialised where the compiler knows annotations (reflected_model.hpp).
template <class X, std::size_t I, class Mark>
inline constexpr bool is_member_marked = false;

template <class X, class Mark>
constexpr void mark_leaves(bool*& at, bool is_marked);

template <class X, class Mark, std::size_t... I>
constexpr void mark_parts(bool*& at, [[maybe_unused]] bool is_marked, std::index_sequence<I...>) {
  (mark_leaves<std::remove_cvref_t<std::tuple_element_t<I, typename parts<X>::type>>, Mark>(at, is_marked || is_member_marked<X, I, Mark>), ...);
}
template <class X, class Mark>
constexpr void mark_leaves(bool*& at, bool is_marked) {
  if constexpr (is_tree_leaf<X>) *at++ = is_marked;
  else mark_parts<X, Mark>(at, is_marked, part_indices<X>{});
}

/// Whether each leaf of the tree X has the mark, or is in a member that has it.
template <class X, class Mark>
inline constexpr auto leaf_marks = [] {
  std::array<bool, static_cast<std::size_t>(tree<X>::leaves) + 1> are{};
  bool* at = are.data();
  mark_leaves<X, Mark>(at, false);
  return are;
}();

}  // namespace detail
}  // namespace tenure
