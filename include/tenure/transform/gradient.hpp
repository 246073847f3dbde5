// SPDX-License-Identifier: BSL-1.0
// grad, value_and_grad, vjp, jvp: transforms of functions. A transform traces f and appends the derivative to the same graph. So transforms can be
// nested in any order. Gradients are returned and never stored.
#pragma once

#include <tenure/passes/differentiate.hpp>
#include <tenure/transform/leaf_derivatives.hpp>
#include <tenure/transform/loss.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// {f(x...), the gradients of its loss with respect to the arguments I}. f is called directly and not by std::apply, because compilers would list the
/// five functions of std::apply in each message from within f.
template <int... I, class F, class... X>
constexpr auto derived(const F& f, const X&... variable) {
  const auto y = f(variable...);
  const auto& loss = loss_in(y);
  ir::builder& g = *loss.graph;
  using wanted = node_ids<std::tuple_element_t<I, std::tuple<X...>>...>;
  const wanted wrt(argument<I>(variable...)...);
  wanted gradients;
  const ir::node_id output = loss.id, one = ops::value(loss).like(1).id;
  passes::reverse(g, &output, &one, 1, wrt.at, wrt.count, gradients.at);
  int at = 0;
  return std::tuple<std::remove_cvref_t<decltype(y)>, std::tuple_element_t<I, std::tuple<X...>>...>{y, gradient_like(argument<I>(variable...), gradients.at, at)...};
}

/// With Aux f returns std::tuple{loss, aux}, and both are results of the transform too.
template <bool Aux, class F, int... I>
struct value_and_gradients {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  template <int Arguments>
  static constexpr int results = 1 + sizeof...(I);
  template <class... X>
  static constexpr bool accepts() {
    if constexpr (!(is_differentiable<I, X...>() && ...)) return false;
    else if constexpr (!gives_traced<F, X...>()) return false;
    else if constexpr (Aux) return is_loss_with_aux<result_of<F, X...>>();
    else return is_scalar_loss<result_of<F, X...>>();
  }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... arguments) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<value_and_gradients>(arguments...);
    else return derived<I...>(f, as_variable(arguments)...);
  }
};
template <class F, int... I>
struct value_and_grad_of : value_and_gradients<false, F, I...> {};
template <class F, int... I>
struct value_and_grad_with_aux : value_and_gradients<true, F, I...> {};

/// {the gradient, or a tuple of several, aux}.
template <class F, int... I>
struct grad_with_aux {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  template <int Arguments>
  static constexpr int results = 2;
  template <class... X>
  static constexpr bool accepts() { return value_and_grad_with_aux<F, I...>::template accepts<X...>(); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... arguments) const {
    if constexpr (!accepts<X...>()) {
      return refused_in_trace<grad_with_aux>(arguments...);
    } else {
      const auto all = derived<I...>(f, as_variable(arguments)...);
      const auto aux = std::get<1>(std::get<0>(all));
      if constexpr (sizeof...(I) == 1) return std::tuple{std::get<1>(all), aux};
      else return std::apply([&](const auto&, const auto&... g) { return std::tuple{std::tuple{g...}, aux}; }, all);
    }
  }
};

template <class F, int... I>
struct grad_of {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  template <int Arguments>
  static constexpr int results = sizeof...(I);
  template <class... X>
  static constexpr bool accepts() { return value_and_grad_of<F, I...>::template accepts<X...>(); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... arguments) const {
    if constexpr (!accepts<X...>()) {
      return refused_in_trace<grad_of>(arguments...);
    } else {
      const auto all = derived<I...>(f, as_variable(arguments)...);
      if constexpr (sizeof...(I) == 1) return std::get<1>(all);
      else return std::apply([](const auto&, const auto&... g) { return std::tuple{g...}; }, all);
    }
  }
};

