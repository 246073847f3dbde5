// SPDX-License-Identifier: BSL-1.0
// The rules for a call of a compiled function: for the function, its arguments, its results and the targets of into(). Each rule has a
// message. Law: a call that breaks a rule gives only this message. It still returns a result of a suitable type, so that no further errors
// follow. Cost: almost nothing where the rules hold. The trace that is_traceable checks is the same trace that program<> compiles.
#pragma once

#include <tenure/program/program.hpp>
#include <tenure/transform/reflected_model.hpp>
#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE::detail {

// ---- the function --------------------------------------------------------------------------------------------------

/// A transform: a function object F that calls another function, F::transformed. F::accepts<X...>() tells whether F takes these traced arguments,
/// and has the messages. F::results<N> is the number of values that F returns for N arguments.
template <class F>
concept transform = requires { typename F::transformed; };

/// The user's function inside all transforms.
template <class F>
struct written_function { using type = F; };
template <transform F>
struct written_function<F> : written_function<typename F::transformed> {};

/// Whether the type of F determines its computation. If not, a static_assert gives the reason.
template <class F>
constexpr bool is_known_by_type() {
  constexpr bool is_object = std::is_class_v<typename written_function<F>::type>;
  static_assert(is_object, "tenure: trace: numbers and pointers are no functions to trace: give a lambda, [](auto x) { ... }");
  constexpr bool is_empty = std::is_empty_v<F>, is_made = std::is_default_constructible_v<F>;
  static_assert(!is_object || is_empty, "tenure: trace: a traced function captures nothing: pass run-time values as arguments");
  static_assert(!is_object || !is_empty || is_made, "tenure: trace: a traced lambda begins with [], not with [=] or [&], also if it captures nothing");
  return is_object && is_empty && is_made;
}

// ---- arguments and results -----------------------------------------------------------------------------------------

/// Whether X may be an argument of a call, in a trace or at run time. If not, a static_assert gives the reason.
template <bool InTrace, class X>
constexpr bool is_argument() {
  static_assert(!expression<X>, "tenure: call: an argument is an expression that is not computed yet: pass tn::eval() of it");
  constexpr bool is_struct = std::is_aggregate_v<X> && std::is_class_v<X> && !expression<X> && !tree<X>::is_tree;
  constexpr bool is_named = is_struct && names_fault<X>();
  static_assert(!is_struct || is_named, "tenure: call: an argument is a struct that is no model: pass a std::tuple of its members, or write it as chapter 5 does: template <class Kind> struct model { BOOST_HANA_DEFINE_STRUCT(model, (tn::param<Kind, float, tn::shape<3>>, w)); }");
  static_assert(expression<X> || tree<X>::is_tree || is_struct, "tenure: call: an argument is neither a tensor, a number, a tuple, an array nor a model: tn::from(v) is a tensor over a vector or an Eigen matrix, tn::from<tn::shape<3>>(p) over a pointer");
  static_assert(scalar<X> || tree<X>::has_elements, "tenure: call: a number within a tuple, an array or a model has a type that no tensor has: static_cast it");
  constexpr bool is_number_named = names_plain_member<X>();
  static_assert(!has_plain_member<X> || is_number_named, "tenure: call: a member of a model is a plain number: declare it as tn::param<Kind, float, tn::shape<>>; a number that never changes is a static constexpr member, not listed in BOOST_HANA_DEFINE_STRUCT");
  constexpr bool is_captured = InTrace && tree<X>::in_memory;
  static_assert(!is_captured, "tenure: trace: a traced function captures nothing: pass the tensor as an argument instead");
  return tree<X>::is_tree && !has_plain_member<X> && !is_captured;
}

/// The graph to which a call within a trace belongs.
template <class... X>
constexpr ir::builder& graph_of_arguments(const X&... x) {
  ir::builder* g = nullptr;
  const auto look = [&](const auto& leaf) {
    if constexpr (is_traced_v<std::remove_cvref_t<decltype(leaf)>>) g = leaf.graph;
  };
  const auto look_in = [&](const auto& argument) {
    if constexpr (!may_be_constant_expression<std::remove_cvref_t<decltype(argument)>>) for_each_leaf(argument, look);
  };
  (look_in(x), ...);
  return *g;
}

