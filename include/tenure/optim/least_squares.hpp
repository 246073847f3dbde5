// SPDX-License-Identifier: BSL-1.0
// least_squares: the parameters for which a vector of residuals is the smallest, by Levenberg and Marquardt's method. Residuals, Jacobian and J^T J are
// one compiled function; the Jacobian is by forward mode, a lane for each parameter.
// Law: the same arguments give the same bits. No step raises the cost. If a call throws, the model is unchanged.
// Cost of a step: one evaluation of the residuals for n + 1 tangents, n^2 products for each residual, and a Cholesky factorization of n x n.
#pragma once

#include <optional>

#include <tenure/ops/opaque/cholesky_solve.hpp>
#include <tenure/ops/opaque/inverse.hpp>
#include <tenure/ops/rearrangement.hpp>
#include <tenure/optim/levenberg_marquardt.hpp>
#include <tenure/optim/robust.hpp>
#include <tenure/transform/jacobian.hpp>

namespace TENURE_NAMESPACE {
namespace optim::detail {

/// Parameters of observations, see sparse_least_squares.hpp.
template <class Table, class Index>
struct rows_of;

/// All elements of a model as one vector of the promoted element type.
template <class M>
struct vector_of {
  static constexpr dtype type = floating_type_of<M>();
  static constexpr int leaves = tree<M>::leaves;
  static constexpr std::array<extents, leaves> shapes = [] {
    leaf_description all[leaves + 1];
    leaf_description* end = all;
    tree<M>::describe(end);
    std::array<extents, leaves> found{};
    for (std::size_t i = 0; i < leaves; ++i) found[i] = all[i].shape;
    return found;
  }();
  static constexpr bool is_static = [] {
    for (const extents& s : shapes)
      for (int a = 0; a < s.rank; ++a)
        if (!tenure::is_static(s[a])) return false;
    return true;
  }();
  static constexpr std::int64_t size = [] {
    std::int64_t n = 0;
    for (const extents& s : shapes) n += is_static ? count(s) : 0;
    return is_static ? n : dyn;
  }();
  using element = element_of_t<type>;
  using vector = traced<element, shape<size>>;

