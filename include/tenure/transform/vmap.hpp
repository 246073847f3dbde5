// SPDX-License-Identifier: BSL-1.0
// vmap: a function of one sample as a function of a batch of samples. f is traced on the types of one sample, and the passes give each of
// its nodes the axis of the batch.
// Source: the meaning of jax.vmap, and of torch.vmap.
#pragma once

#include <limits>

#include <tenure/passes/loops/batch.hpp>
#include <tenure/transform/body_trace.hpp>
#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE {

/// Takes the place of an axis: all samples share this argument.
inline constexpr int unmapped = std::numeric_limits<int>::min();

namespace detail {

template <class S, int Axis>
struct sample_extents {
  static constexpr int at = Axis < 0 ? S::rank + Axis : Axis;
  static constexpr bool exists = at >= 0 && at < S::rank;
  static constexpr extents value = exists ? ops::without_axes(S::value, std::int64_t{1} << (exists ? at : 0)) : S::value;
};
/// The kind of one sample of traced values whose samples lie along an axis.
template <int Axis>
struct samples : shape_change {
  template <class S>
  using shape = shape_from<sample_extents<S, Axis>>;
  template <class T, class S>
  using type = traced<T, shape<S>>;
};
template <std::int64_t N>
inline constexpr bool undoes<samples<0>, stacks<N>> = true;
template <int Axis, class X>
struct sample {
  using type = rebind_kind_t<X, samples<Axis>>;
};
template <class X>
struct sample<unmapped, X> {
  using type = X;
};
template <int Axis, class X>
using sample_t = typename sample<Axis, X>::type;

/// The axis of argument I. Without axes it is 0.
template <std::size_t I, int... Axes>
inline constexpr int axis_of_argument = [] {
  if constexpr (sizeof...(Axes) == 0) return 0;
  else return std::array{Axes...}[I];
}();

template <class F, int... Axes>
struct vmap_of {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = [] {
    if constexpr (transform<F>) return F::template results<Arguments>;
    else return 1;
  }();
  template <class... X>
  static constexpr bool accepts() { return accepts_samples<X...>(std::index_sequence_for<X...>{}); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... arguments) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<vmap_of>(arguments...);
    else return of_samples(std::index_sequence_for<X...>{}, arguments...);
  }

 private:
  template <class... X, std::size_t... I>
  static constexpr bool accepts_samples(std::index_sequence<I...>) {
    constexpr bool as_many = sizeof...(Axes) == 0 || sizeof...(Axes) == sizeof...(X);
    static_assert(as_many, "tenure: vmap: give an axis for each argument, tn::unmapped for what all samples share, or no axes");
    if constexpr (as_many) {
      constexpr common_axis axis = axis_of<axis_of_argument<I, Axes...>...>(static_cast<std::tuple<X...>*>(nullptr));
      static_assert(axis.any, "tenure: vmap: no argument is mapped");
      static_assert(axis.exists, "tenure: vmap: an argument has no such axis: a number that all samples share is tn::unmapped");
      static_assert(axis.agrees, "tenure: vmap: the arguments have different extents along their mapped axes: one that all samples share is tn::unmapped, as in vmap<tn::unmapped, 0>(f)");
      if constexpr (axis.any && axis.exists && axis.agrees) return gives_traced<F, sample_t<axis_of_argument<I, Axes...>, X>...>();
    }
    return false;
  }
  template <int... Axis, class... X>
  static constexpr common_axis axis_of(std::tuple<X...>*) {
    common_axis found;
    ((Axis == unmapped ? void() : found.template look<X>(Axis)), ...);
    return found;
  }

  template <std::size_t... I, class... X>
  constexpr auto of_samples(std::index_sequence<I...>, const X&... arguments) const {
    ir::builder& g = graph_of_arguments(arguments...);
    ir::array<passes::batch_value> inputs;
    std::int64_t extent = 0;
    (add_mapped<axis_of_argument<I, Axes...>>(g, arguments, inputs, extent), ...);
    g.note_samples(extent);
    body_trace body(g);
    // Braces evaluate the inputs in order. As arguments of the call, g++ evaluates them from the last to the first at run time.
    const std::tuple<sample_t<axis_of_argument<I, Axes...>, X>...> sample{one_sample<axis_of_argument<I, Axes...>>(g, body, arguments)...};
    const auto y = f(std::get<I>(sample)...);
    body.returns(y);
    using result = std::remove_cvref_t<decltype(y)>;
    constexpr common_axis axis = axis_of<axis_of_argument<I, Axes...>...>(static_cast<std::tuple<X...>*>(nullptr));
    return body.template for_samples<rebind_kind_t<result, stacks<axis.extent>>>(inputs, extent);
  }
  /// Appends the leaves of a mapped argument, with the mapped axis as axis 0.
  template <int Axis, class X>
  static constexpr void add_mapped(ir::builder& g, const X& x, ir::array<passes::batch_value>& inputs, std::int64_t& extent) {
    if constexpr (Axis != unmapped)
      for_each_leaf(x, [&](const auto& leaf) {
        const ops::value v = ops::moved_axis(leaf, Axis < 0 ? ops::value(leaf).shape().rank + Axis : Axis, 0);
        const std::int16_t shape = v.node().shape;
        const std::int64_t e = g.shape(shape)[0];
        extent = inputs.size() == 0 ? e : g.unify(extent, e, "vmap", g[inputs.back().id].shape, shape);
        inputs.push_back({v.id, true});
      });
  }
  template <int Axis, class X>
  static constexpr auto one_sample(ir::builder& g, body_trace& body, const X& x) {
    if constexpr (Axis == unmapped) {
      return x;
    } else {
      const auto make = [&]<class L, class From>(element_tag<L>, const From& leaf) -> L {
        const extents all = g.shape_of(leaf.id);
        const int axis = Axis < 0 ? all.rank + Axis : Axis;
        return {&g, body.input(g[leaf.id].type, g.intern(ops::without_axes(all, std::int64_t{1} << axis)))};
      };
      return build_tree<sample_t<Axis, X>>(make, x);
    }
  }
};

template <int... Axes, class F, class Execution>
constexpr auto over_samples(F f, Execution on) { return compiled_on(vmap_of<F, Axes...>{f}, on); }

}  // namespace detail

/// vmap(f)(x...)[i] is f(x[i]...) for each i: f takes one sample of each argument, and the results are stacked along a new axis 0. Without
/// axes, each argument is mapped along its axis 0. vmap<0, -1, tn::unmapped>(f) gives an axis for each argument; a negative one counts
/// from the end, and all samples share an argument that is tn::unmapped. An argument that is a tree is mapped in each leaf.
/// The extents of the mapped axes agree; run-time extents are compared when a call begins.
/// vmap can be nested, and it takes derivatives, loops and branches: a while_loop iterates until the condition is false for each sample, and a cond
/// whose flag depends on the sample computes both branches.
template <int... Axes, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto vmap(F f, Execution on = {}) { return detail::over_samples<Axes...>(detail::traced_function(f), on); }
// Values in place of a function or beside it. They do not compile and give a message.
template <int... Axes, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto vmap(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: vmap: it takes a function and gives a function: write vmap(f)(x), along axis 1 vmap<1>(f)(x)");
  return after_error();
}

}  // namespace tenure
