// SPDX-License-Identifier: BSL-1.0
// linear_solve: the solution of a linear system whose matrix is a function, by any solver. The system gives the derivatives.
// Source: the meaning of jax.lax.custom_linear_solve.
#pragma once

#include <tenure/transform/custom.hpp>

namespace TENURE_NAMESPACE {

/// Says that the matrix of a system is equal to its transpose.
struct symmetric_option {};
inline constexpr symmetric_option symmetric{};

namespace detail {

/// The linear function u -> A u that a solver takes: apply with its parameters. `Transposed`: u -> A^T u.
template <class Apply, bool Transposed, class... P>
struct linear_map {
  [[no_unique_address]] Apply apply;
  [[no_unique_address]] std::tuple<P...> parameters;

  template <class U>
  constexpr auto operator()(const U& u) const {
    if constexpr (!Transposed) {
      return applied(u);
    } else {
      const U at = as_variable(U{u.graph, ops::value(u).like(0).id});
      const ir::node_id y = applied(at).id;
      ir::node_id found = ir::none;
      passes::reverse(*u.graph, &y, &u.id, 1, &at.id, 1, &found);
      return U{u.graph, found == ir::none ? ops::value(u).like(0).id : found};
    }
  }

 private:
  template <class U>
  constexpr auto applied(const U& u) const {
    return std::apply([&](const P&... p) { return apply(u, p...); }, parameters);
  }
};
template <class A>
inline constexpr bool is_linear_map = false;
template <class Apply, bool Transposed, class... P>
inline constexpr bool is_linear_map<linear_map<Apply, Transposed, P...>> = true;

/// Whether B can be the right-hand side, and whether apply and the solver return what is like it. If not, a static_assert gives the reason.
template <class B>
constexpr bool is_right_hand_side() {
  constexpr bool is_one = is_traced_v<B> && tree<B>::has_floats;
  static_assert(is_one, "tenure: linear_solve: the right-hand side is one floating value, a number or a tensor");
  return is_one;
}
template <class B, class Y>
constexpr bool is_image() {
  static_assert(std::is_same_v<B, Y>, "tenure: linear_solve: apply returns another element type or shape than the right-hand side has: it takes x and the arguments after b, and returns A x");
  return std::is_same_v<B, Y>;
}
template <class B, class Solver, class Map>
constexpr bool is_linear_solver() {
  constexpr bool takes = requires(const Solver& solver, const Map& a, const B& b) { solver(a, b); };
  static_assert(takes, "tenure: linear_solve: the solver does not take the function of x and the right-hand side: [](auto a, auto b) { return tn::cg(a, b); }");
  if constexpr (takes) {
    constexpr bool same = std::is_same_v<B, result_of<Solver, Map, B>>;
    static_assert(same, "tenure: linear_solve: the solver returns another element type or shape than the right-hand side has");
    return same;
  }
  return false;
}

/// The transform linear_solve.
template <class Apply, class Solver, bool Symmetric>
struct linear_solve_of {
  using transformed = Apply;
  template <int Arguments>
  static constexpr int results = 1;
  template <class B, class... P>
  static constexpr bool accepts() {
    if constexpr (!is_right_hand_side<B>()) return false;
    else if constexpr (!gives_traced<Apply, B, P...>()) return false;
    else if constexpr (!is_image<B, result_of<Apply, B, P...>>()) return false;
    else return is_linear_solver<B, Solver, linear_map<Apply, false, P...>>();
  }

  [[no_unique_address]] Apply apply{};
  [[no_unique_address]] Solver solver{};

  template <class B, class... P>
  constexpr auto operator()(const B& b, const P&... p) const {
    if constexpr (!accepts<B, P...>()) {
      return refused_in_trace<linear_solve_of>(b, p...);
    } else {
      ir::builder& g = *b.graph;
      const B x = without_gradient(solver(map<false>(without_gradient(p)...), without_gradient(b)));
      require_like("linear_solve", b, x);
      ir::array<ir::node_id> operands;
      append_leaves(operands, x, b, p...);
      ir::control_flow system{.what = ir::control_flow::kind::linear_solve, .is_symmetric = Symmetric, .carries = 1, .scanned = 1 + (0 + ... + tree<P>::leaves)};
      body_trace body(g);
      const B u = body.inputs_like(b), rhs = body.inputs_like(b), transposed_rhs = Symmetric ? rhs : body.inputs_like(b);
      const std::tuple<P...> parameters{body.inputs_like(p)...};
      std::apply([&](const P&... q) {
        body.returns(apply(u, q...));
        body.returns(solver(map<false>(q...), rhs));
        if constexpr (!Symmetric) body.returns(solver(map<true>(q...), transposed_rhs));
      }, parameters);
      system.bodies[0] = body.finish(operands, system.captures[0]);
      return results_as<B>(g, system, operands);
    }
  }

 private:
  template <bool Transposed, class... P>
  constexpr linear_map<Apply, Transposed, P...> map(const P&... p) const { return {apply, {p...}}; }
};

template <bool Symmetric, class Apply, class Solver>
constexpr linear_solve_of<Apply, Solver, Symmetric> linear_solve_on(Apply apply, Solver solver) { return {apply, solver}; }

}  // namespace detail

/// linear_solve(apply, solver)(b, p...) is the x with apply(x, p...) = b, as solver(a, b) finds it, where a(u) is apply(u, p...). apply is linear in
/// its first argument and returns a value like it; b is one floating value of any shape. Derivatives of any order and in both modes come from the
/// system and not from the steps of the solver, which may be a while_loop: they solve further systems with the same matrix or its transpose, for
/// which the solver is given the transposed function. They are as exact as the solutions. With tn::symmetric after the solver the transpose is the
/// function itself, and the file compiles faster. Values that apply captures within a trace have their derivatives, too.
/// Cost of a gradient: one more solution.
template <class Apply, class Solver, class Execution = inherited>
  requires(!detail::any_value<Apply> && !detail::any_value<Solver> && detail::any_execution<Execution>)
constexpr auto linear_solve(Apply apply, Solver solver, Execution on = {}) {
  return detail::compiled_on(detail::linear_solve_on<false>(detail::traced_function(apply), detail::traced_function(solver)), on);
}
template <class Apply, class Solver, class Execution = inherited>
  requires(!detail::any_value<Apply> && !detail::any_value<Solver> && detail::any_execution<Execution>)
constexpr auto linear_solve(Apply apply, Solver solver, symmetric_option, Execution on = {}) {
  return detail::compiled_on(detail::linear_solve_on<true>(detail::traced_function(apply), detail::traced_function(solver)), on);
}
// One function, or values in place of functions or beside them. They do not compile and give a message.
template <class Apply, class... X>
  requires(sizeof...(X) == 0 || detail::any_value<Apply> || (detail::any_value<X> || ...))
constexpr auto linear_solve(const Apply&, const X&...) {
  static_assert(detail::never<Apply>, "tenure: linear_solve: it takes two functions and gives a function: write linear_solve(apply, solver)(b), or tn::solve(a, b) with a matrix a");
  return after_error();
}

}  // namespace tenure
