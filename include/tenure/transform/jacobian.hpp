// SPDX-License-Identifier: BSL-1.0
// jacobian, jacfwd, jacrev, hessian, hvp. A Jacobian is a derivative of f in all directions at once: the derivative is traced once, as the
// body of one direction, and becomes a batch over the unit vectors.
// Source: the meaning of jax.jacfwd, jax.jacrev, jax.hessian.
#pragma once

#include <tenure/transform/body_trace.hpp>
#include <tenure/transform/gradient.hpp>
#include <tenure/transform/jacobian_rules.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class M, class N>
struct joined_shape;
template <std::int64_t... M, std::int64_t... N>
struct joined_shape<shape<M...>, shape<N...>> { using type = shape<M..., N...>; };

/// The kind of the derivatives of a value of type Y: the axes of Y, then those of the argument.
template <class Y>
struct derivatives_of : shape_change {
  template <class S>
  using shape = typename joined_shape<typename Y::shape_type, S>::type;
  template <class, class S>
  using type = traced<typename Y::element_type, shape<S>>;
};

/// The number of elements of the leaves of X, or dyn.
template <class X>
constexpr std::int64_t elements_of() {
  leaf_description leaves[tree<X>::leaves + 1];
  leaf_description* end = leaves;
  tree<X>::describe(end);
  std::int64_t n = 0;
  for (int i = 0; i < tree<X>::leaves; ++i) {
    if (!all_static(leaves[i].shape)) return dyn;
    n += count(leaves[i].shape);
  }
  return n;
}

/// The unit vectors in the space of x, as the samples of a batch.
constexpr passes::batch_value units(ir::builder& g, const ops::value& x) {
  return {passes::unit_vectors(g, x.shape(), x.type()).id, true, false, 0, true};
}

enum class sweep { forward, reverse, cheaper };

/// dy/dx with a cotangent for each element of y, by reverse mode. If y has one element, it is the gradient, without a batch.
template <class Y, class X>
constexpr auto jacobian_by_rows(const Y& y, const X& x) {
  ir::builder& g = *y.graph;
  const auto gradient_of_y = [&](ir::node_id cotangent) {
    const node_ids<X> wrt(x);
    node_ids<X> gradients;
    passes::reverse(g, &y.id, &cotangent, 1, wrt.at, wrt.count, gradients.at);
    int at = 0;
    return gradient_like(x, gradients.at, at);
  };
  constexpr bool is_one = elements_of<Y>() == 1;
  const extents of_y = g.shape_of(y.id);
  const auto with_axes_of_y = [&]<class L, class Row>(element_tag<L>, const Row& row) -> L {
    extents to = of_y;
    const extents s = g.shape_of(row.id);
    for (int a = is_one ? 0 : 1; a < s.rank; ++a) to.push_back(s[a]);
    return {&g, ops::cast_to(ops::reshape_to(row, to), dtype_v<typename L::element_type>).id};
  };
  using result = rebind_kind_t<X, derivatives_of<Y>>;
  if constexpr (is_one) {
    return build_tree<result>(with_axes_of_y, gradient_of_y(g.constant(g[y.id].type, g[y.id].shape, 1)));
  } else {
    ir::array<passes::batch_value> unit;
    unit.push_back(units(g, y));
    const std::int64_t n = g.shape_of(unit[0].id)[0];
    body_trace body(g);
    body.returns(gradient_of_y(body.input(g[y.id].type, g[y.id].shape)));
    return build_tree<result>(with_axes_of_y, body.template for_samples<rebind_kind_t<X, stacks<elements_of<Y>()>>>(unit, n));
  }
}