  static constexpr vector of(const M& model) {
    ops::value all;
    for_each_leaf(model, [&](const auto& leaf) {
      ir::builder& g = *leaf.graph;
      const extents s = g.shape_of(leaf.id);
      const ops::value one = ops::reshape_to({g, ops::cast_to(leaf, type).id}, {1, {ops::elements_along(g, s, ops::all_axes(s.rank))}});
      all = all.id == ir::none ? one : ops::concatenated(all, one, 0);
    });
    return {all.graph, all.id};
  }
  /// The model of the elements of a vector, with the extents of `like`.
  static constexpr M back(const M& like, const vector& all) {
    std::int64_t at = 0;
    const auto take = [&]<class L>(element_tag<L>, const L& leaf) -> L {
      const extents s = leaf.graph->shape_of(leaf.id);
      ops::value part(all);
      if constexpr (leaves > 1) {
        part = ops::sliced(part, 0, at, count(s), 1);
        at += count(s);
      }
      return {leaf.graph, ops::cast_to(ops::reshape_to(part, s), dtype_v<typename L::element_type>).id};
    };
    return build_tree<M>(take, like);
  }
};

/// Whether the model can be fitted. If not, a static_assert gives the reason.
template <class M>
constexpr bool has_known_size() {
  constexpr bool known = vector_of<M>::is_static || vector_of<M>::leaves == 1;
  static_assert(known, "tenure: least_squares: several parameters, and one has a run-time extent: make them parts of one tensor, or their extents static");
  return known;
}
/// Whether R are residuals. If not, a static_assert gives the reason.
template <class R>
constexpr bool are_residuals() {
  constexpr bool is_one = is_traced_v<R> && tree<R>::has_floats;
  static_assert(is_one, "tenure: least_squares: the function returns one floating value, its residuals");
  return is_one;
}

/// The squared lengths of the blocks of residuals: of the rows of the last axis, or of each number of a vector.
template <class R>
constexpr auto squares_of_blocks(const R& r) {
  if constexpr (R::shape_type::rank > 1) return sum(r * r, axis<R::shape_type::rank - 1>);
  else return r * r;
}
/// Half the sum of rho over the blocks.
template <class Loss, class R, class C>
constexpr auto cost_of_residuals(const R& r, const C& scale) { return 0.5 * sum(cast<double>(Loss::value(squares_of_blocks(r), cast<typename R::element_type>(scale)))); }
/// The weight of each residual, as a vector.
template <class Loss, class R, class C>
constexpr auto weights_of_residuals(const R& r, const C& scale) {
  const auto weight = Loss::weight(squares_of_blocks(r), cast<typename R::element_type>(scale));
  const auto each = [&] {
    if constexpr (R::shape_type::rank > 1) return zeros_like(r) + unsqueeze<R::shape_type::rank - 1>(weight);
    else return weight;
  }();
  return reshape<-1>(each);
}

template <class F, class Loss>
struct cost_of {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class M, class C, class... Data>
  static constexpr bool accepts() {
    if constexpr (!has_known_size<M>()) return false;
    else if constexpr (!gives_traced<F, M, Data...>()) return false;
    else return are_residuals<result_of<F, M, Data...>>();
  }
  template <class M, class C, class... Data>
  constexpr auto operator()(const M& x, const C& scale, const Data&... data) const {
    if constexpr (!accepts<M, C, Data...>()) return refused_in_trace<cost_of>(x, scale, data...);
    else return cost_of_residuals<Loss>(F{}(x, data...), scale);
  }
};

/// (x, scale, least, most, data...) -> {cost, largest element of the gradient, gradient g, J^T W J}. A parameter at a bound that g pushes against does
/// not count for the largest element.
template <class F, class Loss, bool Bounded>
struct normal_equations {
  template <class M, class C, class... Data>
  constexpr auto operator()(const M& x, const C& scale, const M& least, const M& most, const Data&... data) const {
    using flat = vector_of<M>;
    using V = typename flat::vector;
    const V p = as_variable(flat::of(x));
    const auto r = F{}(flat::back(x, p), data...);
    using R = std::remove_cvref_t<decltype(r)>;
    using T = typename R::element_type;
    constexpr std::int64_t rows = R::shape_type::is_static ? R::shape_type::size : dyn;
    ir::builder& g = *r.graph;
    const ops::value by_columns = jacobian_by_columns(r, p);
    const extents of_r = g.shape_of(r.id), of_p = g.shape_of(p.id);
    const std::int64_t m = ops::elements_along(g, of_r, ops::all_axes(of_r.rank));
    const traced<T, shape<rows, flat::size>> j{&g, ops::reshape_to(by_columns, {2, {m, of_p[0]}}).id};
    const traced<T, shape<rows>> plain{&g, ops::reshape_to(ops::value(r), {1, {m}}).id};
    const auto both = [&] {
      if constexpr (std::is_same_v<Loss, robust::none>) {
        return std::tuple{matmul(plain, j), matmul(transpose(j), j)};
      } else {
        const auto weights = weights_of_residuals<Loss>(r, scale);
        return std::tuple{matmul(weights * plain, j), matmul(transpose(j), unsqueeze<1>(weights) * j)};
      }
    }();
    const V gradient = cast<typename flat::element>(std::get<0>(both));
    const auto h = cast<typename flat::element>(std::get<1>(both));
    const auto pushed = [&] {
      if constexpr (Bounded) return where(at_bound(p, gradient, flat::of(least), flat::of(most)), zeros_like(gradient), gradient);
      else return gradient;
    }();
    return std::tuple{cost_of_residuals<Loss>(r, scale), cast<double>(amax(abs(pushed))), gradient, h};
  }
  template <class V>
  static constexpr auto at_bound(const V& p, const V& gradient, const V& least, const V& most) {
    return (p <= least && gradient > 0.0) || (p >= most && gradient < 0.0);
  }
};

/// (x, g, h, damping, least, most) -> {x + step, predicted decrease, length of the step, length of x}.
template <bool Bounded>
struct damped_step {
  template <class M, class G, class H, class D>
  constexpr auto operator()(const M& x, const G& gradient, const H& h, const D& damping, const M& least, const M& most) const {
    using flat = vector_of<M>;
    using V = typename flat::vector;
    using T = typename flat::element;
    ir::builder& g = *h.graph;
    const V p = flat::of(x);
    using positions = traced<std::int64_t, typename H::shape_type>;
    const std::int16_t square = g[h.id].shape;
    const auto on_diagonal = positions{&g, ops::counting(g, dtype::int64, square, 0).id} == positions{&g, ops::counting(g, dtype::int64, square, 1).id};
    const auto diagonal = where(on_diagonal, h, zeros_like(h));
    const auto damped = h + cast<T>(damping) * where(on_diagonal, maximum(h, max(diagonal) * optim::detail::noise_of_diagonal<T>), diagonal);
    const V moved = [&] {
      if constexpr (Bounded) {
        const V low = flat::of(least), high = flat::of(most);
        const auto frozen = normal_equations<void, void, true>::at_bound(p, gradient, low, high);
        const auto any = unsqueeze<0>(frozen) || unsqueeze<1>(frozen);
        const auto matrix = where(any, cast<T>(on_diagonal), damped);
        return V(tenure::minimum(maximum(p - solve(matrix, where(frozen, zeros_like(gradient), gradient), positive_definite), low), high));
      } else {
        return V(p - solve(damped, gradient, positive_definite));
      }
    }();
    const auto step = moved - p;
    const auto predicted = -(vdot(gradient, step) + 0.5 * vdot(step, matmul(h, step)));
    return std::tuple{flat::back(x, moved), cast<double>(predicted), cast<double>(sqrt(vdot(step, step))), cast<double>(sqrt(vdot(p, p)))};
  }
};

/// The inverse of J^T W J.
template <class F, class Loss>
struct covariance_of {
  template <class M, class C, class... Data>
  constexpr auto operator()(const M& x, const C& scale, const Data&... data) const {
    return inverse(std::get<3>(normal_equations<F, Loss, false>{}(x, scale, x, x, data...)));
  }
};
/// Whether any parameter lies outside the bounds, or is NaN.
struct is_outside {
  template <class M>
  constexpr auto operator()(const M& x, const M& least, const M& most) const {
    const auto p = vector_of<M>::of(x);
    return !all(p >= vector_of<M>::of(least) && p <= vector_of<M>::of(most));
  }
};

/// One fit: what damped_steps() asks for.
template <class F, class Loss, bool Bounded, class Execution, class Model, class... Data>
class dense_problem {
 public:
  dense_problem(const Model& start, const Model& least, const Model& most, double scale, const Execution& on, const Data&... data)
      : normal_{{}, on}, step_{{}, on}, cost_{{}, on}, at_(deepcopy(start)), lower_(least), upper_(most), scale_(scale), data_(data...) {}

