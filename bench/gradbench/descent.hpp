// SPDX-License-Identifier: BSL-1.0
// Gradient descent with a rate that doubles after ten steps and halves where a step would not lead down, by forward or reverse mode.
#pragma once

#include <tenure/tenure.hpp>

namespace gradbench {

enum class mode { forward, reverse };

/// The derivatives of a function of numbers by each of them.
template <mode Mode, class F, class... X>
constexpr auto gradient(F f, const X&... x) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    if constexpr (Mode == mode::forward) return tenure::jacfwd<I...>(f)(x...);
    else return tenure::grad<I...>(f)(x...);
  }(std::make_integer_sequence<int, sizeof...(X)>{});
}

/// Where f is lowest: a tuple of numbers like `start`. It ends where the gradient or a step is not longer than 1e-5.
template <mode Mode, class F, class... X>
constexpr auto lowest(F f, std::tuple<X...> start) {
  const auto slope_at = [=](const auto&... x) {
    if constexpr (sizeof...(X) == 1) return std::tuple{gradient<Mode>(f, x...)};
    else return gradient<Mode>(f, x...);
  };
  const auto length = [](const auto& v) { return std::apply([](const auto&... e) { return sqrt(((e * e) + ...)); }, v); };
  const auto next_rate = [](auto rate, auto good) { return where(good == 10, 2.0 * rate, rate); };

  const auto goes_on = [=](auto state) {
    const auto steepness = length(std::get<2>(state));
    return steepness > 1e-5 && steepness * next_rate(std::get<3>(state), std::get<4>(state)) > 1e-5;
  };
  const auto step = [=](auto state) {
    const auto x = std::get<0>(state);
    const auto height = std::get<1>(state);
    const auto slope = std::get<2>(state);
    const auto rate = next_rate(std::get<3>(state), std::get<4>(state));
    const auto good = where(std::get<4>(state) == 10, 0, std::get<4>(state));
    const auto there = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple{(std::get<I>(x) - rate * std::get<I>(slope))...};
    }(std::index_sequence_for<X...>{});
    const auto new_height = std::apply(f, there);
    return tenure::cond(
        new_height < height, [=] { return std::tuple{there, new_height, std::apply(slope_at, there), rate, good + 1}; },
        [=] { return std::tuple{x, height, slope, 0.5 * rate, good * 0}; });
  };
  const std::tuple first{start, std::apply(f, start), std::apply(slope_at, start), 1e-5, 0};
  return std::get<0>(tenure::while_loop(goes_on, step, first));
}

}  // namespace gradbench
