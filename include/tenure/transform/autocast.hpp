// SPDX-License-Identifier: BSL-1.0
// autocast<bfloat16>(f): f, with its matrix products in a narrow type. Values between products, and parameters, keep their types.
// Law: autocast changes no type and no shape. A product of float32 is that of its rounded factors, rounded, and so are the products of its derivatives.
// Cost: a rounding of each factor, in the kernel that computes it. With avx512_bf16 a training step of a GPT takes 0.6 of the time of float32.
// Source: torch.autocast, whose values between products are narrow too.
#pragma once

#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE {

namespace detail {

template <class T, class F>
struct autocast_of {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() { return gives_traced<F, X...>(); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr (!accepts<X...>()) {
      return refused_in_trace<autocast_of>(x...);
    } else {
      const ir::builder::product_scope scope(graph_of_arguments(x...), dtype_v<T>);
      return f(x...);
    }
  }
};

}  // namespace detail

/// autocast<T>(f)(x...) is f(x...), whose products of float32 (matmul, linear, einsum) are computed in T: bfloat16 or float16. The factors are rounded to T,
/// their products are summed in float32, and the result is rounded to T and widened. T = float inside of it computes products as they are written.
template <element T, class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto autocast(F f, Execution on = {}) {
  constexpr bool fits = lane_of(dtype_v<T>) == dtype::float32;
  static_assert(fits, "tenure: autocast: the type of products is bfloat16, float16 or float");
  using type = std::conditional_t<fits, T, float>;
  return detail::compiled_on(detail::autocast_of<type, decltype(detail::traced_function(f))>{detail::traced_function(f)}, on);
}

// Values in place of a function or beside it. They do not compile and give a message.
template <element T, class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto autocast(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: autocast: it takes a function and gives a function: write autocast<bfloat16>(f)(x)");
  return after_error();
}

template <class F, class... X>
constexpr auto autocast(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: autocast: the type of products is a template argument: write autocast<bfloat16>(f)");
  return after_error();
}

}  // namespace tenure
