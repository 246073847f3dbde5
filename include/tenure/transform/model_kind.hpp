// SPDX-License-Identifier: BSL-1.0
// The type of a model whose leaves are of another kind: its template arguments are a kind, or types of leaves, and values after it.
#pragma once

#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE::detail {

template <class M>
struct model_rebind {
  static_assert(never<M>, "tenure: model: its template arguments are Kind, and values after it: template <class Kind, auto N> struct model, with members tn::param<Kind, double, tn::shape<N>>");
  template <class>
  using type = M;  // keeps the further messages of compilers short
};
template <template <class, auto...> class M, class Kind, auto... V>
struct model_rebind<M<Kind, V...>> {
  template <class To>
  using type = M<typename rebound<To, Kind>::type, V...>;
};
// A struct of T, T itself a leaf or a tree: template <class T> struct state, as state<decltype(x)>{x, x}.
template <template <class, auto...> class M, class T, auto... V>
  requires tree<T>::is_tree
struct model_rebind<M<T, V...>> {
  template <class To>
  using type = M<rebind_kind_t<T, To>, V...>;
};
template <template <class...> class M, class T, class Next, class... Rest>
  requires(tree<T>::is_tree && tree<Next>::is_tree && (tree<Rest>::is_tree && ...))
struct model_rebind<M<T, Next, Rest...>> {
  template <class To>
  using type = M<rebind_kind_t<T, To>, rebind_kind_t<Next, To>, rebind_kind_t<Rest, To>...>;
};

}  // namespace tenure::detail