/// An argument of a call within a trace. Plain numbers, results of factories, and expressions of these become constants of the graph.
template <class X>
constexpr decltype(auto) as_traced(ir::builder& g, const X& x) {
  if constexpr (may_be_constant_expression<X>) {
    return constant_expression(g, x);
  } else if constexpr (std::is_same_v<rebind_kind_t<X, tracing>, X>) {
    return (x);
  } else {
    using all_traced = rebind_kind_t<X, tracing>;
    [[maybe_unused]] constexpr bool is_known = is_argument<true, X>();  // here and not in the lambda, so that g++ prints this message first
    ir::array<ir::node_id> ids;
    for_each_leaf(x, [&](const auto& leaf) {
      using given = std::remove_cvref_t<decltype(leaf)>;
      using E = typename leaf_type<given>::element_type;
      if constexpr (is_traced_v<given>) ids.push_back(leaf.id);
      else if constexpr (may_be_constant<given>) ids.push_back(constant_of(g, leaf).id);
      else if constexpr (any_tensor<given>) ids.push_back(g.constant(dtype_v<E>, g.intern(shape_of_t<given>::value), 0));  // is_argument refuses it
      else ids.push_back(lift<traced<E, shape<>>>(g, number::convert<E>(leaf)).id);
    });
    int i = 0;
    auto make = [&]<class L>(element_tag<L>) { return L{&g, ids[i++]}; };
    return build_tree<all_traced>(make);
  }
}

/// Whether a traced function may return R. If not, a static_assert gives the reason. `HasTypedParameters`: the parameters of the function are not
/// `auto`, so the traced arguments were converted to numbers or tensors.
template <class R, bool HasTypedParameters = false>
constexpr bool is_result() {
  if constexpr (std::is_void_v<R>) {
    static_assert(!std::is_void_v<R>, "tenure: trace: the function returns nothing");
    return false;
  } else if constexpr (is_after_error<R>) {
    return false;
  } else {
    constexpr bool is_traced = tree<R>::is_tree && !tree<R>::lives && !tree<R>::has_numbers;
    constexpr bool converts = !is_traced && (expression<R> || HasTypedParameters);
    static_assert(!converts, "tenure: trace: the function computes with tensors or numbers and not with its arguments: their types are auto, [](auto x) { ... }");
    constexpr bool is_struct = std::is_aggregate_v<R> && std::is_class_v<R> && !tree<R>::is_tree && !converts;
    constexpr bool is_named = is_struct && names_fault<R>();
    static_assert(!is_struct || is_named, "tenure: trace: a result is a struct that is no model: return a std::tuple of its members, or write it with BOOST_HANA_DEFINE_STRUCT as chapter 5 does");
    static_assert(is_traced || converts || is_struct, "tenure: trace: a result is a number or another object that was not computed from the arguments: a variable begins with tn::zeros_like(x) or tn::full_like(x, 1.0)");
    static_assert(!is_traced || tree<R>::leaves > 0, "tenure: trace: the function returns nothing");
    return is_traced && tree<R>::leaves > 0;
  }
}

template <class F, class... X>
using result_of = std::remove_cvref_t<decltype(std::declval<const F&>()(std::declval<const X&>()...))>;

/// Whether f takes the parts of the tuple X as arguments of their own.
template <class F, class X, class... Rest>
inline constexpr bool takes_parts = false;
template <class F, class... Part, class... Rest>
inline constexpr bool takes_parts<F, std::tuple<Part...>, Rest...> = requires(const F& f, const Part&... part, const Rest&... rest) { f(part..., rest...); };

/// Whether f(x...) returns traced values. If not, a static_assert gives the reason. This is the first use of the call f(x...), so compilers
/// report errors within f from here.
template <class F, class... X>
constexpr bool gives_traced() {
  if constexpr (transform<F>) {
    return F::template accepts<X...>();
  } else {
    constexpr bool takes = requires(const F& f, const X&... x) { f(x...); };
    constexpr bool is_unpacked = [] {
      if constexpr (takes || sizeof...(X) == 0) return false;
      else return takes_parts<F, X...>;
    }();
    static_assert(!is_unpacked, "tenure: call: a tuple, as std::tie(p, q) makes it, is one argument of the function: [](auto both, auto x) { const auto& [p, q] = both; ... }");
    static_assert(takes || is_unpacked, "tenure: call: the function does not take these arguments: their number or their types do not fit, or it contains the error that the compiler shows beside this");
    // After an error within f, clang does not consider f a candidate, so the result type must be checked again.
    if constexpr (takes && requires { typename result_of<F, X...>; }) return is_result<result_of<F, X...>, requires { &F::operator(); }>();
    else return false;
  }
}

