// SPDX-License-Identifier: BSL-1.0
// Functions of all leaves of models, gradients and other trees: map, norm, clip_by_global_norm, and the arithmetic a + b, 0.5f * g of models.
// Law: map(f, x...) has the structure of x, and each leaf is f of the leaves at its place, converted to the element type of the leaf of the
// first tree. In a trace they append nodes. Called with tensors they are one compiled function, which captures nothing.
// Source: the names of jax.tree.map and optax.clip_by_global_norm.
#pragma once

#include <tenure/ops/norm.hpp>
#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE {

/// Calls f(leaf) for each leaf of a model, a tuple or an array, in order. f may take each leaf by reference and write it.
using detail::for_each_leaf;

namespace detail {

/// The first of the types that is a branch. It states the structure.
template <class First, class... Rest>
struct first_branch : std::conditional_t<is_branch<First>, std::type_identity<First>, first_branch<Rest...>> {};
template <class Only>
struct first_branch<Only> : std::type_identity<Only> {};

template <class To, class R>
constexpr bool is_leaf_of() {
  constexpr bool is_traced = is_traced_v<R>;
  static_assert(is_traced, "tenure: map: the function does not return one traced value for each leaf");
  if constexpr (is_traced) {
    constexpr bool same_shape = std::is_same_v<typename R::shape_type, typename To::shape_type>;
    static_assert(same_shape, "tenure: map: the function returns another shape than the leaf of the first tree has");
    return same_shape;
  }
  return false;
}

/// The leaf that a call returns after a failed static_assert.
template <class To, class X, class... Rest>
constexpr To leaf_like(const X& x, const Rest&... rest) {
  if constexpr (std::is_same_v<X, To>) return x;
  else return leaf_like<To>(rest...);
}

template <class To, class F, class... From>
constexpr To map_tree(const F& f, const From&... from);

/// A part of a tree, or the number or tensor that goes to every leaf.
template <std::size_t I, class X>
constexpr const auto& part_or_leaf(const X& x) {
  if constexpr (is_tree_leaf<X>) return x;
  else return part<I>(x);
}
template <class To, std::size_t I, class F, class... From>
constexpr auto map_part(const F& f, const From&... from) { return map_tree<std::tuple_element_t<I, typename parts<To>::type>>(f, part_or_leaf<I>(from)...); }
template <class To, std::size_t... I, class F, class... From>
constexpr To map_parts(std::index_sequence<I...>, const F& f, const From&... from) { return To{map_part<To, I>(f, from...)...}; }

template <class To, class F, class... From>
constexpr To map_tree(const F& f, const From&... from) {
  if constexpr (is_tree_leaf<To>) {
    const auto r = f(from...);
    if constexpr (is_leaf_of<To, std::remove_cvref_t<decltype(r)>>()) return To{r.graph, ops::cast_to(r, dtype_v<typename To::element_type>).id};
    else return leaf_like<To>(from...);
  } else {
    return map_parts<To>(part_indices<To>{}, f, from...);
  }
}

/// Whether two trees have leaves at the same places.
template <class A, class B>
constexpr bool have_one_structure() {
  if constexpr (is_branch<A> && is_branch<B>) {
    using a = typename parts<A>::type;
    using b = typename parts<B>::type;
    if constexpr (std::tuple_size<a>::value == std::tuple_size<b>::value)
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return (have_one_structure<std::tuple_element_t<I, a>, std::tuple_element_t<I, b>>() && ...);
      }(part_indices<A>{});
    else return false;
  } else {
    return !is_branch<A> && !is_branch<B>;
  }
}

/// Whether the trees of a map have one structure. A whole argument may be a single leaf. If not, a static_assert gives the reason.
template <class To, class... X>
constexpr bool are_alike() {
  constexpr bool any = is_branch<To>;
  static_assert(any, "tenure: map: no argument is a tuple, an array or a model");
  constexpr bool alike = ((!is_branch<X> || have_one_structure<X, To>()) && ...);
  static_assert(!any || alike, "tenure: map: the trees have different structures");
  return any && alike;
}

template <class F, class... X>
constexpr auto map_traced(const F& f, const X&... x) {
  using to = typename first_branch<X...>::type;
  if constexpr (are_alike<to, X...>()) return map_tree<to>(f, x...);
  else return std::get<0>(std::tuple{x...});
}

template <class F>
struct map_call {
  template <class... X>
  constexpr auto operator()(const X&... x) const { return map_traced(F{}, x...); }
};