  std::pair<double, double> linearize() {
    std::apply([&](const auto&... d) {
      if (!equations_) equations_.emplace(normal_(at_, scale_, lower_, upper_, d...));
      else std::apply([&](auto&... results) { normal_.into(results...)(at_, scale_, lower_, upper_, d...); }, *equations_);
    }, data_);
    return {std::get<0>(*equations_).item(), std::get<1>(*equations_).item()};
  }
  tried_step try_step(double damping) {
    const auto& [cost, largest, gradient, h] = *equations_;
    if (!tried_) tried_.emplace(step_(at_, gradient, h, damping, lower_, upper_));
    else std::apply([&](auto&... results) { step_.into(results...)(at_, std::get<2>(*equations_), std::get<3>(*equations_), damping, lower_, upper_); }, *tried_);
    const double there = std::apply([&](const auto&... d) { return cost_(std::get<0>(*tried_), scale_, d...).item(); }, data_);
    return {std::get<1>(*tried_).item(), std::get<2>(*tried_).item(), std::get<3>(*tried_).item(), there};
  }
  void accept() { std::swap(at_, std::get<0>(*tried_)); }
  const Model& point() const { return at_; }

 private:
  compiled<normal_equations<F, Loss, Bounded>, Execution> normal_;
  compiled<damped_step<Bounded>, Execution> step_;
  compiled<cost_of<F, Loss>, Execution> cost_;
  Model at_;
  const Model &lower_, &upper_;
  double scale_;
  std::tuple<const Data&...> data_;
  using equations = decltype(std::declval<compiled<normal_equations<F, Loss, Bounded>, Execution>&>()(std::declval<const Model&>(), 1.0, std::declval<const Model&>(), std::declval<const Model&>(), std::declval<const Data&>()...));
  std::optional<equations> equations_;
  std::optional<decltype(std::declval<compiled<damped_step<Bounded>, Execution>&>()(std::declval<const Model&>(), std::get<2>(std::declval<const equations&>()), std::get<3>(std::declval<const equations&>()), 1.0,
                                                                                  std::declval<const Model&>(), std::declval<const Model&>()))>
      tried_;
};

/// Whether the bounds have the leaves of the parameters. If not, a static_assert says so.
template <class Bounds, class Model>
constexpr bool are_bounds_of() {
  constexpr bool are = [] {
    if constexpr (!tree<Bounds>::is_tree) return false;
    else if constexpr (tree<Bounds>::has_numbers) return false;
    else return are_leaves_of<Bounds, Model>();
  }();
  static_assert(are, "tenure: least_squares: the bounds differ from the parameters in number, element type or shape: of a tensor p, tn::full_like(p, 0.0) bounds each number");
  return are;
}

}  // namespace optim::detail

/// The type of least_squares(f, levenberg_marquardt).
template <class F, class Loss = robust::none, class Execution = inherited>
class least_squares_fit {
 public:
  explicit least_squares_fit(levenberg_marquardt o, Loss l = {}, Execution on = {}) : options(o), loss(l), execution(on) {}

