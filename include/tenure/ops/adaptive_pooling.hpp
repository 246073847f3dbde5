// SPDX-License-Identifier: BSL-1.0
// adaptive_avg_pool and adaptive_max_pool: pools with a given number of results. Of n elements and m results, result i takes the elements from i n / m, rounded down,
// to (i + 1) n / m, rounded up: windows overlap where m does not divide n.
// Cost: one reduction where m divides n, or is 1; else one for each result of an axis.
// Source: torch.nn.functional.adaptive_avg_pool2d and adaptive_max_pool2d.
#pragma once

#include <tenure/ops/convolution_rule.hpp>
#include <tenure/ops/pooling.hpp>
#include <tenure/ops/position.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE {

/// The options of an adaptive pool: adaptive_avg_pool2d<tn::adaptive{.size = {7, 5}, .layout = tn::nhwc}>(x). The result has .size rows and columns.
struct adaptive {
  per_axis size = 1;
  image_layout layout = image_layout::nchw;
};

namespace ops {

template <int Axes, adaptive Options, pooling Kind>
struct adaptive_pool : rounds_once {
  static constexpr bool counts_fit = (Options.size.count == 1 || Options.size.count == Axes) && Options.size.at[0] > 0 && Options.size.at[Axes - 1] > 0;
  static constexpr int axis(int rank, int a) { return Options.layout == image_layout::nhwc ? rank - 1 - Axes + a : rank - Axes + a; }

  template <class S>
  struct of_shape {
    static constexpr bool has_axes = S::rank == Axes + 1 || S::rank == Axes + 2;
    static constexpr bool are_known = [] {
      bool all = has_axes;
      for (int a = 0; a < Axes && has_axes; ++a) all = all && is_static(S::value[axis(S::rank, a)]) && S::value[axis(S::rank, a)] > 0;
      return all;
    }();
  };

  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    using shapes = of_shape<S>;
    constexpr bool is_number = is_floating(dtype_v<typename X::element_type>);
    static_assert(is_number, "tenure: adaptive_pool: x holds integers or bool: convert first, by tn::cast<float>(x)");
    static_assert(counts_fit, "tenure: adaptive_pool: the size of the result is one number above 0 for all axes, or one for each: adaptive_avg_pool2d<tn::adaptive{.size = {7, 5}}>(x)");
    static_assert(shapes::has_axes, "tenure: adaptive_pool: x is (n, channels, rows, columns) or (channels, rows, columns), in one dimension without rows; with .layout = tn::nhwc channels are last");
    static_assert(!shapes::has_axes || shapes::are_known, "tenure: adaptive_pool: rows and columns must be static, and there is at least one of each");
    if constexpr (!is_number || !counts_fit || !shapes::are_known) return x;
    else if constexpr (Axes == 2 && Options.size.at[0] == 1 && Options.size.at[1] == 1) return reduced<true, axis(S::rank, 0), axis(S::rank, 1)>(x);
    else if constexpr (Axes == 2) return along<axis(S::rank, 0), Options.size.at[0]>(along<axis(S::rank, 1), Options.size.at[1]>(x));
    else return along<axis(S::rank, 0), Options.size.at[0]>(x);
  }

 private:
  template <bool Keep, int... A, class X>
  static constexpr auto reduced(const X& x) {
    if constexpr (Kind == pooling::mean) return mean<Keep, A...>::trace(x);
    else return extremum<ir::reduction::max, Keep, A...>::trace(x);
  }
  /// M results along axis A. Of equal elements the first in the order of memory is the largest one: columns are reduced before rows.
  template <int A, std::int64_t M, class X>
  static constexpr auto along(const X& x) {
    using S = typename X::shape_type;
    if constexpr (M == S::value[A]) {
      return x;
    } else if constexpr (S::value[A] % M == 0) {
      return reduced<false, A + 1>(split_axis<S, A, M>::trace(x));
    } else {
      return [&]<std::int64_t... I>(std::integer_sequence<std::int64_t, I...>) {
        return concat<A>::trace(reduced<true, A>(slice<A, I * S::value[A] / M, ((I + 1) * S::value[A] + M - 1) / M - I * S::value[A] / M, 1>::trace(x))...);
      }(std::make_integer_sequence<std::int64_t, M>{});
    }
  }
};

}  // namespace ops

namespace detail {
/// adaptive_avg_pool2d<7>: a number in the place of the options is the size.
template <class Given>
constexpr adaptive adaptive_of(Given given) {
  if constexpr (std::is_same_v<Given, adaptive>) return given;
  else return {.size = static_cast<std::int64_t>(given)};
}
template <int Axes, auto Options, ops::pooling Kind, bool IsOne, class X>
constexpr auto adaptive_pool_call(const X& x) {
  constexpr bool is_given = IsOne && !std::is_same_v<std::remove_cvref_t<decltype(Options)>, no_options>;
  static_assert(is_given, "tenure: adaptive_pool: the size of the result, or all options, are one template argument: adaptive_avg_pool2d<1>(x), adaptive_avg_pool2d<tn::adaptive{.size = {7, 5}}>(x)");
  if constexpr (is_given) return apply<ops::adaptive_pool<Axes, adaptive_of(Options), Kind>>(x);
  else return stand_in(x);
}
}  // namespace detail

/// The mean of each of m windows along rows and along columns: torch.nn.functional.adaptive_avg_pool2d. Window i of n elements has those from i n / m, rounded down, to
/// (i + 1) n / m, rounded up. x is [n, channels, rows, columns] or [channels, rows, columns]; with .layout = tn::nhwc channels are last. Options are a size,
/// adaptive_avg_pool2d<1>(x), or adaptive_avg_pool2d<tn::adaptive{.size = {7, 5}}>(x).
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto adaptive_avg_pool2d(const X& x, const Others&...) { return detail::adaptive_pool_call<2, Options, ops::pooling::mean, sizeof...(More) + sizeof...(Others) == 0>(x); }
/// The largest element of each window: torch.nn.functional.adaptive_max_pool2d. Of equal elements the first gets the gradient. A NaN is larger than every number.
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto adaptive_max_pool2d(const X& x, const Others&...) { return detail::adaptive_pool_call<2, Options, ops::pooling::largest, sizeof...(More) + sizeof...(Others) == 0>(x); }
/// The same along one axis: x is [n, channels, elements] or [channels, elements].
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto adaptive_avg_pool1d(const X& x, const Others&...) { return detail::adaptive_pool_call<1, Options, ops::pooling::mean, sizeof...(More) + sizeof...(Others) == 0>(x); }
template <auto Options = detail::no_options(), auto... More, operand_or_scalar X, class... Others>
constexpr auto adaptive_max_pool1d(const X& x, const Others&...) { return detail::adaptive_pool_call<1, Options, ops::pooling::largest, sizeof...(More) + sizeof...(Others) == 0>(x); }

}  // namespace tenure
