// SPDX-License-Identifier: BSL-1.0
// custom_jvp and custom_vjp: functions with their own derivative rules, for numerical stability, for a gradient that is not the derivative on
// purpose, or for a cheaper backward pass. The values are those of the function. Arguments, results and residuals are trees.
// Source: the names and the meaning of jax.custom_jvp and jax.custom_vjp.
#pragma once

#include <tenure/transform/control_flow.hpp>
#include <tenure/transform/gradient.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class R>
inline constexpr bool is_pair = has_tuple_parts_of<R, 2>;

/// Whether Given, which a rule returned, is a tree with the leaves of X.
template <class X, class Given>
constexpr bool returned_like() {
  if constexpr (tree<Given>::is_tree) return is_like<X, Given>;
  else return false;
}

/// x, without a derivative through it.
template <class X>
constexpr X without_gradient(const X& x) {
  const auto stop = []<class L>(element_tag<L>, const L& leaf) -> L {
    return is_floating(dtype_v<typename L::element_type>) ? L{leaf.graph, ops::stopped(leaf).id} : leaf;
  };
  return build_tree<X>(stop, x);
}

/// Tangents or cotangents like x, as inputs of a body. Leaves without a gradient are zero.
template <class X>
constexpr X tangents_like(ir::builder& g, body_trace& body, const X& x) {
  const auto make = [&]<class L>(element_tag<L>, const L& leaf) -> L {
    const ir::node n = g[leaf.id];
    return {&g, is_floating(n.type) ? body.input(n.type, n.shape) : g.constant(n.type, n.shape, 0)};
  };
  return build_tree<X>(make, x);
}
template <class X>
constexpr void return_floating(body_trace& body, const X& x) {
  for_each_leaf(x, [&](const auto& leaf) {
    if constexpr (tree<decltype(leaf)>::has_floats) body.returns(leaf);
  });
}

// ---- custom_jvp ------------------------------------------------------------------------------------------------------

/// Whether a rule returns {y, tangent of y}. If not, a static_assert gives the reason. The compiler prints the types.
template <class Y, class Value, class Tangent>
constexpr bool is_value_and_tangent() {
  constexpr bool like = returned_like<Y, Value>() && returned_like<Y, Tangent>(), has_floats = tree<Y>::has_floats;
  static_assert(has_floats || like, "tenure: custom_jvp: the function returns integers or bool, so the rule returns zeros of their type as the tangent: std::tuple{y, tn::zeros_like(y)}");
  static_assert(!has_floats || like, "tenure: custom_jvp: the rule returns y or a tangent of another element type, shape or tree than the function");
  return like;
}
template <class Y, class Rule, class... X>
constexpr bool is_jvp_rule() {
  constexpr bool takes = requires(const Rule& rule, const X&... x) { rule(x..., x...); };
  static_assert(takes, "tenure: custom_jvp: the rule does not take the arguments of the function, then a tangent for each");
  if constexpr (takes) {
    using returned = result_of<Rule, X..., X...>;
    static_assert(is_pair<returned>, "tenure: custom_jvp: the rule returns {y, tangent of y}: std::tuple{y, tangent}");
    if constexpr (is_pair<returned>) return is_value_and_tangent<Y, std::tuple_element_t<0, returned>, std::tuple_element_t<1, returned>>();
  }
  return false;
}

/// The transform custom_jvp. `OfResults`: f returns its first argument, and the derivatives of the rule with respect to it use the rule again.
template <class F, class Rule, bool OfResults = false>
struct custom_jvp_of {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() {
    if constexpr (!gives_traced<F, X...>()) return false;
    else return is_jvp_rule<result_of<F, X...>, Rule, X...>();
  }

  [[no_unique_address]] F f{};
  [[no_unique_address]] Rule rule{};

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr (!accepts<X...>()) {
      return refused_in_trace<custom_jvp_of>(x...);
    } else {
      ir::builder& g = graph_of_arguments(x...);
      const auto y = f(without_gradient(x)...);
      using result = std::remove_cvref_t<decltype(y)>;
      ir::array<ir::node_id> operands;
      append_leaves(operands, y, x...);
      ir::control_flow custom{.what = ir::control_flow::kind::custom_jvp, .carries = tree<result>::leaves, .scanned = (0 + ... + tree<X>::leaves)};
      custom.of_results = OfResults;
      body_trace body(g);
      const std::tuple<X...> at{body.inputs_like(x)...};
      const std::tuple<X...> along{tangents_like(g, body, x)...};
      const ir::diagnostic::kind before = g.take_refused_derivative();
      trace_rule(g, body, y, at, along, std::index_sequence_for<X...>{});
      custom.refused = g.take_refused_derivative();
      if (before != ir::diagnostic::kind::nothing) g.refuse({before});
      custom.bodies[0] = body.finish(operands, custom.captures[0]);
      return results_as<result>(g, custom, operands);
    }
  }

 private:
  template <class Y, class All, std::size_t... I>
  constexpr void trace_rule(ir::builder& g, body_trace& body, const Y& y, const All& at, const All& along, std::index_sequence<I...>) const {
    const auto both = rule(std::get<I>(at)..., std::get<I>(along)...);
    const auto value = as_traced(g, std::get<0>(both));
    const auto tangent = as_traced(g, std::get<1>(both));
    require_like("custom_jvp", y, value);
    require_like("custom_jvp", y, tangent);
    return_floating(body, tangent);
  }
};

