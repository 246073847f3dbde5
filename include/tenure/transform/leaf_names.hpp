// SPDX-License-Identifier: BSL-1.0
// The names of the leaves of models, tuples and arrays, as files have them: w1, layers.0.w. Not part of <tenure/tenure.hpp>: Hana's strings cost compile
// time.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <tenure/transform/member_names.hpp>

namespace TENURE_NAMESPACE::detail {

template <std::size_t I>
struct element_at {
  constexpr auto& operator()(auto& x) const { return std::get<I>(x); }
};

/// The parts of a branch of type X and their names. visit(f) calls f(name, part) for each part, in order. name is a const char* or a number, and
/// part(x) is the part of the branch x. Specialised for states of optimizers in interop/named_leaves.hpp.
template <class X>
struct named_parts {
  template <class F>
  static constexpr void visit(F&& f) {
    if constexpr (model_traits<X>::is_model) for_each_named_member<X>(f);
    else [&]<std::size_t... I>(std::index_sequence<I...>) { (f(I, element_at<I>{}), ...); }(std::make_index_sequence<std::tuple_size_v<X>>{});
  }
};

/// Calls f(path, of, element_tag<L>{}) for each leaf of a tree of type X, in order. path.with(name) is the path of a part. L is the type of the leaf,
/// and of(x) the leaf of the tree x.
template <class X, class Path, class F, class Of>
constexpr void for_each_leaf_name(const Path& path, F& f, Of of) {
  if constexpr (is_tree_leaf<X>) {
    f(path, of, element_tag<X>{});
  } else {
    named_parts<X>::visit([&]<class Part>(auto name, Part part) {
      for_each_leaf_name<type_of_member<X, Part>>(path.with(name), f, [of, part](auto& x) -> auto& { return part(of(x)); });
    });
  }
}
template <class X, class Path, class F>
constexpr void for_each_leaf_name(const Path& path, F& f) {
  for_each_leaf_name<X>(path, f, [](auto& x) -> auto& { return x; });
}

}  // namespace tenure::detail