/// Whether f can be compiled for arguments of these types. If not, a static_assert gives the reason.
template <class F, class... X>
constexpr bool is_compilable() {
  constexpr bool any = (0 + ... + tree<X>::leaves) > 0;
  static_assert(any, "tenure: call: there is no argument to trace");
  if constexpr (!any || !is_known_by_type<F>()) return false;
  else if constexpr (!(is_argument<false, X>() && ...)) return false;
  else return gives_traced<F, rebind_kind_t<X, tracing>...>();
}

// The numbers of this message are template arguments, because compilers print template arguments.
template <std::int64_t Index, std::int64_t Extent>
constexpr bool is_inside() {
  static_assert(0 <= Index, "tenure: at: an index counts from the front, so none is below 0: the last element is x[x.extent(0) - 1]");
  static_assert(Index < 0 || Index < Extent, "tenure: at: the index lies outside its axis");
  return 0 <= Index && Index < Extent;
}

template <std::int64_t First, std::int64_t Last>
constexpr bool is_range() {
  static_assert(0 <= First && First <= Last, "tenure: range: the first index lies before 0 or after the last: positions from the end are tn::end - 3, tn::end - 1");
  static_assert(!(0 <= First && First <= Last), "tenure: range: the step is not positive");
  return false;
}

template <std::int64_t Number, dtype Beside>
constexpr bool has_room() {
  static_assert(Number == 0 && Beside == dtype::boolean, "tenure: trace: a whole number does not fit in the integer type of the value beside it");
  return false;
}

/// Whether the trace is a graph that can be compiled. If not, a static_assert gives the reason. If the trace is not a constant expression,
/// the compiler reports this itself.
template <class Source>
constexpr bool is_traceable() {
  using trace = program_detail::attempted_trace<Source>;
  if constexpr (requires { typename std::bool_constant<(trace::value.count > 0)>; }) {
    constexpr ir::diagnostic refused = trace::value.refused;
    static_assert(refused.what != ir::diagnostic::kind::capture, "tenure: trace: a traced function captures nothing: pass run-time values as arguments");
    static_assert(refused.what != ir::diagnostic::kind::outside_body,
                  "tenure: trace: a value of a loop, a branch or a mapped function is read outside of it, through a variable: return it, as a carry or a result");
    static_assert(refused.what != ir::diagnostic::kind::shapes, "tenure: trace: more different shapes in one function than a graph can hold (32767)");
    static_assert(refused.what != ir::diagnostic::kind::extent,
                  "tenure: trace: the extent of this axis is known only when the program runs: tn::extent<A> is a traced number, or scan over the axis");
    static_assert(refused.what != ir::diagnostic::kind::part, "tenure: dropout: p is the part of the elements that become zero: 0 <= p <= 1");
    static_assert(refused.what != ir::diagnostic::kind::norm, "tenure: clip_by_global_norm: the norm to clip to is at least 0");
    static_assert(refused.what != ir::diagnostic::kind::unknown,
                  "tenure: trace: a function of numbers that are all known has no value in a trace: compute it outside, as a constant");
    static_assert(refused.what != ir::diagnostic::kind::nonlinear_backward,
                  "tenure: grad: a custom_vjp in a while_loop without a bound has a backward that is not linear in the cotangent, so there is no second reverse mode: use jvp or hessian, or give the bound tn::at_most<N>");
    static_assert(refused.what != ir::diagnostic::kind::polygamma, "tenure: polygamma: derivatives end with polygamma<2>, the third derivative of lgamma");
    static_assert(refused.what != ir::diagnostic::kind::incomplete,
                  "tenure: gammainc, betainc: there is no second derivative by two of the shapes a and b; by x, and by x and a shape, there are all: differences of the first derivative have ten digits");
    static_assert(refused.what != ir::diagnostic::kind::forward_custom_vjp, "tenure: jvp: no forward mode through custom_vjp; custom_jvp has both modes");
    static_assert(refused.what != ir::diagnostic::kind::reverse_extern,
                  "tenure: grad: this extern_op has no derivative: give it a backward, or call it with tn::stop_gradient(x)");
    static_assert(refused.what != ir::diagnostic::kind::forward_extern, "tenure: jvp: no forward mode through extern_op: its backward serves vjp and grad");
    static_assert(refused.what != ir::diagnostic::kind::range_end,
                  "tenure: range: in a trace the last index is tn::extent<A>(x) or a number; at a traced position take tn::window<N>(i)");
    static_assert(refused.what != ir::diagnostic::kind::made_extent,
                  "tenure: shape: in a trace an extent is tn::extent<A>(x) or a number, also plus, minus or times a number, or its floor_divide by one");
    if constexpr (refused.what == ir::diagnostic::kind::range) return is_range<refused.lhs, refused.rhs>();
    else if constexpr (refused.what == ir::diagnostic::kind::index) return is_inside<refused.lhs, refused.rhs>();
    else if constexpr (refused.what == ir::diagnostic::kind::number) return has_room<refused.lhs, static_cast<dtype>(refused.rhs)>();
    else return refused.what == ir::diagnostic::kind::nothing;
  } else {
    return false;
  }
}

