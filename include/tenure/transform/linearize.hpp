// SPDX-License-Identifier: BSL-1.0
// linearize: the value of a function and its derivative at a point, which is a linear function of the tangents.
// Source: the meaning of jax.linearize.
#pragma once

#include <tenure/transform/gradient.hpp>
#include <tenure/transform/jacobian_rules.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// The derivative of f at a point, in a trace: a linear function of the tangents. Each call appends only what depends on the tangents.
template <class Y, class... X>
struct linear_part {
  Y y;
  std::tuple<X...> x;

  template <class... T>
  constexpr Y operator()(const T&... tangents) const { return at(std::index_sequence_for<X...>{}, as_traced(graph_of_arguments(y), tangents)...); }

 private:
  template <class... T>
  static constexpr bool takes() {
    constexpr bool as_many = sizeof...(T) == sizeof...(X);
    static_assert(as_many, "tenure: linearize: the linear function takes a tangent for each argument of the function");
    if constexpr (as_many) return (is_linearized_tangent<X, T>() && ...);
    else return false;
  }
  template <std::size_t... I, class... T>
  constexpr Y at(std::index_sequence<I...>, const T&... tangents) const {
    if constexpr (takes<T...>()) {
      (require_like("linearize", std::get<I>(x), tangents), ...);
      const node_ids wrt(std::get<I>(x)...);
      const node_ids of_x(tangents...);
      const node_ids outputs(y);
      auto of_y = outputs;
      passes::forward(graph_of_arguments(y), wrt.at, of_x.at, wrt.count, outputs.at, outputs.count, of_y.at);
      int at = 0;
      return gradient_like(y, of_y.at, at);
    } else {
      return y;
    }
  }
};

inline constexpr auto same_values = [](const auto&... x) { return std::tuple{x...}; };

/// The derivative of f in a direction, whose arguments are those of f, then a tangent for each.
template <class F>
struct derivative_along {
  using transformed = F;
  static constexpr bool gives_derivatives = true;
  static constexpr bool is_reverse = false;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() { return jvp_of<F>::template accepts<X...>(); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... all) const { return along(std::tie(all...), std::make_index_sequence<sizeof...(X) / 2>{}); }

 private:
  template <class All, std::size_t... I>
  constexpr auto along(const All& all, std::index_sequence<I...>) const {
    (require_like("linearize", std::get<I>(all), std::get<sizeof...(I) + I>(all)), ...);  // before jvp requires it under its own name
    return std::get<1>(jvp_of<F>{f}(std::get<I>(all)..., std::get<sizeof...(I) + I>(all)...));
  }
};

/// linear_part for tensors. It keeps copies of the arguments, and each call computes f again together with the derivative.
template <class F, class X>
struct linear_function {
  [[no_unique_address]] F f;
  X x;  // a tuple

  template <class... T>
  auto operator()(const T&... tangents) const {
    constexpr bool as_many = sizeof...(T) == std::tuple_size_v<X>;
    static_assert(as_many, "tenure: linearize: the linear function takes a tangent for each argument of the function");
    if constexpr (as_many) return at_once(static_cast<const X*>(nullptr), tangents...);
  }

 private:
  template <class... At, class... T>
  auto at_once(const std::tuple<At...>*, const T&... tangents) const {
    if constexpr ((is_linearized_tangent<At, T>() && ...))
      return std::apply([&](const auto&... at) { return compiled<derivative_along<F>>{{f}}(at..., tangents...); }, x);
    else return after_error();
  }
};

template <class F>
struct linearized {
  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr ((tree<X>::traces || ...)) return in_trace(as_variable(as_traced(graph_of_arguments(x...), x))...);
    else return at_once(compile(f)(x...), compile(same_values)(x...));
  }

 private:
  template <class... X>
  constexpr auto in_trace(const X&... x) const {
    const auto y = f(x...);
    using result = std::remove_cvref_t<decltype(y)>;
    if constexpr (has_linear_part<result>()) return std::tuple{y, linear_part<result, X...>{y, {x...}}};
    else return std::tuple{y, same_values};
  }
  template <class Y, class X>
  static auto at_once(Y&& y, X&& x) {
    if constexpr (has_linear_part<Y>()) return std::tuple<Y, linear_function<F, X>>{std::move(y), linear_function<F, X>{{}, std::move(x)}};
    else return std::tuple{after_error(), after_error()};
  }
};

}  // namespace detail

/// linearize(f)(x...) is {f(x...), the derivative of f at x}. The derivative is a function of one tangent for each argument. In a trace each call
/// of the derivative appends only what depends on the tangents, so that many directions share f(x...). With tensors it keeps copies of the
/// arguments, and each call of the derivative computes f again.
template <class F>
  requires(!detail::any_value<F>)
constexpr auto linearize(F f) { return detail::linearized<decltype(detail::traced_function(f))>{detail::traced_function(f)}; }

// Values in place of functions or beside them.
template <class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto linearize(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: linearize: it takes a function and gives a function: write linearize(f)(x)");
  return after_error();
}

}  // namespace tenure
