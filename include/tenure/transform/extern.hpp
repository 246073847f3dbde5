// SPDX-License-Identifier: BSL-1.0
// extern_op: an ordinary C++ function as one step of a compiled function: a look-up, a call of another library, a simulation. The graph knows the
// types and shapes of its results, and nothing else. The user gives the rule for its derivative.
// Cost: a call of the function, and nothing in between: the function reads and writes the memory of the program.
// Source: the purposes of jax.pure_callback with jax.custom_vjp and its vmap_method, and of torch.autograd.Function.
#pragma once

#include <tenure/tensor/memory_view.hpp>
#include <tenure/transform/custom.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

// ---- the types of the results ----------------------------------------------------------------------------------------

/// The place of a named extent in the argument types X...: the leaf and the axis.
struct place_of_extent {
  int leaf = -1, axis = 0;
};
template <class... X>
constexpr place_of_extent find_extent(std::int64_t name) {
  leaf_description leaves[(0 + ... + tree<X>::leaves) + 1];
  leaf_description* end = leaves;
  (tree<X>::describe(end), ...);
  for (int i = 0; i < (0 + ... + tree<X>::leaves); ++i)
    for (int a = 0; a < leaves[i].shape.rank; ++a)
      if (is_named(name) && leaves[i].shape[a] == name) return {i, a};
  return {};
}
/// Whether each run-time extent of a tree T has the name of an extent of an argument.
template <class T, class... X>
constexpr bool has_known_extents() {
  leaf_description leaves[tree<T>::leaves + 1];
  leaf_description* end = leaves;
  tree<T>::describe(end);
  for (int i = 0; i < tree<T>::leaves; ++i)
    for (int a = 0; a < leaves[i].shape.rank; ++a)
      if (const std::int64_t e = leaves[i].shape[a]; !is_static(e) && find_extent<X...>(e).leaf < 0) return false;
  return true;
}

template <class T, class... X>
constexpr bool is_result_type() {
  constexpr bool is_known = tree<T>::is_tree;
  static_assert(is_known, "tenure: extern_op: a result is a tensor, a number, or a tuple, an array or a model of them");
  if constexpr (is_known) {
    constexpr bool has_extents = has_known_extents<T, X...>();
    static_assert(has_extents, "tenure: extern_op: a run-time extent of a result is not known: use tn::like<I>, the name of an extent of an argument, or a traced function");
    return has_extents;
  }
  return false;
}

/// The function that returns zeros of type T.
template <class T>
struct result_type {
  template <class... X>
  static constexpr bool fits() { return is_result_type<T, X...>(); }
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    ir::builder& g = graph_of_arguments(x...);
    ir::array<ir::node_id> leaves;
    append_leaves(leaves, x...);
    const auto zero = [&]<class L>(element_tag<L>) {
      extents s = L::shape_type::value;
      for (int a = 0; a < s.rank; ++a)
        if (const place_of_extent at = find_extent<X...>(s[a]); at.leaf >= 0) s[a] = g.shape_of(leaves[at.leaf])[at.axis];
      return L{&g, g.constant(dtype_v<typename L::element_type>, g.intern(s), 0)};
    };
    return build_tree<rebind_kind_t<T, tracing>>(zero);
  }
};
template <std::size_t I>
struct like_argument {
  template <class... X>
  static constexpr bool fits() {
    constexpr bool exists = I < sizeof...(X);
    static_assert(exists, "tenure: extern_op: tn::like<I> names an argument that does not exist");
    return exists;
  }
  template <class... X>
  constexpr auto operator()(const X&... x) const { return argument<I>(x...); }
};
/// Whether Types states the types of results for these arguments. If not, a static_assert gives the reason.
template <class Types, class... X>
constexpr bool are_result_types() {
  if constexpr (requires { Types::template fits<X...>(); }) {
    return Types::template fits<X...>();
  } else {
    constexpr bool takes = requires(const Types& types, const X&... x) { types(x...); };
    static_assert(takes, "tenure: extern_op: the function that states the types of the results does not take the arguments");
    if constexpr (takes) return gives_traced<Types, X...>();
    else return false;
  }
}
template <class... Types>
struct several_results {
  template <class... X>
  static constexpr bool fits() { return (are_result_types<Types, X...>() && ...); }
  template <class... X>
  constexpr auto operator()(const X&... x) const { return std::tuple{Types{}(x...)...}; }
};
template <class Types>
constexpr Types results_written(Types types) { return types; }
template <class... Types>
constexpr several_results<Types...> results_written(std::tuple<Types...>) { return {}; }