// ---- targets of into() ---------------------------------------------------------------------------------------------

/// The first target that does not fit its result, and the two values that differ: element types, ranks or extents. The other pairs are equal.
struct target_mismatch {
  int target = 0;
  dtype given = dtype::boolean, wanted = dtype::boolean;
  int given_rank = 0, wanted_rank = 0;
  std::int64_t given_extent = 0, wanted_extent = 0;

  constexpr bool fits() const { return given == wanted && given_rank == wanted_rank && ops::extents_may_agree(given_extent, wanted_extent); }
};
template <class Results, class Targets>
constexpr target_mismatch first_mismatch() {
  constexpr int n = tree<Targets>::leaves;
  leaf_description given[n + 1], wanted[n + 1];
  leaf_description *end = given, *end_of_wanted = wanted;
  tree<Targets>::describe(end);
  tree<Results>::describe(end_of_wanted);
  for (int i = 0; i < n; ++i) {
    const extents &s = given[i].shape, &w = wanted[i].shape;
    target_mismatch m{.target = i};
    if (given[i].type != wanted[i].type) m.given = given[i].type, m.wanted = wanted[i].type;
    else if (s.rank != w.rank) m.given_rank = s.rank, m.wanted_rank = w.rank;
    else
      for (int a = 0; a < s.rank; ++a)
        if (!ops::extents_may_agree(s[a], w[a])) m.given_extent = s[a], m.wanted_extent = w[a];
    if (!m.fits()) return m;
  }
  return {};
}

template <int Target, dtype Given, dtype Wanted>
constexpr void check_element_type() {
  static_assert(Given == Wanted, "tenure: into: a target has another element type than its result");
}
template <int Target, int Given, int Wanted>
constexpr void check_rank() {
  static_assert(Given == Wanted, "tenure: into: a target has another rank than its result");
}
template <int Target, std::int64_t Given, std::int64_t Wanted>
constexpr void check_extent() {
  static_assert(ops::extents_may_agree(Given, Wanted), "tenure: into: a target has another extent than its result");
}

/// Why a call may not write to a target.
enum class target_fault { none, read_only, leaf, view, node, temporary };

/// The first fault of a target, except the allowed faults. Target is an rvalue type if the call got a temporary.
template <class Target, target_fault... Allowed>
constexpr target_fault fault_of_target() {
  using given = std::remove_reference_t<Target>;
  if (!are_leaves_writable<given>()) return target_fault::read_only;
  const auto fault_of = [](const leaf_description& l) {
    if (l.is_leaf) return target_fault::leaf;
    if (l.is_tracked) return l.is_view ? target_fault::view : target_fault::node;
    const bool is_kept = l.is_view || l.is_reference || std::is_lvalue_reference_v<Target>;
    return is_kept ? target_fault::none : target_fault::temporary;
  };
  leaf_description leaf[tree<given>::leaves + 1], *end = leaf;
  tree<given>::describe(end);
  for (const leaf_description* at = leaf; at != end; ++at)
    if (const target_fault fault = fault_of(*at); fault != target_fault::none && ((fault != Allowed) && ...)) return fault;
  return target_fault::none;
}
template <class... Target>
constexpr target_fault first_target_fault() {
  target_fault first = target_fault::none;
  ((first = first == target_fault::none ? fault_of_target<Target>() : first), ...);
  return first;
}