/// Whether C may be the cotangent of Y. If not, a static_assert gives the reason.
template <class Y, class C>
constexpr bool is_cotangent_of() {
  constexpr bool floats = tree<Y>::has_floats, same_tree = tree<Y>::leaves == tree<C>::leaves;
  static_assert(floats, "tenure: vjp: the function returns integers or bool, which have no gradient");
  static_assert(!floats || same_tree, "tenure: vjp: the cotangent is another tree than the result");
  constexpr bool same_shape = [] {
    if constexpr (is_traced_v<Y> && is_traced_v<C>) return std::is_same_v<typename Y::shape_type, typename C::shape_type>;
    else return true;
  }();
  static_assert(!floats || same_shape, "tenure: vjp: the cotangent has another shape than the result");
  static_assert(!floats || !same_tree || !same_shape || is_like<Y, C>, "tenure: vjp: the cotangent has other element types or shapes than the result");
  return floats && is_like<Y, C>;
}

/// Whether each chosen argument exists, is chosen once and has floating-point elements. If not, a static_assert gives the reason.
/// `Derivative` is the transform, for its messages.
template <class Derivative, int... I, class... X>
constexpr bool are_chosen(std::tuple<X...>*) {
  constexpr int arguments = static_cast<int>(sizeof...(X));
  constexpr bool exist = ((I >= 0 && I < arguments) && ...);
  constexpr bool once = [] {
    constexpr int at[] = {I..., -1};
    for (std::size_t i = 0; i + 1 < std::size(at); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (at[i] == at[j]) return false;
    return true;
  }();
  constexpr bool floats = [] {
    if constexpr (exist) return (tree<std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<X...>>>::has_floats && ...);
    else return true;
  }();
  if constexpr (Derivative::is_reverse) {
    static_assert(exist, "tenure: vjp: there is no argument of that number");
    static_assert(once, "tenure: vjp: an argument is chosen twice");
    static_assert(floats, "tenure: vjp: a chosen argument holds integers or bool, which have no gradient");
  } else {
    static_assert(exist, "tenure: jvp: there is no argument of that number");
    static_assert(once, "tenure: jvp: an argument is chosen twice");
    static_assert(floats, "tenure: jvp: a chosen argument holds integers or bool, which have no tangent");
  }
  return exist && once && floats;
}

/// The first N of the types.
template <std::size_t N, class All>
struct first_types;
template <std::size_t N, class... X>
struct first_types<N, std::tuple<X...>> {
  template <std::size_t... K>
  static auto of(std::index_sequence<K...>) -> std::tuple<std::tuple_element_t<K, std::tuple<X...>>...>;
  using type = decltype(of(std::make_index_sequence<N>{}));
};

/// The positions of the arguments for which a transform gives derivatives: I..., or all N if there are no indices.
template <std::size_t N, int... I>
struct chosen_positions { using type = std::index_sequence<static_cast<std::size_t>(I)...>; };
template <std::size_t N>
struct chosen_positions<N> { using type = std::make_index_sequence<N>; };

/// The transform vjp for the arguments I, or for all. Its arguments are (x..., cotangent).
template <class F, int... I>
struct vjp_of {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  static constexpr bool is_reverse = true;
  template <int Arguments>
  static constexpr int results = sizeof...(I) > 0 ? 1 + static_cast<int>(sizeof...(I)) : Arguments;
  template <class... X>
  static constexpr bool accepts() {
    constexpr bool any = sizeof...(X) >= 2;
    static_assert(any, "tenure: vjp: needs the arguments of the function, then the cotangent of its result");
    if constexpr (!any) return false;
    else if constexpr (!are_chosen<vjp_of, I...>(static_cast<typename first_types<sizeof...(X) - 1, std::tuple<X...>>::type*>(nullptr))) return false;
    else return accepts_split<std::tuple<X...>>(std::make_index_sequence<sizeof...(X) - 1>{});
  }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... all) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<vjp_of>(all...);
    else return split(std::make_index_sequence<sizeof...(X) - 1>{}, typename chosen_positions<sizeof...(X) - 1, I...>::type{}, std::tuple<X...>{all...});
  }

 private:
  template <class All, std::size_t... K>
  static constexpr bool accepts_split(std::index_sequence<K...>) {
    constexpr bool floats = (tree<std::tuple_element_t<K, All>>::has_floats || ...);
    static_assert(floats, "tenure: vjp: the arguments hold integers or bool, which have no gradient");
    if constexpr (!floats || !gives_traced<F, std::tuple_element_t<K, All>...>()) return false;
    else return is_cotangent_of<result_of<F, std::tuple_element_t<K, All>...>, std::tuple_element_t<sizeof...(K), All>>();
  }

  template <std::size_t... K, std::size_t... Chosen, class All>
  constexpr auto split(std::index_sequence<K...>, std::index_sequence<Chosen...>, const All& all) const {
    const std::tuple<std::tuple_element_t<K, All>...> x{as_variable(std::get<K>(all))...};
    const auto y = f(std::get<K>(x)...);
    const auto& cotangent = std::get<sizeof...(K)>(all);
    require_like("vjp", y, cotangent);
    using wanted = node_ids<std::tuple_element_t<Chosen, All>...>;
    const node_ids outputs(y);
    const node_ids cotangents(cotangent);
    const wanted wrt(std::get<Chosen>(x)...);
    wanted gradients;
    ir::builder* g = nullptr;
    for_each_leaf(y, [&](const auto& leaf) { g = leaf.graph; });
    passes::reverse(*g, outputs.at, cotangents.at, outputs.count, wrt.at, wrt.count, gradients.at);
    int at = 0;
    return std::tuple{y, gradient_like(std::get<Chosen>(x), gradients.at, at)...};
  }
};