// ---- the call of the function ----------------------------------------------------------------------------------------

template <class... L>
struct leaf_list {
  static constexpr int count = sizeof...(L);
  static constexpr int extents = (0 + ... + L::shape_type::rank);
};
template <class... List>
struct joined;
template <class List>
struct joined<List> { using type = List; };
template <class... A, class... B, class... Rest>
struct joined<leaf_list<A...>, leaf_list<B...>, Rest...> : joined<leaf_list<A..., B...>, Rest...> {};
template <class X, class = part_indices<X>>
struct leaves_of_branch;
template <class X>
constexpr auto leaves_of() {
  if constexpr (is_tree_leaf<X>) return leaf_list<X>{};
  else return typename leaves_of_branch<X>::type{};
}
template <class X, std::size_t... I>
struct leaves_of_branch<X, std::index_sequence<I...>> {
  using type = typename joined<leaf_list<>, decltype(leaves_of<std::tuple_element_t<I, typename parts<X>::type>>())...>::type;
};
template <class... X>
using leaves_of_t = typename joined<leaf_list<>, decltype(leaves_of<X>())...>::type;

/// What the function gets for a result or an argument: a number itself, or a view of the memory of a tensor.
template <class T, class S>
constexpr decltype(auto) written_as(traced<T, S>*, void* at, const std::int64_t* extents) {
  if constexpr (S::rank == 0) return static_cast<T&>(*static_cast<T*>(at));
  else return memory_view<T, S>(static_cast<T*>(at), extents);
}
template <class T, class S>
constexpr auto read_as(traced<T, S>*, const void* at, const std::int64_t* extents) {
  if constexpr (S::rank == 0) return T(*static_cast<const T*>(at));
  else return memory_view<const T, S>(static_cast<const T*>(at), extents);
}
template <class L>
using written_t = decltype(written_as(static_cast<L*>(nullptr), nullptr, nullptr));
template <class L>
using read_t = decltype(read_as(static_cast<L*>(nullptr), nullptr, nullptr));

template <class F, class Results, class Arguments>
struct external_call;
template <class F, class... Y, class... X>
struct external_call<F, leaf_list<Y...>, leaf_list<X...>> {
  static constexpr bool takes_both = std::is_invocable_v<const F&, written_t<Y>..., read_t<X>...>;
  /// Whether f(x...) returns the result, which is one number then.
  static constexpr bool returns = [] {
    if constexpr (sizeof...(Y) == 1 && (... && (Y::shape_type::rank == 0))) return (... && std::is_invocable_r_v<typename Y::element_type, const F&, read_t<X>...>);
    else return false;
  }();
  static constexpr bool exists = takes_both || returns;
  static constexpr bool may_throw = takes_both ? !std::is_nothrow_invocable_v<const F&, written_t<Y>..., read_t<X>...> : !std::is_nothrow_invocable_v<const F&, read_t<X>...>;

  static void run(void* const* results, const void* const* arguments, const std::int64_t* extents) {
    run(results, arguments, extents, std::index_sequence_for<Y...>{}, std::index_sequence_for<X...>{});
  }

 private:
  /// For each result and argument, the number of extents of those before it.
  static constexpr auto first_extent = [] {
    struct list {
      int at[sizeof...(Y) + sizeof...(X) + 1];
    } l{};
    int i = 0, sum = 0;
    ((l.at[i++] = sum, sum += Y::shape_type::rank), ...);
    ((l.at[i++] = sum, sum += X::shape_type::rank), ...);
    return l;
  }();

  template <std::size_t... I, std::size_t... J>
  static void run(void* const* results, [[maybe_unused]] const void* const* arguments, [[maybe_unused]] const std::int64_t* extents, std::index_sequence<I...>, std::index_sequence<J...>) {
    constexpr F f{};
    if constexpr (takes_both)
      static_cast<void>(f(written_as(static_cast<Y*>(nullptr), results[I], extents + first_extent.at[I])...,
                          read_as(static_cast<X*>(nullptr), arguments[J], extents + first_extent.at[sizeof...(Y) + J])...));
    else
      (written_as(static_cast<Y*>(nullptr), results[I], extents), ...) = f(read_as(static_cast<X*>(nullptr), arguments[J], extents + first_extent.at[sizeof...(Y) + J])...);
  }
};

// ---- rules -----------------------------------------------------------------------------------------------------------