  /// Moves the model (a model, a tuple or a tensor) to where the cost is the smallest, and returns what was reached: `value` is the cost, half the sum of the
  /// squares, and `gradient_norm` the largest element of its gradient. Throws an error if one of them is not finite at the start.
  template <class Model, class... Data>
  optim::minimum operator()(Model& model, const Data&... data) const { return run<false>(model, &model, &model, data...); }
  /// The same of tensors with names: (std::tie(a, b), data...). Their tuple is the first argument of the function.
  template <class... Part, class... Data>
  optim::minimum operator()(std::tuple<Part&...> parts, const Data&... data) const { return run<false>(parts, &parts, &parts, data...); }
  /// Does not compile: the fit would change a temporary, and the message says so.
  template <class Model, class... Data>
  optim::minimum operator()(const Model&&, const Data&...) const {
    optim::detail::refuse_temporary<Model>();
    return {};
  }

  /// Moves the tables of rows(table, index)..., if the function is of one observation: see sparse_least_squares.hpp.
  template <class Table, class Index, class... X>
  optim::minimum operator()(optim::detail::rows_of<Table, Index> first, const X&... x) const { return fit_rows<F, Loss>(options, loss.scale, execution, first, x...); }

  /// The same with bounds, models like the one to fit; infinity stands for none. They must live as long as the result.
  template <class Bounds>
  auto within(const Bounds& least, const Bounds& most) const {
    return [fit = *this, &least, &most]<class Model, class... Data>(Model&& model, const Data&... data) {
      if constexpr (!std::is_lvalue_reference_v<Model> && !optim::detail::is_tied<Model>) {
        optim::detail::refuse_temporary<Model>();
        return optim::minimum{};
      } else {
        return fit.template run<true>(model, &least, &most, data...);
      }
    };
  }
  /// The inverse of J^T J at a model, [n, n] for n parameters in the order of their leaves: the covariance of the parameters if the residuals have the
  /// variance 1, else to be multiplied by it, as 2 value / (residuals - n) estimates it.
  template <class Model, class... Data>
  auto covariance(const Model& model, const Data&... data) const {
    return compiled<optim::detail::covariance_of<F, Loss>, Execution>{{}, execution}(model, loss.scale, data...);
  }