/// Whether T may be the tangent of X. If not, a static_assert gives the reason.
template <class X, class T>
constexpr bool is_tangent_of() {
  static_assert(is_like<X, T>, "tenure: jvp: a tangent has another element type, shape or tree than its argument");
  return is_like<X, T>;
}

/// The transform jvp for the arguments I, or for all. Its arguments are (x..., tangents of the chosen arguments...).
template <class F, int... I>
struct jvp_of {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  static constexpr bool is_reverse = false;
  template <int Arguments>
  static constexpr int results = 2;
  template <class... X>
  static constexpr bool accepts() {
    constexpr bool pairs = sizeof...(I) > 0 || (sizeof...(X) % 2 == 0 && sizeof...(X) > 0), any = sizeof...(X) > sizeof...(I);
    static_assert(pairs, "tenure: jvp: needs the arguments of the function, then a tangent for each");
    static_assert(!pairs || any, "tenure: jvp: needs the arguments of the function, then a tangent for each chosen one");
    if constexpr (!pairs || !any) return false;
    else if constexpr (!are_chosen<jvp_of, I...>(static_cast<typename first_types<arguments<X...>, std::tuple<X...>>::type*>(nullptr))) return false;
    else return accepts_split<std::tuple<X...>>(std::make_index_sequence<arguments<X...>>{}, positions<X...>{}, std::make_index_sequence<sizeof...(X) - arguments<X...>>{});
  }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... all) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<jvp_of>(all...);
    else return split(std::make_index_sequence<arguments<X...>>{}, positions<X...>{}, std::make_index_sequence<sizeof...(X) - arguments<X...>>{}, std::tuple<X...>{all...});
  }

 private:
  /// The number of arguments of f. X... are these arguments and the tangents.
  template <class... X>
  static constexpr std::size_t arguments = sizeof...(I) > 0 ? sizeof...(X) - sizeof...(I) : sizeof...(X) / 2;
  template <class... X>
  using positions = typename chosen_positions<arguments<X...>, I...>::type;

  template <class All, std::size_t... K, std::size_t... Chosen, std::size_t... T>
  static constexpr bool accepts_split(std::index_sequence<K...>, std::index_sequence<Chosen...>, std::index_sequence<T...>) {
    if constexpr (!gives_traced<F, std::tuple_element_t<K, All>...>()) {
      return false;
    } else {
      constexpr bool floats = tree<result_of<F, std::tuple_element_t<K, All>...>>::has_floats;
      static_assert(floats, "tenure: jvp: the function returns integers or bool, which have no tangent");
      return floats && (is_tangent_of<std::tuple_element_t<Chosen, All>, std::tuple_element_t<sizeof...(K) + T, All>>() && ...);
    }
  }

  template <std::size_t... K, std::size_t... Chosen, std::size_t... T, class All>
  constexpr auto split(std::index_sequence<K...>, std::index_sequence<Chosen...>, std::index_sequence<T...>, const All& all) const {
    (require_like("jvp", std::get<Chosen>(all), std::get<sizeof...(K) + T>(all)), ...);
    const std::tuple<std::tuple_element_t<K, All>...> x{as_variable(std::get<K>(all))...};
    const auto y = f(std::get<K>(x)...);
    const node_ids wrt(std::get<Chosen>(x)...);
    const node_ids tangents(std::get<sizeof...(K) + T>(all)...);
    const node_ids outputs(y);
    auto derivatives = outputs;
    ir::builder* g = nullptr;
    for_each_leaf(y, [&](const auto& leaf) { g = leaf.graph; });
    passes::forward(*g, wrt.at, tangents.at, wrt.count, outputs.at, outputs.count, derivatives.at);
    int at = 0;
    return std::tuple{y, gradient_like(y, derivatives.at, at)};
  }
};