// ---- custom_vjp ------------------------------------------------------------------------------------------------------

template <class Y, class Value>
constexpr bool is_value_by_forward() {
  constexpr bool like = returned_like<Y, Value>();
  static_assert(like, "tenure: custom_vjp: forward returns y of another element type, shape or tree than the function");
  return like;
}
template <class Y, class Forward, class... X>
constexpr bool is_forward() {
  constexpr bool takes = requires(const Forward& forward, const X&... x) { forward(x...); };
  static_assert(takes, "tenure: custom_vjp: forward does not take the arguments of the function");
  if constexpr (takes) {
    using returned = result_of<Forward, X...>;
    constexpr bool are_trees = [] {
      if constexpr (is_pair<returned>) return tree<std::tuple_element_t<0, returned>>::is_tree && tree<std::tuple_element_t<1, returned>>::is_tree;
      else return false;
    }();
    static_assert(are_trees,
                  "tenure: custom_vjp: forward returns {y, residuals}: std::tuple{y, residuals}, and tn::nothing as residuals if there are none");
    if constexpr (are_trees) return is_value_by_forward<Y, std::tuple_element_t<0, returned>>();
  }
  return false;
}

/// The forward function that makes custom_vjp(f, backward) a custom_vjp(f, forward, backward): the residuals are the arguments.
template <class F>
struct keeps_arguments {
  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... x) const { return std::tuple{f(x...), std::tuple<X...>(x...)}; }
};
template <class Backward>
struct backward_of_arguments {
  [[no_unique_address]] Backward backward{};

  template <class... X, class Y>
    requires requires(const Backward& b, const X&... x, const Y& y) { b(x..., y); }
  constexpr auto operator()(const std::tuple<X...>& x, const Y& y) const {
    return std::apply([&](const X&... each) { return backward(each..., y); }, x);
  }
};
template <class Backward>
inline constexpr bool takes_arguments = false;
template <class Backward>
inline constexpr bool takes_arguments<backward_of_arguments<Backward>> = true;

/// Whether backward returns the bare cotangent of the only argument X, and not a tuple with it.
template <class Returned, class... X>
inline constexpr bool is_bare_cotangent = false;
template <class Returned, class X>
inline constexpr bool is_bare_cotangent<Returned, X> = returned_like<X, Returned>();

/// Whether Given is the cotangent of argument X. An argument without floating-point leaves may have none.
template <class X, class Given>
constexpr bool is_cotangent_by_backward() {
  if constexpr (!tree<X>::has_floats && std::is_same_v<Given, std::tuple<>>) return true;
  else return returned_like<X, Given>();
}
template <class Returned, class... X>
constexpr bool are_cotangents() {
  if constexpr (is_bare_cotangent<Returned, X...>) {
    return true;
  } else if constexpr (has_tuple_parts_of<Returned, sizeof...(X)>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (is_cotangent_by_backward<X, std::remove_cvref_t<std::tuple_element_t<I, Returned>>>() && ...);
    }(std::index_sequence_for<X...>{});
  } else {
    return false;
  }
}
/// `Returned` is the type that backward returns, and X... are the types of the arguments.
template <class Returned, class... X>
constexpr bool returns_cotangents() {
  constexpr bool are = are_cotangents<Returned, X...>();
  static_assert(are, "tenure: custom_vjp: backward returns a std::tuple with the cotangent of each argument, of its element types, shapes and tree");
  return are;
}
template <class Y, class Residuals, class Backward, class... X>
constexpr bool is_backward() {
  constexpr bool takes = requires(const Backward& backward, const Residuals& residuals, const Y& y) { backward(residuals, y); };
  static_assert(takes || takes_arguments<Backward>, "tenure: custom_vjp: backward does not take the residuals, then the cotangent of y");
  static_assert(takes || !takes_arguments<Backward>, "tenure: custom_vjp: backward does not take the arguments of the function, then the cotangent of y");
  if constexpr (takes) return returns_cotangents<result_of<Backward, Residuals, Y>, X...>();
  else return false;
}

/// Makes the cotangents that backward returned the outputs of the body. x are the arguments.
template <class Returned, std::size_t... I, class... X>
constexpr void return_cotangents(ir::builder& g, body_trace& body, const Returned& returned, std::index_sequence<I...>, const X&... x) {
  const auto return_one = [&](const auto& argument, const auto& given) {
    if constexpr (tree<decltype(argument)>::has_floats) {
      const auto cotangent = as_traced(g, given);
      require_like("custom_vjp", argument, cotangent);
      return_floating(body, cotangent);
    }
  };
  if constexpr (is_bare_cotangent<Returned, X...>) (return_one(x, returned), ...);
  else (return_one(x, std::get<I>(returned)), ...);
}

