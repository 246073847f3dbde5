// SPDX-License-Identifier: BSL-1.0
// Loops and branches: scan, fori_loop, while_loop, cond, switch_case. Their bodies are in the graph once. In a trace they append a control_flow.
// Called with tensors, they compile a function that has only this control_flow. A body is traced once, whatever the number of iterations. It may
// use any traced value of the function around it.
// Source: the names and the meaning of jax.lax.scan, fori_loop, while_loop, cond and switch.
#pragma once

#include <tenure/expr/apply.hpp>
#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/axes.hpp>
#include <tenure/ops/comparison.hpp>
#include <tenure/ops/rearrangement.hpp>
#include <tenure/transform/body_trace.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/control_flow_rules.hpp>

namespace TENURE_NAMESPACE {

/// A tree without leaves: no ys, or no xs.
inline constexpr std::tuple<> nothing{};

/// The bound of a while_loop: at_most<100>.
template <std::int64_t N>
struct iteration_bound {};
template <std::int64_t N>
inline constexpr iteration_bound<N> at_most{};

/// The options of scan: scan(f, init, xs, {.reverse = true}).
struct scan_options {
  bool reverse = false;  // from the last slice to the first; ys stay in the order of xs
};

namespace detail {

/// The layers of an array, stacked along a new axis 0, so that one body computes all of them. Other values stay as they are.
template <class Xs>
constexpr const Xs& stacked_layers(const Xs& xs) { return xs; }
template <class Layer, std::size_t N>
constexpr auto stacked_layers(const std::array<Layer, N>& layers) {
  const auto stack = [&]<class L, class First>(element_tag<L>, const First& first) {
    int position = -1, i = 0;
    for_each_leaf(layers[0], [&](const auto& leaf) { position = leaf.id == first.id && position < 0 ? i : position, ++i; });
    ops::value all;
    for (const Layer& layer : layers) {
      int j = 0;
      for_each_leaf(layer, [&](const auto& leaf) {
        if (j++ != position) return;
        const ops::value x = leaf;
        extents s{1, {1}};
        for (int a = 0; a < x.shape().rank; ++a) s.push_back(ops::value(x).shape()[a]);
        const ops::value row = ops::reshape_to(x, s);
        all = all.id == ir::none ? row : ops::concatenated(all, row, 0);
      });
    }
    return L{all.graph, all.id};
  };
  return build_tree<rebind_kind_t<Layer, stacks<static_cast<std::int64_t>(N)>>>(stack, layers[0]);
}

template <class F, class C, class Xs>
constexpr auto scan_of(ir::builder& g, const F& f, const C& init, const Xs& xs, bool reverse) {
  using x_type = rebind_kind_t<Xs, slices>;
  if constexpr (!takes_carry_and_slice<F, C, x_type>()) {
    return std::tuple{init, nothing};
  } else if constexpr (!is_carry_and_y<result_of<F, C, x_type>>()) {
    return std::tuple{init, nothing};
  } else {
    using y_type = rebind_kind_t<std::tuple_element_t<1, result_of<F, C, x_type>>, tracing>;
    using stacked = rebind_kind_t<y_type, stacks<leading_axis_of<Xs>().extent>>;
    ir::control_flow loop{.what = ir::control_flow::kind::scan, .reverse = reverse, .carries = tree<C>::leaves, .scanned = tree<Xs>::leaves};
    ir::array<ir::node_id> operands;
    append_leaves(operands, init);
    body_trace body(g);
    const C carry = body.inputs_like(init);
    const x_type x = body.slices_of(xs, operands, loop.length);
    const auto y = f(carry, x);
    const auto next = as_traced(g, std::get<0>(y));
    const y_type out = as_traced(g, std::get<1>(y));
    if constexpr (is_carry<C, std::remove_cvref_t<decltype(next)>>()) {
      body.returns_carry(next);
      body.returns(out);
      loop.bodies[0] = body.finish(operands, loop.captures[0]);
      const ir::node_id node = g.add_control_flow(loop, operands);
      int at = 0;
      const C last = results_as<C>(g, node, at);
      return std::tuple<C, stacked>{last, results_as<stacked>(g, node, at)};
    } else {
      const auto zero = [&]<class L>(element_tag<L>) { return L{&g, g.constant(dtype_v<typename L::element_type>, g.intern(L::shape_type::value), 0)}; };
      return std::tuple<C, stacked>{init, build_tree<stacked>(zero)};
    }
  }
}

/// A loop that calls f(position of the iteration, carry) `length` times.
template <class F, class C>
constexpr C counted_loop(ir::builder& g, const F& f, std::int64_t length, const C& init) {
  using position = traced<std::int64_t, shape<>>;
  ir::control_flow loop{.what = ir::control_flow::kind::scan, .counts = true, .carries = tree<C>::leaves, .length = length};
  ir::array<ir::node_id> operands;
  append_leaves(operands, init);
  body_trace body(g);
  const C carry = body.inputs_like(init);
  const position iteration{&g, body.input(dtype::int64, g.intern({}))};
  const auto next = as_traced(g, f(iteration, carry));
  if constexpr (is_carry<C, std::remove_cvref_t<decltype(next)>>()) {
    body.returns_carry(next);
    loop.bodies[0] = body.finish(operands, loop.captures[0]);
    return results_as<C>(g, loop, operands);
  } else {
    return init;
  }
}

template <class Condition, class F, class C>
constexpr C while_of(ir::builder& g, const Condition& condition, const F& f, const C& init) {
  ir::control_flow loop{.what = ir::control_flow::kind::while_loop, .carries = tree<C>::leaves};
  ir::array<ir::node_id> operands;
  append_leaves(operands, init);
  body_trace test(g);
  const auto goes_on = condition(test.inputs_like(init));
  if constexpr (!is_condition<std::remove_cvref_t<decltype(goes_on)>>()) {
    return init;
  } else {
    test.returns(goes_on);
    loop.bodies[0] = test.finish(operands, loop.captures[0]);
    body_trace step(g);
    const auto next = as_traced(g, f(step.inputs_like(init)));
    if constexpr (is_carry<C, std::remove_cvref_t<decltype(next)>>()) {
      step.returns_carry(next);
      loop.bodies[1] = step.finish(operands, loop.captures[1]);
      return results_as<C>(g, loop, operands);
    } else {
      return init;
    }
  }
}

template <class F, class G, class... X>
constexpr auto branch_of(ir::builder& g, traced<bool, shape<>> flag, const F& first, const G& second, const X&... x);

/// A while_loop of at most N iterations, with a checkpoint. For a gradient the loop runs again as a scan of N iterations that keeps what the
/// backward pass reads. An iteration after the end of the loop does nothing.
template <std::int64_t N, class Condition, class F, class C>
constexpr C bounded_while(ir::builder& g, const Condition& condition, const F& f, const C& init) {
  using number = traced<std::int64_t, shape<>>;
  const auto goes_on = [&](const auto& state) { return condition(std::get<0>(state)) && std::get<1>(state) < N; };
  const auto step = [&](const auto& state) { return std::tuple{as_traced(g, f(std::get<0>(state))), std::get<1>(state) + 1}; };
  if constexpr (!is_condition<result_of<Condition, C>>() || !is_carry<C, rebind_kind_t<result_of<F, C>, tracing>>()) {
    return init;
  } else {
    const auto last = std::get<0>(while_of(g, goes_on, step, std::tuple<C, number>{init, lift<number>(g, std::int64_t{0})}));
    ir::array<ir::node_id> operands, outputs;
    append_leaves(operands, last);
    const ir::node_id first = g.count();
    const auto iteration = [&](const auto&, const C& carry) {
      return branch_of(g, condition(carry), [&](const C& c) { return as_traced(g, f(c)); }, [](const C& c) { return c; }, carry);
    };
    append_leaves(outputs, counted_loop(g, iteration, N, init));
    ir::control_flow kept{.what = ir::control_flow::kind::checkpoint, .carries = tree<C>::leaves};
    kept.bodies[0] = g.outline_written(first, {}, outputs, operands);
    kept.captures[0] = operands.size() - kept.carries;
    return results_as<C>(g, kept, operands);
  }
}

template <class F, class G, class... X>
constexpr auto branch_of(ir::builder& g, traced<bool, shape<>> flag, const F& first, const G& second, const X&... x) {
  ir::control_flow branch{.what = ir::control_flow::kind::cond};
  ir::array<ir::node_id> operands;
  operands.push_back(flag.id);
  body_trace one(g);
  const auto y = as_traced(g, first(x...));
  using result = std::remove_cvref_t<decltype(y)>;
  one.returns(y);
  ir::array<std::int16_t> shapes;  // of the results: y is not valid after its body is outlined
  for_each_leaf(y, [&](const auto& leaf) { shapes.push_back(g[leaf.id].shape); });
  branch.bodies[0] = one.finish_branch(operands, branch.captures[0]);
  body_trace other(g);
  const auto z = as_traced(g, second(x...));
  if constexpr (are_branches<result, std::remove_cvref_t<decltype(z)>>()) {
    other.returns(z);
    int i = 0;
    for_each_leaf(z, [&](const auto& leaf) {
      const extents a = g.shape(shapes[i++]), b = g.shape_of(leaf.id);
      for (int axis = 0; axis < a.rank; ++axis) g.unify(a[axis], b[axis], "cond", g.intern(a), g.intern(b));
    });
    branch.bodies[1] = other.finish_branch(operands, branch.captures[1]);
    return results_as<result>(g, branch, operands);
  } else {
    return as_traced(g, first(x...));  // y is in the outlined body
  }
}

/// The function objects that calls with tensors compile. Each call finds the function below by an argument, which is traced or has a type of this library.
template <class F, bool Reverse>
struct scan_call {
  template <class C, class Xs>
  constexpr auto operator()(const C& init, const Xs& xs) const { return scan(F{}, init, xs, scan_options{.reverse = Reverse}); }
};
template <class F>
struct counted_call {
  template <class N, class C>
  constexpr auto operator()(const N& n, const C& init) const { return fori_loop(n, F{}, init); }
};
template <class Condition, class F>
struct while_call {
  template <class C>
  constexpr auto operator()(const C& init) const { return while_loop(Condition{}, F{}, init); }
};
template <std::int64_t N, class Condition, class F>
struct bounded_call {
  template <class C>
  constexpr auto operator()(const C& init) const { return while_loop(Condition{}, F{}, init, at_most<N>); }
};
template <class... F>
struct branch_call {
  template <class Which, class... X>
  constexpr auto operator()(const Which& which, const X&... x) const { return cond(which, F{}..., x...); }
};
template <class... F>
struct switch_call {
  template <class Index, class... X>
  constexpr auto operator()(const Index& index, const X&... x) const { return switch_case(index, F{}..., x...); }
};

struct extent_call {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: extent: the axis lies outside the tensor's rank"); }
};

}  // namespace detail

/// scan(f, init, xs) calls f(carry, x) -> {carry, y} for each slice x of xs along axis 0 and returns {last carry, ys}. ys are stacked along
/// a new axis 0. Carry, xs and ys are trees; xs may also be a std::array of layers. The carry keeps its types and shapes. The number of
/// iterations is the extent of axis 0, static or known at run time; with 0 iterations the result is {init, empty ys}.
/// Memory: ys, and twice the carry. A gradient keeps the carry of each iteration, and the products and sums that the gradient reads.
template <class F, class C, class Xs>
constexpr auto scan(F f, const C& init, const Xs& xs, scan_options options = {}) {
  using namespace detail;
  if constexpr (!are_functions<F>()) {
    return std::tuple{after_error(), after_error()};
  } else if constexpr (in_trace<C, Xs>) {
    ir::builder& g = graph_of_arguments(init, xs);
    const auto carry = as_traced(g, init);
    const auto scanned = stacked_layers(as_traced(g, xs));
    if constexpr (is_scanned<std::remove_cvref_t<decltype(scanned)>>()) return scan_of(g, f, carry, scanned, options.reverse);
    else return std::tuple{carry, nothing};
  } else if constexpr (!runs_at_once<F>()) {
    return std::tuple{stand_in_for(init), stand_in_for(init)};
  } else {
    return options.reverse ? compile(scan_call<F, true>{})(init, xs) : compile(scan_call<F, false>{})(init, xs);
  }
}
/// Does not compile: several states, or several arrays, are a tuple, and the message says so.
template <class F, class C, class Xs, class Next, class... More>
  requires(!std::is_convertible_v<const Next&, scan_options>)
constexpr auto scan(const F&, const C&, const Xs&, const Next&, const More&...) {
  static_assert(detail::never<Next>, "tenure: scan: it takes f, init and xs: several states, or several arrays, are one tuple: scan(f, std::tuple{a, b}, xs)");
  return std::tuple{after_error(), after_error()};
}

/// extent<A>(x) is the extent of axis A as a std::int64_t. In a trace, an extent that is known only at run time is a traced int64: the number of
/// iterations of a fori_loop, or a number to compute with. Negative axes count from the end.
template <int A, operand X>
constexpr auto extent(const X& x) {
  constexpr int axis = ops::axis_position<detail::extent_call, X::shape_type::rank, A>::value;
  if constexpr (is_traced_v<X>) {
    if constexpr (!is_static(X::shape_type::value[axis])) {
      ir::builder& g = *x.graph;
      return traced<std::int64_t, shape<>>{&g, ops::number_of_extent(g, dtype::int64, ops::value(x).shape()[axis]).id};
    } else {
      return X::shape_type::value[axis];
    }
  } else {
    return x.extent(axis);
  }
}

/// fori_loop(n, f, init) calls f(i, carry) -> carry for i = 0 ... n - 1 and returns the last carry. i is a traced int64. n is an integer that is
/// known while tracing, an extent<A>(x), or another traced integer. In the first two cases the gradient keeps the values that it reads of each
/// iteration, as the gradient of scan does. In the third case it is the gradient of a while_loop.
template <class N, class F, class C>
constexpr auto fori_loop(const N& n, F f, const C& init) {
  using namespace detail;
  if constexpr (!is_count<N>()) {
    if constexpr (in_trace<C>) return as_traced(graph_of_arguments(init), init);
    else return stand_in_for(init);
  } else if constexpr (is_traced_v<N>) {
    ir::builder& g = *n.graph;
    const auto carry = as_traced(g, init);
    using carry_type = std::remove_cvref_t<decltype(carry)>;
    if constexpr (!takes_iteration_and_carry<F, carry_type>()) {
      return carry;
    } else if constexpr (!is_carry<carry_type, std::remove_cvref_t<decltype(as_traced(g, f(std::declval<traced<std::int64_t, shape<>>>(), carry)))>>()) {
      return after_error();  // here, and not in the two kinds of loop below, so that there is one message
    } else {
      if (const ir::node& e = g[n.id]; e.op == ir::opcode::extent) return counted_loop(g, f, e.attr, carry);
      const traced<std::int64_t, shape<>> trip_count{&g, ops::cast_to(n, dtype::int64).id};
      const auto goes_on = [&](const auto& state) { return std::get<0>(state) < trip_count; };
      const auto step = [&](const auto& state) { return std::tuple{std::get<0>(state) + 1, as_traced(g, f(std::get<0>(state), std::get<1>(state)))}; };
      return std::get<1>(while_of(g, goes_on, step, std::tuple{lift<traced<std::int64_t, shape<>>>(g, std::int64_t{0}), carry}));
    }
  } else if constexpr (in_trace<C>) {
    ir::builder& g = graph_of_arguments(init);
    const auto carry = as_traced(g, init);
    if constexpr (takes_iteration_and_carry<F, std::remove_cvref_t<decltype(carry)>>()) return counted_loop(g, f, n < 0 ? 0 : static_cast<std::int64_t>(n), carry);
    else return carry;
  } else if constexpr (!runs_at_once<F>()) {
    return stand_in_for(init);
  } else {
    return compile(counted_call<F>{})(static_cast<std::int64_t>(n), init);
  }
}

// A first index besides the number of iterations. It does not compile and gives a message.
template <class From, class To, class F, class C>
constexpr auto fori_loop(const From&, const To&, const F&, const C&) {
  static_assert(detail::never<F>, "tenure: fori_loop: it begins at 0 and takes the number of iterations: fori_loop(n, f, init)");
  return after_error();
}

/// while_loop(condition, f, init) calls f(carry) -> carry while condition(carry) is true, and returns the last carry. A condition returns one
/// traced bool. Reverse mode gives the gradient of the iterations that were taken, and may be repeated.
/// Cost of a gradient: the loop, at most r more runs of each iteration for its state, and the backward pass of each iteration. For a small carry r
/// is 1 or 2 up to two million iterations, see program/snapshots.hpp. Memory: as many carries as fit into 256 KiB, but at least 32 and at most 2048
/// (on a GPU 256), whatever the number of iterations.
template <class Condition, class F, class C>
constexpr auto while_loop(Condition condition, F f, const C& init) {
  using namespace detail;
  if constexpr (in_trace<C>) {
    ir::builder& g = graph_of_arguments(init);
    const auto carry = as_traced(g, init);
    if constexpr (both_take_carry<Condition, F, std::remove_cvref_t<decltype(carry)>>()) return while_of(g, condition, f, carry);
    else return carry;
  } else if constexpr (!runs_at_once<Condition, F>()) {
    return stand_in_for(init);
  } else {
    return compile(while_call<Condition, F>{})(init);
  }
}

/// while_loop(condition, f, init, at_most<N>) ends after N iterations at the latest. Reverse mode of any order is possible.
/// Cost of a gradient: the loop once more, and N iterations backward. An iteration that the loop does not take costs a call. Memory: N carries, and
/// the products and sums of N iterations that the gradient reads. A call without a gradient does not pay for this.
template <class Condition, class F, class C, std::int64_t N>
constexpr auto while_loop(Condition condition, F f, const C& init, iteration_bound<N>) {
  using namespace detail;
  static_assert(N >= 0, "tenure: loop: the bound of a while_loop is at_most<N>, where N is not negative");
  if constexpr (in_trace<C>) {
    ir::builder& g = graph_of_arguments(init);
    const auto carry = as_traced(g, init);
    if constexpr (both_take_carry<Condition, F, std::remove_cvref_t<decltype(carry)>>()) return bounded_while<N>(g, condition, f, carry);
    else return carry;
  } else if constexpr (!runs_at_once<Condition, F>()) {
    return stand_in_for(init);
  } else {
    return compile(bounded_call<N, Condition, F>{})(init);
  }
}

/// cond(flag, f, g, x...) is f(x...) if the flag is true, else g(x...). Only the chosen function runs. Both return the same types and shapes.
template <class Flag, class F, class G, class... X>
constexpr auto cond(const Flag& flag, F f, G g, const X&... x) {
  using namespace detail;
  if constexpr (in_trace<Flag, X...>) {
    ir::builder& graph = graph_of_arguments(flag, x...);
    const auto which = as_traced(graph, flag);
    if constexpr (!branches_take<F, G, rebind_kind_t<X, tracing>...>()) return after_error();
    else if constexpr (is_flag<std::remove_cvref_t<decltype(which)>>()) return branch_of(graph, which, f, g, as_traced(graph, x)...);
    else return as_traced(graph, f(as_traced(graph, x)...));
  } else if constexpr (!runs_at_once<F, G>()) {
    return after_error();
  } else {
    return compile(branch_call<F, G>{})(flag, x...);
  }
}

namespace detail {

/// A switch over the functions First ... Last - 1: nested conds that each halve the range.
template <std::size_t First, std::size_t Last, class Index, class Functions, class... X>
constexpr auto choose(const Index& index, const Functions& functions, const X&... x) {
  if constexpr (Last - First == 1) {
    return std::get<First>(functions)(x...);
  } else {
    constexpr std::size_t middle = (First + Last) / 2;
    return cond(
        index < static_cast<std::int64_t>(middle), [&](const auto&... y) { return choose<First, middle>(index, functions, y...); },
        [&](const auto&... y) { return choose<middle, Last>(index, functions, y...); }, x...);
  }
}
template <class Index, class... F, class... X>
constexpr auto switch_of(const Index& index, const std::tuple<F...>& functions, const X&... x) {
  if constexpr (in_trace<Index, X...>) {
    ir::builder& g = graph_of_arguments(index, x...);
    const auto which = as_traced(g, index);
    if constexpr (!cases_take<rebind_kind_t<X, tracing>...>(static_cast<const std::tuple<F...>*>(nullptr), std::index_sequence_for<F...>{})) return after_error();
    else if constexpr (!is_index<std::remove_cvref_t<decltype(which)>>() ||
                       !are_cases<rebind_kind_t<result_of<F, rebind_kind_t<X, tracing>...>, tracing>...>())
      return as_traced(g, std::get<0>(functions)(as_traced(g, x)...));
    else return as_traced(g, choose<0, sizeof...(F)>(which, functions, as_traced(g, x)...));
  } else if constexpr (!runs_at_once<F...>()) {
    return after_error();
  } else {
    return compile(switch_call<F...>{})(index, x...);
  }
}

}  // namespace detail

/// switch_case(index, f, g, h, x...) is f(x...) if the index is 0, g(x...) if it is 1, and so on. Only the chosen function runs. All functions
/// return the same types and shapes. An index out of range becomes the nearest valid index, as in jax.lax.switch.
/// Cost: as many comparisons as the logarithm of the number of functions.
template <class Index, class F, class... Rest>
constexpr auto switch_case(const Index& index, const F& f, const Rest&... rest) {
  using namespace detail;
  constexpr std::size_t arguments = (std::size_t{0} + ... + std::size_t{tree<Rest>::is_tree}), functions = sizeof...(Rest) - arguments;
  return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
    return switch_of(index, std::tuple<F, std::tuple_element_t<I, std::tuple<Rest...>>...>{f, argument<I>(rest...)...}, argument<functions + J>(rest...)...);
  }(std::make_index_sequence<functions>{}, std::make_index_sequence<arguments>{});
}

}  // namespace tenure