/// The types of values with an axis of samples before the others.
template <class L>
struct of_samples;
template <class T, std::int64_t... E>
struct of_samples<traced<T, shape<E...>>> { using type = traced<T, shape<dyn, E...>>; };
template <class List>
struct batch_of_leaves;
template <class... L>
struct batch_of_leaves<leaf_list<L...>> { using type = leaf_list<typename of_samples<L>::type...>; };

/// Takes the place of a function that extern_op refused.
struct refused_function {};
struct no_backward {};
/// How vmap calls the function: for one sample after the other, or once with an axis of samples.
struct one_sample {};
struct all_samples {};

/// Whether the type of F determines what it computes. If not, a static_assert gives the reason.
template <class F>
constexpr bool is_stateless() {
  constexpr bool is = std::is_empty_v<F> && std::is_default_constructible_v<F>;
  static_assert(is, "tenure: extern_op: the function captures something or is a pointer: give a lambda without captures, and pass what it needs as arguments");
  return is;
}
template <class Types>
constexpr bool are_types() {
  constexpr bool are = std::is_empty_v<Types> && std::is_default_constructible_v<Types>;
  static_assert(are, "tenure: extern_op: the types of the results are tn::result<T>, tn::like<I>, a traced function of the arguments, or a std::tuple of these");
  return are;
}
template <class F, class Y, class... X>
constexpr bool is_external() {
  constexpr bool takes = external_call<F, leaves_of_t<Y>, leaves_of_t<X...>>::exists;
  static_assert(takes, "tenure: extern_op: the function does not take the results, then the arguments: numbers, and tensors as tn::memory_view");
  return takes;
}
template <class Y, class... X>
struct batch_of_external {
  template <class F>
  using call = external_call<F, typename batch_of_leaves<leaves_of_t<Y>>::type, typename batch_of_leaves<leaves_of_t<X...>>::type>;
};
template <class Samples, class F, class Y, class... X>
constexpr bool takes_samples() {
  constexpr bool takes = [] {
    if constexpr (std::is_same_v<Samples, all_samples>) return batch_of_external<Y, X...>::template call<F>::takes_both;
    else return true;
  }();
  static_assert(takes, "tenure: extern_op: with tn::whole_batch the function also takes the results and the arguments with one more axis, as tn::memory_view");
  return takes;
}
template <class Returned, class... X>
constexpr bool are_cotangents_of_external() {
  constexpr bool are = are_cotangents<Returned, X...>();
  static_assert(are, "tenure: extern_op: backward returns a std::tuple with the cotangent of each argument, of its element types, shapes and tree");
  return are;
}
template <class Backward, class Y, class... X>
constexpr bool is_backward_of_external() {
  constexpr bool takes = [] {
    if constexpr (transform<Backward>) return Backward::template accepts<X..., Y, Y>();
    else return requires(const Backward& backward, const X&... x, const Y& y) { backward(x..., y, y); };
  }();
  static_assert(takes || transform<Backward>, "tenure: extern_op: backward does not take the arguments, the result, then the cotangent of the result");
  if constexpr (takes) return are_cotangents_of_external<result_of<Backward, X..., Y, Y>, X...>();
  else return false;
}