/// The transform custom_vjp.
template <class F, class Forward, class Backward>
struct custom_vjp_of {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() {
    if constexpr (!gives_traced<F, X...>()) return false;
    else if constexpr (!is_forward<result_of<F, X...>, Forward, X...>()) return false;
    else return is_backward<result_of<F, X...>, residuals_of<X...>, Backward, X...>();
  }

  [[no_unique_address]] F f{};
  [[no_unique_address]] Forward forward{};
  [[no_unique_address]] Backward backward{};

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr (!accepts<X...>()) {
      return refused_in_trace<custom_vjp_of>(x...);
    } else {
      ir::builder& g = graph_of_arguments(x...);
      const auto y = f(without_gradient(x)...);
      using result = std::remove_cvref_t<decltype(y)>;
      const auto both = forward(x...);
      const auto value = as_traced(g, std::get<0>(both));
      const auto residuals = as_traced(g, std::get<1>(both));
      require_like("custom_vjp", y, value);
      ir::array<ir::node_id> operands;
      append_leaves(operands, y, value, x..., residuals);
      ir::control_flow custom{.what = ir::control_flow::kind::custom_vjp, .carries = tree<result>::leaves, .scanned = (0 + ... + tree<X>::leaves),
                           .residuals = tree<residuals_of<X...>>::leaves};
      body_trace body(g);
      const auto kept = body.inputs_like(residuals);
      const auto cotangent = tangents_like(g, body, y);
      return_cotangents(g, body, backward(kept, cotangent), std::index_sequence_for<X...>{}, x...);
      custom.bodies[0] = body.finish(operands, custom.captures[0]);
      return results_as<result>(g, custom, operands);
    }
  }

 private:
  template <class... X>
  using residuals_of = rebind_kind_t<std::tuple_element_t<1, result_of<Forward, X...>>, tracing>;
};

template <class F, class Rule>
constexpr custom_jvp_of<F, Rule> custom_jvp_on(F f, Rule rule) { return {f, rule}; }
template <class F, class Forward, class Backward>
constexpr custom_vjp_of<F, Forward, Backward> custom_vjp_on(F f, Forward forward, Backward backward) { return {f, forward, backward}; }

}  // namespace detail

/// custom_jvp(f, rule)(x...) returns f(x...). Its tangent is the second value of rule(x..., tangents of x...), which returns {y, tangent of y}.
/// The rule must be linear in the tangents. Reverse mode transposes the rule. The first value of the rule is not used.
template <class F, class Rule, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Rule> && !detail::any_value<Execution>)
constexpr auto custom_jvp(F f, Rule rule, Execution on = {}) {
  return detail::compiled_on(detail::custom_jvp_on(detail::traced_function(f), detail::traced_function(rule)), on);
}

/// custom_vjp(f, backward)(x...) is f(x...). In reverse mode backward(x..., cotangent of y) returns a tuple with the cotangents of x..., or the
/// bare cotangent if there is one argument. There is no forward mode. custom_vjp(f, forward, backward) chooses the residuals: reverse mode computes
/// forward(x...) -> {y, residuals}, and then backward(residuals, cotangent of y).
template <class F, class Backward, class Execution = inherited>
  requires(detail::any_execution<Execution> && !detail::any_value<F> && !detail::any_value<Backward>)
constexpr auto custom_vjp(F f, Backward backward, Execution on = {}) {
  const auto function = detail::traced_function(f);
  const auto of_arguments = detail::traced_function(backward);
  const detail::keeps_arguments<std::remove_const_t<decltype(function)>> forward{function};
  return detail::compiled_on(detail::custom_vjp_on(function, forward, detail::backward_of_arguments<std::remove_const_t<decltype(of_arguments)>>{of_arguments}), on);
}
template <class F, class Forward, class Backward, class Execution = inherited>
  requires(!detail::any_execution<Backward> && !detail::any_value<F> && !detail::any_value<Forward> && !detail::any_value<Backward> && !detail::any_value<Execution>)
constexpr auto custom_vjp(F f, Forward forward, Backward backward, Execution on = {}) {
  using detail::traced_function;
  return detail::compiled_on(detail::custom_vjp_on(traced_function(f), traced_function(forward), traced_function(backward)), on);
}

// Values in place of functions or beside them. They do not compile and give a message.
template <class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto custom_jvp(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: custom_jvp: it takes functions and gives a function: write custom_jvp(f, rule)(x)");
  return after_error();
}
template <class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto custom_vjp(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: custom_vjp: it takes functions and gives a function: write custom_vjp(f, backward)(x)");
  return after_error();
}

}  // namespace tenure