/// dy/dx with a tangent for each element of x, by forward mode. If x has one element, it is the derivative in that direction, without a batch.
template <class Y, class X>
constexpr auto jacobian_by_columns(const Y& y, const X& x) {
  ir::builder& g = *y.graph;
  const auto columns_of = [&]<class L, class From>(element_tag<L>, const From& leaf) -> L {
    const auto along = [&](ir::node_id tangent) {
      ir::node_id of_y = ir::none;
      passes::forward(g, &leaf.id, &tangent, 1, &y.id, 1, &of_y);
      return of_y != ir::none ? of_y : ops::value(y).like(0).id;
    };
    const extents of_x = g.shape_of(leaf.id);
    extents to = g.shape_of(y.id);
    for (int a = 0; a < of_x.rank; ++a) to.push_back(of_x[a]);
    if constexpr (elements_of<From>() == 1) {
      return {&g, ops::reshape_to({g, along(g.constant(g[leaf.id].type, g[leaf.id].shape, 1))}, to).id};
    } else {
      using column = traced<typename Y::element_type, typename with_first<elements_of<From>(), typename Y::shape_type>::type>;
      ir::array<passes::batch_value> unit;
      unit.push_back(units(g, leaf));
      const std::int64_t n = g.shape_of(unit[0].id)[0];
      body_trace body(g);
      body.returns(Y{&g, along(body.input(g[leaf.id].type, g[leaf.id].shape))});
      const ops::value columns = body.template for_samples<column>(unit, n);  // [elements of x, shape of y]
      return {&g, ops::reshape_to(ops::moved_axis(columns, 0, columns.shape().rank - 1), to).id};
    }
  };
  return build_tree<rebind_kind_t<X, derivatives_of<Y>>>(columns_of, x);
}

/// The Jacobian of f with respect to the arguments I: one tree for one argument, else a tuple.
template <sweep By>
struct jacobian_by {
  template <class F, int... I>
  struct of {
    using transformed = F;
    static constexpr bool gives_derivatives = true;
    template <int Arguments>
    static constexpr int results = sizeof...(I);
    template <class... X>
    static constexpr bool accepts() {
      if constexpr (!(has_jacobian_by<I, X...>() && ...)) return false;
      else if constexpr (!gives_traced<F, X...>()) return false;
      else return has_jacobian<result_of<F, X...>>();
    }

    [[no_unique_address]] F f{};

    template <class... X>
    constexpr auto operator()(const X&... arguments) const {
      if constexpr (!accepts<X...>()) return refused_in_trace<of>(arguments...);
      else return derive(as_variable(arguments)...);
    }

   private:
    template <class... X>
    constexpr auto derive(const X&... x) const {
      const auto y = f(x...);
      if constexpr (sizeof...(I) == 1) return (of_argument(y, argument<I>(x...)), ...);
      else return std::tuple{of_argument(y, argument<I>(x...))...};
    }
    template <class Y, class X>
    static constexpr auto of_argument(const Y& y, const X& x) {
      constexpr std::int64_t rows = elements_of<Y>(), columns = elements_of<X>();
      constexpr bool by_rows = By == sweep::reverse || (By == sweep::cheaper && is_static(rows) && (!is_static(columns) || rows < columns));
      if constexpr (!by_rows) return jacobian_by_columns(y, x);
      else if constexpr (By == sweep::reverse || sizeof...(I) > 1 || !is_traced_v<X> || !is_static(columns) || columns > 2 * rows) return jacobian_by_rows(y, x);
      else return passes::is_read_by_parts(*x.graph, x.id) ? jacobian_by_columns(y, x) : jacobian_by_rows(y, x);  // half of the columns are 0
    }
  };
};

template <class F, int... I>
using jacobian_of = typename jacobian_by<sweep::cheaper>::template of<F, I...>;
template <class F, int... I>
using jacfwd_of = typename jacobian_by<sweep::forward>::template of<F, I...>;
template <class F, int... I>
using jacrev_of = typename jacobian_by<sweep::reverse>::template of<F, I...>;

/// The Hessian with respect to argument I, as the Jacobian of the gradient.
template <class F, int I>
struct hessian_of {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() { return has_hessian<F, I, X...>(); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... arguments) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<hessian_of>(arguments...);
    else return jacfwd_of<grad_of<F, I>, I>{{f}}(arguments...);
  }
};