/// X is a std::tie of a tuple, an array or a model.
template <class X>
inline constexpr bool ties_trees = false;
template <class... X>
inline constexpr bool ties_trees<std::tuple<X...>> = ((std::is_reference_v<X> && !any_tensor<X>) || ...);

/// Whether the types of the results fit the targets. If not, a static_assert gives the reason. Run-time extents are compared in the call.
template <class Results, class... Target>
constexpr bool are_targets() {
  using given = std::tuple<std::remove_cvref_t<Target>...>;
  constexpr bool ties_tensors = (!ties_trees<std::remove_cvref_t<Target>> && ...);
  static_assert(ties_tensors, "tenure: into: a std::tie of tuples, arrays or models is no target: give these without it, as into(x, model)");
  constexpr bool are_tensors = tree<given>::is_tree && !tree<given>::has_numbers && !tree<given>::traces;
  static_assert(are_tensors || !ties_tensors,
                "tenure: into: a target is neither a tensor nor a tuple, an array or a model of tensors: from(v) is a tensor over a vector, an array or a span");
  if constexpr (are_tensors && ties_tensors) {
    constexpr target_fault fault = first_target_fault<Target...>();
    static_assert(fault != target_fault::read_only, "tenure: into: a target is read-only");
    static_assert(fault != target_fault::leaf, "tenure: into: a leaf that requires a gradient is written only inside no_grad, through the argument of its function");
    static_assert(fault != target_fault::view, "tenure: into: a view of a tracked tensor is written only inside no_grad, through the argument of its function");
    static_assert(fault != target_fault::node, "tenure: into: a target is a node, and a call writes values without a history: give a tensor without a gradient");
    static_assert(fault != target_fault::temporary, "tenure: into: a target is a temporary that owns its memory, so its result would be lost: give it a name");
    constexpr bool as_many = tree<given>::leaves == tree<Results>::leaves, may_be_written = fault == target_fault::none;
    static_assert(!may_be_written || as_many, "tenure: into: the number of targets differs from the number of results");
    if constexpr (may_be_written && as_many) {
      constexpr target_mismatch found = first_mismatch<Results, given>();
      check_element_type<found.target, found.given, found.wanted>();
      check_rank<found.target, found.given_rank, found.wanted_rank>();
      check_extent<found.target, found.given_extent, found.wanted_extent>();
      return found.fits();
    }
  }
  return false;
}

// ---- results of refused calls --------------------------------------------------------------------------------------

/// The result of a refused call: as many values as F returns, so that no further errors follow the message.
template <class F, int Arguments, class Make>
constexpr auto refused(Make leaf) {
  constexpr int count = [] {
    if constexpr (transform<F>) return F::template results<Arguments>;
    else return 1;
  }();
  if constexpr (count == 1) return leaf();
  else return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::tuple{(static_cast<void>(I), leaf())...}; }(std::make_index_sequence<count>{});
}
template <class F, class... X>
auto refused_call(const X&...) {
  return refused<F, sizeof...(X)>([] { return after_error(); });
}
/// Whether a call is within a trace: an argument is traced.
template <class... X>
inline constexpr bool in_trace = (tree<X>::traces || ...);

/// The result of a refused call in a trace: zeros in the graph of the arguments.
template <class F, class... X>
constexpr auto refused_in_trace(const X&... x) {
  ir::builder& g = graph_of_arguments(x...);
  return refused<F, sizeof...(X)>([&] { return traced<float, shape<>>{&g, g.constant(dtype::float32, g.intern({}), 0)}; });
}

/// The source from which the plan of a refused call is compiled.
template <class F>
struct refused_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    g.output(g.input(dtype::float32, {}));
    return g;
  }
};

}  // namespace tenure::detail
