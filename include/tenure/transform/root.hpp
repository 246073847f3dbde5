// SPDX-License-Identifier: BSL-1.0
// root: a function that an equation defines. A solver finds the value, and the equation gives the derivative.
// Source: the implicit function theorem, and the meaning of jax.lax.custom_root.
#pragma once

#include <tenure/ops/opaque/solve.hpp>
#include <tenure/transform/custom.hpp>
#include <tenure/transform/jacobian.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Returns the first argument: the value that the solver found.
struct found_by_solver {
  template <class Z, class... X>
  constexpr const Z& operator()(const Z& z, const X&...) const { return z; }
};

/// The rule of custom_jvp. Its arguments are (z, x..., dz, dx...). residual(z, x...) stays zero, so J dz = -(the tangent of the residual along dx),
/// where J is the derivative of the residual with respect to z. The argument dz is zero, because no derivative goes through the solver.
template <class Residual>
struct root_rule {
  [[no_unique_address]] Residual residual{};

  template <class Z, class... All>
  constexpr auto operator()(const Z& z, const All&... all) const {
    return split(std::make_index_sequence<sizeof...(All) / 2>{}, z, std::tuple<All...>{all...});
  }

 private:
  template <std::size_t... I, class Z, class All>
  constexpr auto split(std::index_sequence<I...>, const Z& z, const All& all) const {
    ir::builder& g = *z.graph;
    const Z at = as_variable(z);
    const auto x = std::tuple{as_variable(std::get<I>(all))...};
    const auto r = residual(at, std::get<I>(x)...);
    const node_ids wrt(std::get<I>(x)...);
    const node_ids along(std::get<sizeof...(I) + 1 + I>(all)...);
    ir::node_id moved = ir::none;
    passes::forward(g, wrt.at, along.at, wrt.count, &r.id, 1, &moved);
    if (moved == ir::none) return std::tuple{z, Z{&g, ops::value(z).like(0).id}};
    const ops::value jacobian = jacobian_by_columns(r, at);
    if (ops::value(z).shape().rank == 0) return std::tuple{z, Z{&g, (-(ops::value(g, moved) / jacobian)).id}};
    const extents of_z = ops::value(z).shape();
    const std::int64_t n = ops::elements_along(g, of_z, ops::all_axes(of_z.rank));
    const ops::value step = ops::nodes::solve::of({}, ops::reshape_to(jacobian, {2, {n, n}}), ops::reshape_to({g, moved}, {2, {n, 1}}));
    return std::tuple{z, Z{&g, ops::reshape_to(-step, of_z).id}};
  }
};

/// Whether the residual can define the value Z of the solver. If not, a static_assert gives the reason. The compiler prints the types.
template <class Z>
constexpr bool is_solution() {
  constexpr bool is_one = is_traced_v<Z> && tree<Z>::has_floats;
  static_assert(is_one, "tenure: root: the solver returns one floating value, a number or a tensor");
  return is_one;
}
template <class Z, class R>
constexpr bool is_residual() {
  static_assert(std::is_same_v<Z, R>, "tenure: root: the residual has another element type or shape than the value of the solver");
  return std::is_same_v<Z, R>;
}

/// The transform root.
template <class Residual, class Solver>
struct root_of {
  using transformed = Solver;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() {
    if constexpr (!gives_traced<Solver, X...>()) return false;
    else if constexpr (!is_solution<result_of<Solver, X...>>()) return false;
    else if constexpr (!gives_traced<Residual, result_of<Solver, X...>, X...>()) return false;
    else return is_residual<result_of<Solver, X...>, result_of<Residual, result_of<Solver, X...>, X...>>();
  }

  [[no_unique_address]] Residual residual{};
  [[no_unique_address]] Solver solver{};

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<root_of>(x...);
    else return custom_jvp_of<found_by_solver, root_rule<Residual>, true>{{}, {residual}}(solver(without_gradient(x)...), x...);
  }
};

template <class Residual, class Solver>
constexpr root_of<Residual, Solver> root_on(Residual residual, Solver solver) { return {residual, solver}; }

}  // namespace detail

/// root(residual, solver)(x...) is z = solver(x...), where residual(z, x...) is zero. No derivative goes through the solver: it may be a while_loop,
/// and nothing of its iterations is kept. The derivative of z comes from the residual, and is right where the residual is zero. z is one floating
/// value, and the residual has its shape. Values that the solver and the residual capture have no such derivative: pass them as arguments.
/// Cost of a derivative: the Jacobian of the residual with respect to z, n x n for n elements, and the solution of its system. For many small
/// systems use vmap(root(...)).
template <class Residual, class Solver, class Execution = inherited>
  requires(!detail::any_value<Residual> && !detail::any_value<Solver> && !detail::any_value<Execution>)
constexpr auto root(Residual residual, Solver solver, Execution on = {}) {
  return detail::compiled_on(detail::root_on(detail::traced_function(residual), detail::traced_function(solver)), on);
}
// One function, or values in place of functions or beside them. They do not compile and give a message.
template <class Residual, class... X>
  requires(sizeof...(X) == 0 || detail::any_value<Residual> || (detail::any_value<X> || ...))
constexpr auto root(const Residual&, const X&...) {
  static_assert(detail::never<Residual>, "tenure: root: it takes two functions and gives a function: write root(residual, solver)(x), and begin with the first guess in the solver");
  return after_error();
}

}  // namespace tenure