/// The transform hvp. Its arguments are (x..., v).
template <class F, int I>
struct hvp_of {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() {
    constexpr bool any = sizeof...(X) >= 2;
    static_assert(any, "tenure: hvp: needs the arguments of the function, then the vector");
    if constexpr (!any) return false;
    else return accepts_split<std::tuple<X...>>(std::make_index_sequence<sizeof...(X) - 1>{});
  }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... all) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<hvp_of>(all...);
    else return along(std::tie(all...), std::index_sequence_for<X...>{});
  }

 private:
  template <class All, std::size_t... K>
  constexpr auto along(const All& all, std::index_sequence<K...>) const {
    require_like("hvp", std::get<I>(all), std::get<sizeof...(K) - 1>(all));  // before jvp requires it under its own name
    return std::get<1>(jvp_of<grad_of<F, I>, I>{{f}}(std::get<K>(all)...));
  }
  template <class All, std::size_t... K>
  static constexpr bool accepts_split(std::index_sequence<K...>) {
    if constexpr (!has_hessian<F, I, std::tuple_element_t<K, All>...>()) {
      return false;
    } else {
      constexpr bool fits = is_like<std::tuple_element_t<static_cast<std::size_t>(I), All>, std::tuple_element_t<sizeof...(K), All>>;
      static_assert(fits, "tenure: hvp: the vector, which is the last argument, has another element type, shape or tree than the argument of the function");
      return fits;
    }
  }
};

template <template <class, int> class Transform, int I, class F, class Execution>
constexpr auto with_respect_to_one(F f, Execution on) { return compiled_on(Transform<F, I>{f}, on); }

}  // namespace detail

/// jacobian<I...>(f)(x...) is the Jacobian of f with respect to the arguments I: the axes of f(x...), then those of the argument. Without indices
/// it is with respect to the first argument; with several it returns a tuple. An argument that is a tree gives a tree. f returns one value. The
/// cheaper mode is chosen by the static sizes: jacrev if f(x...) has fewer elements than the argument, else jacfwd.
/// Memory: the Jacobian, and one array of its size for each intermediate value that depends on the direction.
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto jacobian(F f, Execution on = {}) { return detail::with_respect_to<detail::jacobian_of, I...>(detail::traced_function(f), on); }
/// jacobian by forward mode, with a tangent for each element of the argument. It also works for a while_loop.
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto jacfwd(F f, Execution on = {}) { return detail::with_respect_to<detail::jacfwd_of, I...>(detail::traced_function(f), on); }
/// jacobian by reverse mode, with a cotangent for each element of the result.
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto jacrev(F f, Execution on = {}) { return detail::with_respect_to<detail::jacrev_of, I...>(detail::traced_function(f), on); }

/// hessian<I>(f)(x...) is the matrix of second derivatives with respect to argument I, of a function that returns a single number: the axes
/// of the argument twice. It is the forward derivative of the gradient.
template <int I = 0, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto hessian(F f, Execution on = {}) { return detail::with_respect_to_one<detail::hessian_of, I>(detail::traced_function(f), on); }
/// hvp<I>(f)(x..., v) is the Hessian with respect to argument I times v, without the Hessian: the derivative of the gradient in direction v.
/// Time: about twice that of the gradient.
template <int I = 0, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto hvp(F f, Execution on = {}) { return detail::with_respect_to_one<detail::hvp_of, I>(detail::traced_function(f), on); }

// Values in place of functions or beside them. They do not compile and give a message.
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto jacobian(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: jacobian: it takes a function and gives a function: write jacobian(f)(x)");
  return after_error();
}
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto jacfwd(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: jacfwd: it takes a function and gives a function: write jacfwd(f)(x)");
  return after_error();
}
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto jacrev(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: jacrev: it takes a function and gives a function: write jacrev(f)(x)");
  return after_error();
}
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto hessian(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: hessian: it takes a function and gives a function: write hessian(f)(x)");
  return after_error();
}
template <int I, int J, int... Rest, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto hessian(const F&, Execution = {}) {
  static_assert(detail::never<F>, "tenure: hessian: one argument is chosen, hessian<I>(f)(x...): derivatives by two arguments are jacobian<0, 1>(grad<0>(f))(x...)");
  return after_error();
}
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto hvp(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: hvp: it takes a function and gives a function: write hvp(f)(x, v)");
  return after_error();
}

}  // namespace tenure