/// The compiled Transform<F, I...>. Without indices I, the derivative is with respect to the first argument.
template <template <class, int...> class Transform, int... I, class F, class Execution>
constexpr auto with_respect_to(F f, Execution on) {
  if constexpr (sizeof...(I) == 0) return compiled_on(Transform<F, 0>{f}, on);
  else return compiled_on(Transform<F, I...>{f}, on);
}

}  // namespace detail

/// An argument after the function of value_and_grad and grad, and after the rule of train_step, for an f that returns std::tuple{loss, aux}. Gradients are those of the loss, and aux, any tree, is a
/// result too: of value_and_grad(f, has_aux)(x...) {{loss, aux}, gradients...}, of grad(f, has_aux)(x...) {gradient, aux}.
struct has_aux_t {};
inline constexpr has_aux_t has_aux{};

/// value_and_grad<0, 1>(f)(x...) returns {f(x...), df/dx0, df/dx1}. Without indices, the gradient is with respect to the first argument.
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto value_and_grad(F f, Execution on = {}) { return detail::with_respect_to<detail::value_and_grad_of, I...>(detail::traced_function(f), on); }

/// grad<I...>(f)(x...) returns only the gradient. With several indices it returns a tuple.
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto grad(F f, Execution on = {}) { return detail::with_respect_to<detail::grad_of, I...>(detail::traced_function(f), on); }

template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto value_and_grad(F f, has_aux_t, Execution on = {}) { return detail::with_respect_to<detail::value_and_grad_with_aux, I...>(detail::traced_function(f), on); }
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto grad(F f, has_aux_t, Execution on = {}) { return detail::with_respect_to<detail::grad_with_aux, I...>(detail::traced_function(f), on); }
// The options in the other order.
template <int... I, class F, detail::any_execution Execution>
  requires(!detail::any_value<F>)
constexpr auto value_and_grad(F f, Execution on, has_aux_t aux) { return value_and_grad<I...>(f, aux, on); }
template <int... I, class F, detail::any_execution Execution>
  requires(!detail::any_value<F>)
constexpr auto grad(F f, Execution on, has_aux_t aux) { return grad<I...>(f, aux, on); }

/// vjp(f)(x..., cotangent) returns {f(x...), cotangents of x...}. vjp<0, 2>(f) returns {f(x...), cotangents of x0 and x2}.
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto vjp(F f, Execution on = {}) {
  return detail::compiled_on(detail::vjp_of<decltype(detail::traced_function(f)), I...>{detail::traced_function(f)}, on);
}

/// jvp(f)(x..., tangents...) returns {f(x...), tangent of the result}. jvp<0, 2>(f)(x..., tangent of x0, tangent of x2) takes the tangents of the
/// chosen arguments only; the tangents of the other arguments are zero.
template <int... I, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto jvp(F f, Execution on = {}) {
  return detail::compiled_on(detail::jvp_of<decltype(detail::traced_function(f)), I...>{detail::traced_function(f)}, on);
}

// Values in place of functions. They do not compile and give a message.
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto value_and_grad(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: value_and_grad: it takes a function and gives a function: write value_and_grad(f)(x), for argument 1 value_and_grad<1>(f)(x, y)");
  return after_error();
}
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto grad(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: grad: it takes a function and gives a function: write grad(f)(x), for argument 1 grad<1>(f)(x, y), or y.backward() and then w.grad()");
  return after_error();
}
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto vjp(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: vjp: it takes a function and gives a function: write vjp(f)(x, cotangent)");
  return after_error();
}
template <int... I, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto jvp(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: jvp: it takes a function and gives a function: write jvp(f)(x, tangent)");
  return after_error();
}

}  // namespace tenure
