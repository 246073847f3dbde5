// SPDX-License-Identifier: BSL-1.0
// as_numbers(f): a function of templated C++ as a function of a trace. A scalar is a number T to f, and a vector a std::array<T, N>.
// Law: as_numbers(f)(x) is f of the elements of x as doubles.
// Cost: one node for each operation on each number, so a loop of f is unrolled: for the small functions of Stan, Ceres, XAD and CppAD.
#pragma once

#include <tenure/ops/traced_number.hpp>
#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class X>
struct numbers_of { using type = X; };
template <class T>
  requires std::is_floating_point_v<T>
struct numbers_of<traced<T, shape<>>> { using type = traced_number<T>; };
template <class T, std::int64_t First, std::int64_t... Rest>
  requires(shape<First, Rest...>::is_static)
struct numbers_of<traced<T, shape<First, Rest...>>> { using type = std::array<typename numbers_of<traced<T, shape<Rest...>>>::type, First>; };
template <class X, std::size_t N>
struct numbers_of<std::array<X, N>> { using type = std::array<typename numbers_of<X>::type, N>; };
template <class... X>
struct numbers_of<std::tuple<X...>> { using type = std::tuple<typename numbers_of<X>::type...>; };
template <class First, class Second>
struct numbers_of<std::pair<First, Second>> { using type = std::pair<typename numbers_of<First>::type, typename numbers_of<Second>::type>; };
template <class X>
using numbers_of_t = typename numbers_of<X>::type;

/// Whether X has an axis of run-time extent outside of models.
template <class X>
inline constexpr bool has_open_axis = false;
template <class T, class S>
inline constexpr bool has_open_axis<traced<T, S>> = !S::is_static;
template <class X, std::size_t N>
inline constexpr bool has_open_axis<std::array<X, N>> = has_open_axis<X>;
template <class... X>
inline constexpr bool has_open_axis<std::tuple<X...>> = (has_open_axis<X> || ...);
template <class First, class Second>
inline constexpr bool has_open_axis<std::pair<First, Second>> = has_open_axis<First> || has_open_axis<Second>;

template <std::size_t I, class X>
constexpr auto row_or_part(const X& x) {
  if constexpr (is_traced_v<X>) return x.at(I);
  else return std::get<I>(x);
}
template <class X>
constexpr numbers_of_t<X> to_numbers(const X& x) {
  using to = numbers_of_t<X>;
  if constexpr (std::is_same_v<to, X>) return x;
  else if constexpr (is_traced_number<to>) return to(x);
  else return [&]<std::size_t... I>(std::index_sequence<I...>) { return to{to_numbers(row_or_part<I>(x))...}; }(std::make_index_sequence<std::tuple_size_v<to>>{});
}

/// Whether an array of X is an axis of a result.
template <class X>
inline constexpr bool is_number_or_row = is_traced_number<X> || scalar<X>;
template <class T>
inline constexpr bool is_number_or_row<traced<T, shape<>>> = true;
template <class X, std::size_t N>
inline constexpr bool is_number_or_row<std::array<X, N>> = N > 0 && is_number_or_row<X>;

/// A result of f as a result of a trace.
template <class X>
constexpr auto from_numbers([[maybe_unused]] ir::builder& g, const X& x) {
  if constexpr (is_traced_number<X>) {
    return x.in(g);
  } else if constexpr (scalar<X>) {
    using T = typename leaf_type<X>::element_type;
    return lift<traced<T, shape<>>>(g, number::convert<T>(x));
  } else {
    return x;
  }
}
template <class X, std::size_t N>
constexpr auto from_numbers(ir::builder& g, const std::array<X, N>& x);
template <class First, class Second>
constexpr auto from_numbers(ir::builder& g, const std::pair<First, Second>& x);
template <class... X>
constexpr auto from_numbers(ir::builder& g, const std::tuple<X...>& x);
template <class X, std::size_t N>
constexpr auto from_numbers(ir::builder& g, const std::array<X, N>& x) {
  return std::apply([&](const auto&... each) {
    if constexpr (is_number_or_row<std::array<X, N>>) return stack(from_numbers(g, each)...);
    else return std::array{from_numbers(g, each)...};
  }, x);
}
template <class First, class Second>
constexpr auto from_numbers(ir::builder& g, const std::pair<First, Second>& x) { return std::pair{from_numbers(g, x.first), from_numbers(g, x.second)}; }
template <class... X>
constexpr auto from_numbers(ir::builder& g, const std::tuple<X...>& x) {
  return std::apply([&](const auto&... each) { return std::tuple{from_numbers(g, each)...}; }, x);
}

template <class F>
struct function_of_numbers {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() {
    constexpr bool is_open = (has_open_axis<X> || ...);
    static_assert(!is_open, "tenure: as_numbers: a std::array has a static extent, and this axis has one that is known only when the program runs: scan or vmap over it");
    constexpr bool takes = [] {
      if constexpr (is_open) return false;
      else return requires(const F& given, const numbers_of_t<X>&... x) { given(x...); };
    }();
    static_assert(is_open || takes, "tenure: as_numbers: the function does not take these numbers: a scalar is a T, a vector a std::array<T, N>, and T is deduced; or it contains the error that the compiler shows beside this");
    if constexpr (takes) {
      constexpr bool returns = !std::is_void_v<result_of<F, numbers_of_t<X>...>>;
      static_assert(returns, "tenure: as_numbers: the function returns nothing");
      return returns;
    } else {
      return false;
    }
  }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<function_of_numbers>(x...);
    else return from_numbers(graph_of_arguments(x...), f(to_numbers(x)...));
  }
};

}  // namespace detail

/// as_numbers(f)(x...) is f of numbers: a scalar is a T, a vector of static extent a std::array<T, N>, a matrix an array of arrays, with T a
/// tn::traced_number, and results go back the same way. Integers stay traced values, and models stay models. f may be any function object for
/// templated C++ whose functions are constexpr: lambdas are. It is a function as others are, for grad, jacobian, vmap, scan and least_squares.
template <class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto as_numbers(F f, Execution on = {}) {
  return detail::compiled_on(detail::function_of_numbers<F>{f}, on);
}

}  // namespace tenure