  levenberg_marquardt options;
  [[no_unique_address]] Loss loss;
  [[no_unique_address]] Execution execution;

 private:
  template <bool Bounded, class Model, class Bounds, class... Data>
  optim::minimum run(Model& model, const Bounds* least, const Bounds* most, const Data&... data) const {
    constexpr bool captures_nothing = std::is_empty_v<F>;
    static_assert(captures_nothing, "tenure: least_squares: the function captures nothing: pass run-time values as arguments");
    if constexpr (!captures_nothing || !optim::detail::has_parameters<Model>() || (Bounded && !optim::detail::are_bounds_of<Bounds, Model>())) {
      return {};
    } else {
      auto values = optim::detail::values_of(model);
      using tried = decltype(std::declval<compiled<optim::detail::cost_of<F, Loss>, Execution>>()(values, 1.0, data...));
      if constexpr (any_tensor<tried>) return from<Bounded>(values, least, most, data...);
      else return {};  // a static_assert has said why
    }
  }
  template <bool Bounded, class Model, class Bounds, class... Data>
  optim::minimum from(Model& model, const Bounds* least, const Bounds* most, const Data&... data) const {
    const auto fit = [&](const auto& low, const auto& high) {
      optim::detail::dense_problem<F, Loss, Bounded, Execution, Model, Data...> problem(model, low, high, loss.scale, execution, data...);
      const optim::minimum reached = optim::detail::damped_steps(options, problem);
      compiled<optim::detail::same_tree>{}.into(model)(problem.point());
      return reached;
    };
    if constexpr (Bounded) {
      if (compiled<optim::detail::is_outside>{}(model, *least, *most).item()) TENURE_THROW(error(detail::message("least_squares") << "the start lies outside the bounds"));
      return fit(*least, *most);
    } else {
      return fit(model, model);
    }
  }
};

/// Fits the parameters of a vector of residuals: least_squares(residuals, levenberg_marquardt{...}, robust::huber{...})(model, data...).
/// residuals(model, data...) returns one floating value of any shape. For a robust loss a block of residuals is a row of its last axis, or one number of a
/// vector.
template <class F, class Execution = inherited>
  requires(detail::any_execution<Execution>)
auto least_squares(F, levenberg_marquardt options = {}, Execution on = {}) {
  return least_squares_fit<F, robust::none, Execution>(options, {}, on);
}
template <class F, class Loss, class Execution = inherited>
  requires(requires { Loss::scale; })
auto least_squares(F, levenberg_marquardt options, Loss loss, Execution on = {}) {
  return least_squares_fit<F, Loss, Execution>(options, loss, on);
}
// Another method, or a model in its place. It does not compile and gives a message.
template <class F, class X, class... Rest>
  requires(!std::is_convertible_v<const X&, levenberg_marquardt>)
auto least_squares(const F&, const X&, const Rest&...) {
  static_assert(detail::never<X>, "tenure: least_squares: the method is tn::levenberg_marquardt, a robust loss comes behind it, and the model after both: least_squares(f, levenberg_marquardt{}, loss)(model, x)");
  return after_error();
}

}  // namespace tenure