/// The transform extern_op. With a backward, its results pass through a custom_vjp whose residuals are the arguments and the results.
template <class F, class Types, class Backward, class Samples = one_sample>
struct external_of {
  using transformed = F;
  static constexpr bool has_backward = !std::is_same_v<Backward, no_backward>;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() {
    if constexpr (std::is_same_v<F, refused_function>) return false;
    else if constexpr (!are_result_types<Types, X...>()) return false;
    else if constexpr (!is_external<F, result_of<Types, X...>, X...>()) return false;
    else if constexpr (!takes_samples<Samples, F, result_of<Types, X...>, X...>()) return false;
    else if constexpr (has_backward) return is_backward_of_external<Backward, result_of<Types, X...>, X...>();
    else return true;
  }

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<external_of>(x...);
    else if constexpr (has_backward) return with_rule(x...);
    else return call(x...);
  }

 private:
  static constexpr const char* name() {
    if constexpr (requires { F::name; }) return F::name;
    else return nullptr;
  }
  template <class Call>
  static constexpr ir::external_function of_batch{&Call::run, name(), Call::may_throw, true};

  template <class... X>
  static constexpr auto call(const X&... x) {
    using result = result_of<Types, X...>;
    using function = external_call<F, leaves_of_t<result>, leaves_of_t<X...>>;
    ir::builder& g = graph_of_arguments(x...);
    ir::control_flow called{.what = ir::control_flow::kind::external, .scanned = (0 + ... + tree<X>::leaves), .function = {&function::run, name(), function::may_throw}};
    if constexpr (std::is_same_v<Samples, all_samples>) called.function.of_batch = &of_batch<typename batch_of_external<result, X...>::template call<F>>;
    ir::array<ir::node_id> operands;
    append_leaves(operands, x...);
    body_trace body(g);
    const std::tuple<X...> at{body.inputs_like(x)...};
    const result like = std::apply(Types{}, at);
    const auto stand_in = [&]<class L>(element_tag<L>, const L& leaf) { return L{&g, g.constant(dtype_v<typename L::element_type>, g[leaf.id].shape, 0)}; };
    body.returns(build_tree<result>(stand_in, like));
    called.bodies[0] = body.finish(operands, called.captures[0]);
    return results_as<result>(g, called, operands);
  }

  template <class... X>
  static constexpr auto with_rule(const X&... x) {
    ir::builder& g = graph_of_arguments(x...);
    const auto y = call(without_gradient(x)...);
    using result = std::remove_cvref_t<decltype(y)>;
    ir::array<ir::node_id> operands;
    append_leaves(operands, y, y, x..., x..., y);
    constexpr int arguments = (0 + ... + tree<X>::leaves), values = tree<result>::leaves;
    ir::control_flow rule{.what = ir::control_flow::kind::custom_vjp, .of_results = true, .carries = values, .scanned = arguments, .residuals = arguments + values};
    body_trace body(g);
    const std::tuple<X...> at{body.inputs_like(x)...};
    const result found = body.inputs_like(y), cotangent = tangents_like(g, body, y);
    const auto returned = std::apply([&](const auto&... kept) { return Backward{}(kept..., found, cotangent); }, at);
    return_cotangents(g, body, returned, std::index_sequence_for<X...>{}, x...);
    rule.bodies[0] = body.finish(operands, rule.captures[0]);
    return results_as<result>(g, rule, operands);
  }
};

template <class F, class Types, class Backward, class Samples = one_sample>
constexpr auto external(F, Types, Backward, Samples = {}) {
  if constexpr (!is_stateless<F>() || !are_types<Types>() || !is_stateless<Backward>()) return external_of<refused_function, result_type<float>, no_backward>{};
  else return external_of<F, Types, Backward, Samples>{};
}

}  // namespace detail

/// The type of a result of extern_op: result<double>, result<tensor<float, shape<3>>>. A run-time extent must have the name of an extent of an
/// argument: result<tensor<float, shape<dim("n")>>>.
template <class T>
inline constexpr detail::result_type<T> result{};
/// A result of extern_op with the element type and the shape of argument I.
template <std::size_t I>
inline constexpr detail::like_argument<I> like{};

/// The last argument of extern_op for a function that takes a whole batch. vmap calls it once, with an axis of samples before the other axes of each
/// result and argument. Arguments that all samples share are repeated. A vmap of a vmap calls the function for each sample of the outer vmap.
inline constexpr detail::all_samples whole_batch{};

/// extern_op(f, types)(x...) calls f(y..., x...) when the program runs; f writes the results y and reads the arguments x. For f a tensor is a
/// memory_view, a number is the number itself, and a result that is one number is a reference, or what f(x...) returns. A tuple counts as its
/// parts. `types` is result<T>, like<I>, or a function of the arguments, which is traced only for the types that it returns; for several results it
/// is a tuple of these. f captures nothing, and writes all elements of y. f may run on any thread, more than once if a gradient computes something
/// again, and not at all if no result needs it. If f throws, the call throws, and the results stay as they were.
/// Cost: results that are written before f is called go through a copy, unless f is noexcept.
template <class F, class Types>
constexpr auto extern_op(F f, Types types) { return compile(detail::external(f, detail::results_written(types), detail::no_backward{})); }
template <class F, class Types>
constexpr auto extern_op(F f, Types types, detail::all_samples samples) {
  return compile(detail::external(f, detail::results_written(types), detail::no_backward{}, samples));
}

/// extern_op with a rule for reverse mode: backward(x..., y, cotangent of y) returns a tuple with the cotangent of each x, or the bare cotangent if
/// there is one x. backward is a traced function, or an extern_op. There is no forward mode.
template <class F, class Types, class Backward>
constexpr auto extern_op(F f, Types types, Backward backward) {
  return compile(detail::external(f, detail::results_written(types), detail::traced_function(backward)));
}
template <class F, class Types, class Backward>
constexpr auto extern_op(F f, Types types, Backward backward, detail::all_samples samples) {
  return compile(detail::external(f, detail::results_written(types), detail::traced_function(backward), samples));
}

}  // namespace tenure