/// The promoted element type of all leaves, or float32 if that is bool or an integer.
template <class M>
constexpr dtype floating_type_of() {
  leaf_description leaves[tree<M>::leaves + 1];
  leaf_description* end = leaves;
  tree<M>::describe(end);
  dtype common = dtype::boolean;
  for (int i = 0; i < tree<M>::leaves; ++i) common = promote(common, leaves[i].type);
  return is_floating(common) ? common : dtype::float32;
}

struct norm_of_tree {
  template <class M>
  constexpr auto operator()(const M& m) const {
    constexpr dtype type = floating_type_of<M>();
    using number = traced<element_of_t<type>, shape<>>;
    ir::builder* g = nullptr;
    for_each_leaf(m, [&](const auto& leaf) { g = leaf.graph; });
    const auto sum_of = [&](const number& factor, const auto&... mask) {
      ops::value total;
      for_each_leaf(m, [&](const auto& leaf) {
        const ops::value x = ops::cast_to(leaf, type), scaled = x * ops::broadcast_to(factor, x.node().shape);
        ops::value squares = scaled * scaled;
        ((squares = ops::pointwise_value<ops::where>(ops::broadcast_to(mask, x.node().shape), squares, squares.like(0))), ...);
        const ops::value one = ops::reduced(squares, (std::int64_t{1} << squares.shape().rank) - 1, ir::reduction::sum);
        total = total.id == ir::none ? one : total + one;
      });
      return number{total.graph, total.id};
    };
    return ops::detail::root_of_squares(sum_of, number{g, g->constant(type, g->intern({}), 1)});
  }
};

struct clip_to_norm {
  template <class M, class C>
  constexpr auto operator()(const M& m, const C& most) const {
    const auto norm = norm_of_tree{}(m);
    const auto fits = norm <= most;
    const auto factor = where(fits, 1.0, most / where(fits, 1.0, norm));  // the inner where: 0 times the derivative of a division by 0 is NaN
    return map_tree<M>([](const auto& leaf, const auto& by) { return leaf * by; }, m, factor);  // m may be a single tensor
  }
};

/// Refuses a number that cannot be a norm. A variable that is unknown in a trace is not read.
template <class M, class C>
constexpr void require_norm([[maybe_unused]] const M& m, [[maybe_unused]] const C& most) {
  if constexpr (scalar<C>) {
    if (std::is_constant_evaluated() && !__builtin_constant_p(most)) return;
    if (static_cast<double>(most) >= 0) return;
    if constexpr (tree<M>::traces) graph_of_arguments(m).refuse({ir::diagnostic::kind::norm});
    else TENURE_THROW(error("tenure: clip_by_global_norm: the norm to clip to is at least 0"));
  }
}

/// F of trees: in a trace at once, else as a compiled function.
template <class F, class... X>
constexpr auto of_trees(const X&... x) {
  if constexpr ((tree<X>::traces || ...)) {
    ir::builder& g = graph_of_arguments(x...);
    return F{}(as_traced(g, x)...);
  } else {
    return compiled<F>{}(x...);
  }
}

template <class Operation, class... X>
constexpr auto on_leaves(const X&... x) { return of_trees<map_call<Operation>>(x...); }

}  // namespace detail

/// A tree like the first one that is a tuple, an array or a model, with f(leaves...) at the place of each leaf. The trees have one structure. A
/// number or a single tensor among x goes to every leaf. f keeps the shapes. With tensors f captures nothing.
template <class F, class... X>
constexpr auto map(const F& f, const X&... x) {
  if constexpr ((detail::tree<X>::traces || ...)) {
    ir::builder& g = detail::graph_of_arguments(x...);
    return detail::map_traced(f, detail::as_traced(g, x)...);
  } else {
    return compile(detail::map_call<F>{})(x...);
  }
}

/// The root of the sum of the squares of all elements of all leaves. If the norm is 0, its gradient is 0.
template <class M>
  requires(!operand_or_scalar<M> && detail::is_branch<M>)
constexpr auto norm(const M& m) { return detail::of_trees<detail::norm_of_tree>(m); }

/// m, or m * (most / norm(m)) if norm(m) is greater than `most`. A number below 0 throws; in a trace it does not compile.
template <class M, class C>
  requires(operand_or_scalar<M> || detail::is_branch<M>)
constexpr auto clip_by_global_norm(const M& m, const C& most) {
  detail::require_norm(m, most);
  return detail::of_trees<detail::clip_to_norm>(m, most);
}

}  // namespace tenure
